#!/usr/bin/env bash
# Runs the replay; see replay.py. --smoke makes it short.
exec python3 "$(dirname "$0")/replay.py" "$@"
