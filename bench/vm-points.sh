#!/usr/bin/env bash
# Trace points in the extended VM's compiled code beside those of bytecode: how many events they record of the same work, and what
# programs pay: the experiments vm-points-events and vm-points. --smoke makes it short, and keeps nothing. Other arguments are options
# of `lookback lab run`. Needs `make vm`.
#
# Half an hour; what is done stays in lab-results, and the same command goes on from there.
# Constraint: prints the lab's `result` lines, and measures nothing here.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
java=$target/vm/jdk-release/bin/java
[ -x "$java" ] || fail "$java is missing: run \`make vm\`"
if [ "${1:-}" = --smoke ]; then
  exec experiments/vm-points-events.sh "$java" "$target/release/liblookback.so" java/workloads/target xalan 2
fi
for name in vm-points-events vm-points; do bench/experiment.sh "$name" "$@"; done
