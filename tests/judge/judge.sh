#!/usr/bin/env bash
# `normlab judge` as a user sees it: outputs computed in Python must get their verdict and their mechanism, and bad
# input exit code 2 and a message. tests/judge/judge_drawn.py plants every mistake, tests/judge/hints.c names many: here are the
# types, shapes and options, and what neither has.
# Usage: tests/judge/judge.sh path/to/normlab. SPDX-License-Identifier: MIT
source "$(dirname "$0")/../shell/common.sh"
under_test=judge
real=$root/experiments/activations
refuses() { exits "$1 is refused" 2 "${@:3}"; says "$2"; says "normlab judge: "; quiet; }

cat > make.py <<'PYTHON'
import math, struct
from random import Random
random = Random(7)

def to(letter, v):
    """v rounded to f32, f16 or bf16; too large becomes infinite."""
    if letter == 'b':
        bits = struct.unpack('<I', struct.pack('<f', v))[0]
        bits = bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000
        return struct.unpack('<f', struct.pack('<I', bits))[0]
    try:
        return struct.unpack('<' + letter, struct.pack('<' + letter, v))[0]
    except OverflowError:
        return math.copysign(math.inf, v)

def save(path, letter, shape, values):
    head = "{'descr': '<f%d', 'fortran_order': False, 'shape': %s, }" % (
        struct.calcsize(letter), tuple(shape))
    head += ' ' * (-(11 + len(head)) % 64) + '\n'
    values = [to(letter, v) for v in values]
    assert len(values) == math.prod(shape)
    with open(path + '.npy', 'wb') as f:
        f.write(b'\x93NUMPY\1\0' + struct.pack('<H', len(head)) + head.encode())
        f.write(struct.pack('<%d%s' % (len(values), letter), *values))
    return values

def mean(v): return math.fsum(v) / len(v)
def around(v, m, less=0): return math.fsum((a - m) ** 2 for a in v) / (len(v) - less)
E = to('f', 1e-5)
def rstd(var, eps=E): return 1 / math.sqrt(var + eps)

def norm(v, centred=True, eps=E, less=0, scale=rstd):
    m = mean(v) if centred else 0
    s = scale(around(v, m, less), eps)
    return [(a - m) * s for a in v]

# Rows of 24 with sigma from 0.01 to 3, so that an eps shows.
n, c = 40, 24
w = save('g', 'f', [c], [random.gauss(1, 0.3) for _ in range(c)])
b = save('b', 'f', [c], [random.gauss(0, 1) for _ in range(c)])
sigma = [0.01 * 300 ** (i / (n - 1)) for i in range(n)]
flat = save('x', 'f', [n, c], [random.gauss(0.3 * s, s) for s in sigma for _ in range(c)])
x = [flat[i:i + c] for i in range(0, n * c, c)]
save('x3', 'f', [5, 8, c], flat)
save('x1', 'f', [n * c], flat)
flat = save('r', 'f', [n, c], [random.gauss(0, 0.3) for _ in flat])
r = [flat[i:i + c] for i in range(0, n * c, c)]
def affine(v): return [a * s + t for a, s, t in zip(v, w, b)]
def gained(v): return [a * s for a, s in zip(v, w)]

def out(name, make, letter='f', shape=(n, c)):
    save(name, letter, shape, [a for row in x for a in make(row)])

out('right', lambda v: affine(norm(v)))
out('right64', lambda v: affine(norm(v)), 'd')
def up(v, ulps): return struct.unpack('<f', struct.pack('<I', struct.unpack('<I', struct.pack('<f', v))[0] + ulps))[0]
rows = [affine(norm(v)) for v in x[5:8]]
save('part', 'f', [1, 3, c], sum(rows, []))
save('part-ulp', 'f', [3, c], [up(a, 3 if i == 2 * c + 7 else i == 9) for i, a in enumerate(sum(rows, []))])
save('part-nan', 'f', [c], [math.nan] + rows[0][1:])
save('part-odd', 'f', [c - 1], rows[0][1:])
save('part-turned', 'f', [c, 3], sum(rows, []))
save('part64', 'd', [c], rows[0])
save('part64-last', 'd', [c], [math.nextafter(rows[0][0], math.inf)] + rows[0][1:])
save('part-bf16', 'f', [c], [to('b', a) for a in rows[0]])
save('part-bf16-last', 'f', [c], [up(to('b', rows[0][0]), 1)] + [to('b', a) for a in rows[0][1:]])
save('part-bf16-ulp', 'f', [c], [up(to('b', rows[0][0]), 1 << 16)] + [to('b', a) for a in rows[0][1:]])
out('wide-y', lambda v: [to('b', a) for a in affine(norm(v))])
out('right3', lambda v: affine(norm(v)), 'f', (5, 8, c))
out('eps-1e-6', lambda v: affine(norm(v, eps=1e-6)))
out('eps-odd', lambda v: affine(norm(v, eps=4e-5)))
out('unbiased', lambda v: affine(norm(v, less=1)))
out('rms', lambda v: gained(norm(v, False)))
pages = [norm(sum(x[i:i + 8], [])) for i in range(0, n, 8)]
save('pages', 'f', [5, 8, c], [a for page in pages for i in range(0, 8 * c, c)
                              for a in affine(page[i:i + c])])
save('x4', 'f', [5, 4, 2, c], sum(x, []))
save('x2', 'f', [5, 4, 2, c], [a for page in pages for i in range(0, 8 * c, c)
                               for a in affine(page[i:i + c])])
out('nobeta-noise', lambda v: [a + random.gauss(0, 0.01) for a in gained(norm(v))])

# Backward: dx = r * (g - mean(g) - xhat * mean(g * xhat)), and the sums over the rows.
dflat = save('dy', 'f', [n, c], [random.gauss(0.5, 1) for _ in range(n * c)])
dys = [dflat[i:i + c] for i in range(0, n * c, c)]
def gradient(v, d):
    r, h = rstd(around(v, mean(v))), norm(v)
    g = [p * q for p, q in zip(d, w)]
    gx = mean([p * q for p, q in zip(g, h)])
    return [r * (p - mean(g) - q * gx) for p, q in zip(g, h)]
save('dx-right', 'f', [n, c], [a for v, d in zip(x, dys) for a in gradient(v, d)])
hats = [norm(v) for v in x]
for name, letter in (('dg-right', 'f'), ('dh-right', 'e')):
    save(name, letter, [c], [math.fsum(dys[i][j] * hats[i][j] for i in range(n)) for j in range(c)])
save('db-right', 'f', [c], [math.fsum(d[j] for d in dys) for j in range(c)])
save('dx-past', 'f', [n, c], [p + q for v, d, past in zip(x, dys, r) for p, q in
                              zip(gradient(v, d), past)])
added = [[p + q for p, q in zip(*rows)] for rows in zip(x, r)]
save('added', 'f', [n, c], [a for row in added for a in affine(norm(row))])
out('offset', lambda v: [a + 0.01 for a in affine(norm(v))])
out('factor', lambda v: [a * 1.001 for a in affine(norm(v))])
out('to-f16', lambda v: [to('e', a) for a in affine(norm(v))])
out('to-bf16', lambda v: [to('b', a) for a in affine(norm(v))])
# Stored in bf16 by a float kernel, whose last digits are not ours: near ties they go the other way.
wide = save('wide', 'f', [99, 512], [random.gauss(0, 1) for _ in range(99 * 512)])
wide = [norm(wide[i:i + 512]) for i in range(0, 99 * 512, 512)]
save('wide-bf16', 'f', [99, 512], [to('b', a * (1 + random.gauss(0, 2e-7))) for v in wide for a in v])
out('noise', lambda v: [a + random.gauss(0, 1e-3) for a in affine(norm(v))])
out('tail', lambda v: affine(norm(v))[:-3] + [0, 0, 0])
save('rows', 'f', [n, c], [math.nan if i in (3, 7) else a for i, v in enumerate(x)
                          for a in affine(norm(v))])

out('old-rows', lambda v: affine(norm(v)) if v is not x[20] else affine(norm(x[3])))
rough = Random(8)  # an rsqrt of 12 bits: a factor in each row
def coarse(v, by): return affine([a * by for a in norm(v)])
out('rsqrt12', lambda v: coarse(v, 1 + rough.uniform(-1, 1) * 2**-12))
out('all-nan', lambda v: [math.nan] * c)
flawed = save('flawed', 'f', [n, c], [math.nan] + sum(x, [])[1:])
save('flawed-y', 'f', [n, c], [math.nan] * c + [1e30] * c + [0] * (n - 2) * c)

# Half precision: rows of 64; the sums of squares of `big` come near the end of its range.
h = save('h', 'e', [32, 64], [random.gauss(0, 2) for _ in range(2048)])
hr = save('hr', 'e', [32, 64], [random.gauss(0, 2) for _ in range(2048)])
gh = save('gh', 'e', [64], [random.gauss(1, 0.3) for _ in range(64)])
def halves(v): return [v[i:i + 64] for i in range(0, 2048, 64)]
def weigh(v): return [p * q for p, q in zip(v, gh)]
save('h-last', 'e', [32, 64], [a for v in halves(h) for a in weigh(norm(v, False))])
save('h-before', 'e', [32, 64], [a for v in halves(h)
                                for a in weigh([to('e', t) for t in norm(v, False)])])
save('h-exact', 'e', [32, 64], [a for v in halves([p + q for p, q in zip(h, hr)]) for a in norm(v, False)])
big = save('big', 'e', [32, 64], [random.gauss(0, 30) for _ in range(2048)])
def half_sum(v):
    total = 0
    for a in v: total = to('e', total + to('e', a * a))
    return total / len(v)
save('h-sums', 'e', [32, 64], [t * rstd(half_sum(v)) for v in halves(big) for t in v])
# bfloat16 as PyTorch users export it: values of bf16 in a float32 array.
xb = save('xb', 'f', [32, 64], [to('b', a) for a in h])
save('b-last', 'f', [32, 64], [to('b', a) for v in halves(xb) for a in weigh(norm(v, False))])
save('b-before', 'f', [32, 64], [to('b', a) for v in halves(xb)
                                for a in weigh([to('b', t) for t in norm(v, False)])])

low = []
for v in halves(xb):
    m, s = to('b', mean(v)), to('b', rstd(around(v, mean(v))))
    low += [(t - m) * s for t in v]
save('b-stats', 'f', [32, 64], [to('b', t) for t in low])

# Rounding: every row at another kappa, 2^2 to 2^10, with each step in float, as in a plain kernel.
def f(v): return to('f', v)
flat = save('k', 'f', [64, 64], [random.gauss(4 * 2 ** (i / 8), 1) for i in range(64)
                                for _ in range(64)])
def one_pass(v):
    s = q = 0
    for a in v: s, q = f(s + a), f(q + f(a * a))
    m = f(s / 64)
    return [f((a - m) * rstd(f(f(q / 64) - f(m * m)))) for a in v]
def rounded_mean(v):
    m = f(mean(v))
    return [(a - m) * rstd(around(v, mean(v))) for a in v]
def folded(v):
    s = f(rstd(around(v, mean(v))))
    shift = f(mean(v) * s)
    return [f(f(a * s) - shift) for a in v]
# The same, where the rows with the largest errors happen to have them in one direction.
def shrinks(v): return one_pass(v)[0] / norm(v)[0] < 1
lucky = []
for i in range(64):
    row = None
    while row is None or (i >= 44 and not shrinks(row)):
        row = [f(random.gauss(4 * 2 ** (i / 8), 1)) for _ in range(64)]
    lucky += [row]
save('lucky', 'f', [64, 64], sum(lucky, []))
save('lucky-y', 'f', [64, 64], [a for v in lucky for a in one_pass(v)])
# As above, but the one row beyond its bound has a factor near 1, so a missing rstd is not its mistake.
line = [[f(random.gauss(4 * 1.022 ** i, 1)) for _ in range(64)] for i in range(63)]
last = [f(100 + v / 1.001) for v in norm([random.gauss(0, 1) for _ in range(64)])]
save('line', 'f', [64, 64], sum(line, []) + last)
save('line-y', 'f', [64, 64], [a for v in line for a in one_pass(v)] + [v - mean(last) for v in last])
for name, make in (('one-pass', one_pass), ('rounded-mean', rounded_mean), ('folded', folded)):
    save(name, 'f', [64, 64], [a for i in range(0, 4096, 64) for a in make(flat[i:i + 64])])
near = save('far', 'f', [4, 4], [1e7 + i for i in range(16)])
save('far-y', 'f', [4, 4], near)

# Images, (4, 3, 5): channels of different sigma.
img = save('img', 'f', [4, 3, 5], [random.gauss(ch, 0.5 + ch) for _ in range(4) for ch in range(3)
                                  for _ in range(5)])
rm = save('rm', 'f', [3], [0.5, -1, 2])
rv = save('rv', 'f', [3], [1, 4, 0.5])
def groups(key, **options):
    got, y = {}, [0] * 60
    for i in range(60): got.setdefault(key(i // 15, i // 5 % 3, i % 5), []).append(i)
    for members in got.values():
        for i, v in zip(members, norm([img[i] for i in members], **options)): y[i] = v
    return y
save('i-channel', 'f', [4, 3, 5], groups(lambda p, q, t: q))
save('i-running', 'f', [4, 3, 5], [(v - rm[i // 5 % 3]) * rstd(rv[i // 5 % 3])
                                  for i, v in enumerate(img)])
save('one', 'f', [1, 3], [1, 2, 3])
save('empty', 'f', [0, 3], [])
PYTHON
python3 -IS make.py || { echo "FAIL  the outputs to judge could not be made"; exit 1; }

# finds CODE MECHANISM Y ARGUMENTS...: checks the exit code, and that MECHANISM is likely.
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
finds 0 "nothing to explain" added "${ln[@]}" --residual r.npy
finds 1 "y plus the constant 0.01" offset "${ln[@]}"; alone
finds 1 "y times the constant 1.001" factor "${ln[@]}"; alone
finds 1 "rounded to f16, then widened" to-f16 "${ln[@]}"; alone
finds 0 "nothing to explain" to-f16 "${ln[@]}" --rounded-to f16
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
prints "without the 48 that are NaN"
finds 1 "every element is NaN or infinite" all-nan "${ln[@]}"
finds 1 "wrong, row 20 only: not written, or of another call" old-rows "${ln[@]}"
finds 1 "an rsqrt of 12 bits" rsqrt12 "${ln[@]}"
finds 1 "no known mechanism" flawed-y layernorm --x flawed.npy

finds 0 "nothing to explain" rms rmsnorm --x x.npy --gamma g.npy

finds 1 "the last three axes" x2 layernorm --x x4.npy --gamma g.npy --beta b.npy; alone
finds 1 "partly: beta was not added" nobeta-noise "${ln[@]}" --csv partly.csv
prints "something else is wrong, or it is not this"
check "  partly in the CSV" "$(grep -q '^.*beta-missing.*,partly$' partly.csv || cat partly.csv)"

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
finds 0 "nothing to explain" h-exact rmsnorm --x h.npy --residual hr.npy
for how in float rounded; do
    "$normlab" run rmsnorm --x h.npy --residual hr.npy --sum $how --out h-$how.npy 2> stderr
    finds 0 "nothing to explain" h-$how rmsnorm --x h.npy --residual hr.npy --sum $how
done
finds 1 "x + residual was rounded to f16" h-rounded rmsnorm --x h.npy --residual hr.npy
finds 1 "x + residual was not rounded first" h-float rmsnorm --x h.npy --residual hr.npy --sum rounded
finds 1 "sums and squares in 16 bits" h-sums rmsnorm --x big.npy; alone
run judge rmsnorm --x h.npy --y b-last.npy
check "x and y of two types" "$(grep -qx 'x is f16 and y is f32: judged as f32; if it was rounded to f16 before, give --rounded-to f16' stderr || cat stderr)"
run judge rmsnorm --x h.npy --y b-last.npy --rounded-to f16
check "  nothing to say with --rounded-to" "$(cat stderr)"
run judge layernorm --x x3.npy --axes 1,2 --y pages.npy
prints "layernorm forward f32 (5, 192), eps 1e-05: pages.npy"
bf=(rmsnorm --x xb.npy --gamma gh.npy --rounded-to bf16)
finds 0 "nothing to explain" b-last "${bf[@]}"
finds 0 "nothing to explain" b-before "${bf[@]}" --casting before-weight

finds 1 "mean and rstd were rounded to bf16" b-stats layernorm --x xb.npy --rounded-to bf16

finds 1 "one-pass variance" one-pass layernorm --x k.npy
prints "% in proportion to xhat"
finds 1 "one-pass variance" lucky-y layernorm --x lucky.npy
finds 1 "one-pass variance" line-y layernorm --x line.npy
finds 0 "the mean rounded to a float" rounded-mean layernorm --x k.npy
finds 0 "folded apply" folded layernorm --x k.npy
exits "no verdict without a bound" 1 layernorm --x far.npy --y far-y.npy
prints "has no bound on these data"

bn=(batchnorm --x img.npy)
finds 0 "nothing to explain" i-channel "${bn[@]}"
inference=("${bn[@]}" --inference --running-mean rm.npy --running-var rv.npy)
finds 0 "nothing to explain" i-running "${inference[@]}"
finds 1 "not the running ones: training" i-channel "${inference[@]}"; alone

# PyTorch's own outputs on real activations. `normlab check` measures the same error.
for name in early:3.827:45.6:0 middle:3.528:45.9:0 late:3.384:35.5:1; do
    IFS=: read -r part error exact beyond <<< "$name"
    cp "$real/$part".*.npy .
    finds 0 "nothing to explain" "$part.y" layernorm --x "$part.x.npy" --gamma "$part.gamma.npy" \
        --beta "$part.beta.npy" --eps 1e-12
    prints "largest error    $error units"
    prints "exactly rounded  $exact %"
    # With another eps than the model's, `normlab check` and judge find the same error. Judge's bound is
    # the probable one, which check keeps for random data: it may be the sharper.
    finds $beyond "eps = 1e-12" "$part.y" layernorm --x "$part.x.npy" --gamma "$part.gamma.npy" \
        --beta "$part.beta.npy" --eps 1e-5 --csv judge.csv
    "$normlab" check "layernorm/forward/f32/file/npy:$part.x.npy/eps=1e-5" --out check.csv > /dev/null 2>&1
    check "  as check says" "$(python3 -IS - <<'PYTHON' 2>&1
import csv
ours = next(csv.DictReader(open('judge.csv')))
theirs = [r for r in csv.DictReader(open('check.csv')) if 'own y' in r['impl']][0]
assert float(ours['error_u']) > 100 and ours['error_u'] == theirs['error_u'], (ours, theirs)
assert 100 < float(ours['bound_u']) < float(theirs['bound_u']), (ours, theirs)
PYTHON
)"
done

for part in early middle late; do
    ran "the example of folded centring, $part" 0 python3 -IS "$root/examples/fold_centring.py" $part "$normlab"
    check "  two right, one wrong" "$([ "$(grep -o 'right:\|WRONG:' stdout | xargs)" = "right: right: WRONG:" ] || cat stdout)"
done

# Rows that were computed in another batch.
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
prints "  its bits       differ in 1 of 1 rows, 1 of 24 numbers, one of both NaN: y[5, 0]"
finds 0 "nothing to explain" right64 "${ln[@]}" --batch part64.npy --first-row 5
finds 1 "nothing to explain" right64 "${ln[@]}" --batch part64-last.npy --first-row 5
prints "  its bits       differ in 1 of 1 rows, 1 of 24 numbers, at most 1 ulp of f64: y[5, 0]"
for of in "0 bf16 are the same" "1 bf16-ulp at most 1 ulp: y[5, 0]" "1 bf16-last at most 1 ulp of f32: y[5, 0]"; do
    read -r beyond file words <<< "$of"
    finds "$beyond" "nothing to explain" wide-y "${ln[@]}" --rounded-to bf16 --batch "part-$file.npy" --first-row 5
    check "  $words" "$(grep "^  its bits " stdout | grep -qF "$words" || cat stdout)"
done
gradient 0 "nothing to explain" dx-right --batch dx-right.npy
while read -r file row words; do
    refuses "--batch $file --first-row $row" "$words" "${ln[@]}" --y right.npy --batch "$file" --first-row "$row"
done << 'END'
part.npy 38 part.npy has 3 rows; from row 38 on x has 2
part.npy -1 --first-row
part-odd.npy 0 no rows of 24
part-turned.npy 5 no rows of 24
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
exits "--help" 0 --help
prints --rounded-to
echo hello > text.npy
refuses "no layer" "which layer?" --x x.npy --y right.npy
refuses "an unknown layer" "groupnorm is no layer" groupnorm --x x.npy --y right.npy
refuses "no x" "--x FILE.npy is missing" layernorm --y right.npy
refuses "no y" "--y FILE.npy is missing" layernorm --x x.npy
refuses "an unknown option" "--out is no option" layernorm --x x.npy --out y.npy
refuses "a missing y" "--y nowhere.npy" layernorm --x x.npy --y nowhere.npy
refuses "no .npy" "text.npy is not a .npy file" layernorm --x x.npy --y text.npy
refuses "a y of another shape" "--y right3.npy has shape (5, 8, 24); x has (40, 24)" \
    layernorm --x x.npy --y right3.npy
refuses "gamma of another length" "x of shape (40, 24) needs (24,)" \
    layernorm --x x.npy --gamma gh.npy --y right.npy
refuses "dx without dy" "--dx needs --dy" layernorm --x x.npy --dx dx-right.npy
refuses "y in backward" "--y has no meaning for layernorm backward" layernorm --x x.npy --dy dy.npy \
    --dx dx-right.npy --y right.npy
refuses "a residual in backward" "--residual has no meaning for layernorm backward" layernorm \
    --x x.npy --dy dy.npy --dx dx-right.npy --residual r.npy
refuses "dbeta for rmsnorm" "--dbeta has no meaning for rmsnorm backward" rmsnorm --x x.npy --dy dy.npy \
    --dx dx-right.npy --dbeta db-right.npy
refuses "dgamma of another length" "x of shape (40, 24) needs (24,)" layernorm --x x.npy --dy dy.npy \
    --dx dx-right.npy --dgamma gh.npy
refuses "beta for rmsnorm" "--beta has no meaning" rmsnorm --x x.npy --beta b.npy --y right.npy
refuses "a wrong eps" "--eps 'small'" layernorm --x x.npy --y right.npy --eps small
refuses "a wrong casting" "--casting first" layernorm --x x.npy --y right.npy --casting first
refuses "an unknown type" "--rounded-to f8" layernorm --x x.npy --y right.npy --rounded-to f8
refuses "f16 that was f32" "h-last.npy is f16" rmsnorm --x h.npy --y h-last.npy --rounded-to f32
refuses "nothing to judge" "is empty" layernorm --x empty.npy --y empty.npy
refuses "one value a channel" "more than one value" batchnorm --x one.npy --y one.npy
refuses "inference on nothing" "needs --running-mean" batchnorm --inference --x img.npy \
    --y img.npy
refuses "the CSV on stdout" "--csv -" layernorm --x x.npy --y right.npy --csv -
refuses "a CSV over an input" "is an input" layernorm --x x.npy --y right.npy --csv x.npy
exits "a CSV that cannot be written" 2 "${ln[@]}" --y right.npy --csv nowhere/out.csv
says nowhere/out.csv

summary
