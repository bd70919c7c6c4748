#!/usr/bin/env bash
# Samples a program that does what stack walkers get wrong, and checks each stack trace: torture.sh JDK SECONDS [JAVA OPTION...]
#
# JDK is one that build.sh has laid out. Without options: each collector in turn.
# Constraint: fails when one stack trace is wrong, when the program's own sums are, and when nothing was checked.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
jdk=${1:?name a JDK} seconds=${2:?say for how many seconds}
shift 2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
g++ -std=c++17 -O2 -Wall -Wextra -shared -fPIC -pthread -I"$jdk/include" -I"$jdk/include/linux" -I"$here/src/hotspot/share" \
  -o "$directory/libchecking.so" "$here/test/checking_agent.cpp" "$here/test/natives.cpp"
"$jdk/bin/javac" -d "$directory/classes" "$here"/test/dev/lookback/torture/*.java
run() {
  local log=$directory/log how
  # Partial safepoints, with waiting threads and without; and signals that ask threads wherever they are.
  for how in interval=100 interval=100,running interval=100,signals; do
    if ! "$jdk/bin/java" -Xmx1g -XX:+LookbackSampling -XX:+UnlockDiagnosticVMOptions -XX:+LookbackVerify "$@" \
        -agentpath:"$directory/libchecking.so=$how" -cp "$directory/classes" dev.lookback.torture.Torture "$seconds" \
        >"$log" 2>&1; then
      cat "$log"
      echo "torture failed: $* ($how)" >&2
      return 1
    fi
    printf '%-32s %-21s %s\n' "$*" "$how" "$(grep '^checked' "$log")"
  done
}
if [ $# -gt 0 ]; then
  run "$@"
else
  for collector in Serial Parallel G1 Z Shenandoah; do run "-XX:+Use${collector}GC"; done
fi
