#!/usr/bin/env bash
# Fetches OpenJDK 17 as Debian has it, the newest version that is served, and applies Lookback's changes: sources.sh DIRECTORY
#
# DIRECTORY/source is the tree then, and DIRECTORY/googletest what its tests need. Needs no root: the lists of packages are kept in
# DIRECTORY.
# Constraint: fails before anything is changed where a hook's place is not found.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
# shellcheck source=vm/scripts/debian.sh
. "$(dirname "$0")/debian.sh"
here=$root/vm
directory=${1:?name a directory}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)

fetch() {
  lists deb-src bookworm
  apt apt-get update >/dev/null || fail "the lists of Debian's sources cannot be fetched from ${DEBIAN_MIRROR:-deb.debian.org}"
  local version
  for version in $(versions | tac); do
    if download "$version"; then
      say "vm: OpenJDK $version"
      return
    fi
    rm -rf "${directory:?}"/fetched/*
  done
  fail "no version of Debian's openjdk-17 is served by ${DEBIAN_MIRROR:-deb.debian.org}"
}

apply() {
  cd "$directory/source"
  fits . >"$directory/hooks.log" 2>&1 \
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
