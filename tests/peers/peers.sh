#!/usr/bin/env bash
# Tests other libraries beside ours (docs/peers.md): they run only if selected, their outputs are checked, and their
# mistakes are shown. If the build has no other library, the test is skipped (77). Usage: tests/peers/peers.sh
# path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"

# Prints a column of the CSV in stdout, for the rows whose implementation matches PATTERN.
column() { # column NAME PATTERN
    awk -F, -v name="$1" -v pattern="$2" 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        $at["impl"] ~ pattern { print $at[name] }' stdout
}
good=layernorm/forward/f32/5x67/normal
has() { grep -Eqx "peer/$1" <<< "$peers"; } # has PATTERN

# These checks work with or without a peer.
exits "best and a pattern without a match" 0 check --impl 'best,peer/no_such*' $good
check "  names the pattern" "$(grep -q "no implementation is called 'peer/no_such\*'" stderr || shows cat stderr)"
check "  has one row, the best" "$([ "$(column impl .)" = "$("$normlab" check --impl best $good \
    2> /dev/null | sed -n '2s/^[^,]*,\([^,]*\),.*/\1/p')" ] || shows cat stdout)"
exits "a pattern without a match, alone" 2 check --impl 'peer/no_such*' $good

peers=$("$normlab" list --csv | sed -n 's/^\(peer\/[^,]*\),.*/\1/p')
if [ -z "$peers" ]; then
    echo "skip  the rest: this build has no peer (cmake -DNORMLAB_PEERS=ON prints why)"
    echo "$passed passed, $failed failed"
    [ $failed -eq 0 ] || exit 1
    exit 77
fi

exits "check without --impl" 0 check $good
check "  has no peer" "$(column impl ^peer/)"
exits "check --impl best" 0 check --impl best $good
check "  is no peer" "$(column impl ^peer/)"
check "  and loads no PyTorch" "$(LD_DEBUG=files "$normlab" check --impl best $good 2>&1 | grep -m 1 libtorch)"
exits "--version" 0 --version
check "  has the version of each" "$(for peer in $peers; do
    grep -q "^peer ${peer#peer/}: .*[0-9]\.[0-9]" stdout || echo "no $peer"; done)"

# Cases that every version gets right, in shapes for each layout and in awkward shapes.
for rows in layernorm rmsnorm; do
    has ".*_$rows" || continue
    exits "$rows" 0 check --impl "peer/*" "$rows/forward/f32/{1,3,64}x{1..67+6,1000}/normal{,/no-affine,/in-place}"
    check "  all of them are ok" "$(grep -q "^[0-9]* cases: [1-9][0-9]* ok, 0 demo, 0 skipped, 0 failed" stderr ||
        tail -3 stderr)"
    exits "$rows with a residual" 0 check --impl "peer/*" "$rows/forward/f32/9x{7,64}/normal/residual{,/in-place}"
    taken=$("$normlab" list --csv | awk -F, -v name="_$rows$" '$1 ~ /^peer/ && $1 ~ name { print $5 }')
    for type in $(tr ' ' '\n' <<< "$taken" | sort -u); do
        exits "$rows in $type, around the library" 0 check --impl "peer/*" \
            "$rows/forward/$type/9x{7,64}/{normal,exact}{,/residual{,/rounded-sum}}{,/cast-before-weight}$([ $type = f32 ] || echo "{,/parameters=$type}")"
    done
done
if has onnxruntime_layernorm; then
    check "ONNX Runtime takes 16 bits, or says why not" "$(for type in f16 bf16; do for rows in layer rms; do
        "$normlab" list --csv 2>&1 | grep -Eq "^peer/onnxruntime_${rows}norm,.*[ ,]$type[ ,]|ONNX Runtime: .*find an implementation" ||
            echo "${rows}norm in $type"; done; done)"
    exits "ONNX Runtime, more cases than sessions" 0 bench --impl peer/onnxruntime_layernorm --seconds 0.001 \
        "layernorm/forward/f32/{1..20}x64/normal/threads=2"
    check "  all of them right" "$(grep -q '^20 timed' stderr || shows tail -5 stderr)"
    exits "ONNX Runtime, a mean of many sigma" 0 check --impl "peer/onnxruntime*" "layernorm/forward/{f32,f16}/9x{3,8,1000}/offset:4096"
fi
backward='backward/f32/{{1,3,64}x{7..67+6,1000}/normal{,/no-affine,/in-place},9x{7,64}/normal/residual}'
if has '(onednn|torch)_layernorm'; then exits "layernorm backward" 0 check --impl "peer/*" "layernorm/$backward"; fi
for peer in ggml torch; do # not oneDNN: its rmsnorm backward has a bug, see below
    if has ${peer}_rmsnorm; then exits "rmsnorm backward, $peer" 0 check --impl "peer/$peer*" "rmsnorm/$backward"; fi
done
if has 'ggml_.*'; then
    exits "ggml, called by two threads, and on two" 0 check --impl "peer/ggml*" \
        "{layer,rms}norm/forward/f32/{8193x3,3x8192}/normal{,/threads=2,/no-rstd}" "rmsnorm/backward/f32/3x8192/normal{,/threads=2}"
    exits "ggml, other data of the same statistics" 0 check --impl "peer/ggml*" "rmsnorm/backward/f32/1x4096/{first,last}:1e4"
fi
if has '.*_batchnorm'; then
    exits "batchnorm inference" 0 check --impl "peer/*" "batchnorm/inference/f32/{2,9}x{1..19+6}x{1,3,49}/normal{,/no-affine,/in-place}"
fi
if has '(onednn|torch)_batchnorm'; then
    exits batchnorm 0 check --impl "peer/*" "batchnorm/{forward,backward}/f32/{2,9}x{1..19+6}x{1,3,49}/{normal,offset:16}{,/no-affine,/in-place}"
    exits "batchnorm's running statistics" 0 check --impl "peer/*" "batchnorm/forward/f32/9x7{,x49}/normal/{biased-running-var,momentum=0.99}"
    exits "batchnorm on two threads" 0 check --threads 2 --impl "peer/*" "batchnorm/{forward,backward}/f32/{64x64,8x5x49}/normal"
fi

# Known bugs of peers are either fixed, or found and not timed.
known() { # known PEER CASE
    has "$1" || return
    run bench --quick --impl "best,peer/$1" "$2"
    verdict=$(column verdict ^peer/) ns=$(column ns ^peer/)
    check "$1 on $2: $verdict" "$([ "$verdict,$ns" = fail, ] || { [ "$verdict" = ok ] && [ -n "$ns" ]; } || shows cat stdout)"
    check "  which is not a failure of the run" "$([ $code -eq 0 ] || echo "exit code $code")"
}
known onednn_rmsnorm rmsnorm/backward/f32/8x64/normal
known torch_layernorm layernorm/backward/bf16/9x64/normal
exits "bench" 0 bench --quick --impl 'best,peer/*' $good
check "  times both" "$([ "$(column ns . | grep -c '^[0-9]')" -ge 2 ] || shows cat stdout)"
check "  and ours is the baseline" "$(column baseline . | grep ^peer/)"

summary
