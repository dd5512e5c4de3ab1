#!/usr/bin/env bash
# Tests `normlab new`: every stub compiles without a warning and is reported as unfinished; a finished stub is right.
# Usage: tests/workbench/new.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
unset CC NL_ISA
compilers=$(for cc in gcc clang; do type $cc > /dev/null 2>&1 && echo $cc; done)
[ -n "$compilers" ] || { echo "skip  gcc and clang are missing"; exit 77; }

for layer in layernorm rmsnorm qwen2_rmsnorm batchnorm; do
    for pass in forward backward inference; do
        [ $layer = batchnorm ] || [ $pass != inference ] || continue
        for simd in '' --simd; do
            name=${layer}_$pass${simd#--}
            # shellcheck disable=SC2086
            exits "new $layer $name --pass $pass $simd" 0 new $layer $name --pass $pass $simd
            check "  has the header" "$(for word in idea gain fails; do
                grep -q "^.. $word *TODO: " $name.c || echo "no $word"; done)"
            check "  fits 100 columns" "$(awk 'length > 100' $name.c)"
            for cc in $compilers; do
                CC=$cc exits "  compiles with $cc and is unfinished" 1 try $name.c
                prints "try/$name@"
                prints "FAIL  a small case"
                says "should be"
                check "  without a warning" "$(grep warning stderr)"
            done
        done
    done
done

sed 's|^ */\* TODO.*|float squares = 0; for (size_t i = 0; i < v.c; i++) squares += nl_x(row, i) * nl_x(row, i);\
        float rstd = 1 / sqrtf(squares / v.c + v.eps);\
        for (size_t i = 0; i < v.c; i++) nl_put_y(row, i, nl_x(row, i) * rstd);\
        nl_keep(row, 0, rstd); /*|' rmsnorm_forward.c > finished.c
answers "a stub with its formula" 0 "right on " try --seconds 0.001 finished.c

cp rmsnorm_forward.c before.c
refuses "a file that is there" "rmsnorm_forward.c already exists: give another NAME" new rmsnorm rmsnorm_forward
check "  is left as it is" "$(cmp rmsnorm_forward.c before.c)"
mkdir folder
answers "--out" 0 "folder/other.c: replace each TODO" new gemma mine --out folder/other.c
check "  writes there" "$([ -s folder/other.c ] && [ ! -e mine.c ] || shows ls . folder)"
check "  takes an alias" "$(grep -q NL_QWEN2_RMSNORM folder/other.c || shows cat folder/other.c)"
refuses "--out into no folder" "No such file" new rmsnorm mine --out none/mine.c
refuses "no name" "give a LAYER and a NAME" new rmsnorm
refuses "a word too many" "give a LAYER and a NAME" new rmsnorm a b
refuses "an unknown layer" "groupnorm is no layer: batchnorm" new groupnorm mine
refuses "a name that is none" "'../a'" new rmsnorm ../a
refuses "an unknown pass" "--pass sideways should be forward, backward or inference" new rmsnorm a --pass sideways
refuses "inference of a row norm" "inference of layernorm is its forward pass" new layernorm a --pass inference
check "nothing else is written" "$(ls a.c mine.c 2>/dev/null)"

summary
