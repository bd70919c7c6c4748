#!/usr/bin/env bash
# Runs the benchmark workloads; see workloads.py. --smoke makes it short and keeps no data.
exec python3 "$(dirname "$0")/workloads.py" "$@"
