#!/usr/bin/env bash
# Tests `normlab judge` as a user sees it. Outputs computed in Python must get the right verdict and mechanism; bad
# input must give exit code 2 and a message. tests/judge/judge_drawn.py plants the mistakes; this script varies
# types, shapes and options. Usage: tests/judge/judge.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=judge
real=$root/experiments/activations
refuses() { exits "$1 is refused" 2 "${@:3}"; says "$2"; says "normlab judge: "; quiet; }

python3 -BS "$root/tests/judge/outputs.py" || { echo "FAIL  the outputs to judge could not be made"; exit 1; }

# finds CODE MECHANISM Y ARGUMENTS...: checks the exit code, and that MECHANISM is named as likely.
finds() {
    local code=$1 says=$2 y=$3 got; shift 3
    "$normlab" judge "$@" "${y_option:---y}" "$y.npy" > stdout 2> stderr; got=$?
    check "$* ${y_option:---y} $y" "$(
        [ $got -eq "$code" ] || echo "exit code $got, not $code: $(head -1 stderr)"
        { grep '^likely mechanism' stdout; grep '^  or ' stdout; } | grep -qF -- "$says" ||
            echo "should name '$says': $(grep '^likely' stdout)")"
}
alone() { check "  and nothing else" "$(grep '^  or ' stdout)"; }

ln=(layernorm --x x.npy --gamma g.npy --beta b.npy)
finds 0 "nothing to explain" right "${ln[@]}"
prints "exactly rounded  100.0 %"
finds 0 "nothing to explain" right64 "${ln[@]}"
finds 0 "nothing to explain" right3 layernorm --x x3.npy --gamma g.npy --beta b.npy
finds 1 "eps = 4e-05, fitted" eps-odd "${ln[@]}"; alone
finds 0 "nothing to explain" eps-1e-6 "${ln[@]}" --eps 1e-6
finds 1 "over the last two axes" pages layernorm --x x3.npy --gamma g.npy --beta b.npy; alone
finds 1 "y plus the constant 0.01" offset "${ln[@]}"; alone
finds 1 "rounded to bf16, then widened" to-bf16 "${ln[@]}"; alone
finds 0 "nothing to explain" to-bf16 "${ln[@]}" --rounded-to bf16
finds 1 "rounded to bf16, then widened" wide-bf16 layernorm --x wide.npy; alone
check "  wholly" "$(grep '^likely.*partly' stdout)"
finds 1 "no known mechanism" noise "${ln[@]}"
finds 1 "only there: y is 0" tail "${ln[@]}"
prints "y is wrong in 120 of 960 elements, from feature 21 on"
prints "beyond the bound in 120 of 960 elements, 40 of 40 rows"
finds 1 "no known mechanism" rows "${ln[@]}"
prints "beyond the bound in 48 of 960 elements, 2 of 40 rows"
prints "worst element    y[3, 0] is nan"
prints "without 48 numbers that are NaN"
finds 1 "every element is NaN or infinite" all-nan "${ln[@]}"
finds 1 "wrong, row 20 only: not written, or left by another call" old-rows "${ln[@]}"
finds 1 "each feature has a factor and a constant of its own: were gamma and beta left out?" right layernorm --x x.npy
prints "that remove less; "
finds 1 "a constant of its own: was beta left out?" right layernorm --x x.npy --gamma g.npy
finds 1 "each feature has a factor of its own: was gamma left out?" right layernorm --x x.npy --beta b.npy
finds 1 "an rsqrt of 12 bits" rsqrt12 "${ln[@]}"
finds 1 "no known mechanism" flawed-y layernorm --x flawed.npy

finds 1 "partly: beta was not added" nobeta-noise "${ln[@]}" --csv partly.csv
prints "there is another mistake too, or this is not the mistake"
check "  partly in the CSV" "$(grep -q '^.*beta-missing.*,partly$' partly.csv || shows cat partly.csv)"

gradient() { # gradient CODE MECHANISM DX ARGUMENTS...
    local code=$1 says=$2 dx=$3; shift 3
    y_option=--dx finds "$code" "$says" "$dx" layernorm --x x.npy --gamma g.npy --dy dy.npy "$@"
}
both=(--dgamma dg-right.npy --dbeta db-right.npy)
gradient 0 "nothing to explain" dx-right "${both[@]}"
prints "dgamma           largest error"
gradient 0 "nothing to explain" dx-right --dgamma dh-right.npy
gradient 1 "dgamma and dbeta are swapped" dx-right --dgamma db-right.npy --dbeta dg-right.npy; alone
gradient 0 "nothing to explain" dx-past --dresidual r.npy
gradient 1 "no known mechanism" dx-past

half=(rmsnorm --x h.npy --gamma gh.npy)
finds 0 "nothing to explain" h-last "${half[@]}"
finds 0 "nothing to explain" h-before "${half[@]}" --casting before-weight
finds 1 "cast last" h-last "${half[@]}" --casting before-weight; alone
for how in float rounded; do
    "$normlab" run rmsnorm --x h.npy --residual hr.npy --sum $how --out h-$how.npy 2> stderr
    finds 0 "nothing to explain" h-$how rmsnorm --x h.npy --residual hr.npy --sum $how
done
finds 1 "x + residual was rounded to f16" h-rounded rmsnorm --x h.npy --residual hr.npy
finds 1 "x + residual was not rounded first" h-float rmsnorm --x h.npy --residual hr.npy --sum rounded
run judge rmsnorm --x h.npy --y b-last.npy
check "x and y of two types" "$(grep -qx 'x is f16 and y is f32: judged as f32; if it was rounded to f16 before, give --rounded-to f16' stderr || shows cat stderr)"
run judge rmsnorm --x h.npy --y b-last.npy --rounded-to f16
check "  nothing to say with --rounded-to" "$(cat stderr)"
run judge layernorm --x x3.npy --axes 1,2 --y pages.npy
prints "layernorm forward f32 (5, 192), eps 1e-05: pages.npy"
finds 0 "nothing to explain" b-last rmsnorm --x xb.npy --gamma gh.npy --rounded-to bf16

finds 1 "one-pass variance" one-pass layernorm --x k.npy
prints "% in proportion to xhat"
finds 1 "one-pass variance" lucky-y layernorm --x lucky.npy
finds 1 "one-pass variance" line-y layernorm --x line.npy
finds 0 "the mean rounded to a float" rounded-mean layernorm --x k.npy
finds 0 "the mean folded into the output" folded layernorm --x k.npy
answers "no verdict without a bound" 1 "has no bound on these data" layernorm --x far.npy --y far-y.npy
answers "and yet wrong" 1 "16 of these    have no bound, but no row can have them: NaN, infinite or too large" layernorm --x far.npy --y far-x.npy

bn=(batchnorm --x img.npy)
finds 0 "nothing to explain" i-channel "${bn[@]}"
inference=("${bn[@]}" --inference --running-mean rm.npy --running-var rv.npy)
finds 0 "nothing to explain" i-running "${inference[@]}"
finds 1 "not the running statistics: training" i-channel "${inference[@]}"; alone

# Judges PyTorch's own outputs on real activations.
for name in early:3.827:45.6:0 middle:3.528:45.9:0 late:3.384:35.5:1; do
    IFS=: read -r part error exact beyond <<< "$name"
    cp "$real/$part".*.npy .
    finds 0 "nothing to explain" "$part.y" layernorm --x "$part.x.npy" --gamma "$part.gamma.npy" \
        --beta "$part.beta.npy" --eps 1e-12
    prints "largest error    $error units"
    prints "exactly rounded  $exact %"
    finds $beyond "eps = 1e-12" "$part.y" layernorm --x "$part.x.npy" --gamma "$part.gamma.npy" \
        --beta "$part.beta.npy" --eps 1e-5
done

for part in early middle late; do
    ran "the example of folded centring, $part" 0 python3 -IS "$root/examples/fold_centring.py" $part "$normlab"
    check "  two right, one wrong" "$([ "$(grep -o 'right:\|WRONG:' stdout | xargs)" = "right: right: WRONG:" ] || shows cat stdout)"
done

# Judges rows that were computed in another batch.
finds 0 "nothing to explain" right "${ln[@]}" --batch part.npy --first-row 5
prints "another batch    rows 5 to 7 of 40: part.npy"
prints "  its bits       are the same"
finds 1 "nothing to explain" right "${ln[@]}" --batch part-ulp.npy --first-row 5
prints "  its bits       differ in 2 of 3 rows, 2 of 72 numbers, at most 3 ulp: y[7, 7]"
prints "  its error      is within the bound"
finds 1 "nothing to explain" right "${ln[@]}" --batch part.npy --first-row 4
prints "  its bits       differ in 3 of 3 rows"
prints "  its error      is beyond the bound in "
finds 1 "nothing to explain" right "${ln[@]}" --batch part-nan.npy --first-row 5
prints "  its bits       differ in 1 of 1 rows, 1 of 24 numbers, NaN in one batch only: y[5, 0]"
finds 0 "nothing to explain" right64 "${ln[@]}" --batch part64.npy --first-row 5
finds 1 "nothing to explain" right64 "${ln[@]}" --batch part64-last.npy --first-row 5
prints "  its bits       differ in 1 of 1 rows, 1 of 24 numbers, at most 1 ulp of f64: y[5, 0]"
for of in "0 bf16 are the same" "1 bf16-ulp at most 1 ulp: y[5, 0]" "1 bf16-last at most 1 ulp of f32: y[5, 0]"; do
    read -r beyond file words <<< "$of"
    finds "$beyond" "nothing to explain" wide-y "${ln[@]}" --rounded-to bf16 --batch "part-$file.npy" --first-row 5
    check "  $words" "$(grep "^  its bits " stdout | grep -qF "$words" || shows cat stdout)"
done
gradient 0 "nothing to explain" dx-right --batch dx-right.npy
while read -r file row words; do
    refuses "--batch $file --first-row $row" "$words" "${ln[@]}" --y right.npy --batch "$file" --first-row "$row"
done << 'END'
part.npy 38 part.npy has 3 rows, but from row 38 on x has 2
part.npy -1 --first-row
part-odd.npy 0 part-odd.npy has shape (23,): not rows of x, which has (40, 24)
part-turned.npy 5 part-turned.npy has shape (24, 3): not rows of x, which has (40, 24)
part-split.npy 5 part-split.npy has shape (6, 4): not rows of x, which has (40, 24)
part64.npy 0 part64.npy is f64, and y is f32
none.npy 0 none.npy
END

# The CSV.
finds 1 "unbiased" unbiased "${ln[@]}" --csv out.csv
check "a CSV" "$(python3 -IS - <<'PYTHON' 2>&1
import csv
rows = list(csv.DictReader(open('out.csv')))
likely = [r['mistake'] for r in rows if r['likely'] == 'yes']
assert likely == ['unbiased'], likely
assert rows[0]['mistake'] == 'none' and rows[0]['verdict'] == 'wrong', rows[0]
assert float(rows[1]['removes_pct']) > 99 and float(rows[1]['left_rms_u']) < 1, rows[1]
assert len(rows) > 15 and len({r['mistake'] for r in rows}) == len(rows), len(rows)
assert all(None not in r and None not in r.values() for r in rows)
PYTHON
)"
answers "--help" 0 --rounded-to --help
# tests/commands/run.sh tests the messages about options and arrays that `run` has too.
refuses "no y" "--y FILE.npy is missing" layernorm --x x.npy
refuses "a missing y" "--y nowhere.npy" layernorm --x x.npy --y nowhere.npy
refuses "a y of another shape" "--y right3.npy has shape (5, 8, 24); x has (40, 24)" \
    layernorm --x x.npy --y right3.npy
refuses "dx without dy" "--dx needs --dy" layernorm --x x.npy --dx dx-right.npy
refuses "y in backward" "--y has no meaning for layernorm backward" layernorm --x x.npy --dy dy.npy \
    --dx dx-right.npy --y right.npy
refuses "an unknown type" "--rounded-to f8" layernorm --x x.npy --y right.npy --rounded-to f8
refuses "f16 that was f32" "h-last.npy is f16" rmsnorm --x h.npy --y h-last.npy --rounded-to f32
refuses "nothing to judge" "is empty" layernorm --x empty.npy --y empty.npy
refuses "one value a channel" "one value per channel" batchnorm --x one.npy --y one.npy
refuses "the CSV on stdout" "--csv -" layernorm --x x.npy --y right.npy --csv -
refuses "a CSV over an input" "is an input" layernorm --x x.npy --y right.npy --csv x.npy
reports "a CSV that cannot be written" 2 nowhere/out.csv "${ln[@]}" --y right.npy --csv nowhere/out.csv

summary
