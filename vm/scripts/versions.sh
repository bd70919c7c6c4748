#!/usr/bin/env bash
# Shows which versions of OpenJDK 17 the hooks fit, of all that Debian serves: versions.sh DIRECTORY
#
# Needs no root, and builds nothing. Debian lists more versions than it serves.
# Constraint: fails where a version that is served does not take them, or none is.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
# shellcheck source=vm/scripts/debian.sh
. "$(dirname "$0")/debian.sh"
directory=${1:?name a directory}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
# Keys of other releases than this machine's may be missing; what is fetched is read and never run.
lists 'deb-src [trusted=yes]' bullseye bookworm trixie sid
apt apt-get update >/dev/null 2>&1 || say 'not all lists of sources are fetched'
fit=0 refused=0
for version in $(versions); do
  rm -rf "$directory/tree"
  mkdir "$directory/tree"
  # All files of a version are asked for, and one of them is needed: the source itself.
  upstream=${version%-*}
  archive=$directory/fetched/openjdk-17_$upstream.orig.tar.xz
  [ -e "$archive" ] || download "$version" || true
  if [ ! -e "$archive" ]; then
    echo "$version: not served any more"
    continue
  fi
  tar -xf "$archive" -C "$directory/tree" --strip-components=1 --wildcards '*/src/hotspot'
  if fits "$directory/tree"; then
    echo "$version: fits"
    fit=$((fit + 1))
  else
    echo "$version: does not fit"
    refused=1
  fi
done
rm -rf "$directory/tree"
[ "$fit" -gt 0 ] || fail "no version is served by ${DEBIAN_MIRROR:-deb.debian.org}"
exit "$refused"
