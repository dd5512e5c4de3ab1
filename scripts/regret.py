#!/usr/bin/env python3
"""Times nl_best()'s choice beside every optimized rung on random shapes, and prints its distance from the fastest rung.

    scripts/regret.py [--shapes 100] [--seed N] [--passes 1] [--threads N] [--seconds 0.05]
                      [--program build/release/normlab] [--peers]

The shapes have rows of 16 to 16384 elements, and 2^10 to 2^24 elements in all. They cover every pass and type
of all layers without a gate, with and without residual, gamma, beta and a cast before the weight, gaps between rows,
images (BatchNorm), calls in place, and stores that the caller chooses. Regret is the choice's time divided by the
fastest rung's, in the same rounds. From several passes, each in a fresh process, each rung's median ratio counts: in
one pass, luck partly decides which of many rungs is the fastest. If the caller chooses the stores, only rungs with
these stores compete. Prints the worst shapes, and the mean, the 99th percentile and the largest regret, also among
rungs that store as the choice does: streaming often wins here only because nobody reads y. The last pass's rows go to
results/regret-drawn.csv. With --peers and build/peers/normlab, also times other libraries (docs/peers.md), and prints
the shapes on which one of them is faster.
Standard library only."""
import math
import random
import statistics
import subprocess
import sys
import time

import markers
import files
from markers import ROOT

OUT = ROOT / "results" / "regret-drawn.csv"


def drawn(random):
    """A random case, as `normlab bench` reads it."""
    def size(low, high):
        return round(2 ** random.uniform(math.log2(low), math.log2(high)))

    op = random.choice(["layernorm", "rmsnorm", "qwen2_rmsnorm", "batchnorm"])
    batch = op == "batchnorm"
    direction = random.choice(["forward", "backward", "inference"] if batch else ["forward", "forward", "backward"])
    dtype = random.choice(["f32", "f32", "f16", "bf16"])
    c = size(16, 2048 if batch else 16384)
    if random.random() < 0.5:
        c = max(16, c // 16 * 16)
    s = random.choice([1, 1, 49, 196, 784, 3136]) if batch else 1
    n = max(2 if batch else 1, size(2 ** 10, 2 ** 24) // (c * s))
    options = ["normal"]
    if not batch and random.random() < 0.25:
        options.append("residual")
    if not batch and random.random() < 0.2:
        options.append(f"gap={random.choice([1, 16, 64, c])}")
    if direction == "forward" and not batch:
        options += random.choice([[], [], ["cast-before-weight"]])
        options += random.choice([[], [], [], ["no-affine"], ["no-beta"] if op == "layernorm" else []])
    options += random.choice([[], [], ["stores=cached"], ["stores=streaming"]])
    options += random.choice([[], [], [], ["in-place"]])
    return f"{op}/{direction}/{dtype}/{n}x{c}" + (f"x{s}" if s > 1 else "") + "/" + "/".join(options)


def timed(rows):
    """case -> the rows of the implementations that were right and timed."""
    cases = {}
    for row in rows:
        if row["ns"] and row["verdict"] == "ok":
            cases.setdefault(row["case"], []).append(row)
    return cases


def pooled(passes):
    """A row of each implementation on each case: a wrong one, or one with the median speedup of all passes."""
    found = {}
    for rows in passes:
        for row in rows:
            found.setdefault((row["case"], row["impl"]), []).append(row)
    for every in found.values():
        speeds = [float(row["speedup"]) for row in every if row["speedup"]]
        wrong = next((row for row in every if row["verdict"] != "ok"), None)
        timed = next((row for row in every if row["speedup"]), every[0])
        yield wrong or timed | {"speedup": str(statistics.median(speeds)) if speeds else ""}


def behind(rows):
    """case -> (the fastest peer's speed over the choice's, this peer). Leaves out cases that set the stores."""
    found = {}
    for case, every in timed([row for row in rows if "stores=" not in row["case"]]).items():
        peers = [(float(row["speedup"]), row["impl"]) for row in every if row["impl"].startswith("peer/") and row["speedup"]]
        if peers:
            found[case] = max(peers)
    return found


def regrets(rows, same_stores=False):
    """case -> (regret, the choice, the fastest); same_stores: only rungs that store as the choice does compete."""
    found = {}
    for case, every in timed(rows).items():
        rungs = [row for row in every if not row["impl"].startswith("peer/")]
        chosen = next((row for row in rungs if row["comparison"] == "baseline"), None)
        if not chosen:
            continue
        streams = "stores=streaming" in case or same_stores and "streaming" in chosen["impl"]
        if "stores=cached" in case or same_stores and not streams:
            rungs = [row for row in rungs if "streaming" not in row["impl"]]
        if streams:
            rungs = [row for row in rungs if row["impl"].endswith(("streaming", "rows_registers", "threaded"))]
        ratios = {row["impl"]: float(row["speedup"]) for row in rungs if row["speedup"]}
        fastest = max(ratios, key=ratios.get, default=chosen["impl"])
        found[case] = max(1.0, ratios.get(fastest, 1.0)), chosen["impl"], fastest
    return found


def main():
    parser = markers.parser(__doc__, "--peers", program=True)
    parser.add_argument("--shapes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--threads", default="1")
    parser.add_argument("--seconds", default="0.05")
    parser.add_argument("--passes", type=int, default=1)
    options = parser.parse_args()
    generator = random.Random(options.seed)
    cases = list(dict.fromkeys(drawn(generator) for _ in range(options.shapes)))
    OUT.parent.mkdir(exist_ok=True)
    command = [options.program, "bench", *cases, "--impl", f"optimized/*,best{',peer/*' * options.peers}", "--baseline", "best",
               "--threads", options.threads, "--seconds", options.seconds, "--out", str(OUT)]
    passes = []
    for _ in range(options.passes):
        result = subprocess.run(command, stdout=subprocess.DEVNULL)
        if result.returncode:
            return f"normlab bench: exit code {result.returncode}"
        passes.append(list(files.rows(OUT)))
    rows = list(pooled(passes))
    found = sorted(regrets(rows).items(), key=lambda item: -item[1][0])
    if not found:
        return "no shape was timed"
    for case, (regret, chosen, fastest) in found[:20]:
        print(f"{regret:6.2f}  {case:64s} {chosen.split('/')[-1]:28s} {fastest.split('/')[-1]}")
    print(f"{len(found)} shapes of seed {options.seed}, {options.threads} thread(s), {options.passes} pass(es)")
    for name, of in ("regret", regrets(rows)), ("among rungs with the choice's stores", regrets(rows, same_stores=True)):
        every = sorted((regret for regret, _, _ in of.values()), reverse=True)
        print(f"{name}: {sum(every) / len(every):.3f} in the mean, at most {every[len(every) // 100]:.2f} in 99 %, "
              f"{every[0]:.2f} at worst")
    if options.peers:
        peers = sorted(behind(rows).items(), key=lambda item: -item[1][0])
        ahead = [item for item in peers if item[1][0] > 1.05]
        for case, (speed, peer) in ahead:
            print(f"{speed:6.2f}  {case:64s} {peer}")
        print(f"a peer is more than 5 % faster at {len(ahead)} of {len(peers)} shapes")
    return None


if __name__ == "__main__":
    sys.exit(main())
