#!/usr/bin/env bash
# Makes docs/report.png, the picture in the README: the demo's report page in the light theme.
#
# Constraint: it shows the real page of a real incident, as a browser draws it, in less than 300 KB.
# scripts/screenshot.sh [PAGE] [PICTURE]
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
cd "$root"
page=${1:-demo-out/report.html}
picture=${2:-docs/report.png}
[ -f "$page" ] || fail "$page is not there; run: make demo"
browser=$(chromium)
[ -n "$browser" ] || fail "no Chromium was found; run: make setup"
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
# A headless browser prefers light; the time is virtual, so that the page has drawn itself whole.
"$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
  --force-device-scale-factor=1 --window-size=1280,1000 --virtual-time-budget=10000 \
  --screenshot="$profile/page.png" "file://$(realpath "$page")" >"$profile/log" 2>&1 \
  || { cat "$profile/log" >&2; fail "the browser failed on $page; its output stands above"; }
size=$(stat -c %s "$profile/page.png")
[ "$size" -le 300000 ] || fail "the picture has $size bytes, 300000 at most; make the window smaller"
mv "$profile/page.png" "$picture"
chmod 644 "$picture"
say "$picture: $size bytes"
