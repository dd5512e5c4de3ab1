"""Every mistake that `normlab judge` tries, computed here independently on drawn shapes and data: judge must
name it, alone or beside others that give the same numbers.
Usage: tests/judge/judge_drawn.py path/to/normlab [--seed N] [--draws N]; without draws each in one type. SPDX-License-Identifier: MIT"""
import csv
import math
import os
import re
import subprocess
import sys
import tempfile
from copy import copy
from random import Random
from struct import error, pack, unpack

TYPES = {"f32": "f", "f16": "e", "bf16": "b"}
TINY = {"f32": 2**-126, "f16": 2**-14, "bf16": 2**-126}
BITS = {"f32": 24, "f16": 11, "bf16": 8}


def to(kind, v):
    """v rounded to nearest; too large becomes infinite."""
    if not math.isfinite(v):
        return v
    try:
        if kind == "bf16":
            bits = unpack("<I", pack("<f", v))[0]
            return unpack("<f", pack("<I", bits + 0x7fff + (bits >> 16 & 1) & 0xffff0000))[0]
        return unpack("<" + TYPES[kind], pack("<" + TYPES[kind], v))[0]
    except (OverflowError, error):
        return math.copysign(math.inf, v)


def cut(kind, v):
    """v rounded towards zero."""
    if not math.isfinite(v):
        return v
    ulp = max(2.0 ** (math.frexp(v)[1] - BITS[kind]), 2.0**-24 if kind == "f16" else 2.0**-149)
    largest = {"f16": 65504, "bf16": 255 * 2.0**120}.get(kind, math.inf)
    return min(max(math.trunc(v / ulp) * ulp, -largest), largest)


def few_bits(v, bits, least=-9999, largest=math.inf):
    """v in a type of a few bits, whose smallest normal number is 2^least."""
    last = max(math.frexp(v)[1], least + 1) - bits
    return math.copysign(min(abs(math.ldexp(round(math.ldexp(v, -last)), last)), largest), v)


SMALL = {"tf32": (11, -126), "e4m3": (4, -6, 448), "e5m2": (3, -14, 57344), "4-bits": (4,)}
ACTIVATIONS = {"relu": lambda v: max(v, 0), "silu": lambda v: v / (1 + math.exp(min(-v, 700))),
               "gelu": lambda v: v * math.erfc(-v / math.sqrt(2)) / 2,
               "gelu-tanh": lambda v: v / 2 * (1 + math.tanh(math.sqrt(2 / math.pi) * (v + 0.044715 * v**3))),
               "gelu-fast": lambda v: v / (1 + math.exp(min(-1.702 * v, 700)))}


# Within the bound on any data.
INVISIBLE = {"dresidual-late"}
# A fitted number may come out otherwise, and so may a sum of rounded steps.
FITTED = {"eps-fitted", "factor", "offset"}
# By pass: mistakes that are tried only if the outputs show their number.
OBSERVED = {"forward": "clip-xhat clip-output dropout x-int8 gamma-int8 stored-int8 order-y order-gamma order-affine "
            "order-x order-rows order-places residual-weighted x-weighted rows-int8 squares-first squares-part sums-first sums-part",
            "backward": "clip-output dropout x-int8 stored-int8 order-dx order-rows residual-weighted rows-missing "
            "rows-twice", "inference": "clip-output gamma-int8 stored-int8 order-y order-gamma"}


class Case:
    """A layer, a pass and a type, with inputs of that type."""

    def __init__(self, random, layer, passes, kind):
        self.layer, self.passes, self.kind = layer, passes, kind
        self.channels = layer == "batchnorm"
        self.centred = layer in ("batchnorm", "layernorm")
        if self.channels:
            self.n, self.c, self.s = random.choice([4, 6, 8]), random.randint(3, 6), random.choice([1, 4, 6, 8])
        else:
            self.n, self.c, self.s = random.randint(4, 9), random.choice([8, 12, 24, 37, 40]), 1
        self.size = self.n * self.c * self.s
        offset, sigma = random.choice([(0.3, 1), (0.5, 0.02), (-3, 1), (1, 4), (0.2, 300 if kind == "f16" else 1e20)])
        spread = [sigma * 4 ** random.uniform(-1, 1) for _ in range(self.size)]
        draw = random.gauss
        at = (lambda i: self.feature(i)) if self.channels else (lambda i: i // self.c)
        self.x = [to(kind, (draw(0, 1) + offset) * spread[at(i)]) for i in range(self.size)]
        self.dy = [to(kind, draw(0.5, 1)) for _ in self.x]
        past = not self.channels and random.random() < 0.6
        self.past = [to(kind, draw(0, 1) * spread[at(i)]) for i in range(self.size)] if past else None
        self.gamma = [to("f32", draw(0.2 if layer == "gemma" else 1, 0.4)) for _ in range(self.c)]
        self.beta = [to("f32", draw(0, 1)) for _ in range(self.c)] if self.centred else None
        self.mean = [to("f32", draw(offset * sigma, sigma)) for _ in range(self.c)]
        self.var = [to("f32", sigma**2 * random.uniform(0.5, 2)) for _ in range(self.c)]
        self.eps = to("f32", 1e-5 * 10 ** random.uniform(0, 1))

    def alone(self):
        """The case as a forward pass; for backward, without beta and residual."""
        k = copy(self)
        k.beta = None if k.passes == "backward" else k.beta
        k.past = None if k.passes == "backward" else k.past
        k.passes = "forward"
        return k

    def feature(self, i):
        return i // self.s % self.c

    def row(self, i):
        return i // (self.c * self.s)

    def group(self, i):
        return self.feature(i) if self.channels else self.row(i)

    def member(self, i):
        return self.row(i) * self.s + i % self.s if self.channels else i % self.c


def same(v):
    return v


def inputs(k, m):
    """x as the layer normalizes it, and as its sums take it."""
    x = [m.get("x", same)(v) for v in k.x]
    if k.passes == "backward" or not k.past or m.get("past") == 0:
        return x, x
    both = [m.get("sum", same)(a + m.get("past", 1) * b) for a, b in zip(x, k.past)]
    return both, x if m.get("sums_of_x") else both


def statistics(k, m, x):
    """The mean and rstd of each group, by element; what groups them: m's group."""
    group = m.get("group", k.group)
    members, step = {}, m.get("step", same)
    for i in range(k.size):
        members.setdefault(group(i), []).append(i)
    keys, mean, rstd, stale, left = sorted(members), {}, {}, None, [0, 0]
    add, square = m.get("add", lambda a, b: a + b), m.get("square", same)
    for g in keys:
        of = members[g]
        if k.passes == "inference" and not m.get("batch"):
            mean[g], var = k.mean[g], k.var[g]
            if m.get("updated"):
                by, less = m["updated"]
                now = math.fsum(x[i] for i in of) / len(of)
                var += by * (math.fsum((x[i] - now)**2 for i in of) / (len(of) - less) - var)
                mean[g] += by * (now - mean[g])
        else:
            taken = [x[i] for i in of if k.passes == "backward" or m.get("counts", lambda e: 1)(k.member(i))
                     for _ in range(m.get("times", lambda e: 1)(k.member(i)))]
            total, divisor = 0, len(of)
            for v in taken[:m.get("mean_end")]:
                total = add(total, v)
            total += left[0]
            average = step(total / m.get("of_mean", {}).get("divisor", divisor))
            mean[g] = m.get("mean", same)(average) if m.get("centre", k.centred) else 0
            mean[g] = x[of[0]] if m.get("first") else mean[g]
            about = {"first": x[of[0]], "output": 0}.get(m.get("centre"), mean[g])
            about = about if k.centred or m.get("centre") else 0
            total = 0
            for v in taken[:m.get("squares_end")]:
                total = add(total, square(abs(v - about) if m.get("absolute") else step(v - about) ** m.get("exponent", 2)))
            total **= m.get("late", 1)
            total += m.get("padding", 0) * mean[g] ** 2 + left[1]
            divisor -= m.get("less", 0)
            var = step(total / m.get("of_squares", {}).get("divisor", divisor))
            var = var**2 if m.get("absolute") else var
            var = m.get("variance", same)(var + m.get("more", lambda v, mean: 0)(taken, mean[g]))
            if k.passes != "backward" and m.get("carried"):
                full = m["carried"] == "sums"
                left = [mean[g] * (len(of) if full else 1), var * (divisor if full else 1)]
        infinite = lambda v: math.nan if v < 0 else math.inf
        root = m.get("root", lambda v, e: 1 / m.get("sigma", same)(math.sqrt(v + e)) if v + e > 0 else infinite(v + e))
        rstd[g] = step(m.get("rstd", same)(root(var, m.get("eps", k.eps))))
        if k.passes == "inference":
            mean[g] = m.get("mean", same)(mean[g])
    if m.get("stale"):
        from_mean, from_rstd, first = m["stale"]
        before = {g: keys[0] if first else keys[max(0, i - 1)] for i, g in enumerate(keys)}
        mean, rstd = ({g: mean[before[g]] for g in keys} if from_mean else mean,
                      {g: rstd[before[g]] for g in keys} if from_rstd else rstd)
    return [mean[group(i)] for i in range(k.size)], [rstd[group(i)] for i in range(k.size)]


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


def gain_at(k, m, j):
    gamma = k.beta if m.get("swapped") else k.gamma
    plus = m.get("plus", 1 if k.layer == "gemma" else 0)
    gain = 1 if m.get("no_gamma") else m.get("gamma", same)(gamma[j])
    gain = m.get("gain", same)(1 + gain) if plus and not m.get("no_gamma") else gain
    return gain ** m.get("power", 1)


def moved(k, m, what, i):
    """The index of the element whose `what` element i uses."""
    if m.get("order") and what in m["order"][0]:
        return m["order"][1](i)
    j, by = k.feature(i), m.get("moves", 0) if what in m.get("moved", "") else 0
    if what in m.get("reversed", ""):
        return i + (k.c - 1 - 2 * j) * k.s
    rows = m.get("rows_moved", 0) if what == "x" else 0
    if rows:
        return i + rows * k.c * k.s if 0 <= k.row(i) + rows < k.n else i
    return i + by * k.s if 0 <= j + by < k.c else i


def forward(k, m):
    x, summed = inputs(k, m)
    mean, rstd = statistics(k, m, summed)
    x = [m.get("late_sum", same)(v) for v in x]
    y, step = [], m.get("step", same)
    feature, sign = m.get("feature", k.feature), {"added": -1, "squares": 0, 0: 0}.get(m.get("centre", 1), 1)
    centred = k.centred or m.get("centre")
    for i in range(k.size):
        at = moved(k, m, "x", i)
        v = step(x[at] - (sign * mean[at] if centred else 0))
        first = summed[at - k.member(at)] if not k.channels else summed[(k.feature(at)) * k.s]
        if m.get("from_y"):
            v = x[at] - (first if m["from_y"] == "first" else mean[at] - first)
        v = x[at] if m.get("raw") else rstd[at] if m.get("alone") else x[at] - mean[at] * rstd[at] if "brackets" in m else m.get("xhat", same)(step(v * rstd[at] ** m.get("rstds", 1)))
        gain = gain_at(k, m, feature(moved(k, m, "gamma", i))) * m.get("sign", 1)
        shift = (k.gamma if m.get("swapped") else k.beta or [0] * k.c)[feature(moved(k, m, "beta", i))]
        shift = 0 if m.get("no_beta") else m.get("beta", same)(shift)
        v = (v + shift) * gain if m.get("beta_first") else step(m.get("product", same)(v * gain)) + shift
        v += k.past[i] if m.get("past_in_y") else 0
        if m.get("scale"):
            a, middle = m["scale"](gain * rstd[at]), mean[at] if k.centred or k.passes == "inference" else 0
            v = (x[at] - middle) * a + shift if not m.get("fold") else x[at] * a + m["fold"](shift - middle * gain * rstd[at])
        y.append(x[i] if m.get("copied") else v)
    return {"y": y}


def backward(k, m):
    mean, rstd = statistics(k, m, [m.get("x", same)(v) for v in k.x])
    step, group, feature = m.get("step", same), m.get("group", k.group), m.get("feature", k.feature)
    dy = [m.get("dy", same)(v) + (k.past[i] if m.get("past_in_dy") else 0) for i, v in enumerate(k.dy)]
    centred = m.get("centre", k.centred)
    x = [m.get("x", same)(v) for v in k.x]
    hat = [m.get("xhat", same)(step(step(v - (a if centred else 0)) * r)) for v, a, r in zip(x, mean, rstd)]
    kinds = {"x": x, "centred": [v - a for v, a in zip(x, mean)],
             "added": [(v + a) * r for v, a, r in zip(x, mean, rstd)], "hat": hat,
             "scaled": [v * r for v, r in zip(x, rstd)],
             "y": [(gain_at(k, {}, feature(i)) * hat[i] - (mean[i] if k.centred else 0)) * rstd[i] for i in range(k.size)]}
    beside, within, summed = (kinds[m.get("operand", {}).get(at, "hat")] for at in ("beside", "within", "dgamma"))
    gain = [gain_at(k, m, feature(moved(k, m, "gamma", i))) for i in range(k.size)]
    g = [step(a * b) for a, b in zip(gain, dy)]
    inner = dy if m.get("gamma_in") else g
    members = {}
    for i in range(k.size):
        members.setdefault(group(i), []).append(i)
    means, left = {}, [0, 0]
    for key in sorted(members):
        of = [i for i in members[key] if m.get("counts", lambda e: 1)(k.member(i))]
        pair = []
        for which, v in (("of_g", lambda i: inner[i]), ("of_gx", lambda i: inner[i] * within[i])):
            terms = [v(i) for i in of]
            total = (math.fsum if all(map(math.isfinite, terms)) else sum)(terms)
            pair.append(total / m.get(which, {}).get("divisor", len(members[key])) + left[len(pair)])
        if m.get("carried"):
            left = [v / (1 if m["carried"] == "sums" else len(members[key])) for v in pair]
        means[key] = [m.get("means", same)(step(v)) for v in pair]
    dx, round_ = [], m.get("early", same)
    for i in range(k.size):
        first, second = means[group(i)]
        term = m.get("gx", 1) * second * (1 if m.get("plain") else beside[i]) * rstd[i] ** m.get("gx_rstds", 0)
        out = m.get("gamma_in") == "outside"
        v = step((dy[i] if out else g[i]) - m.get("g", 1 if k.centred else 0) * first) - step(term)
        v *= rstd[i] ** m.get("rstds", 1) * (gain[i] if out or m.get("outside") else 1) * m.get("sign", 1)
        v = round_(v) + (m.get("past", 1) * k.past[i] if k.past and not m.get("past_in_dy") else 0)
        dx.append(dy[i] if m.get("copied") else v)
    dgamma, dbeta = [0.0] * k.c, [0.0] * k.c
    for i in range(k.size):
        j = feature(i)
        weight = m.get("rows", lambda r: 1)(k.row(i))
        if weight:
            add = m.get("add_rows", lambda a, b: a + b)
            product = m.get("dgamma_product", same)(dy[i] * summed[i] * weight)
            dgamma[j] = m.get("add_dgamma", add)(dgamma[j], product * (gain_at(k, m, j) if "g" in m.get("gained", "") else 1))
            dbeta[j] = m.get("add_dbeta", add)(dbeta[j], weight * dy[i] * (gain_at(k, m, j) if "b" in m.get("gained", "") else 1))
    if m.get("averaged"):
        dgamma, dbeta = [[v / (k.n * k.s) for v in sums] for sums in (dgamma, dbeta)]
    dgamma, dbeta = [[m.get(name, same)(step(v)) for v in sums]
                     for name, sums in (("dgamma", dgamma), ("dbeta", dbeta))]
    if m.get("gradients_swapped"):
        dgamma, dbeta = dbeta, dgamma
    by = m.get("gradients_moved", 0)
    if by:
        dgamma, dbeta = [[v[min(max(j + by, 0), k.c - 1)] for j in range(k.c)] for v in (dgamma, dbeta)]
    return {"dx": dx, "dgamma": dgamma, **({"dbeta": dbeta} if k.centred else {})}


def compute(k, m):
    """The outputs by the layer's formula with the mistakes m, stored in the case's type."""
    if m.get("x_is_y"):
        k = copy(k)
        k.x, k.past = [to(k.kind, v) for v in forward(Case.alone(k), {})["y"]], None if k.passes == "forward" else k.past
    made = (backward if k.passes == "backward" else forward)(k, m)
    for name, values in made.items():
        tensor = name in ("y", "dx")
        if tensor:
            values = [m.get("after", same)(v) for v in values]
            values = [values[m["reorder"](i)] for i in range(k.size)] if m.get("reorder") else values
            values = [v * m["drop"][i % len(m["drop"])] for i, v in enumerate(values)] if m.get("drop") else values
            if m.get("row_steps"):
                size = k.c * k.s
                steps = [max(map(abs, values[i:i + size])) / 127 or 1 for i in range(0, k.size, size)]
                values = [round(v / steps[k.row(i)]) * steps[k.row(i)] for i, v in enumerate(values)]
            values = [m.get("out", same)(v * m.get("factor", 1) + m.get("offset", 0)) for v in values]
        values = [to(k.kind if tensor else "f32", v) for v in values]
        made[name] = [0.0] * len(values) if name in m.get("zero", ()) else values
    return made


def plant(k, name):
    """The mistakes of this name, or None: not known here."""
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
        "factor": one(factor=1.04), "offset": one(offset=0.06),
        "zeros": one(zero=("y", "dx", "dgamma", "dbeta")),
        **{name: one(after=f) for name, f in ACTIVATIONS.items()},
        "y-reversed": one(reversed="x gamma beta"), "x-reversed": one(reversed="x"),
        "rows-reversed": one(order=("x", lambda i: (k.n - 1 - k.row(i)) * k.c * k.s + i % (k.c * k.s))),
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
        what = {"affine": "gamma beta", "y": "x gamma beta"}.get(found[1], found[1])
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


def save(name, kind, shape, values):
    letter = "e" if kind == "f16" else "f"
    head = "{'descr': '<f%d', 'fortran_order': False, 'shape': %s, }" % (2 if letter == "e" else 4, shape)
    head += " " * (-(11 + len(head)) % 64) + "\n"
    with open(name + ".npy", "wb") as f:
        f.write(b"\x93NUMPY\1\0" + pack("<H", len(head)) + head.encode())
        f.write(pack("<%d%s" % (len(values), letter), *values))


class Judge:
    def __init__(self, program, k):
        shape = (k.n, k.c, k.s) if k.channels else (k.n, k.c)
        self.k, self.shape = k, shape
        self.command = [program, "judge", k.layer, "--eps", repr(k.eps), "--csv", "found.csv"]
        vectors, tensors = {"gamma": k.gamma}, {"x": k.x}
        if k.past:
            tensors["dresidual" if k.passes == "backward" else "residual"] = k.past
        if k.passes == "backward":
            tensors["dy"] = k.dy
        elif k.beta:
            vectors["beta"] = k.beta
        if k.passes == "inference":
            vectors["running-mean"], vectors["running-var"] = k.mean, k.var
            self.command.append("--inference")
        for name, values in {**tensors, **vectors}.items():
            save(name, k.kind if name in tensors else "f32", shape if name in tensors else (k.c,), values)
            self.command += ["--" + name, name + ".npy"]
        if k.kind == "bf16":
            self.command += ["--rounded-to", "bf16"]

    def __call__(self, outputs):
        """(exit code, the mistakes that were tried, those likely, the report)"""
        files = []
        for name, values in outputs.items():
            tensor = name in ("y", "dx")
            save(name, self.k.kind if tensor else "f32", self.shape if tensor else (self.k.c,), values)
            files += ["--" + name, name + ".npy"]
        run = subprocess.run(self.command + files, capture_output=True, text=True)
        if run.returncode not in (0, 1):
            sys.exit(f"{' '.join(self.command + files)}: {run.stderr}")
        with open("found.csv") as f:
            rows = list(csv.DictReader(f))[1:]
        return (run.returncode, [r["mistake"] for r in rows],
                {r["mistake"]: r["likely"] for r in rows if r["likely"] != "no"}, run.stdout)


def alike(k, a, b):
    """Do two sets of outputs differ by no more than rounding?"""
    for name, values in a.items():
        unit = 2.0 ** -BITS[k.kind if name in ("y", "dx") else "f32"]
        size = max((abs(v) for v in values if math.isfinite(v)), default=0) + 1e-30
        if any(abs(p - q) > 8 * unit * max(abs(p), size / 4) for p, q in zip(values, b[name]) if p == p):
            return False
    return True


def main(program, seed, draws):
    counts, failed, reached = dict.fromkeys(("named", "same numbers", "partly", "too small"), 0), [], set()
    planted = {}
    for layer, passes in [(l, p) for l in ("layernorm", "rmsnorm", "gemma", "batchnorm")
                          for p in ("forward", "backward")] + [("batchnorm", "inference")]:
        for kind in TYPES:
            for draw in range(max(1, draws)):
                random = Random(f"{seed} {layer} {passes} {kind} {draw}")
                k = Case(random, layer, passes, kind)
                judge = Judge(program, k)
                right = compute(k, {})
                where = f"{layer} {passes} {kind} {judge.shape}, seed {seed}, draw {draw}"
                code, _, likely, text = judge(right)
                if likely or (code and "\nverdict          none" not in text):
                    failed.append(f"{where}: right outputs: {text.splitlines()[:9]}")
                noise = {name: [v + random.gauss(0, 1) for v in values] for name, values in right.items()}
                code, tried, likely, text = judge(noise)
                if any(v == "yes" for v in likely.values()):
                    failed.append(f"{where}: noise: {likely}")
                for name in tried + OBSERVED[passes].split():
                    observed = name not in tried
                    only = Random(f"{seed} {layer} {passes} {name}").choice(list(TYPES))
                    if not draws and kind != only:
                        continue
                    made = plant(k, name)
                    if made is None and observed:
                        continue
                    planted[name] = planted.get(name, 0) + 1
                    if made is None:
                        failed.append(f"{where}: {name} has no plant here")
                        continue
                    outputs = compute(k, made)
                    code, _, likely, text = judge(outputs)
                    lost = "\nverdict          none" in text and not all(map(math.isfinite, sum(outputs.values(), [])))
                    if lost or "nothing to explain" in text:
                        counts["too small"] += 1
                        continue
                    reached.add(name)
                    yes = [n for n in likely if likely[n] == "yes"]
                    if name in yes or (observed and any(n.startswith(name) for n in yes)) or (name.startswith("eps-") and any(n.startswith("eps-") for n in yes)):
                        counts["named"] += 1
                    elif not yes and (name.startswith("steps") or name.removeprefix("cast+") in FITTED):
                        counts["partly"] += 1
                    elif yes and all((p := plant(k, n)) and alike(k, outputs, compute(k, p)) for n in yes):
                        counts["same numbers"] += 1
                    else:
                        named = text.split("likely mechanism ")[1].splitlines()[0]
                        failed.append(f"{where}: {name}: {named} ({code})")
    for line in failed:
        print("FAIL ", line)
    print(f"{counts}, {len(failed)} failed; {len(reached)} of {len(planted)} mistakes")
    never = [name for name, times in planted.items() if name not in reached | INVISIBLE and times > 2]
    if never:
        print("FAIL  planted, and never large enough to see:", *never)
    sys.exit(bool(failed or never or not counts["named"]))


if __name__ == "__main__":
    options = dict(zip(sys.argv[2::2], map(int, sys.argv[3::2])))
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        main(program, options.get("--seed", 1), options.get("--draws", 0))
