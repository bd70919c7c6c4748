#!/usr/bin/env bash
# Makes the jar of the Java API: scripts/api.sh LIBRARY. The native recorder goes into it, without what only a
# debugger needs.
#
# Constraint: the jar is for whoever has nothing else of Lookback, so it works by itself on the machine's own kind.
# Must not build the library.
set -euo pipefail
library=$1
cd "$(dirname "$0")/.."
case $(uname -m) in
  x86_64) machine=linux-amd64 ;;
  *) machine=linux-$(uname -m) ;;
esac
copies=java/api/target/native/$machine
mkdir -p "$copies"
strip -o "$copies/liblookback_ring.so" "$library"
exec mvn -q -B -f java/api/pom.xml package -Dmaven.test.skip=true
