#!/usr/bin/env bash
# Runs the benchmark of the ring's cost; see ring.py. --smoke makes it short.
exec python3 "$(dirname "$0")/ring.py" "$@"
