#!/usr/bin/env bash
# Builds and runs HotSpot's own tests in C++ on the extended VM: gtest.sh DIRECTORY [release|fastdebug]
#
# Three times: as they are, with stack traces and trace points switched on, and with them and C1 alone. The tests are those of
# the source, and of our own none.
# Constraint: none is left out, and all must pass.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
directory=${1:?name a directory} level=${2:-release}
directory=$(realpath -m "$directory")
say "vm: HotSpot's tests are built, which takes minutes"
"$root/vm/scripts/build.sh" "$directory" "$level" --with-gtest="$directory/googletest" >/dev/null
launcher=$directory/source/build/linux-$level/hotspot/variant-server/libjvm/gtest/gtestLauncher
run() {
  local log=$directory/gtest$1.log
  shift
  if "$launcher" "-jdk:$directory/jdk-$level" "$@" >"$log" 2>&1; then
    printf '%s: %s\n' "${*:-as they are}" "$(grep -E '^\[  PASSED  \]' "$log")"
  else
    tail -40 "$log" >&2
    fail "HotSpot's tests fail with: ${*:-no option}"
  fi
}
run 1
run 2 -XX:+LookbackSampling -XX:+LookbackTracing
run 3 -XX:+LookbackSampling -XX:+LookbackTracing -XX:TieredStopAtLevel=1
