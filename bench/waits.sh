#!/usr/bin/env bash
# Runs the benchmark waits; see waits.py. --smoke makes it short.
exec python3 "$(dirname "$0")/waits.py" "$@"
