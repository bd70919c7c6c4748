#!/usr/bin/env bash
# What rewriting a class costs, as the agent counts it, over the classes that a small workload loads:
#   rewriting.sh JAVA AGENT WORKLOADS NAME
#
# Constraint: prints the line that the lab reads, and fails when there is none.
set -euo pipefail
java=$1 agent=$2 workloads=$3 name=$4
"$java" "-agentpath:$agent=stats=on" -cp "$workloads/lookback-workloads.jar:$workloads/lib/*" \
  dev.lookback.workloads.Main "$name" --iterations 1 --size small 2>&1 |
  sed -nE 's/.*rewriting: ([0-9.]+) us a class.*/result startup.class \1 us/p' | grep .
