#!/usr/bin/env bash
# Shows which versions of OpenJDK 17 the hooks fit, of all that Debian serves: versions.sh DIRECTORY
#
# Needs no root, and builds nothing. Debian lists more versions than it serves.
# Constraint: fails where a version that is served does not take them, or none is.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
directory=${1:?name a directory}
mkdir -p "$directory/lists/partial" "$directory/cache" "$directory/fetched"
directory=$(cd "$directory" && pwd)
mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
# Keys of other releases than this machine's may be missing; what is fetched is read and never run.
for suite in bullseye bookworm trixie sid; do
  echo "deb-src [trusted=yes] $mirror/debian $suite main"
  [ "$suite" = sid ] || echo "deb-src [trusted=yes] $mirror/debian-security $suite-security main"
done >"$directory/sources.list"

apt() {
  local program=$1
  shift
  "$program" -q -o Dir::Etc::sourcelist="$directory/sources.list" -o Dir::Etc::sourceparts=- -o Dir::State::lists="$directory/lists" \
    -o Dir::Cache="$directory/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

apt apt-get update >/dev/null 2>&1 || say 'not all lists of sources are fetched'
fit=0 refused=0
for version in $(apt apt-cache showsrc openjdk-17 | sed -n 's/^Version: //p' | sort -Vu); do
  rm -rf "$directory/tree"
  mkdir "$directory/tree"
  # All files of a version are asked for, and one of them is needed: the source itself.
  upstream=${version%-*}
  archive=$directory/fetched/openjdk-17_$upstream.orig.tar.xz
  [ -e "$archive" ] || (cd "$directory/fetched" && apt apt-get source --download-only "openjdk-17=$version" >/dev/null 2>&1) || true
  if [ ! -e "$archive" ]; then
    echo "$version: not served any more"
    continue
  fi
  tar -xf "$archive" -C "$directory/tree" --strip-components=1 --wildcards '*/src/hotspot'
  if (cd "$directory/tree" && patch --dry-run --quiet -p1 --fuzz=0 <"$root/vm/hooks.patch"); then
    echo "$version: fits"
    fit=$((fit + 1))
  else
    echo "$version: does not fit"
    refused=1
  fi
done
rm -rf "$directory/tree"
[ "$fit" -gt 0 ] || fail "no version is served by $mirror"
exit "$refused"
