#!/usr/bin/env bash
# docs/other-tests.md and the README say what known-wrong kernels do in other projects' tests today.
# Usage: tests/project/other_tests.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset CC NL_ISA
build=$(dirname "$(realpath "$normlab")")
[[ $(basename "$build") == release ]] || exit 77 # another build finds the same, and takes longer
python3 "$root/scripts/other_tests.py" --check --build "$build" >stdout 2>stderr
check "other_tests.py --check" "$([ $? -eq 0 ] || cat stderr)"
summary
