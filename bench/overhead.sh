#!/usr/bin/env bash
# What Lookback costs whole programs, in each of its states and beside its peers: the experiments overhead-batch, overhead-17,
# overhead-threads, overhead-first, overhead-latency, overhead-peers and overhead-share. --smoke makes it short, and keeps nothing.
# Other arguments are options of `lookback lab run`.
#
# Says first how long each will take. What is done stays in lab-results, and the same command goes on from there.
# Constraint: the closing lines are made of the lab's own statistics, and nothing is measured here.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
experiments=(overhead-batch overhead-17 overhead-threads overhead-first overhead-latency overhead-peers overhead-share)
all=()
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
results=lab-results
if [ "${1:-}" = --smoke ]; then
  shift
  experiments=(overhead-smoke)
  all=(--all)
  results=$directory/results
  python3 -m doctest bench/overhead.py
fi
lookback=$target/release/lookback
[ -x "$lookback" ] || fail "$lookback is missing: run \`make build\`"
export LOOKBACK_HARNESS=${LOOKBACK_HARNESS:-$target/release/liblookback_harness.so}
for name in "${experiments[@]}"; do
  "$lookback" lab plan "experiments/$name.toml" --results "$results/$name" | grep '^time ' >&2
done
for name in "${experiments[@]}"; do
  say "experiment $name"
  scripts/experiment.sh "$name" --out "$results/$name" "$@"
  "$lookback" lab publish "$results/$name" --name "$name" --to "$directory/$name" >"$directory/where"
  cat "$directory/$name"/*/results.txt
done
python3 bench/overhead.py "${all[@]}" "$lookback" "$directory" "${experiments[@]/#/$results/}"
