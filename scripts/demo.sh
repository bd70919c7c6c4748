#!/usr/bin/env bash
# The demo: a real web shop becomes slow once; Lookback says why. Results in demo-out/.
#
# Constraint: it must work at the first try on a busy machine. So the shop listens on a free port, slow calls
# of its warm-up may write incidents too, and the one that shows the shop's built-in defect is looked for
# among all. Whatever happens, nothing is left running.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
use_tools
cd "$root"

lookback=$target/release/lookback
java=$JAVA_HOME/bin/java
# The shop's built-in defect, which the report has to name (java/workloads/README.md).
cause=SearchService.reindex
culprit=catalogue-refresher
rule='dev.lookback.workloads.shop.web.*.handle*:300ms'
classes='java/workloads/target/lookback-workloads.jar:java/workloads/target/lib/*'
out=demo-out
# Seconds: the shop rebuilds its search index for the first time, then again and again. The load covers one of
# them; on a busy machine a slow call of the warm-up can come first, then the next one is waited for.
first=10
again=15
load=$((first + 10))
rounds=3

heading() { printf '\n== %s\n' "$*"; }

shop=
client=
stop() {
  trap - EXIT INT TERM
  for pid in $client $shop; do kill "$pid" 2>/dev/null || true; done
  for pid in $client $shop; do wait "$pid" 2>/dev/null || true; done
}
trap stop EXIT
trap 'stop; say; say "stopped"; exit 130' INT TERM

rm -rf "$out"
mkdir -p "$out"
# They are read before the programs have opened them.
: >"$out/shop.log"
: >"$out/load.log"

heading "A web shop with a real defect starts, recorded by Lookback"
command=("$lookback" run --slow "$rule" --ring 256m --cooldown 2s --out "$out/" --)
printf '   lookback run --slow %s --ring 256m --cooldown 2s --out %s/ -- java ... ShopServer\n' "'$rule'" "$out"
"${command[@]}" "$java" -cp "$classes" dev.lookback.workloads.shop.ShopServer --port 0 \
  --refresh-after "$first" --refresh-every "$again" >"$out/shop.log" 2>&1 </dev/null &
shop=$!
port=
for ((i = 0; i < 600 && ! port; i++)); do
  kill -0 "$shop" 2>/dev/null || { cat "$out/shop.log" >&2; fail "the shop did not start; its output stands above"; }
  port=$(sed -n 's|^listening on http://127.0.0.1:\([0-9]*\)$|\1|p' "$out/shop.log")
  [ -n "$port" ] || sleep 0.1
done
[ -n "$port" ] || { cat "$out/shop.log" >&2; fail "the shop did not listen within a minute; its output stands above"; }
grep '^\[lookback\]' "$out/shop.log" || true

# customers SECONDS: sends requests, and shows those that are slow as they happen.
customers() {
  local shown=0 begin=$SECONDS loaded=0 slow=()
  : >"$out/load.log"
  "$java" -cp "$classes" dev.lookback.workloads.shop.LoadGenerator --port "$port" --seconds "$1" --rate 100 \
    >"$out/load.log" 2>&1 </dev/null &
  client=$!
  while kill -0 "$client" 2>/dev/null; do
    mapfile -t slow < <(grep '^slow: ' "$out/load.log" || true)
    for ((; shown < ${#slow[@]}; shown++)); do
      if [ -t 1 ]; then printf '\r\033[K'; fi
      printf '   a customer waits: %s\n' "${slow[shown]#slow: }"
    done
    if [ -t 1 ]; then printf '\r   %d of %d s' "$((SECONDS - begin))" "$1"; fi
    sleep 0.5
  done
  if [ -t 1 ]; then printf '\r\033[K'; fi
  wait "$client" || loaded=$?
  client=
  sed 's/^/   /' < <(grep ' requests ' "$out/load.log" || true)
  [ "$loaded" -eq 0 ] || say "   (not every request was answered; the machine may be very busy)"
}

# Sets `found` to the incident that names the defect, if there is one. An incident is written a little after
# the slow call's end, and is whole once it has its name.
found=
look() {
  local incident i
  for ((i = 0; i < 50; i++)); do
    for incident in "$out"/*.lkb; do
      if [ ! -f "$incident" ] || [ -f "$incident.txt" ]; then continue; fi
      "$lookback" report "$incident" --text-only >"$incident.txt" 2>/dev/null || true
      if grep -q "$cause" "$incident.txt" && grep -q "$culprit" "$incident.txt"; then
        found=$incident
        return
      fi
    done
    sleep 0.1
  done
}

heading "Customers come: 100 requests a second for $load s"
customers "$load"
look
for ((round = 2; round <= rounds && ${#found} == 0; round++)); do
  heading "Not caught yet, the machine is busy: $((again + 5)) s more"
  customers "$((again + 5))"
  look
done
incidents=$(find "$out" -name '*.lkb' | wc -l)
if [ -z "$found" ]; then
  sed 's/^/   /' "$out/shop.log" >&2
  if [ "$incidents" -eq 0 ]; then
    fail "no incident was written: no request took longer than 300 ms. The shop's output stands above; the latencies are in $out/load.log"
  fi
  fail "$incidents incidents were written, but none names $cause; read them with: $lookback report $out/*.lkb"
fi

heading "Lookback noticed and wrote what had happened"
grep 'wrote' "$out/shop.log" | sed 's/^/   /' || true
mv "$found" "$out/incident.lkb"
rm -f "$out"/*.lkb.txt
stop
shop=

heading "The report"
"$lookback" report "$out/incident.lkb" -o "$out/report.html" --force | tee "$out/report.txt"
"$lookback" convert "$out/incident.lkb" -o "$out/trace.pftrace" --force

if ! grep -q "$cause" "$out/report.txt" || ! grep -q "$culprit" "$out/report.txt"; then
  fail "the report does not name $cause"
fi
heading "It names the real cause"
printf '   %s, run by the thread %s, held the lock that the customers waited for.\n' "$cause" "$culprit"
heading "Where to look next"
printf '   %-28s call chart, flame graph, methods: open it in any browser\n' "$out/report.html"
printf '   %-28s for https://ui.perfetto.dev\n' "$out/trace.pftrace"
printf '   %-28s the recording: lookback report, convert, info\n' "$out/incident.lkb"
printf '   %-28s your own service\n' "README.md"
