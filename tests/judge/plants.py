"""The mistakes that `normlab judge` can name, in the form that tests/judge/formulas.py uses.
SPDX-License-Identifier: MIT"""
import math
import re

from formulas import BITS, compute, to

TINY = {"f32": 2**-126, "f16": 2**-14, "bf16": 2**-126}
SMALL = {"tf32": (11, -126), "e4m3": (4, -6, 448), "e5m2": (3, -14, 57344), "4-bits": (4,)}
ACTIVATIONS = {"relu": lambda v: max(v, 0), "silu": lambda v: v / (1 + math.exp(min(-v, 700))),
               "gelu": lambda v: v * math.erfc(-v / math.sqrt(2)) / 2,
               "gelu-tanh": lambda v: v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
               "gelu-fast": lambda v: v / (1 + math.exp(min(-1.702 * v, 700)))}


def cut(kind, v):
    """v rounded towards zero."""
    if not math.isfinite(v):
        return v
    ulp = max(2.0 ** (math.frexp(v)[1] - BITS[kind]), 2.0**-24 if kind == "f16" else 2.0**-149)
    largest = {"f16": 65504, "bf16": 255 * 2.0**120}.get(kind, math.inf)
    return min(max(math.trunc(v / ulp) * ulp, -largest), largest)


def few_bits(v, bits, least=-9999, largest=math.inf):
    """Rounds v to a type of a few bits, whose smallest normal number is 2^least."""
    last = max(math.frexp(v)[1], least + 1) - bits
    return math.copysign(min(abs(math.ldexp(round(math.ldexp(v, -last)), last)), largest), v)


def between(parts, strided):
    def less(v, mean):
        of = [v[p::parts] if strided else v[p * len(v) // parts:(p + 1) * len(v) // parts] for p in range(parts)]
        return -sum((math.fsum(part) / len(part) - mean) ** 2 for part in of) / parts
    return less


def transposed(length, ways, unit=1):
    def source(i):
        e = i // unit % length
        return i + (e % ways * (length // ways) + e // ways - e) * unit
    return source


def plant(k, name):
    """The mistakes of this name; None: the name is unknown here."""
    length = k.n * k.s if k.channels else k.c
    one = lambda **m: m
    table = {
        "copied": one(copied=1), "dx-copied": one(copied=1), "not-normalized": one(raw=1),
        "rstd-alone": one(alone=1), "no-brackets": one(brackets=0), "not-squared": one(exponent=1),
        "squared-late": one(exponent=1, late=2), "mean-square-added": one(more=lambda v, mean: 2 * mean**2),
        "mean-not-squared": one(more=lambda v, mean: mean**2 - mean), "mean-is-first": one(first=1),
        "rest-not-shifted": one(more=lambda v, mean: mean**2 - (mean - v[0])**2),
        "saved-shift": one(), "first-in-output": one(from_y="first"),
        "rest-in-output": one(from_y="rest"), "gamma-reversed": one(reversed="gamma"),
        "gamma-also-outside": one(outside=1),
        "mean-less": one(of_mean={"divisor": length - 1}), "mean-g-less": one(of_g={"divisor": length - 1}),
        "mean-gx-less": one(of_gx={"divisor": length - 1}),
        "means-less": one(of_g={"divisor": length - 1}, of_gx={"divisor": length - 1}),
        "flushed": one(out=lambda v: v if abs(v) >= TINY[k.kind] else 0),
        "x-flushed": one(x=lambda v: v if abs(v) >= TINY[k.kind] else 0),
        "gamma-missing": one(no_gamma=1), "beta-missing": one(no_beta=1), "gamma-twice": one(power=2),
        "gate-ignored": one(gate=""), "gate-first": one(gate="first"), "gate-last": one(gate="last"),
        "gate-twice": one(gate="first last"), "gate-sigmoid": one(sigmoid=1),
        "dgate-negated": one(slope=lambda z, v: -v * (1 + z * (1 - v))), "dgate-of-silu": one(slope=lambda z, v: z * v),
        "dgate-of-sigmoid": one(slope=lambda z, v: v), "dgate-of-slope": one(slope=lambda z, v: v * (1 - v)),
        "residual-ignored": one(past=0), "residual-twice": one(past=2), "residual-subtracted": one(past=-1),
        "dresidual-ignored": one(past=0), "dresidual-twice": one(past=2), "dresidual-subtracted": one(past=-1),
        "dresidual-in-dy": one(past_in_dy=1), "residual-not-in-sums": one(sums_of_x=1),
        "residual-last": one(past=0, past_in_y=1), "residual-also-last": one(past_in_y=1),
        "dresidual-late": one(early=lambda v: to(k.kind, v)),
        "eps-outside": one(root=lambda v, e: 1 / (math.sqrt(v) + e)), "eps-missing": one(eps=0),
        "eps-in-sum": one(eps=k.eps / length), "eps-fitted": one(eps=7e-4),
        "root-missing": one(rstds=2),
        "eps-largest": one(root=lambda v, e: 1 / math.sqrt(max(v, e))),
        "rstd-missing-in-y": one(rstds=0), "rstd-missing": one(rstds=0),
        "rstd-twice": one(rstds=2), "times-sigma": one(root=lambda v, e: math.sqrt(v + e)),
        "unbiased": one(less=1), "gain-plus-one": one(plus=1), "gain-plain": one(plus=0),
        "affine-swapped": one(swapped=1), "negated": one(sign=-1), "dx-negated": one(sign=-1),
        "beta-first": one(beta_first=1), "cast-before-weight": one(xhat=lambda v: to(k.kind, v)),
        "mean-kept": one(centre=0), "mean-kept-in-dx": one(centre=0), "mean-added": one(centre="added"),
        "mean-subtracted": one(centre="all"), "mean-kept-in-squares": one(centre="output"),
        "mean-kept-in-output": one(centre="squares"), "squares-about-first": one(centre="first"),
        "mean-sum": one(of_mean={"divisor": 1}), "squares-sum": one(of_squares={"divisor": 1}),
        "both-sums": one(of_mean={"divisor": 1}, of_squares={"divisor": 1}),
        "zero-means": one(of_mean={"divisor": math.inf}, of_squares={"divisor": math.inf}),
        "no-means": one(of_g={"divisor": math.inf}, of_gx={"divisor": math.inf}),
        "divided-by-rows": {w: {"divisor": k.n} for w in ("of_mean", "of_squares", "of_g", "of_gx")},
        "stale": one(stale=(1, 1, 0)), "stale-mean": one(stale=(1, 0, 0)), "stale-rstd": one(stale=(0, 1, 0)),
        "first-statistics": one(stale=(1, 1, 1)), "carried-sums": one(carried="sums"),
        "carried-means": one(carried="means"), "stats-all": one(group=lambda i: 0), "stats-rows": one(group=k.row),
        "stats-columns": one(group=k.feature), "stats-instance": one(group=lambda i: i // k.s),
        "stats-position": one(group=lambda i: i % (k.c * k.s)),
        "stats-place": one(group=lambda i: (k.row(i), i % k.s)), "stats-batch": one(batch=1),
        "channels-last": one(group=lambda i: i % k.c, feature=lambda i: i % k.c),
        "mean-g-missing": one(g=0), "mean-g-extra": one(g=1), "mean-g-twice": one(g=2), "mean-g-added": one(g=-1),
        "mean-gx-missing": one(gx=0), "mean-gx-twice": one(gx=2), "mean-gx-added": one(gx=-1),
        "mean-gx-plain": one(plain=1), "gx-rstd-missing": one(gx_rstds=-1), "gx-rstd-twice": one(gx_rstds=1),
        "g-sum": one(of_g={"divisor": 1}), "gx-sum": one(of_gx={"divisor": 1}),
        "both-g-sums": one(of_g={"divisor": 1}, of_gx={"divisor": 1}), "as-rms-norm": one(centre=0, g=0),
        "gamma-outside": one(gamma_in="outside"), "gamma-not-in-means": one(gamma_in="out of means"),
        "dgamma-gained": one(gained="g"), "dbeta-gained": one(gained="b"), "gradients-gained": one(gained="gb"),
        "gradients-averaged": one(averaged=1), "gradients-swapped": one(gradients_swapped=1),
        "gradients-shifted": one(gradients_moved=1), "gradients-shifted-back": one(gradients_moved=-1),
        "last-row-only": one(rows=lambda r: r == k.n - 1), "first-row-only": one(rows=lambda r: r == 0),
        "without-last-row": one(rows=lambda r: r < k.n - 1), "without-first-row": one(rows=lambda r: r > 0),
        "first-half-only": one(rows=lambda r: r < k.n // 2), "second-half-only": one(rows=lambda r: r >= k.n // 2),
        "sums-without-first": one(counts=lambda e: e > 0), "sums-without-last": one(counts=lambda e: e < length - 1),
        "factor": one(factor=1.06), "offset": one(offset=0.06),
        "zeros": one(zero=("y", "dx", "dgamma", "dbeta", "dgate")),
        **{name: one(after=f) for name, f in ACTIVATIONS.items()},
        "y-reversed": one(reversed="x gamma beta gate"), "x-reversed": one(reversed="x"),
        "rows-reversed": one(order=("x gate", lambda i: (k.n - 1 - k.row(i)) * k.c * k.s + i % (k.c * k.s))),
        "layer-twice": one(x_is_y=1), "y-for-x": one(x_is_y=1),
        "y-for-x-in-dx": one(operand={"beside": "y", "within": "y"}),
        "y-for-x-in-backward": one(operand={"beside": "y", "within": "y", "dgamma": "y"}),
        "mean-absolute": one(absolute=1, root=lambda v, e: 1 / (math.sqrt(v) + e)), "mean-absolute-eps": one(absolute=1),
        "residual-weighted": one(past=0.5) if k.past else None, "x-weighted": one(x=lambda v: 2 * v) if k.past else None,
        "rows-int8": one(row_steps=1) if k.kind == "f32" else None,
        "clip-xhat": one(xhat=lambda v: max(-0.75, min(v, 0.75))), "clip-output": one(after=lambda v: max(-0.5, min(v, 0.5))),
        "dropout": one(drop=[0 if i % 7 in (2, 5) else 1.4 for i in range(7 * 5)]) if k.size % 7 and k.c % 7 else None,
        "rows-missing": one(rows=lambda r: not 0 < r < 3), "rows-twice": one(rows=lambda r: 1 + (0 < r < 3)),
    }
    if name in table:
        return table[name]
    places = {"dx": ("beside", "within"), "backward": ("beside", "within", "dgamma")}
    if found := re.fullmatch("(dx|dgamma|backward|beside|within)-(?:of-)?(x|centred|added|scaled)", name):
        return one(operand={at: found[2] for at in places.get(found[1], (found[1],))})
    if found := re.fullmatch("(gamma|beta|affine|x|y)-shifted(-back)?", name):
        what = {"affine": "gamma beta", "y": "x gamma beta gate"}.get(found[1], found[1])
        return one(moved=what, moves=-1 if found[2] else 1)
    if found := re.fullmatch("rows-shifted(-back)?", name):
        return one(rows_moved=-1 if found[1] else 1)
    if found := re.fullmatch("grads-in-(f16|bf16)", name):
        return one(add_rows=lambda a, b: to(found[1], a + b))
    if name.startswith("cast+"):
        made = plant(k, name[5:])
        return made and {**made, "xhat": lambda v: to(k.kind, v)}
    if found := re.fullmatch("(products|dgamma|dbeta|dgamma-all)-in-(f16|bf16)", name):
        round_ = lambda v: to(found[2], v)
        add = lambda a, b: round_(a + b)
        return {"products": one(dgamma_product=round_), "dgamma": one(add_dgamma=add), "dbeta": one(add_dbeta=add),
                "dgamma-all": one(add_dgamma=add, dgamma_product=round_)}[found[1]]
    if found := re.fullmatch("(x|gamma|stored)-(tf32|e4m3|e5m2|4-bits|int8)(-scaled)?", name):
        values = {"x": k.x, "gamma": k.gamma, "stored": [0]}[found[1]]
        scale = max(map(abs, values)) / (127 if found[2] == "int8" else 448) if found[2] == "int8" or found[3] else 1
        if found[1] == "stored" and found[2] == "int8":
            (made,) = [v for n, v in compute(k, {}).items() if n in ("y", "dx")]
            scale = max(map(abs, made)) / 127
        small = (lambda v: round(v / scale) * scale) if found[2] == "int8" else lambda v: few_bits(v / scale, *SMALL[found[2]]) * scale
        return {{"stored": "out"}.get(found[1], found[1]): small}
    if found := re.fullmatch("order-gamma-([0-9]+)", name):
        return one(order=("gamma", transposed(k.c, int(found[1]), k.s)))
    if found := re.fullmatch("order-(.*)", name):
        ways = next((d for d in range(2, k.c) if k.c % d == 0), None)
        rows = next((d for d in range(2, k.n) if k.n % d == 0), None)
        if found[1] in ("y", "dx") and ways:
            return one(reorder=transposed(k.c, ways, k.s))
        if found[1] == "rows" and rows:
            return one(reorder=transposed(k.n, rows, k.c * k.s))
        if found[1] == "places" and k.s > 1:
            return one(reorder=transposed(k.c * k.s, k.s))
        if found[1] in ("x", "gamma", "affine") and ways:
            return one(order=({"affine": "gamma beta"}.get(found[1], found[1]), transposed(k.c, ways, k.s)))
        return None
    if found := re.fullmatch("(squares|sums)-(first|part)", name):
        few = max(2, length // 4)
        if found[1] == "sums" and not k.centred:
            return None
        over = {"divisor": few} if found[2] == "first" else {}
        return (one(squares_end=few, of_squares=over) if found[1] == "squares" else
                one(counts=lambda e: e < few, of_squares=over, of_mean=over))
    if found := re.fullmatch("updated(-unbiased)?-([1-5])", name):
        return one(updated=((0.1, 0.01, 0.001, 0.9, 0.99)[int(found[2]) - 1], 1 if found[1] else 0))
    if found := re.fullmatch("(local|strided)-([0-9]+)", name):
        return one(more=between(int(found[2]), found[1] == "strided"))
    if found := re.fullmatch("(scale|fold)-(f16|bf16)", name):
        round_ = lambda v: to(found[2], v)
        return one(scale=round_, fold=round_ if found[1] == "fold" else None)
    if found := re.fullmatch("eps-([0-9.e-]+)", name):
        return one(eps={"1.19e-07": 2**-23, "0.000977": 2**-10, "0.00781": 2**-7}.get(found[1]) or float(found[1]))
    if found := re.fullmatch("zero-(.*)", name):
        return one(zero=(found[1],))
    if found := re.fullmatch("(sums|squares)-in-(f32|f16|bf16)", name):
        round_ = lambda v: to(found[2], v)
        return one(square=round_) if found[1] == "squares" else one(add=lambda a, b: round_(a + round_(b)))
    if found := re.fullmatch("totals-in-(f16|bf16)", name):
        return one(add=lambda a, b: to(found[1], a + b))
    if found := re.fullmatch("late-sum-(f16|bf16)", name):
        return one(late_sum=lambda v: to(found[1], v))
    if found := re.fullmatch("(.*?)-(cut-)?(f16|bf16)", name):
        round_ = lambda v: (cut if found[2] else to)(found[3], v)
        what = {"statistics": ("mean", "rstd"), "stored": ("out",), "gradients": ("dgamma", "dbeta"),
                "steps": ("step", "square", "mean", "gain", "sum", "sigma", "out")}.get(found[1], (found[1],))
        return {w: round_ for w in what}
    if not (found := re.fullmatch("(.*)-([0-9]+)", name)):
        return None
    number = int(found[2])
    lanes_left = -length % number
    return {"padded-length": {w: {"divisor": number} for w in ("of_mean", "of_squares", "of_g", "of_gx")},
            "stats-parts": one(group=lambda i: (k.row(i) * number // k.n, k.feature(i))),
            "stats-groups": one(group=lambda i: (k.row(i), k.feature(i) * number // k.c)),
            "stats-axes": one(group=lambda i: 0), "mean-end": one(mean_end=number), "sums-end": one(counts=lambda e: e < number),
            "whole-vectors": {"counts": lambda e: e < number,
                              **{w: {"divisor": number} for w in ("of_mean", "of_squares", "of_g", "of_gx")}},
            "lane-twice": one(times=lambda e: 2 if e % number == 0 else 1),
            "padding": one(padding=lanes_left)}.get(found[1])
