#!/usr/bin/env bash
# Runs an experiment of the project and prints `result NAME VALUE UNIT` for each figure: bench/experiment.sh NAME [OPTION...]
#
# Options are those of `lookback lab run`. What is done stays in lab-results/NAME, or where --out says, and the same command goes
# on from there.
# Constraint: keeps nothing beside the source; scripts/figures.sh does.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../scripts/lib.sh"
use_tools
cd "$root"
name=${1:?name an experiment of experiments/, without .toml}
shift
results=lab-results/$name before=
for option in "$@"; do
  case $option in --out=*) results=${option#--out=} ;; esac
  [ "$before" != --out ] || results=$option
  before=$option
done
scripts/experiment.sh "$name" "$@"
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$target/release/lookback" lab publish "$results" --name "$name" --to "$directory" >"$directory/where"
cat "$directory"/*/results.txt
