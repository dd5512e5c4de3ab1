#!/usr/bin/env bash
# Plants every mistake that `normlab judge` can name, on random data. Usage: tests/judge/judge_drawn.sh path/to/normlab.
# SPDX-License-Identifier: MIT
exec python3 -BS "$(dirname "$0")/judge_drawn.py" "$1"
