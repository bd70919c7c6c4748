#!/usr/bin/env bash
# What Lookback costs whole programs, in each of its states and beside its peers: experiments/overhead.toml.
# --smoke makes it short, and keeps nothing. Other arguments are options of `lookback lab run`.
#
# Says first how long it will take. What is done stays in lab-results/overhead, and the same command goes on from there.
# Constraint: the closing lines are made of the lab's own statistics, and nothing is measured here.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
name=overhead
all=()
if [ "${1:-}" = --smoke ]; then
  shift
  name=overhead-smoke
  all=(--all)
  python3 -m doctest bench/overhead.py
fi
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
results=lab-results/$name
[ "$name" = overhead ] || results=$directory/results
lookback=$target/release/lookback
[ -x "$lookback" ] || fail "$lookback is missing: run \`make build\`"
export LOOKBACK_HARNESS=${LOOKBACK_HARNESS:-$target/release/liblookback_harness.so}
"$lookback" lab plan "experiments/$name.toml" --results "$results" >&2
scripts/experiment.sh "$name" --out "$results" "$@"
"$lookback" lab publish "$results" --name "$name" --to "$directory/kept" >"$directory/where"
cat "$directory"/kept/*/results.txt
python3 bench/overhead.py "$lookback" "$results" "$directory"/kept/*/results.txt "${all[@]}"
