#!/usr/bin/env bash
# Runs the benchmark tracepoint; see tracepoint.py. --smoke makes it short.
exec python3 "$(dirname "$0")/tracepoint.py" "$@"
