#!/usr/bin/env bash
# Which share of the executed methods that are not trivial Lookback still traces once it has learned:
#   overhead-share.sh JAVA AGENT WORKLOADS PROBE NAME SIZE ITERATIONS
#
# The probe says which methods are executed, in a few iterations. Lookback's own file of what it has learned, after five starts in
# a row of so many, says which are not traced any more. What is dropped and was not executed, or is not the application's, is in
# neither number.
# Constraint: prints the lines that the lab reads, and fails when there are none, or when libraries still wait.
set -euo pipefail
java=$1 agent=$2 workloads=$3 probe=$4 name=$5 size=$6 iterations=$7
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
run() {
  "$java" -XX:+UseG1GC -Xms768m -Xmx768m "$1" -cp "$workloads/lookback-workloads.jar:$workloads/lib/*" \
    dev.lookback.workloads.Main "$name" --iterations "$2" --size "$size" >&2
}
run "-javaagent:$probe=clock=off,out=$directory/executed" 4
# A program that costs less than its budget has no such file.
touch "$directory/learned"
for _ in first second third fourth fifth; do run "-agentpath:$agent=learned=$directory/learned,quiet=on" "$iterations"; done
awk -F '\t' '
  # Rows: kind, records a second, class, method, descriptor; then calls, nanoseconds, class, method, descriptor.
  FILENAME == ARGV[1] { if (NF == 5) learned[$3 FS $4 FS $5] = $1; known = known || /^libraries are known/; next }
  { executed++; libraries += $3 !~ /^dev\.lookback\./ }
  { kind = learned[$3 FS $4 FS $5]; gone += kind ~ /^(dropped|compiled|warm)$/; exact += kind == "exact" }
  END {
    if (!executed || libraries && !known) exit 1
    printf "result traced.share %.3f %%\n", 100 * (executed - gone) / executed
    printf "result traced.executed %d count\n", executed
    printf "result traced.dropped %d count\n", gone
    printf "result traced.exact %d count\n", exact
  }' "$directory/learned" "$directory/executed"
