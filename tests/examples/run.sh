#!/usr/bin/env bash
# Builds an example kernel with the command in its first lines, and loads and checks it.
#     tests/examples/run.sh path/to/normlab examples/rmsnorm.ENDING
# SPDX-License-Identifier: MIT
set -eu
normlab=$(realpath "$1") source=$2
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$root"
command=$(sed -n 's/^[ *!/]*     \([a-z0-9+]* .* -o rmsnorm\.so\)/\1/p' "$source")
read -r -a words <<< "${command/rmsnorm.so/$work/rmsnorm.so}"
echo "${words[*]}"
type "${words[0]}" > /dev/null || { echo "skip  there is no ${words[0]}"; exit 77; }
[ "${words[0]}" != gfortran ] || words+=(-J "$work")
[ "${words[0]}" != python3 ] || python3 -c 'import numba' 2> /dev/null || { echo "skip  there is no numba"; exit 77; }
"${words[@]}"
name=$("$normlab" list --csv --load "$work/rmsnorm.so" | grep '^[a-z]*/rmsnorm,' | cut -d, -f1)
"$normlab" try --seconds 0.001 "$work/rmsnorm.so"
"$normlab" bench --quick --load "$work/rmsnorm.so" --impl "rmsnorm/naive,$name" \
    rmsnorm/forward/f32/64x1024/normal > "$work/bench.csv"
grep -q ",$name,c,1," "$work/bench.csv"
