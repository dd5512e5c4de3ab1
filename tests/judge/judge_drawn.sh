#!/usr/bin/env bash
# Plants all mistakes that `normlab judge` knows but those of a gate. Usage: tests/judge/judge_drawn.sh path/to/normlab.
# SPDX-License-Identifier: MIT
exec python3 -BS "$(dirname "$0")/judge_drawn.py" "$1"
