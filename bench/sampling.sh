#!/usr/bin/env bash
# What sampling costs, how long a request takes, and how alike the profiles of the engines are: the thesis' figures 5.1 to 5.9
# (Linz 2014) on today's HotSpot, the experiment `sampling`. --smoke makes it short, and keeps nothing. Other arguments are options of
# `lookback lab run`.
#
# The engines of the extended VM take part where it is built (`make vm`). What is done stays in lab-results, and the same command
# goes on from there; figures are drawn beside it.
# Constraint: the closing lines are made of what the lab has recorded, and nothing is measured here.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
results=lab-results/sampling
if [ "${1:-}" = --smoke ]; then
  for module in profiles sampling sampling_summary; do python3 -m doctest "bench/$module.py"; done
  directory=$(mktemp -d)
  trap 'rm -rf "$directory"' EXIT
  for java in "$(jdk_home 17)/bin/java" "$target/vm/jdk-release/bin/java"; do
    [ ! -x "$java" ] || bench/sampling.py "$java" "$target/release/liblookback.so" java/workloads/target xalan \
      --seconds 2 --rounds 1 --warm 3 --intervals 1ms --out "$(mktemp -d -p "$directory")/kept"
  done
  exit
fi
scripts/experiment.sh sampling --out "$results" "$@"
python3 bench/sampling_summary.py "$results" --out "$results/figures"
