#!/usr/bin/env bash
# Checks what no compiler does: no build product is committed, no file grows without saying why, nothing is
# left for later, no path of one machine is written down.
#
# Constraint: looks at the committed and added files only, so a build never makes it fail.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
cd "$root"
problems=0
problem() { say "tidy: $*"; problems=$((problems + 1)); }

mapfile -t files < <(git ls-files --cached --others --exclude-standard)
sources=()
for file in "${files[@]}"; do
  [ -f "$file" ] || continue
  case $file in
    *.class | *.so | *.jar | *.o | *.a | *.lkb | *.region | *.zst | *.wasm | *.whl) problem "$file is a build product: leave it to the build" ;;
  esac
  [ "$(stat -c %s "$file")" -le 1048576 ] || problem "$file is larger than 1 MiB"
  case $file in
    *.rs | *.java | *.ts | *.mjs | *.css | *.sh | *.c | *.h | *.cpp | *.hpp | *.toml | *.xml | Makefile | .ci/run) ;;
    *) continue ;;
  esac
  sources+=("$file")
  lines=$(wc -l <"$file")
  # A file above 800 lines says in its first forty why it stays one piece.
  if [ "$lines" -gt 800 ] && ! head -n 40 "$file" | grep -qi 'one piece'; then
    problem "$file has $lines lines: take it apart, or say at its head why it stays one piece"
  fi
done

# Written so that this file does not match itself.
later='TO''DO|FIX''ME|X''XX'
while IFS= read -r line; do problem "left for later: $line"; done < <(grep -nEw "$later" "${sources[@]}" || true)
while IFS= read -r line; do problem "an ignored test: $line"; done < <(grep -nE '^\s*(#\[ignore|@Disabled)' "${sources[@]}" || true)
while IFS= read -r line; do problem "a path of one machine: $line"; done < <(grep -nE '/(home/[a-z]|ro''ot/|wo''rk/)' "${sources[@]}" README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md docs/*.md 2>/dev/null || true)

# Every file that a document links to is there.
for document in *.md docs/*.md; do
  [ -f "$document" ] || continue
  while IFS= read -r link; do
    path=${link%%#*}
    [ -z "$path" ] || [ -e "$(dirname "$document")/$path" ] || problem "$document links to $path, which is not there"
  done < <(grep -oE '\]\([^)]+\)' "$document" | sed 's/^](//; s/)$//' | grep -vE '^(https?:|#)' || true)
done

for script in scripts/*.sh bench/*.sh bench/peers/*.sh .ci/run; do
  [ ! -f "$script" ] || [ -x "$script" ] || [ "$script" = scripts/lib.sh ] || problem "$script cannot be executed: chmod +x"
done
if command -v shellcheck >/dev/null; then
  mapfile -t shells < <(ls scripts/*.sh bench/*.sh bench/peers/*.sh .ci/run 2>/dev/null)
  shellcheck -x -S warning "${shells[@]}" || problem "shellcheck found the above"
fi

if [ "$problems" -gt 0 ]; then say "tidy: $problems problems"; exit 1; fi
