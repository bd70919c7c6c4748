#!/usr/bin/env bash
# Runs the benchmark phases; see phases.py. --smoke makes it short.
exec python3 "$(dirname "$0")/phases.py" "$@"
