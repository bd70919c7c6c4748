#!/usr/bin/env bash
# Runs an experiment of the project, or goes on with it: scripts/experiment.sh NAME [OPTION...]
#
# Options are those of `lookback lab run`. Minimum heaps that it needs are looked for first and kept with the experiments: on
# another machine with the same JDK heaps are then the same.
# Constraint: what is done is in lab-results/ alone, and is never done twice.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
cd "$root"
name=${1:?name an experiment of experiments/, without .toml}
shift
file=experiments/$name.toml
[ -e "$file" ] || fail "there is no $file"
lookback=$target/release/lookback
[ -x "$lookback" ] || fail "$lookback is missing: run \`make build\`"
export LOOKBACK_HARNESS=${LOOKBACK_HARNESS:-$target/release/liblookback_harness.so}
minima=experiments/min-heap.jsonl
if grep -q '^multiples' "$file"; then
  "$lookback" lab min-heap "$file" --out "$minima" >/dev/null
fi
"$lookback" lab run "$file" --min-heap "$minima" "$@"
