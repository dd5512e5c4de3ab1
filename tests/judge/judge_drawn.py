"""Computes the outputs of each mistake that `normlab judge` tries on a layer, on random shapes and data. judge must
name the mistake, alone or with others that give the same numbers. Without --draws each mistake is computed in one type. Usage: tests/judge/judge_drawn.py path/to/normlab [--seed N] [--draws N] SPDX-License-Identifier: MIT"""
import csv
import math
import os
import re
import subprocess
import sys
import tempfile
from random import Random

from formulas import BITS, TENSORS, TYPES, Case, compute, npy, to
from plants import plant

LAYERS = ("layernorm", "rmsnorm", "gemma", "batchnorm", "gated_rmsnorm", "gate_first_rmsnorm")
# Mistakes that stay within the bound on any data.
INVISIBLE = {"dresidual-late"}
# judge may explain these mistakes only partly, because it fits their number.
FITTED = {"eps-fitted", "factor", "offset"}
# By pass: mistakes with a number, which judge tries only if the number fits the outputs.
OBSERVED = {"forward": "clip-xhat clip-output dropout x-int8 gamma-int8 stored-int8 order-y order-gamma order-affine "
            "order-x order-rows order-places residual-weighted x-weighted rows-int8 squares-first squares-part sums-first sums-part",
            "backward": "clip-output dropout x-int8 stored-int8 order-dx order-rows residual-weighted rows-missing "
            "rows-twice", "inference": "clip-output gamma-int8 stored-int8 order-y order-gamma"}


def save(name, kind, shape, values):
    npy.save(name + ".npy", "<f2" if kind == "f16" else "<f4", shape, values)


class Judge:
    def __init__(self, program, k):
        shape = (k.n, k.c, k.s) if k.channels else (k.n, k.c)
        self.k, self.shape = k, shape
        self.command = [program, "judge", k.layer, "--eps", repr(k.eps), "--csv", "found.csv"]
        vectors, tensors = {"gamma": k.gamma}, {"x": k.x}
        if k.past:
            tensors["dresidual" if k.passes == "backward" else "residual"] = k.past
        if k.gate:
            tensors["gate"] = k.gate
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
        """(exit code, mistakes tried, likely mistakes, report)"""
        files = []
        for name, values in outputs.items():
            tensor = name in TENSORS
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
        unit = 2.0 ** -BITS[k.kind if name in TENSORS else "f32"]
        size = max((abs(v) for v in values if math.isfinite(v)), default=0) + 1e-30
        if any(abs(p - q) > 8 * unit * max(abs(p), size / 4) for p, q in zip(values, b[name]) if p == p):
            return False
    return True


def outcome(k, name, observed, outputs, report):
    """How judge explains the outputs of this mistake; None: judge names another mistake."""
    _, _, likely, text = report
    lost = ("\nverdict          none" in text or " have no bound, but no " in text) and not all(map(math.isfinite, sum(outputs.values(), [])))
    # in 16-bit cases judge does not explain errors of dgamma, a float, that are within the bound
    left_out = k.kind != "f32" and not likely and "\nverdict          right" in text and "element    dgamma[" in text
    if lost or left_out or "nothing to explain" in text:
        return "too small"
    yes = [n for n in likely if likely[n] == "yes"]
    beginning = name if observed else "eps-" if name.startswith("eps-") else None
    if name in yes or beginning and any(n.startswith(beginning) for n in yes):
        return "named"
    if not yes:
        return "partly" if name.startswith("steps") or name.removeprefix("cast+") in FITTED else None
    same = all((p := plant(k, n)) and alike(k, outputs, compute(k, p)) for n in yes)
    return "same numbers" if same else None


class Tally:
    def __init__(self, program, seed, draws):
        self.program, self.seed, self.draws = program, seed, draws
        self.counts, self.failed = dict.fromkeys(("named", "same numbers", "partly", "too small"), 0), []
        self.planted, self.reached = {}, set()

    def draw(self, layer, passes, kind, number):
        random = Random(f"{self.seed} {layer} {passes} {kind} {number}")
        k = Case(random, layer, passes, kind)
        judge = Judge(self.program, k)
        right = compute(k, {})
        where = f"{layer} {passes} {kind} {judge.shape}, seed {self.seed}, draw {number}"
        code, _, likely, text = judge(right)
        if likely or (code and "\nverdict          none" not in text):
            self.failed.append(f"{where}: right outputs: {text.splitlines()[:9]}")
        noise = {name: [v + random.gauss(0, 1) for v in values] for name, values in right.items()}
        _, tried, likely, _ = judge(noise)
        if any(v == "yes" for v in likely.values()):
            self.failed.append(f"{where}: noise: {likely}")
        for name in tried + OBSERVED[passes].split():
            only = Random(f"{self.seed} {layer} {passes} {name}").choice(list(TYPES))
            if self.draws or kind == only:
                self.plant(k, judge, name, name not in tried, where)

    def far(self, layer, number):
        """Some groups have means so far from zero that no bound exists. The verdict counts these groups, and accepts
        exactly the numbers that the formula can give there."""
        random = Random(f"{self.seed} {layer} far {number}")
        k = Case(random, layer, "forward", "f32")
        if k.past or max(map(abs, k.x)) > 1e9:  # then no group has a bound
            return self.far(layer, number + 0.001)
        where, size = f"{layer}, seed {self.seed}, far draw {number}", k.n * k.s if k.channels else k.c
        groups, far = k.size // size, 1e7 * max(map(abs, k.x))
        some = random.sample(range(groups), random.randint(1, groups - 1))
        k.x = [to("f32", v + far * (k.group(i) in some)) for i, v in enumerate(k.x)]
        judge, y, place = Judge(self.program, k), compute(k, {})["y"], random.randrange(k.size)
        while k.group(place) not in some:
            place = random.randrange(k.size)
        largest = [abs(k.gamma[k.feature(i)]) * size**0.5 for i in range(k.size)]
        def near(i): return to("f32", random.uniform(-1, 1) * largest[i] + k.beta[k.feature(i)])
        y = [near(i) if k.group(i) in some else v for i, v in enumerate(y)]
        code, _, _, text = judge({"y": y})
        name = "channel" if k.channels else "row"
        says = f"right in {groups - len(some)} of {groups} {name}s; {len(some)} {name}{'s' * (len(some) > 1)} not judged: "
        if code != 0 or says not in text:
            self.failed.append(f"{where}: should be {says}: {code} {text.splitlines()[1]}")
        for bad in (math.nan, -math.inf, 1e38):
            code, _, _, text = judge({"y": [bad if i == place else v for i, v in enumerate(y)]})
            if code != 1 or f"WRONG: beyond the bound in 1 of {k.size - size * len(some) + 1} elements" not in text:
                self.failed.append(f"{where}: {bad} without a bound: {code} {text.splitlines()[1]}")

    def plant(self, k, judge, name, observed, where):
        made = plant(k, name)
        if made is None and observed:
            return
        self.planted[name] = self.planted.get(name, 0) + 1
        if made is None:
            self.failed.append(f"{where}: {name} has no plant here")
            return
        outputs = compute(k, made)
        report = judge(outputs)
        found = outcome(k, name, observed, outputs, report)
        if re.search(r"WRONG: .* elements, 0 of ", report[3]) and re.search(r"element    (y|dx|dgate)\[", report[3]):
            self.failed.append(f"{where}: {name}: no row is counted: {report[3].splitlines()[:6]}")
        if found != "too small":
            self.reached.add(name)
        if found:
            self.counts[found] += 1
        else:
            named = report[3].split("likely mechanism ")[1].splitlines()[0]
            self.failed.append(f"{where}: {name}: {named} ({report[0]})")


def main(program, seed, draws):
    all_ = Tally(program, seed, draws)
    for layer in LAYERS:
        for passes in ("forward", "backward", *["inference"] * (layer == "batchnorm")):
            for kind in TYPES:
                for number in range(max(1, draws)):
                    all_.draw(layer, passes, kind, number)
    for layer in ("layernorm", "batchnorm"):
        for number in range(8 * max(1, draws)):
            all_.far(layer, number)
    for line in all_.failed:
        print("FAIL ", line)
    print(f"{all_.counts}, {len(all_.failed)} failed; {len(all_.reached)} of {len(all_.planted)} mistakes")
    never = [name for name, times in all_.planted.items() if name not in all_.reached | INVISIBLE and times > 2]
    if never:
        print("FAIL  planted, and never large enough to see:", *never)
    sys.exit(bool(all_.failed or never or not all_.counts["named"]))


if __name__ == "__main__":
    options = dict(zip(sys.argv[2::2], map(int, sys.argv[3::2])))
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        main(program, options.get("--seed", 1), options.get("--draws", 0))
