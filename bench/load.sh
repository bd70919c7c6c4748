#!/usr/bin/env bash
# Runs the benchmark of cost against load; see load.py. --smoke makes it short.
exec python3 "$(dirname "$0")/load.py" "$@"
