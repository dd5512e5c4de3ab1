#!/usr/bin/env bash
# Installs a built normlab into a temporary folder and uses it as another project would: runs the program, and compiles
# with find_package and with pkg-config. tests/consumer/run.sh CMAKE BUILD_DIR CC CFLAGS
# SPDX-License-Identifier: MIT
set -euo pipefail
cmake=$1 build=$2 cc=$3 cflags=$4
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/pre fix"
unset DESTDIR

"$cmake" --install "$build" --prefix "$prefix" >"$work/install.log"
"$prefix/bin/normlab" list >/dev/null
echo "installed program: runs"
echo '#warning "installed"' >>"$prefix/include/normlab/core/kernel.h"
CC="$cc" "$prefix/bin/normlab" try "$here/../../rmsnorm/naive.c" rmsnorm/forward/f32/3x7/normal \
    >"$work/try.log" 2>"$work/try.words"
grep -q '^right on 1 case' "$work/try.log"
grep -q 'pre fix.*installed' "$work/try.words"
echo "installed headers: compile a kernel"

"$cmake" -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$cc" \
    -DCMAKE_C_FLAGS="$cflags" >"$work/configure.log"
"$cmake" --build "$work/build" >"$work/build.log"
printf 'find_package: '
"$work/build/consumer"

pc=$(find "$prefix" -name normlab.pc)
export PKG_CONFIG_PATH=${pc%/*}
for static in "" --static; do
    # shellcheck disable=SC2086
    eval "set -- $(pkg-config $static --cflags --libs normlab)" # pkg-config quotes spaces for the shell
    # shellcheck disable=SC2086
    "$cc" $cflags "$here/main.c" "$@" -o "$work/consumer"
    printf 'pkg-config %s: ' "$static"
    LD_LIBRARY_PATH=$(dirname "${pc%/*}") "$work/consumer"
done
