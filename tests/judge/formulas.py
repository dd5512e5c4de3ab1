"""Computes the layers by their formulas, with mistakes made on purpose, for tests/judge/judge_drawn.py. A mistake is a
dict of numbers and functions that replace the right ones. SPDX-License-Identifier: MIT"""
import math
import sys
from copy import copy
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "shell"))
import npy

TYPES = {"f32": "f", "f16": "e", "bf16": "b"}
BITS = {"f32": 24, "f16": 11, "bf16": 8}
TENSORS = ("y", "dx", "dgate")


def to(kind, v):
    return npy.to(TYPES[kind], v)


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
        gated = "gate" in layer
        past = not self.channels and not gated and random.random() < 0.6
        self.past = [to(kind, draw(0, 1) * spread[at(i)]) for i in range(self.size)] if past else None
        self.gamma = [to("f32", draw(0.2 if layer == "gemma" else 1, 0.4)) for _ in range(self.c)]
        self.beta = [to("f32", draw(0, 1)) for _ in range(self.c)] if self.centred else None
        self.mean = [to("f32", draw(offset * sigma, sigma)) for _ in range(self.c)]
        self.var = [to("f32", sigma**2 * random.uniform(0.5, 2)) for _ in range(self.c)]
        self.eps = to("f32", 1e-5 * 10 ** random.uniform(0, 1))
        self.gate = [to(kind, draw(0.5, 2)) for _ in self.x] if gated else None

    def alone(self):
        """The forward pass of this case; for a backward case, without beta and residual."""
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


def gates(k, m, place):
    """The gate's factors of x (place "first") or of the output ("last"), and their derivatives."""
    if not k.gate or place not in m.get("gate", "first" if k.layer == "gate_first_rmsnorm" else "last"):
        return [1] * k.size, [0] * k.size
    s = [1 / (1 + math.exp(-z)) for z in k.gate]
    if m.get("sigmoid"):
        return s, [v * (1 - v) for v in s]
    slope = m.get("slope", lambda z, v: v * (1 + z * (1 - v)))
    return [z * v for z, v in zip(k.gate, s)], [slope(z, v) for z, v in zip(k.gate, s)]


def inputs(k, m):
    """x as the layer normalizes it, and x as the sums of the statistics use it."""
    x = [m.get("x", same)(v) * a for v, a in zip(k.x, gates(k, m, "first")[0])]
    if k.passes == "backward" or not k.past or m.get("past") == 0:
        return x, x
    both = [m.get("sum", same)(a + m.get("past", 1) * b) for a, b in zip(x, k.past)]
    return both, x if m.get("sums_of_x") else both


def statistics(k, m, x):
    """The mean and rstd of each element's group; m["group"] replaces the right groups."""
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


def gain_at(k, m, j):
    gamma = k.beta if m.get("swapped") else k.gamma
    plus = m.get("plus", 1 if k.layer == "gemma" else 0)
    gain = 1 if m.get("no_gamma") else m.get("gamma", same)(gamma[j])
    gain = m.get("gain", same)(1 + gain) if plus and not m.get("no_gamma") else gain
    return gain ** m.get("power", 1)


def moved(k, m, what, i):
    """The index j: element i uses `what`, such as x or gamma, of element j."""
    if m.get("order") and what in m["order"][0]:
        return m["order"][1](i)
    j, by = k.feature(i), m.get("moves", 0) if what in m.get("moved", "") else 0
    if what in m.get("reversed", ""):
        return i + (k.c - 1 - 2 * j) * k.s
    rows = m.get("rows_moved", 0) if what in ("x", "gate") else 0
    if rows:
        return i + rows * k.c * k.s if 0 <= k.row(i) + rows < k.n else i
    return i + by * k.s if 0 <= j + by < k.c else i


def forward(k, m):
    x, summed = inputs(k, m)
    mean, rstd = statistics(k, m, summed)
    x = [m.get("late_sum", same)(v) for v in x]
    y, step, last = [], m.get("step", same), gates(k, m, "last")[0]
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
        y.append((k.x if k.gate else x)[i] if m.get("copied") else v * last[moved(k, m, "gate", i)])
    return {"y": y}


def backward(k, m):
    x, _ = inputs(k, m)
    mean, rstd = statistics(k, m, x)
    (first, first_slope), (last, last_slope) = gates(k, m, "first"), gates(k, m, "last")
    step, group, feature = m.get("step", same), m.get("group", k.group), m.get("feature", k.feature)
    ungated = [m.get("dy", same)(v) for v in k.dy]
    dy = [v * last[i] + (k.past[i] if m.get("past_in_dy") else 0) for i, v in enumerate(ungated)]
    centred = m.get("centre", k.centred)
    hat = [m.get("xhat", same)(step(step(v - (a if centred else 0)) * r)) for v, a, r in zip(x, mean, rstd)]
    kinds = {"x": x, "centred": [v - a for v, a in zip(x, mean)],
             "added": [(v + a) * r for v, a, r in zip(x, mean, rstd)], "hat": hat,
             "scaled": [v * r for v, r in zip(x, rstd)],
             "y": [(gain_at(k, {}, feature(i)) * hat[i] * last[i] * first[i] - (mean[i] if k.centred else 0)) * rstd[i]
                   for i in range(k.size)]}
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
    dx, dgate, round_ = [], [], m.get("early", same)
    for i in range(k.size):
        of_g, of_gx = means[group(i)]
        term = m.get("gx", 1) * of_gx * (1 if m.get("plain") else beside[i]) * rstd[i] ** m.get("gx_rstds", 0)
        out = m.get("gamma_in") == "outside"
        v = step((dy[i] if out else g[i]) - m.get("g", 1 if k.centred else 0) * of_g) - step(term)
        v *= rstd[i] ** m.get("rstds", 1) * (gain[i] if out or m.get("outside") else 1) * m.get("sign", 1)
        of_x = v * first_slope[i] * m.get("x", same)(k.x[i])
        dgate.append(of_x + gain[i] * ungated[i] * hat[i] * last_slope[i])
        v = round_(v) * first[i] + (m.get("past", 1) * k.past[i] if k.past and not m.get("past_in_dy") else 0)
        dx.append(k.dy[i] if m.get("copied") else v)
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
    others = {"dbeta": dbeta} if k.centred else {"dgate": dgate} if k.gate else {}
    return {"dx": dx, "dgamma": dgamma, **others}


def compute(k, m):
    """The outputs of the layer's formula with the mistakes m, in the case's storage type."""
    if m.get("x_is_y"):
        k = copy(k)
        k.x, k.past = [to(k.kind, v) for v in forward(Case.alone(k), {})["y"]], None if k.passes == "forward" else k.past
    made = (backward if k.passes == "backward" else forward)(k, m)
    for name, values in made.items():
        if name in ("y", "dx"):
            values = [m.get("after", same)(v) for v in values]
            values = [values[m["reorder"](i)] for i in range(k.size)] if m.get("reorder") else values
            values = [v * m["drop"][i % len(m["drop"])] for i, v in enumerate(values)] if m.get("drop") else values
            if m.get("row_steps"):
                size = k.c * k.s
                steps = [max(map(abs, values[i:i + size])) / 127 or 1 for i in range(0, k.size, size)]
                values = [round(v / steps[k.row(i)]) * steps[k.row(i)] for i, v in enumerate(values)]
            values = [m.get("out", same)(v * m.get("factor", 1) + m.get("offset", 0)) for v in values]
        values = [to(k.kind if name in TENSORS else "f32", v) for v in values]
        made[name] = [0.0] * len(values) if name in m.get("zero", ()) else values
    return made
