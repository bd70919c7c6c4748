#!/usr/bin/env bash
# Runs the benchmark tracepoint; see tracepoint.py. --smoke makes it short and keeps no data.
exec python3 "$(dirname "$0")/tracepoint.py" "$@"
