#!/usr/bin/env bash
# Traces all methods of a program that enters and leaves them in all ways, and checks each slot:
#   tracepoints.sh JDK SECONDS [JAVA OPTION...]
#
# JDK is one that build.sh has laid out. Without options: each collector and each way to compile in turn, first alone, then with
# threads that are braked and ids that change.
# Constraint: fails when one slot is wrong, when the program's own sums are, and when nothing was checked.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
jdk=${1:?name a JDK} seconds=${2:?say for how many seconds}
shift 2
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
g++ -std=c++17 -O2 -Wall -Wextra -shared -fPIC -pthread -I"$jdk/include" -I"$jdk/include/linux" -I"$here/src/hotspot/share" \
  -o "$directory/libtracing.so" "$here/test/tracing_agent.cpp" "$here/test/natives.cpp"
"$jdk/bin/javac" -d "$directory/classes" "$here"/test/dev/lookback/torture/*.java
run() {
  local log=$directory/log how
  for how in all changing; do
    if ! "$jdk/bin/java" -Xmx1g -XX:+LookbackTracing "$@" -agentpath:"$directory/libtracing.so=$how" -cp "$directory/classes" \
        dev.lookback.torture.Torture "$seconds" >"$log" 2>&1; then
      cat "$log"
      echo "tracing failed: $* ($how)" >&2
      return 1
    fi
    printf '%-40s %-8s %s\n' "$*" "$how" "$(grep '^traced' "$log")"
  done
}
if [ $# -gt 0 ]; then
  run "$@"
else
  for collector in Serial Parallel G1 Z Shenandoah; do run "-XX:+Use${collector}GC"; done
  for compiling in -Xint -XX:TieredStopAtLevel=1 -XX:-TieredCompilation; do run "$compiling"; done
fi
