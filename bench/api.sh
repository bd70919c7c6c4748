#!/usr/bin/env bash
# Runs the benchmark api; see api.py. --smoke makes it short.
exec python3 "$(dirname "$0")/api.py" "$@"
