#!/usr/bin/env python3
"""Sixty questions for an exam, and variants of it. Numbers in the questions are drawn from a seed; the answers are
computed; `normlab run --impl reference` computes answers on layers, in long double.

    scripts/exam.py --update                      writes docs/course/exam.md, the questions of seed 0
    scripts/exam.py --check                       writes nothing; exit code 1 if exam.md is out of date
    scripts/exam.py --seed 7 --out FOLDER [--questions 12] [--chapters 1-6,8]
                                                  writes questions.md and answers.md into a folder

Needs numpy and the built program (--program). SPDX-License-Identifier: MIT"""
import math
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy

import course
import markers

PAGE = course.COURSE / "exam.md"
PROGRAM = markers.PROGRAM


def layer(name, x, eps=0.0, **arrays):
    """The reference's results as lists: y; if dy is given, dx and dgamma instead."""
    with tempfile.TemporaryDirectory() as folder:
        outputs = {"dx": "out", "dgamma": "dgamma-out"} if "dy" in arrays else {"y": "out"}
        words = [PROGRAM, "run", name, "--impl", "reference", "--eps", repr(eps)]
        for output, option in outputs.items():
            words += [f"--{option}", f"{folder}/{output}.npy"]
        for option, values in {"x": x, **arrays}.items():
            numpy.save(f"{folder}/{option}.npy", numpy.float32(values))
            words += [f"--{option}", f"{folder}/{option}.npy"]
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"exam.py: {done.stderr}")
        return {output: numpy.load(f"{folder}/{output}.npy").tolist() for output in outputs}


def row(values):
    return ", ".join(f"{value + 0.0:.{5 if abs(value) >= 1e4 else 4}g}".replace("-", "−") for value in values)


def small(r, count=4):
    """A row of whole numbers, at least three of them different."""
    while len(set(values := [r.randint(-3, 6) for _ in range(count)])) < 3 or not any(values):
        pass
    return values


def norm_of(name, r, shift=0, **more):
    x = [value + shift for value in small(r)]
    return {"row": row(x), "y": row(layer(name, [x], **more)["y"][0])}


def scaled(r):
    x, a = small(r), r.choice([2, 5, 10])
    y = layer("layernorm", [x])["y"][0]
    return {"row": row(x), "a": a, "b": r.randint(3, 20), "y": row(y), "minus": row([-v for v in y])}


def gain(r):
    x, w = small(r, 3), [r.choice([-0.5, 0.25, 0.5, 1]) for _ in range(3)]
    return {"row": row(x), "w": row(w), "y": row(layer("gemma", [x], gamma=w)["y"][0]),
            "plain": row(layer("rmsnorm", [x], gamma=w)["y"][0])}


def gradient(r):
    x, gamma, dy = r.choice([(1, 7), (3, 4), (1, 3)]), [1, r.randint(2, 4)], [1, r.choice([-1, 1])]
    out = layer("rmsnorm", [x], gamma=gamma, dy=[dy])
    return {"row": row(x), "gamma": row(gamma), "dy": row(dy), "dx": row(out["dx"][0]), "dgamma": row(out["dgamma"])}


def batch(r):
    x = [[value] for value in small(r)]
    flat = [value for value, in x]
    mean = sum(flat) / 4
    var = sum((value - mean) ** 2 for value in flat) / 4
    return {"row": row(flat), "y": row(value for value, in layer("batchnorm", x)["y"]), "mean": f"{mean:g}", "var": f"{var:.4g}",
            "unbiased": f"{var * 4 / 3:.4g}"}


def powers(r):
    a, layers = r.choice([0.8, 0.9, 1.05, 1.1, 1.2]), r.choice([24, 32, 48])
    return {"a": a, "layers": layers, "size": f"{a ** layers:.3g}"}


def moments(r):
    a, b = [r.randint(0, 9) for _ in range(3)], [r.randint(10, 19) for _ in range(2)]
    mean = lambda v: sum(v) / len(v)
    squares = lambda v: sum((x - mean(v)) ** 2 for x in v)
    return {"a": row(a), "b": row(b), "ma": f"{mean(a):.4g}", "mb": f"{mean(b):.4g}", "sa": f"{squares(a):.4g}",
            "sb": f"{squares(b):.4g}", "m": f"{mean(a + b):.4g}", "s": f"{squares(a + b):.4g}"}


def grid(r):
    power = r.randint(18, 30)
    return {"number": f"{r.randint(11, 19) * 2 ** power // 10:,}", "step": f"{2.0 ** (power - 23):g}", "power": power, "next": power + 1}


def bf16(r):
    value = r.choice([3.1416, 100.3, 257, 1.004])
    power = math.floor(math.log2(value)) - 7
    return {"value": value, "stored": f"{round(value / 2 ** power) * 2 ** power:.8g}", "step": f"{2.0 ** power:g}"}


def amdahl(r):
    share, saved = r.choice([4, 8, 12, 20]), r.choice([10, 25, 33, 50])
    return {"share": share, "saved": saved, "step": f"{share * saved / 100:g}", "most": share}


def bytes_of(r):
    n, c, size = r.choice([64, 512, 4096]), r.choice([512, 1024, 4096]), r.choice([("f32", 4), ("bf16", 2)])
    total = 2 * n * c * size[1]
    return {"n": n, "c": c, "type": size[0], "bytes": f"{total / 2 ** 20:g} MiB", "ms": f"{total / 20e9 * 1e6:.4g}"}


def chains(r):
    latency, starts, lanes = r.choice([3, 4, 5]), r.choice([1, 2]), r.choice([8, 16])
    return {"latency": latency, "starts": starts, "lanes": lanes, "vectors": latency * starts, "floats": latency * starts * lanes}


def lost(r):
    c, lanes = r.choice([512, 1024, 4096]), r.choice([4, 8, 16])
    return {"c": c, "lanes": lanes, "additions": f"{c // lanes + round(math.log2(lanes))}", "bound": 9 + c // lanes + lanes}


def rate(r):
    a, eta, decay = r.choice([2, 3, 4, 10]), r.choice([0.1, 0.01]), r.choice([0.1, 0.01, 0.05])
    return {"a": a, "square": a * a, "eta": eta, "decay": decay, "angle": f"{math.sqrt(2 * eta * decay):.3g}",
            "steps": f"{1 / (2 * eta * decay):.3g}"}


def padded(r):
    share = r.choice([0.2, 0.5, 0.75])
    return {"share": share, "factor": f"{1 / math.sqrt(1 - share):.3g}"}


def kappa(r):
    mean, sigma = r.choice([(300, 0.3), (1000, 0.5), (50, 0.1)])
    return {"mean": mean, "sigma": sigma, "kappa": f"{mean / sigma:g}", "digits": f"{math.log10(mean / sigma):.2g}"}


def pythagoras(r):
    mean, sigma, rms = r.choice([(3, 4, 5), (5, 12, 13), (8, 6, 10)])
    return {"mean": mean, "sigma": sigma, "rms": rms, "t": f"{mean / rms:.3g}", "rest": f"{sigma / rms:.3g}"}


def threads(r):
    time, fork, count = r.choice([6, 20, 100]), r.choice([1, 5, 50]), r.choice([2, 4])
    return {"time": time, "fork": fork, "count": count, "least": f"{fork + time / count:g}"}


def rounds(r):
    n = r.choice([5, 6, 8, 10])
    return {"n": n, "chance": f"{100 - 200 / 2 ** n:.4g}"}


# (chapter, question, answer, the function that computes the words in braces)
QUESTIONS = [
    (0, "What does the name of a case contain, and what does the name of an implementation contain? Which of the two decides the error bound?", "A case names layer, pass, type, shape and data. An implementation names a way to compute them. Both decide the bound: it follows from the implementation's method and the case's data.", None),
    (1, "All weights of a plain network are {a} times those of He's initialization. By which factor do the activations of layer {layers} differ from those of layer 0?", "{a}^{layers} = {size}.", powers),
    (1, "In a plain network every weight is He's initialization times a factor a. Why do the weight gradients of all layers change by the same factor?", "dW_l = δ_l x_{l−1}^T: δ_l has the factor a^(L−l), x_{l−1} has a^(l−1), and the product a^(L−1) does not depend on l.", None),
    (1, "The rows of x in front of RMSNorm become ten times as large. How do y and dx change?", "y does not change, up to eps; dx becomes a tenth.", None),
    (2, "A channel has the values {row}, with eps = 0. What are its mean, its biased and unbiased variance, and y?", "Mean {mean}, variance {var} and {unbiased}, y = {y}.", batch),
    (2, "Which elements of a tensor [n][c][s] share statistics in BatchNorm, LayerNorm, InstanceNorm and GroupNorm?", "BatchNorm: a channel (n · s values). LayerNorm: a sample (c · s). InstanceNorm: a channel of a sample (s). GroupNorm: c / groups channels of a sample.", None),
    (2, "Somebody copies Keras's momentum of 0.99 into PyTorch unchanged. What is the running mean then?", "Nearly the last batch's mean, because PyTorch's momentum is the weight of the new value.", None),
    (2, "Fold a BatchNorm at inference into the linear layer x = W h + d in front of it.", "With a_j = γ_j rstd_j, row j of W is multiplied by a_j, and d_j becomes a_j (d_j − mean_j) + β_j.", None),
    (3, "A share of {share} of a batch is padding, rows of zeros; the real rows have mean 0. By which factor does BatchNorm's output of a real row grow?", "1 / √(1 − {share}) = {factor}.", padded),
    (3, "Which of BatchNorm's four problems in a language model does masking the padding solve, and which does a larger batch solve?", "Masking solves the padding. A larger batch solves the noise, and most of the gap between training and inference. Neither prevents looking ahead.", None),
    (3, "Why is there no gap between training and inference in LayerNorm?", "In training and inference the statistics come from the row itself; LayerNorm has no running statistics.", None),
    (4, "What is LayerNorm's xhat of the row {row}, with eps = 0?", "{y}", lambda r: norm_of("layernorm", r)),
    (4, "LayerNorm of {row} is {y}, with eps = 0. What is LayerNorm of {a} times the row plus {b}, and of the row times −1?", "{a} times the row plus {b}: the same. The row times −1: {minus}.", scaled),
    (4, "With eps = 1e-5, at which σ is LayerNorm's output half as large as with eps = 0?", "var + eps = 4 var, so σ = √(eps / 3) = 0.0018.", None),
    (5, "What is RMSNorm's xhat of the row {row}, with eps = 0?", "{y}", lambda r: norm_of("rmsnorm", r)),
    (5, "A row has mean {mean} and standard deviation {sigma}. What is its RMS, and what are the mean and standard deviation of RMSNorm's xhat?", "{rms}; {t} and {rest}.", pythagoras),
    (5, "x = ({row}) and w = ({w}), eps = 0. What does RMSNorm with the gain 1 + w give, and what with the gain w?", "{y}; {plain}.", gain),
    (5, "Under which condition on W and b in x = W h + b is LayerNorm of x the same as RMSNorm of x for every h?", "b and every column of W have mean zero.", None),
    (6, "Derive w · ∂L/∂w = 0 for the weights in front of a norm.", "L(a w) = L(w) for all a > 0 (eps = 0). The derivative with respect to a at 1 is Σ w_i ∂L/∂w_i, and it is 0.", None),
    (6, "The weights in front of a norm are multiplied by {a}. Which learning rate gives the same training?", "{square} times the old rate, because the effective rate is η / |w|².", rate),
    (6, "With η = {eta} and λ = {decay}, by which angle does a step turn the weights in front of a norm at balance, and after about how many steps is the balance reached?", "√(2ηλ) = {angle} rad; 1 / (2ηλ) = {steps} steps.", rate),
    (6, "Give one argument for, and two against, “norms help because they smooth the loss”.", "For: along a step the gradient changes less (Santurkar). Against: curvature scales with 1/|w|² at the same function; in shallow networks a norm does not make the loss smoother; networks without a norm's statistics train too.", None),
    (7, "Write pre-norm, post-norm and the norm on both sides of F (the sandwich) as formulas.", "x + F(norm(x)); norm(x + F(x)); x + norm(F(norm(x))).", None),
    (7, "How does the mean square grow over l layers of pre-norm before training, and which share does layer l add?", "It is l + 1 after l layers; layer l adds 1 / (l + 1) of it.", None),
    (7, "What does QK-norm bound, and which rows does its kernel get?", "It bounds the product of query and key. Its kernel gets short rows (a head, often 128 values) with gaps between them.", None),
    (7, "A quarter of a kernel's bf16 outputs differ by one step from those of a framework. Name two differences in rounding that explain this.", "xhat is rounded before the gain or not; the residual's sum is rounded before the norm or not.", None),
    (8, "How far apart are the floats near {number}?", "{step}: between 2^{power} and 2^{next} there are 2^23 floats.", grid),
    (8, "Which number does bf16 store for {value}?", "{stored}: its neighbours are {step} apart.", bf16),
    (8, "A row has mean {mean} and standard deviation {sigma}. How large is κ, and how many decimal digits does it cost?", "{kappa}; about {digits}.", kappa),
    (8, "Which three things stay in f32 in mixed precision, and why does bf16 need no loss scaling?", "The weights that the optimizer changes, the statistics, and the parameters' gradients. bf16's exponent has the range of f32's.", None),
    (9, "Why is E[x²] − mean² of 80000, 80001, 80002, 80003 negative in float?", "Both terms are near 6.4e9, where floats are 512 apart. The rounded terms differ by whole steps, here by −1; 1.25 is far less than a step.", None),
    (9, "What is LayerNorm's y of the row {row} in exact arithmetic, with eps = 0? What can one-pass return in float?", "{y}. One-pass subtracts numbers near 6.4e9: no digit is certain, and NaN is possible.", lambda r: norm_of("layernorm", r, 80000)),
    (9, "How do the errors of one-pass, two-pass and refined grow with κ, and what causes each error?", "One-pass grows with κ², from the difference of large sums. Two-pass grows with κ, from the mean rounded to a float. Refined does not grow: it measures and subtracts the mean's error.", None),
    (9, "Why does clipping a negative variance to 0 not repair one-pass?", "A positive variance can be just as wrong, and clipping hides the NaN.", None),
    (10, "A sum of {c} squares: how many additions does a term go through at most, in {lanes} lanes and in one chain?", "About {additions}; {c} − 1.", lost),
    (10, "Two blocks have the values {a}, and {b}. Give the mean and the sum of squares of each block, and merge them.", "Means {ma} and {mb}, squares {sa} and {sb}; together mean {m}, squares {s}.", moments),
    (10, "Why must a compiler not split a sum of floats into lanes by itself?", "Float addition is not associative: another order gives another result.", None),
    (10, "Why does a 16-bit running sum of squares stop growing?", "A term below half of the sum's last place is lost completely: 256 + 1 = 256 in bf16.", None),
    (11, "RMSNorm with eps = 0, x = ({row}), γ = ({gamma}), dy = ({dy}). What are dx and dγ?", "dx = ({dx}), dγ = ({dgamma}).", gradient),
    (11, "Which identity holds for dx of RMSNorm with eps = 0, and which further identity holds for LayerNorm?", "Σ dx x = 0; Σ dx = 0.", None),
    (11, "Somebody writes dx = γ r (dy − xhat mean(dy xhat)) for RMSNorm. For which γ is this right, and which test cannot see the mistake?", "Constant γ; any test with γ = 1.", None),
    (11, "Why can a difference quotient in float not judge a float gradient?", "The quotient's best error is about u^(2/3), 1e-5; a good gradient is a hundred times more exact.", None),
    (12, "An operation takes {latency} cycles, and {starts} can start in each cycle. How many vectors of {lanes} floats must be in flight to use every cycle, and how many sums is that?", "{vectors}; {floats}.", chains),
    (12, "RMSNorm of {n} x {c} in {type}: how many bytes move at least, and how long does that take at 20 GB/s, in µs?", "{bytes}; {ms} µs.", bytes_of),
    (12, "What limits a kernel left of the roofline's ridge, and what right of it? Which limit does the roofline not show?", "Bytes limit it left of the ridge, operations right of it. The roofline does not show latency.", None),
    (12, "What does a streaming store save, and when does it cost time?", "It saves reading the line that is overwritten. It costs time when y is read soon: y is then in no cache.", None),
    (13, "Why is a rung with four vector accumulators faster than a rung with one accumulator, but not 4 times as fast?", "The output and the loads take time too: one cost fell, and another became the limit.", None),
    (13, "The words `vload` and `vkeep` set the lanes from k on to zero. Which part of a vector kernel becomes unnecessary?", "The second loop, for the elements that fill no vector. Vector kernels often have their bugs in that loop.", None),
    (14, "A kernel takes {time} µs on one thread, and a fork takes {fork} µs. What is the least time on {count} threads?", "{fork} + {time} / {count} = {least} µs.", threads),
    (14, "What is the difference between a race and false sharing?", "A race gives wrong results; false sharing gives right results, but slowly.", None),
    (14, "How does one get the same bits on any number of threads, and in any batch?", "Divide the work by the problem's shape, not by the number of threads, and add in a fixed order. Use one order for a row, whatever the number of rows.", None),
    (15, "With {n} rounds, how probable is it that the interval from the smallest ratio to the largest holds the median?", "1 − 2 · 2^−{n}: {chance} %.", rounds),
    (15, "An interval is [0.97, 1.08] and the margin 2 %. Which verdict follows, and what would SAME need?", "NOT RESOLVED. SAME needs an interval inside [0.98, 1.02], and an A/A band as narrow.", None),
    (15, "Why can more rounds in one process not replace other processes?", "The addresses of code and buffers, and the hour, do not change within a process. Varying them needs passes and sittings.", None),
    (16, "Norms take {share} % of a step, and another norm saves {saved} % of their time. How much of the step is saved, and how much could a faster norm save at most?", "{step} %; {most} %.", amdahl),
    (16, "How many array transfers do unfused LayerNorm and RMSNorm make, and how many do the fused layers make?", "Unfused 12 and 7; fused 2 and 2.", None),
    (17, "Which bound in units does 1 + 8 + c / L + L give for RMSNorm in L = {lanes} lanes with c = {c}?", "{bound}.", lost),
    (17, "Which wrong value passes a checker with `if (diff > tolerance) fail`?", "NaN: every comparison with it is false.", None),
    (18, "Predict the gain of “two rows at a time share the loads of γ and β”, and name the resource that this idea forgets.", "Six loads instead of eight: three quarters of the time, if loads are the limit. It forgets registers.", None),
    (19, "How many messages do two-pass and Chan's merge need for BatchNorm forward over two ranks? What does a message of the merge carry, and why can one not add the variances?", "Two-pass needs two, the merge one. Its message carries count, mean and M2 of each channel. Without d² n_a n_b / n the sum ignores the distance between the ranks' means.", None),
]


def exam(seed, count, wanted):
    """The questions and the answers, as two texts."""
    chosen = [(i, item) for i, item in enumerate(QUESTIONS, 1) if item[0] in wanted]
    if count < len(chosen):
        chosen = sorted(random.Random(seed).sample(chosen, count))
    titles, parts = {course.number(page): course.title(page) for page in course.chapters()}, ([], [])
    before = None
    for place, (i, (chapter, question, answer, draw)) in enumerate(chosen, 1):
        words = draw(random.Random(f"{seed} {i}")) if draw else {}
        for part, text in zip(parts, (question, answer)):
            part += [f"\n## {titles[chapter]}\n"] * (chapter != before)
            part.append(f"{place}. {text.format(**words) if draw else text}")
        before = chapter
    return tuple("\n".join(part).strip() + "\n" for part in parts)


def page():
    questions, _ = exam(0, len(QUESTIONS), {item[0] for item in QUESTIONS})
    return (f"# {len(QUESTIONS)} questions\n\n`scripts/exam.py` wrote this page, and also draws an exam with other numbers, whose answers "
            "go to a second file:\n\n    .venv/bin/python scripts/exam.py --seed 7 --questions 12 --out exam\n\n"
            f"<!-- exam:begin -->\n{questions}<!-- exam:end -->\n")


def numbers(text):
    """1-3,8 -> {1, 2, 3, 8}"""
    ends = [part.split("-") for part in text.split(",")]
    return {k for end in ends for k in range(int(end[0]), int(end[-1]) + 1)}


def main():
    global PROGRAM
    parser, what = markers.update_or_check(__doc__, program=True)
    what.add_argument("--out", type=Path)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--chapters", type=numbers, default=numbers("0-99"))
    options = parser.parse_args()
    PROGRAM = options.program
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        for name, text in zip(("questions", "answers"), exam(options.seed, options.questions, options.chapters)):
            (options.out / f"{name}.md").write_text(text)
        return 0
    print(f"{len(QUESTIONS)} questions")
    return markers.report(markers.written({PAGE: page()}, options.check, "out of date: run scripts/exam.py --update"))


if __name__ == "__main__":
    sys.exit(main())
