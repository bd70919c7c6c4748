#!/usr/bin/env bash
# Fetches OpenJDK 17 as Debian has it, the newest version that is served, and applies Lookback's changes: sources.sh DIRECTORY
#
# DIRECTORY/source is the tree then, and DIRECTORY/googletest what its tests need. Needs no root: the lists of packages are kept in
# DIRECTORY.
# Constraint: fails before anything is changed where a hook's place is not found.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
here=$root/vm
directory=${1:?name a directory}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

apt() {
  local program=$1
  shift
  "$program" -q -o Dir::Etc::sourcelist="$directory/apt/sources.list" -o Dir::Etc::sourceparts=- \
    -o Dir::State::lists="$directory/apt/lists" -o Dir::Cache="$directory/apt/cache" -o APT::Sandbox::User="$(id -un)" "$@"
}

fetch() {
  mkdir -p "$directory/apt/lists/partial" "$directory/apt/cache" "$directory/fetched"
  local mirror=${DEBIAN_MIRROR:-http://deb.debian.org}
  cat >"$directory/apt/sources.list" <<END
deb-src $mirror/debian bookworm main
deb-src $mirror/debian-security bookworm-security main
END
  apt apt-get update >/dev/null || fail "the lists of Debian's sources cannot be fetched from $mirror"
  local version
  # One may be listed that is not served any more.
  for version in $(apt apt-cache showsrc openjdk-17 | sed -n 's/^Version: //p' | sort -Vru); do
    if (cd "$directory/fetched" && apt apt-get source --download-only "openjdk-17=$version" >/dev/null 2>&1); then
      say "vm: OpenJDK $version"
      return
    fi
    rm -rf "${directory:?}"/fetched/*
  done
  fail "no version of Debian's openjdk-17 is served by $mirror"
}

apply() {
  cd "$directory/source"
  patch --dry-run --quiet -p1 --fuzz=0 <"$here/hooks.patch" >"$directory/hooks.log" 2>&1 \
    || { cat "$directory/hooks.log" >&2; fail "hooks do not fit this version; see vm/hooks.patch"; }
  patch --quiet -p1 --fuzz=0 --no-backup-if-mismatch <"$here/hooks.patch"
}

[ -n "$(find "$directory/fetched" -name '*.orig.tar.xz' 2>/dev/null)" ] || fetch
# What was applied decides whether the tree is still right; new files are copied each time, and only what differs.
key=$(sha256sum "$here/hooks.patch" | cut -c 1-16)
if [ "$(cat "$directory/source/.lookback" 2>/dev/null)" != "$key" ]; then
  rm -rf "$directory/source"
  mkdir "$directory/source"
  tar -xf "$(find "$directory/fetched" -name 'openjdk-17_*.orig.tar.xz')" -C "$directory/source" --strip-components=1
  (apply)
  echo "$key" >"$directory/source/.lookback"
fi
if [ ! -d "$directory/googletest" ]; then
  mkdir "$directory/googletest"
  tar -xf "$(find "$directory/fetched" -name 'openjdk-17_*.orig-googletest.tar.xz')" -C "$directory/googletest" --strip-components=1
fi
(cd "$here" && find src -type f) | while read -r file; do
  cmp -s "$here/$file" "$directory/source/$file" || install -D -m 644 "$here/$file" "$directory/source/$file"
done
