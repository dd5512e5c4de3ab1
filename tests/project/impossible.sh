#!/usr/bin/env bash
# Tests that the README's table and the report mark a time beyond the limit. Exit code 77 (not run) without Matplotlib
# and Jinja2. Usage: tests/project/impossible.sh PROGRAM
source "$(dirname "$0")/../shell/common.sh"
cd "$root" || exit 1
python3 -c 'import jinja2, matplotlib' 2>/dev/null || exit 77
lacks() { # PATTERN FILE
    ! grep -q "$1" "$2"
}
heading=case,impl,isa,threads,op,pass,dtype,n,c,s,data,options,verdict,error_u,bound_u,ns,ns_low,ns_high,ns_min,gbps,limit_gbps,limit_pct,bytes,state_bytes,scratch_bytes,baseline,speedup,speedup_low,speedup_high,comparison,aa_band,rounds,calls,stopped,flag
row() { # IMPL N NS FLAG
    local word=FASTER
    [[ $1 == */naive ]] && word=baseline
    echo "layernorm/forward/f32/$2x64/normal,$1,c,1,layernorm,forward,f32,$2,64,1,normal,,ok,1.5,20,$3,$3,$3,$3,$((512 * $2 / $3)),100,$((51200 * $2 / $3 / 100)),$((512 * $2)),0,0,layernorm/naive,2,1.9,2.1,$word,0.01,20,8,time,$4"
}
for folder in sound beyond; do
    flag= && [[ $folder == beyond ]] && flag=IMPOSSIBLE
    mkdir "$work/$folder"
    ladder=$work/$folder/ladder
    {
        echo "$heading"
        for n in 8 64; do
            row layernorm/naive $n $((n * 40)) ''
            row layernorm/two_pass $n $((n * 20)) ''
            row optimized/rows_simd $n $((n * 5)) "$flag"
        done
    } >"$ladder.csv"
    holds "the report of $folder rows" python3 scripts/report.py --results "$work/$folder" \
        --out "$work/$folder/index.html" --program "$normlab" >"$work/log"
    python3 - "$work/$folder/ladder.csv" "$normlab" >"$work/$folder/table" <<'PY'
import sys
sys.path[:0] = ["scripts", "plots"]
import readme
print(readme.ladder(readme.Results(sys.argv[1]), readme.implementations(sys.argv[2])))
PY
done
for page in index.html table; do
    holds "$page: the mark beside the share" grep -q '102‡' "$work/beyond/$page"
    holds "$page: the legend" grep -q '‡ IMPOSSIBLE: faster than the limit' "$work/beyond/$page"
    holds "$page: no mark where there is none" lacks '‡' "$work/sound/$page"
done
holds "the report counts them" grep -q '2 of the times are ‡' "$work/beyond/index.html"

summary
