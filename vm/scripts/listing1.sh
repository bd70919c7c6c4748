#!/usr/bin/env bash
# What a trace point costs in nanoseconds, by Hubble's Listing 1 with work 0: listing1.sh JDK [JVMS [ROUNDS]]
#
# JDK is one that build.sh has laid out. The method has two trace points, so one costs half of what a call takes longer. First comes what the
# same instructions cost this processor in a program without a VM: the floor.
# Constraint: the three kinds are measured in turn within one JVM, and compared within one round; figures are medians of all
# rounds of several JVMs, for where code lies in memory makes a difference.
set -euo pipefail
here=$(cd "$(dirname "$0")/.." && pwd)
jdk=${1:?name a JDK} jvms=${2:-5} rounds=${3:-20}
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
g++ -std=c++17 -O2 -Wall -Wextra -shared -fPIC -pthread -I"$jdk/include" -I"$jdk/include/linux" -I"$here/src/hotspot/share" \
  -o "$directory/libtracing.so" "$here/test/tracing_agent.cpp"
gcc -O2 -Wall -Wextra -o "$directory/floor" "$here/test/listing1_floor.c"
"$directory/floor" | tee "$directory/floors"
"$jdk/bin/javac" -d "$directory/classes" "$here"/test/dev/lookback/listing1/*.java
for ((i = 0; i < jvms; i++)); do
  "$jdk/bin/java" -XX:+LookbackTracing -agentpath:"$directory/libtracing.so=quiet" \
    -XX:CompileCommand=quiet -XX:CompileCommand='dontinline,dev.lookback.listing1.Listing1::plain' \
    -XX:CompileCommand='dontinline,dev.lookback.listing1.Listing1::traced' \
    -cp "$directory/classes" dev.lookback.listing1.Listing1 "$rounds"
done >"$directory/rounds"
median() {
  sort -g | awk '{ value[NR] = $1 } END { print NR % 2 ? value[(NR + 1) / 2] : (value[NR / 2] + value[NR / 2 + 1]) / 2 }'
}
# Median of a column, or of half of what it is above another one in the same round.
of() { awk -v column="$1" -v less="${2:-0}" '/^round/ { print less ? ($column - $less) / 2 : $column }' "$directory/rounds" | median; }
printf 'ns a call, medians of %d rounds: not emitted %.3f, emitted and off %.3f, on %.3f\n' "$((jvms * rounds))" \
  "$(of 2)" "$(of 3)" "$(of 4)"
printf 'result vm.tracepoint.off.ns %.3f ns\n' "$(of 3 2)"
printf 'result vm.tracepoint.on.ns %.3f ns\n' "$(of 4 2)"
awk '$1 == "on" { printf "result vm.tracepoint.floor.ns %s ns\n", $6 }' "$directory/floors"
