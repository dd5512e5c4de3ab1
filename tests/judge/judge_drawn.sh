#!/usr/bin/env bash
# Plants every mistake that `normlab judge` tries on a layer. Usage: tests/judge/judge_drawn.sh path/to/normlab.
# SPDX-License-Identifier: MIT
exec python3 -BS "$(dirname "$0")/judge_drawn.py" "$1"
