#!/usr/bin/env bash
# What rewriting a class costs, as the agent counts it, over the classes that a small workload loads:
#   rewriting.sh JAVA AGENT WORKLOADS NAME
#
# Constraint: prints the line that the lab reads, and fails when there is none.
set -euo pipefail
java=$1 agent=$2 workloads=$3 name=$4
"$java" "-agentpath:$agent=stats=on" -cp "$workloads/lookback-workloads.jar:$workloads/lib/*" \
  dev.lookback.workloads.Main "$name" --iterations 1 --size small 2>&1 |
  awk 'match($0, /rewriting: [0-9.]+ us a class/) {
         split(substr($0, RSTART), words, " ")
         printf "result startup.class %.0f ns\n", words[2] * 1000
         found = 1
       }
       END { exit !found }'
