"""Writes inputs, right outputs and wrong outputs for tests/judge/judge.sh.
SPDX-License-Identifier: MIT"""
import math
import struct
import sys
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "shell"))
import npy
from npy import to

random = Random(7)


def save(name, letter, shape, values):
    """Rounds the values to the type, saves them and returns them."""
    values = [to(letter, v) for v in values]
    npy.save(name + ".npy", "<f%d" % struct.calcsize(letter), shape, values)
    return values


def mean(v): return math.fsum(v) / len(v)
def around(v, m, less=0): return math.fsum((a - m) ** 2 for a in v) / (len(v) - less)
E = to('f', 1e-5)
def rstd(var, eps=E): return 1 / math.sqrt(var + eps)

def split(flat, length): return [flat[i:i + length] for i in range(0, len(flat), length)]

def norm(v, centred=True, eps=E, less=0):
    m = mean(v) if centred else 0
    s = rstd(around(v, m, less), eps)
    return [(a - m) * s for a in v]

# Rows of 24 with sigma from 0.01 to 3, so that a wrong eps is visible.
n, c = 40, 24
w = save('g', 'f', [c], [random.gauss(1, 0.3) for _ in range(c)])
b = save('b', 'f', [c], [random.gauss(0, 1) for _ in range(c)])
sigma = [0.01 * 300 ** (i / (n - 1)) for i in range(n)]
flat = save('x', 'f', [n, c], [random.gauss(0.3 * s, s) for s in sigma for _ in range(c)])
x = split(flat, c)
save('x3', 'f', [5, 8, c], flat)
r = split(save('r', 'f', [n, c], [random.gauss(0, 0.3) for _ in flat]), c)
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
save('part-split', 'f', [6, 4], rows[0])
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
pages = [a for page in split(x, 8) for row in split(norm(sum(page, [])), c) for a in affine(row)]
save('pages', 'f', [5, 8, c], pages)
out('nobeta-noise', lambda v: [a + random.gauss(0, 0.01) for a in gained(norm(v))])

# Backward: dx = r * (g - mean(g) - xhat * mean(g * xhat)), and the sums over the rows.
dys = split(save('dy', 'f', [n, c], [random.gauss(0.5, 1) for _ in range(n * c)]), c)
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
out('offset', lambda v: [a + 0.01 for a in affine(norm(v))])
out('to-bf16', lambda v: [to('b', a) for a in affine(norm(v))])
# y of a float kernel, stored in bf16. Its last digits differ from the judge's, which changes the rounding near ties.
wide = save('wide', 'f', [99, 512], [random.gauss(0, 1) for _ in range(99 * 512)])
wide = [a for v in split(wide, 512) for a in norm(v)]
save('wide-bf16', 'f', [99, 512], [to('b', a * (1 + random.gauss(0, 2e-7))) for a in wide])
out('noise', lambda v: [a + random.gauss(0, 1e-3) for a in affine(norm(v))])
out('tail', lambda v: affine(norm(v))[:-3] + [0, 0, 0])
save('rows', 'f', [n, c], [math.nan if i in (3, 7) else a for i, v in enumerate(x)
                          for a in affine(norm(v))])

out('old-rows', lambda v: affine(norm(v)) if v is not x[20] else affine(norm(x[3])))
rough = Random(8)  # an rsqrt of 12 bits: each row has its own factor
def coarse(v, by): return affine([a * by for a in norm(v)])
out('rsqrt12', lambda v: coarse(v, 1 + rough.uniform(-1, 1) * 2**-12))
out('all-nan', lambda v: [math.nan] * c)
flawed = save('flawed', 'f', [n, c], [math.nan] + sum(x, [])[1:])
save('flawed-y', 'f', [n, c], [math.nan] * c + [1e30] * c + [0] * (n - 2) * c)

# Half precision, rows of 64.
h = save('h', 'e', [32, 64], [random.gauss(0, 2) for _ in range(2048)])
hr = save('hr', 'e', [32, 64], [random.gauss(0, 2) for _ in range(2048)])
gh = save('gh', 'e', [64], [random.gauss(1, 0.3) for _ in range(64)])
def halves(v): return split(v, 64)
def weigh(v): return [p * q for p, q in zip(v, gh)]
save('h-last', 'e', [32, 64], [a for v in halves(h) for a in weigh(norm(v, False))])
save('h-before', 'e', [32, 64], [a for v in halves(h)
                                for a in weigh([to('e', t) for t in norm(v, False)])])
# bfloat16 as PyTorch users export it: bf16 values in a float32 array.
xb = save('xb', 'f', [32, 64], [to('b', a) for a in h])
save('b-last', 'f', [32, 64], [to('b', a) for v in halves(xb) for a in weigh(norm(v, False))])

# Rounding errors: kappa differs from row to row, from 2^2 to 2^10, and each step is computed in float, as in a plain
# kernel.
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
# Rounding errors again, but all the largest errors have one sign by chance.
def shrinks(v): return one_pass(v)[0] / norm(v)[0] < 1
lucky = []
for i in range(64):
    row = None
    while row is None or (i >= 44 and not shrinks(row)):
        row = [f(random.gauss(4 * 2 ** (i / 8), 1)) for _ in range(64)]
    lucky += [row]
save('lucky', 'f', [64, 64], sum(lucky, []))
save('lucky-y', 'f', [64, 64], [a for v in lucky for a in one_pass(v)])
# Rounding errors again, but the only row beyond its bound has a factor near 1, so a missing rstd is not the mistake.
line = [[f(random.gauss(4 * 1.022 ** i, 1)) for _ in range(64)] for i in range(63)]
last = [f(100 + v / 1.001) for v in norm([random.gauss(0, 1) for _ in range(64)])]
save('line', 'f', [64, 64], sum(line, []) + last)
save('line-y', 'f', [64, 64], [a for v in line for a in one_pass(v)] + [v - mean(last) for v in last])
for name, make in (('one-pass', one_pass), ('rounded-mean', rounded_mean), ('folded', folded)):
    save(name, 'f', [64, 64], [a for v in split(flat, 64) for a in make(v)])
save('far-x', 'f', [4, 4], save('far', 'f', [4, 4], [1e7 + i for i in range(16)]))
save('far-y', 'f', [4, 4], [1.5] * 16)

# Images, (4, 3, 5): channels of different sigma.
img = save('img', 'f', [4, 3, 5], [random.gauss(ch, 0.5 + ch) for _ in range(4) for ch in range(3)
                                  for _ in range(5)])
rm = save('rm', 'f', [3], [0.5, -1, 2])
rv = save('rv', 'f', [3], [1, 4, 0.5])
channels = [norm([v for i, v in enumerate(img) if i // 5 % 3 == q]) for q in range(3)]
save('i-channel', 'f', [4, 3, 5], [channels[i // 5 % 3][i // 15 * 5 + i % 5] for i in range(60)])
save('i-running', 'f', [4, 3, 5], [(v - rm[i // 5 % 3]) * rstd(rv[i // 5 % 3])
                                  for i, v in enumerate(img)])
save('one', 'f', [1, 3], [1, 2, 3])
save('empty', 'f', [0, 3], [])
