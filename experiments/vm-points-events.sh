#!/usr/bin/env bash
# How many events the extended VM's trace points record of a program's work, and how many those of bytecode:
#   vm-points-events.sh JAVA AGENT WORKLOADS NAME ITERATIONS
#
# The same methods have trace points, those that are not trivial; what the VM has inlined has none of its own.
# Constraint: prints the lines that the lab reads, and fails when there are none.
set -euo pipefail
java=$1 agent=$2 workloads=$3 name=$4 iterations=$5

# events OPTION...: how many the agent has recorded.
events() {
  "$java" "$@" -XX:+UseG1GC -Xmx768m "-agentpath:$agent=budget=off,learned=off,stats=on" \
    -cp "$workloads/lookback-workloads.jar:$workloads/lib/*" dev.lookback.workloads.Main "$name" --iterations "$iterations" \
    2>&1 >/dev/null | sed -n 's/^\[lookback\] records, about: //p'
}

bytecode=$(events -XX:-LookbackTracing) vm=$(events -XX:+LookbackTracing)
awk -v bytecode="$bytecode" -v vm="$vm" 'BEGIN {
  if (!bytecode || !vm) exit 1
  printf "result events.vm %.0f count\n", vm
  printf "result events.bytecode %.0f count\n", bytecode
  printf "result events.share %.2f %%\n", 100 * vm / bytecode
}'
