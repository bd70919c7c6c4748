#!/usr/bin/env bash
# Trace points in the extended VM's compiled code beside those of bytecode: how many events they record of the same work, and what
# programs pay. --smoke makes it short. Needs `make vm`.
#
# What programs pay is the experiment vm-points: an hour, and the same command goes on where it stopped.
# Constraint: prints `result` lines and keeps nothing beside lab-results.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
java=$target/vm/jdk-release/bin/java
[ -x "$java" ] || fail "$java is missing: run \`make vm\`"
workloads=(h2 hibernate tomcat lucene-search xalan jackson javac pmd raytrace rhino luaj-deep threads) iterations=8
if [ "${1:-}" = --smoke ]; then workloads=(xalan) iterations=2; fi

# events WORKLOAD OPTION...: how many the agent has recorded.
events() {
  local workload=$1
  shift
  "$java" "$@" -XX:+UseG1GC -Xmx768m "-agentpath:$target/release/liblookback.so=budget=off,learned=off,stats=on" \
    -cp "java/workloads/target/lookback-workloads.jar:java/workloads/target/lib/*" dev.lookback.workloads.Main "$workload" \
    --iterations "$iterations" 2>&1 >/dev/null | sed -n 's/^\[lookback\] records, about: //p'
}

for workload in "${workloads[@]}"; do
  bytecode=$(events "$workload") vm=$(events "$workload" -XX:+LookbackTracing)
  awk -v name="$workload" -v bytecode="$bytecode" -v vm="$vm" 'BEGIN {
    if (!bytecode || !vm) exit 1
    printf "result vm-points.%s.events %.1f million\n", name, vm / 1e6
    printf "result vm-points.%s.bytecode.events %.1f million\n", name, bytecode / 1e6
    printf "result vm-points.%s.share %.1f %%\n", name, 100 * vm / bytecode
  }' || fail "$workload recorded nothing"
done
[ "${1:-}" = --smoke ] || bench/experiment.sh vm-points
