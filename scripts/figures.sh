#!/usr/bin/env bash
# Renews the project's own figures: scripts/figures.sh NAME...
#
# Runs each experiment, keeps the run in bench/runs, and writes its figures into the documents that cite it. An experiment
# takes minutes (startup) to a day (gc); all of it goes on where it was interrupted.
# Constraint: a figure in a document comes from nowhere else. Documents are changed within their blocks only.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
cd "$root"
[ $# -gt 0 ] || fail 'name experiments of experiments/, without .toml'
for name; do
  say "experiment $name"
  scripts/experiment.sh "$name"
  mapfile -t documents < <(grep -lE "<!-- lab:${name}[:/=]" README.md docs/*.md java/*/README.md || true)
  # What a benchmark says of all its programs joins the run before documents are written.
  summary=bench/${name}_summary.py into=()
  [ -e "$summary" ] || [ ${#documents[@]} -eq 0 ] || into=(--into "${documents[@]}")
  "$target/release/lookback" lab publish "lab-results/$name" --name "$name" --force "${into[@]}"
  if [ -e "$summary" ]; then
    run=$(find bench/runs -maxdepth 1 -name "*-$name" | sort | tail -n 1)
    python3 "$summary" "lab-results/$name" --out "$run" >>"$run/results.txt"
    [ ${#documents[@]} -eq 0 ] || "$target/release/lookback" lab publish --renew "${documents[@]}"
  fi
done
