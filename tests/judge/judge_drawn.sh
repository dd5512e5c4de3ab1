#!/usr/bin/env bash
# Every mistake that `normlab judge` knows, planted on drawn data. Usage: tests/judge/judge_drawn.sh path/to/normlab.
# SPDX-License-Identifier: MIT
exec python3 -BS "$(dirname "$0")/judge_drawn.py" "$1"
