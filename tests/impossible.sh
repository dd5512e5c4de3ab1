#!/usr/bin/env bash
# A time beyond the limit is marked wherever it is shown: figures, the README's table, the report. Exit code
# 77, not run, without Matplotlib and Jinja2. Usage: tests/impossible.sh PROGRAM
set -u
program=$(realpath "$1")
cd "$(dirname "$0")/.." || exit 1
python3 -c 'import jinja2, matplotlib' 2>/dev/null || exit 77
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
passed=0 failed=0
check() { # WHAT COMMAND...
    if "${@:2}"; then echo "ok    $1" && passed=$((passed + 1)); else echo "FAIL  $1" && failed=$((failed + 1)); fi
}
lacks() { # PATTERN FILE
    ! grep -q "$1" "$2"
}
draw() { # FOLDER NAME
    python3 "plots/$2.py" "$work/$1/$2.csv" "$work/$1/$2" &>>"$work/log" || { cat "$work/log" && return 1; }
}

heading=case,impl,isa,threads,op,pass,dtype,n,c,s,data,options,verdict,error_u,bound_u,ns,ns_low,ns_high,ns_min,gbps,limit_gbps,limit_pct,bytes,state_bytes,scratch_bytes,baseline,speedup,speedup_low,speedup_high,comparison,aa_band,rounds,calls,stopped,flag
row() { # IMPL N OPTIONS NS FLAG
    local case=layernorm/forward/f32/$2x64/normal${3:+/$3} word=FASTER
    [[ $1 == */naive || $1 == optimized/rows_simd && $3 == peers ]] && word=baseline
    echo "$case,$1,c,1,layernorm,forward,f32,$2,64,1,normal,${3#peers},ok,1.5,20,$4,$4,$4,$4,$((512 * $2 / $4)),100,$((51200 * $2 / $4 / 100)),$((512 * $2)),0,0,layernorm/naive,2,1.9,2.1,$word,0.01,20,8,time,$5"
}
for folder in sound beyond; do
    flag= && [[ $folder == beyond ]] && flag=IMPOSSIBLE
    mkdir "$work/$folder"
    for name in ladder widths rows pareto threads peers; do
        option= && [[ $name == threads ]] && option=threads=1
        [[ $name == peers ]] && option=peers
        {
            echo "$heading"
            for n in 8 64; do
                row layernorm/naive $n "$option" $((n * 40)) ''
                row layernorm/two_pass $n "$option" $((n * 20)) ''
                row optimized/rows_simd $n "$option" $((n * 5)) "$flag"
                [[ $name == peers ]] && row peer/onednn_layernorm $n "$option" $((n * 5)) "$flag"
                [[ $name == threads ]] && row optimized/rows_simd $n "$option" $((n * 4)) "$flag" |
                    sed 's/threads=1/threads=2/g; s/,c,1,/,c,2,/'
            done
        } >"$work/$folder/$name.csv"
        check "$name of $folder rows is drawn" draw $folder $name
        if [[ $folder == beyond ]]; then
            check "$name: the legend" grep -q 'IMPOSSIBLE' "$work/$folder/$name.svg"
        else
            check "$name: no mark where there is none" lacks 'IMPOSSIBLE\|‡' "$work/$folder/$name.svg"
        fi
    done
    check "the report of $folder rows" python3 scripts/report.py --results "$work/$folder" \
        --out "$work/$folder/index.html" --program "$program" >"$work/log"
    python3 - "$work/$folder/ladder.csv" "$program" >"$work/$folder/table" <<'PY'
import sys
sys.path[:0] = ["scripts", "plots"]
import readme
print(readme.ladder(readme.Results(sys.argv[1]), readme.implementations(sys.argv[2])))
PY
done
check "ladder: the mark beside the bar" grep -q '× *‡' "$work/beyond/ladder.svg"
check "peers: the mark beside the rate" test "$(grep -c '‡' "$work/beyond/peers.svg")" -ge 3
for page in index.html table; do
    check "$page: the mark beside the share" grep -q '102‡' "$work/beyond/$page"
    check "$page: the legend" grep -q '‡ IMPOSSIBLE: faster than the limit' "$work/beyond/$page"
    check "$page: no mark where there is none" lacks '‡' "$work/sound/$page"
done
check "the report counts them" grep -q '2 of the times are ‡' "$work/beyond/index.html"

echo "$passed passed, $failed failed"
((failed == 0 && passed > 0))
