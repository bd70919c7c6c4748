#!/usr/bin/env bash
# Rehearsal of a peer: finds the methods that a run executes and Lookback would trace, and tells the peer of them:
#   overhead-methods.sh FORM FILE PROBE COMMAND...
#
# COMMAND is the invocation's own; the probe stands in it in place of the peer. FORM is `jfr-trace` or `jfr-timing` (FILE
# becomes settings of JFR), or `async-profiler=LIBRARY` (FILE becomes options for `java @FILE`).
# Constraint: all peers get the same methods, by name; none can be told of a package. Must not change what the program does.
set -euo pipefail
form=$1 file=$2 probe=$3
java=$4
shift 4
words=()
for word; do
  case $word in
    -XX:StartFlightRecording* | -Xlog:jfr* | "@$file") ;;
    *) words+=("$word") ;;
  esac
done
"$java" "-javaagent:$probe=clock=off,out=$file.tsv" "${words[@]}"
[ -s "$file.tsv" ] || { echo 'no method was executed that is not trivial' >&2; exit 1; }
# Overloads are one name.
methods=$(awk -F '\t' '{ print $3 "\t" $4 }' "$file.tsv" | sort -u)
jfr() {
  printf '<?xml version="1.0" encoding="UTF-8"?>\n<configuration version="2.0"><event name="%s">' "$1"
  printf '<setting name="enabled">true</setting>%s<setting name="filter">' "$2"
  awk -F '\t' '{ printf "%s%s::%s", n++ ? ";" : "", $1, $2 }' <<<"$methods" | sed 's/&/\&amp;/g; s/</\&lt;/g; s/>/\&gt;/g'
  printf '</setting></event></configuration>\n'
}
case $form in
  jfr-trace)
    jfr jdk.MethodTrace '<setting name="threshold">0 ms</setting><setting name="stackTrace">false</setting>' >"$file"
    ;;
  jfr-timing) jfr jdk.MethodTiming '<setting name="period">endChunk</setting>' >"$file" ;;
  async-profiler=*)
    {
      printf '"-agentpath:%s=start' "${form#*=}"
      awk -F '\t' '{ printf ",trace=%s.%s", $1, $2 }' <<<"$methods"
      printf ',file=methods.jfr"\n'
    } >"$file"
    ;;
  *) echo "no peer is called $form" >&2; exit 2 ;;
esac
