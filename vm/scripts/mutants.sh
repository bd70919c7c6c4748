#!/usr/bin/env bash
# Shows that the checks find what is wrong: builds the VM with one mistake at a time, each of which must be found:
#   mutants.sh DIRECTORY
#
# DIRECTORY is build.sh's. Its tree is as it was afterwards; the JDK in it is built anew.
# Constraint: a mistake that changes no line is a failure, as one is that is not found.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/../../scripts/lib.sh"
directory=${1:?name build.sh\'s directory}
directory=$(cd "$directory" && pwd)
tree=src/hotspot

# name | which script finds it | file | what sed does to it
mutants() {
  cat <<'END'
a frame's callers that are inlined are left out|torture|share/lookback/stackRecorder.cpp|/^int StackRecorder::record(/,/^}/ s/while (methods.has_caller())/while (false)/
a place in the bytecode is off by one|torture|share/lookback/stackRecorder.cpp|s/^  return _frames.append({method->jmethod_id(), 0, bci, NONE});/  return _frames.append({method->jmethod_id(), 0, bci + 1, NONE});/
returns are not trapped|torture|share/lookback/stackRecorder.cpp|s/^  _watermark = callee - BELOW_ID;/  _watermark = 0;/
a frame that is about to go is not filled|torture|share/lookback/stackRecorder.cpp|/^void StackRecorder::before_unwind()/,/^}/ s/^  fill_if_reached(.*/  ;/
a skeleton is taken for any frame|torture|share/lookback/stackRecorder.cpp|/^bool StackRecorder::link(/,/^}/ s/ || _frames.at(_skeleton).id != walk.id()//
a fence is skipped after a safepoint|torture|share/lookback/threadSampling.cpp|/::on_own_poll(/,/^}/ s/if (_may_have_stopped)/if (_may_have_stopped \&\& _safepoints == 0)/
inlined methods are not entered when they get frames|tracepoints|share/lookback/tracePoints.cpp|/^void TracePoints::on_unpacked(/,/^}/ s/frames->frames() - 2/-1/
a loop's compilation enters the method again|tracepoints|share/lookback/c2TracePoints.cpp|s/ || compile->is_osr_compilation()//
an exception leaves a method unseen|tracepoints|cpu/x86/lookback/tracePointAssembler_x86_64.cpp|/::c1_unwind(/,/^}/ s/^  emit_in_line.*/  ;/
the slow path loses a parameter|tracepoints|cpu/x86/lookback/tracePointAssembler_x86_64.cpp|s/{ rax, rcx, rdx, rsi, /{ rax, rcx, rdx, /
the slow path loses a result|tracepoints|cpu/x86/lookback/tracePointAssembler_x86_64.cpp|s/KEPT_XMM = 8;/KEPT_XMM = 0;/
END
}

# Restores the sources as they are in the repository.
restore() { "$root/vm/scripts/sources.sh" "$directory"; }
trap restore EXIT
found=0
while IFS='|' read -r name script file change; do
  restore
  sed -i "$change" "$directory/source/$tree/$file"
  ! cmp -s "$root/vm/$tree/$file" "$directory/source/$tree/$file" || fail "the mistake changes nothing: $name"
  (cd "$directory/source" && make CONF=linux-release hotspot LOG=warn >"$directory/make.log" 2>&1) \
    || { tail -20 "$directory/make.log" >&2; fail "the VM cannot be built: $name"; }
  cp "$directory/source/build/linux-release/support/modules_libs/java.base/server/libjvm.so" \
    "$directory/jdk-release/lib/server/libjvm.so"
  if "$root/vm/scripts/$script.sh" "$directory/jdk-release" 5 -XX:+UseG1GC >"$directory/mutant.log" 2>&1; then
    cat "$directory/mutant.log" >&2
    fail "not found: $name"
  fi
  say "found: $name"
  found=$((found + 1))
done < <(mutants)
"$root/vm/scripts/build.sh" "$directory" release >/dev/null
say "all $found mistakes are found"
