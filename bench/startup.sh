#!/usr/bin/env bash
# Runs the benchmark startup; see startup.py. --smoke makes it short and keeps no data.
exec python3 "$(dirname "$0")/startup.py" "$@"
