#!/usr/bin/env python3
"""Draws the mechanism of each chapter, docs/pictures/course/NN.svg: light, dark, and readable in grey.

    scripts/mechanisms.py            writes all pictures
    scripts/mechanisms.py --check    writes nothing; exit code 1 if a picture is out of date

A picture is a function chapter_NN(c) below, or chapter_NN_NAME(c) for a chapter's further picture, on a canvas 720
wide. Texts that overlap or leave the canvas are an error. Standard library only. SPDX-License-Identifier: MIT"""
import math
import sys

import markers

FOLDER = markers.ROOT / "docs" / "pictures" / "course"
# Two colours that differ in lightness too; most lines in `b` are dashed as well.
LIGHT = {"back": "#ffffff", "ink": "#1b1f24", "soft": "#5a626b", "rule": "#d3d8de", "a": "#0b3d91", "b": "#d9822b",
         "fill-a": "#b9cdf0", "fill-b": "#fbe3c4"}
DARK = {"back": "#14181d", "ink": "#f2f4f6", "soft": "#a9b1ba", "rule": "#3a424b", "a": "#b4cdff", "b": "#e08a35",
        "fill-a": "#355ca3", "fill-b": "#4a3114"}
WIDE = 720


def ring(x, y, radius):
    half = f"a{radius:g} {radius:g} 0 1 0 {{:g}} 0"
    return f"M{x - radius:.4g} {y:.4g}" + half.format(2 * radius) + half.format(-2 * radius)


class Canvas:
    def __init__(self, title, tall):
        self.title, self.tall, self.parts, self.texts, self.boxes = title, tall, [], [], []

    def text(self, x, y, words, anchor="start", size=15, colour="ink", bold=False):
        """Adds text with its baseline at y, above all shapes."""
        wide = 0.53 * size * len(words) * (1.07 if bold else 1)
        left = x - wide * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        box = left, y - 0.75 * size, left + wide, y + 0.2 * size
        if box[0] < 2 or box[2] > WIDE - 2 or box[1] < 2 or box[3] > self.tall - 2:
            raise ValueError(f"{self.title}: '{words}' leaves the canvas")
        for other, what in self.boxes:
            if box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]:
                raise ValueError(f"{self.title}: '{words}' lies on '{what}'")
        self.boxes.append((box, words))
        words = words.replace("&", "&amp;").replace("<", "&lt;")
        weight = ' font-weight="bold"' if bold else ""
        self.texts.append(f'<text x="{x:g}" y="{y:g}" class="f-{colour}" font-size="{size}" text-anchor="{anchor}"{weight}>{words}</text>')

    def line(self, x1, y1, x2, y2, colour="ink", width=2, dash=False, arrow=False):
        self.path(f"M{x1:.4g} {y1:.4g}L{x2:.4g} {y2:.4g}", colour, width, dash)
        if arrow:
            angle = math.atan2(y2 - y1, x2 - x1)
            ends = [(x2 - 9 * math.cos(angle + turn), y2 - 9 * math.sin(angle + turn)) for turn in (0.4, -0.4)]
            self.shape([(x2, y2), *ends], colour)

    def path(self, d, colour="ink", width=2, dash=False):
        dashes = ' stroke-dasharray="6 4"' if dash else ""
        self.merge(f's-{colour}" stroke-width="{width:g}"{dashes}', d)

    def curve(self, points, colour="ink", width=2, dash=False):
        self.path("M" + "L".join(f"{x:.4g} {y:.4g}" for x, y in points), colour, width, dash)

    def shape(self, points, fill, edge=None):
        corners = "L".join(f"{x:.4g} {y:.4g}" for x, y in points)
        self.merge(f"f-{fill}{f' s-{edge}' if edge else ''}\"", f"M{corners}Z")

    def box(self, x, y, wide, tall, fill="back", edge="soft"):
        self.merge(f'f-{fill} s-{edge}"', f"M{x:g} {y:g}h{wide:g}v{tall:g}h{-wide:g}z")

    def merge(self, look, d):
        """Merges consecutive shapes and lines of one look into one element."""
        end = f'" class="{look}/>'
        if self.parts and self.parts[-1].endswith(end):
            self.parts[-1] = self.parts[-1].removesuffix(end) + d + end
        else:
            self.parts.append(f'<path d="{d}{end}')

    def dot(self, x, y, radius=4, fill="ink"):
        self.merge(f'f-{fill}"', ring(x, y, radius))

    def circle(self, x, y, radius, colour="rule", dash=False):
        self.path(ring(x, y, radius), colour, 2, dash)

    def svg(self):
        def rules(theme):
            return "".join(f".f-{name}{{fill:{value}}}.s-{name}{{stroke:{value}}}" for name, value in theme.items())
        style = f"text{{font-family:sans-serif}}path{{fill:none}}{rules(LIGHT)}@media(prefers-color-scheme:dark){{{rules(DARK)}}}"
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE} {self.tall}" width="{WIDE}" '
                          f'height="{self.tall}" role="img"><title>{self.title}</title><style>{style}</style>',
                          f'<rect width="{WIDE}" height="{self.tall}" class="f-back"/>', *self.parts, *self.texts,
                          "</svg>", ""])


def picture(title, tall=250):
    def wrap(draw):
        draw.title, draw.tall = title, tall
        return draw
    return wrap


@picture("The course: what is computed, how exactly, how fast, and how one can be sure", 200)
def chapter_00(c):
    groups = [("what", "1 to 7", "the layers", "why they help"), ("exact", "8 to 11", "rounding, sums", "gradients"),
              ("fast", "12 to 14", "machine, vectors", "threads"), ("sure", "15 to 19", "measuring, claims", "tests, failures")]
    for i, (name, chapters, *words) in enumerate(groups):
        x = 15 + 178 * i
        c.box(x, 40, 150, 110, "fill-b" if i % 2 else "fill-a")
        c.text(x + 75, 66, f"{name}: {chapters}", "middle", bold=True)
        for k, line in enumerate(words):
            c.text(x + 75, 98 + 24 * k, line, "middle")
        if i:
            c.line(x - 26, 95, x - 3, 95, arrow=True)
    c.text(360, 182, "formula → error → time → evidence", "middle", colour="soft")


@picture("The size of x over 64 layers: weights 10 % too large, 10 % too small, and with a norm", 290)
def chapter_01(c):
    def at(layer, power):
        return 70 + 7.2 * layer, 130 - 40 * power
    for power, name in ((2, "100"), (0, "1"), (-2, "0.01")):
        c.line(*at(0, power), *at(64, power), "rule", 1)
        c.text(60, at(0, power)[1] + 5, name, "end", colour="soft")
    for factor, colour in ((1.1, "a"), (0.9, "b")):
        c.line(*at(0, 0), *at(64, 64 * math.log10(factor)), colour, 3, colour == "b")
    saw = []
    for layer in range(0, 64, 2):
        saw += [at(layer, 0), at(layer + 1.9, 0.3), at(layer + 2, 0)]
    c.curve(saw, "ink", 2)
    c.text(540, at(64, 64 * math.log10(1.1))[1] + 8, "weights × 1.1: 446", colour="a")
    c.text(540, at(64, 0)[1] - 10, "a norm: each layer")
    c.text(540, at(64, 0)[1] + 10, "begins at 1 again")
    c.text(540, at(64, 64 * math.log10(0.9))[1], "weights × 0.9: 0.0012")
    c.text(70, 278, "layer 0", colour="soft")
    c.text(530, 278, "layer 64", "end", colour="soft")


@picture("What shares one mean: a block of samples, channels and positions for each norm", 260)
def chapter_02(c):
    names = [("Batch", lambda n, ch, s: ch == 0), ("Layer", lambda n, ch, s: n == 0), ("Instance", lambda n, ch, s: n == 0 and ch == 0),
             ("Group", lambda n, ch, s: n == 0 and ch < 2), ("RMS", lambda n, ch, s: n == 0 and s == 0)]
    means = ["one channel", "one sample", "one sample,", "one sample,", "one row,"], \
            ["n · s values", "c · s values", "one channel", "some channels", "and no mean"]
    side = 15
    for i, (name, inside) in enumerate(names):
        left, top = 30 + 138 * i, 85
        tops = [(x, y) for x in range(4) for y in range(3)]

        def p(channel, sample, depth):  # corners of the block
            return left + side * channel + 9 * depth, top + side * sample - 9 * depth
        for shaded in False, True:
            for ch in range(4):  # front: samples down, channels across, at position 0
                for n in range(4):
                    if inside(n, ch, 0) == shaded:
                        c.box(*p(ch, n, 0), side, side, "fill-a" if shaded else "back")
        for ch, s in tops:  # top: channels and positions of sample 0
            c.shape([p(ch, 0, s), p(ch + 1, 0, s), p(ch + 1, 0, s + 1), p(ch, 0, s + 1)], "fill-a" if inside(0, ch, s) else "back", "soft")
        for n in range(4):  # side: samples and positions of the last channel
            for s in range(3):
                c.shape([p(4, n, s), p(4, n, s + 1), p(4, n + 1, s + 1), p(4, n + 1, s)], "fill-a" if inside(n, 3, s) else "back", "soft")
        c.text(left + 42, 40, name + "Norm", "middle", bold=True)
        c.text(left + 42, 178, means[0][i], "middle", 14)
        c.text(left + 42, 198, means[1][i], "middle", 14)
    c.text(30, 238, "down: samples n", colour="soft", size=14)
    c.text(235, 238, "across: channels c", colour="soft", size=14)
    c.text(450, 238, "into the page: positions s", colour="soft", size=14)


@picture("One output token depends on all tokens in BatchNorm, on its own in LayerNorm", 240)
def chapter_03(c):
    words = ["the", "cat", "sat", "(padding)"]
    for left, name, all_of_them in ((40, "BatchNorm", True), (400, "LayerNorm, RMSNorm", False)):
        c.text(left + 140, 30, name, "middle", bold=True)
        for i, word in enumerate(words):
            x = left + 8 + 88 * i
            c.text(x, 72, word, "middle", 14)
            c.box(x - 30, 82, 60, 24, "fill-a" if all_of_them or i == 0 else "back")
            c.box(x - 30, 176, 60, 24, "fill-a" if i == 0 else "back")
            if all_of_them or i == 0:
                c.line(x, 108, left + 8 + (4 * i if all_of_them else 0), 173, "a" if i == 0 else "b", 2, i > 0, True)
        c.text(left + 70, 226, "y of “the” needs " + ("every token" if all_of_them else "itself"), "start", 14, "soft")


@picture("LayerNorm in three steps: the row, minus its mean, stretched to the circle", 330)
def chapter_04(c):
    x0, y0, r = 250, 190, 100
    c.circle(x0, y0, r, "soft", True)
    c.line(x0 - 130, y0 + 65, x0 + 150, y0 - 75, "rule", 1)  # the plane of mean 0
    c.line(x0 - 50, y0 + 100, x0 + 85, y0 - 170, "rule", 1)
    c.text(x0 + 92, y0 - 162, "along (1, …, 1)", colour="soft", size=14)
    c.text(x0 + 156, y0 - 92, "mean 0: across it", colour="soft", size=14)
    along, across = (math.cos(1.107), -math.sin(1.107)), (math.cos(0.4636), -math.sin(0.4636))
    centred = x0 + 50 * across[0], y0 + 50 * across[1]
    row = centred[0] + 110 * along[0], centred[1] + 110 * along[1]
    unit = x0 + r * across[0], y0 + r * across[1]
    c.line(x0, y0, *row, "ink", 3, arrow=True)
    c.line(*row, centred[0] + 6 * along[0], centred[1] + 6 * along[1], "b", 3, True, True)
    c.line(x0, y0, *unit, "a", 3, arrow=True)
    c.dot(*centred)
    c.text(row[0] + 10, row[1] + 12, "x")
    c.text(centred[0] + 50, centred[1] - 35, "minus the mean", size=14)
    c.text(unit[0] + 10, unit[1] + 18, "divided by σ: length √c", colour="a")
    c.text(30, 318, "Every row ends on the circle: only its direction across (1, …, 1) survives.", colour="soft", size=14)


@picture("A right triangle: the mean along (1, …, 1), sigma across it, RMS as the hypotenuse", 250)
def chapter_05(c):
    c.shape([(90, 200), (430, 200), (430, 80)], "fill-a", "soft")
    c.line(90, 200, 430, 200, "ink", 3, arrow=True)
    c.line(430, 200, 430, 80, "b", 3, True, True)
    c.line(90, 200, 430, 80, "a", 4, arrow=True)
    c.path("M416 200v-14h14", "soft", 1)
    c.text(240, 225, "σ: what differs within the row", "middle")
    c.text(444, 150, "μ: along (1, …, 1)")
    c.text(200, 112, "RMS", "middle", bold=True, colour="a")
    c.text(470, 60, "LayerNorm divides the", size=14)
    c.text(470, 80, "lower side by σ;", size=14)
    c.text(470, 200, "RMSNorm divides the", size=14)
    c.text(470, 220, "long side by RMS.", size=14)
    c.text(90, 40, "RMS² = σ² + μ²", bold=True)


@picture("The gradient is at right angles to the weights: a step turns short weights more than long ones", 290)
def chapter_06(c):
    for x0, length, name in ((60, 110, "short w: a large turn"), (360, 220, "w twice as long: gradient ½, turn ¼")):
        y0 = 200
        step = 96 * 110 / length / 1.0
        c.circle(x0, y0, 4, "ink")
        tip = x0 + length, y0
        c.line(x0, y0, *tip, "ink", 3, arrow=True)
        c.line(*tip, tip[0], y0 - step, "b", 3, True, True)
        c.line(x0, y0, tip[0] - 3, y0 - step + 3, "a", 2)
        arc = [(x0 + length * math.cos(t), y0 - length * math.sin(t)) for t in [i / 40 * 0.62 for i in range(41)]]
        c.curve(arc, "rule", 2)
        c.text(x0 + length / 2, y0 + 22, "w", "middle")
        c.text(tip[0] + 10, y0 - step / 2 + 20, "− η g")
        c.text(x0 - 20, 250, name)
    c.text(40, 278, "On the arc the loss is the same as on every larger arc: only the direction of w counts.", size=14, colour="soft")
    c.text(60, 40, "angle = η |g| / |w|, and |g| is in proportion to 1 / |w|", bold=True)


@picture("The residual stream widens with pre-norm, and post-norm brings it back at each layer", 290)
def chapter_07(c):
    for top, name, pre in ((75, "pre-norm", True), (200, "post-norm", False)):
        c.text(15, top - 35, name, bold=True)
        half = [9 * math.sqrt(1 + i) if pre else 13 for i in range(7)]
        blocks = [(40 + 100 * i, 140 + 100 * i, top + half[i]) for i in range(6)]
        for i, (x, end, _) in enumerate(blocks):
            if pre:
                c.shape([(x, top - half[i]), (end, top - half[i]), (end, top + half[i]), (x, top + half[i])], "fill-a")
                c.shape([(end - 20, top - half[i]), (end, top - half[i + 1]), (end, top + half[i + 1]), (end - 20, top + half[i])], "fill-a")
            else:
                c.shape([(x, top - 13), (end - 40, top - 13), (end - 40, top + 13), (x, top + 13)], "fill-a")
                c.shape([(end - 40, top - 13), (end - 20, top - 21), (end - 20, top + 21), (end - 40, top + 13)], "fill-a")
        for x, end, y in blocks:
            c.path(f"M{x + 15:g} {y:.4g}v20h55v-12", "ink", 2)
        for x, end, y in blocks:
            if not pre:
                c.shape([(end - 20, top - 21), (end, top - 13), (end, top + 13), (end - 20, top + 21)], "fill-b", "soft")
            else:
                c.box(x + 20, y + 12, 16, 16, "fill-b")
        for x, _, y in blocks:
            c.box(x + 42, y + 12, 16, 16)
    c.text(650, 72, "√(l + 1)", colour="a")
    c.text(650, 205, "1", colour="a")
    c.box(40, 262, 16, 16, "fill-b")
    c.text(64, 275, "a norm", size=14)
    c.box(140, 262, 16, 16)
    c.text(164, 275, "attention or the feed-forward part", size=14)


@picture("The bits of f32, f16 and bf16", 230)
def chapter_08(c):
    side = 18
    for row, (name, exponent, fraction) in enumerate((("f32", 8, 23), ("bf16", 8, 7), ("f16", 5, 10))):
        y = 50 + 55 * row
        c.text(60, y + 15, name, "end", bold=True)
        for i in range(1 + exponent + fraction):
            c.box(75 + side * i, y, side, 22, "back" if i == 0 else "fill-b" if i <= exponent else "fill-a")
        c.text(75 + side / 2, y - 6, "s", "middle", 13)
        c.text(75 + side * (1 + exponent / 2), y - 6, f"{exponent} exponent", "middle", 13)
        c.text(75 + side * (1 + exponent + fraction / 2), y - 6, f"{fraction} fraction", "middle", 13)
    c.text(390, 120, "the upper half of f32: the same range", colour="soft", size=14)
    c.text(390, 175, "finer steps, up to 65504 only", colour="soft", size=14)
    c.text(75, 215, "Fraction bits decide the steps, exponent bits the range.", colour="soft", size=14)


@picture("Near 6.4e9 the floats are 512 apart, and a variance of 1.25 falls between them", 240)
def chapter_09(c):
    y = 120
    c.line(30, y, 690, y, "ink", 2)
    for i in range(6):
        x = 60 + 120 * i
        c.line(x, y - 10, x, y + 10, "ink", 2)
    c.line(180, y - 50, 180, y - 14, "a", 3, arrow=True)
    c.text(180, y - 60, "E[x²] = 6400239616", "middle", colour="a")
    c.line(300, y + 50, 300, y + 14, "b", 3, True, True)
    c.text(300, y + 70, "mean² = 6400240128", "middle")
    c.line(420, y + 25, 540, y + 25, "soft", 1)
    c.text(480, y + 45, "512 apart", "middle", colour="soft")
    c.dot(601.3, y, 3, "b")
    c.text(601, y - 20, "1.25 would be this wide", "middle", size=14)
    c.text(30, 226, "Each is off by less than one step. Their difference is −512, or 0, or 512: never 1.25.", colour="soft", size=14)


@picture("Eight numbers added in a chain, in lanes, and in pairs", 290)
def chapter_10(c):
    def leaves(left, step):
        return [(left + step * i, 60) for i in range(8)]

    def join(p, q, y):
        at = ((p[0] + q[0]) / 2, y)
        for end in (p, q):
            c.line(*end, *at, "ink", 1.5)
        nodes.append(at)
        return at
    nodes = []
    chain = leaves(25, 24)
    at = chain[0]
    for i in range(1, 8):
        at = join(at, chain[i], 60 + 24 * i)
    lanes = leaves(265, 26)
    sums = [join(lanes[k], lanes[k + 4], 84 + 24 * 0 + 18 * k) for k in range(4)]
    join(join(sums[0], sums[1], 180), join(sums[2], sums[3], 195), 225)
    pairs = leaves(505, 26)
    for y in (100, 140, 180):
        pairs = [join(pairs[i], pairs[i + 1], y) for i in range(0, len(pairs), 2)]
    for x, y in chain + lanes + leaves(505, 26):
        c.dot(x, y, 4, "a")
    for x, y in nodes:
        c.dot(x, y, 3)
    for x, name, words in ((25, "one chain", "7 roundings, 7 waits"), (265, "four lanes", "3 roundings, 3 waits"),
                           (505, "pairwise", "3 roundings, 3 waits")):
        c.text(x, 35, name, bold=True)
        c.text(x, 265, words, size=14, colour="soft")


@picture("The gradient of a norm: g without its parts along (1, …, 1) and along x̂", 270)
def chapter_11(c):
    x0, y0 = 170, 200
    c.line(x0, y0, x0 + 190, y0, "soft", 2, arrow=True)
    c.line(x0, y0, x0, y0 - 150, "soft", 2, arrow=True)
    c.line(x0, y0, x0 - 80, y0 + 45, "soft", 2, arrow=True)
    c.text(x0 + 200, y0 + 5, "x̂: the size", colour="soft")
    c.text(x0 - 20, y0 - 160, "what the layer lets through", colour="soft", size=14)
    c.text(x0 - 155, y0 + 62, "(1, …, 1): the mean", colour="soft", size=14)
    c.line(x0, y0, x0 + 130, y0 - 110, "ink", 3, arrow=True)
    c.text(x0 + 138, y0 - 112, "g")
    c.line(x0 + 130, y0 - 110, x0 + 14, y0 - 110, "b", 2, True, True)
    c.text(x0 + 30, y0 - 92, "mean(g x̂)", size=13)
    c.line(x0, y0, x0, y0 - 110, "a", 4, arrow=True)
    c.text(x0 - 12, y0 - 70, "dx / r", "end", colour="a")
    c.text(400, 70, "Scaling x changes no output,", size=14)
    c.text(400, 90, "so no gradient along x̂.", size=14)
    c.text(400, 130, "LayerNorm: adding a constant", size=14)
    c.text(400, 150, "changes no output either.", size=14)


@picture("Sixteen cycles: one chain waits for its result, four chains fill the unit", 250)
def chapter_12(c):
    for top, name, chains in ((60, "one chain: 4 operations", 1), (150, "four chains: 16 operations", 4)):
        c.text(20, top - 12, name, bold=True)
        for cycle in sorted(range(16), key=lambda cycle: cycle % 4):
            begins = cycle % 4 < chains
            c.box(20 + 42 * cycle, top, 42, 30, ("fill-a" if cycle % 4 == 0 else "fill-b") if begins else "back")
            if begins:
                c.text(41 + 42 * cycle, top + 20, f"{'abcd'[cycle % 4]}{cycle // 4 + 1}", "middle", 13)
    c.text(20, 110, "a2 needs the result of a1, which takes four cycles: three of four places stay empty", size=14, colour="soft")
    c.text(20, 200, "b1, c1 and d1 do not need the result of a1", size=14, colour="soft")
    c.text(20, 235, "cycles →", size=14, colour="soft")


@picture("The ports that 32 outputs of LayerNorm take: three cycles on one core, and six on another", 262)
def chapter_12_ports(c):
    cores = (("Sapphire Rapids: arithmetic and loads", 3, (("arithmetic", 3), ("arithmetic", 3), ("load", 3), ("load", 3), ("store", 2))),
             ("Zen 4, half a vector each: loads", 6, (("multiply-add", 4), ("multiply-add", 4), ("add", 2), ("add", 2), ("load", 6), ("load", 6), ("store", 4))))
    for left, (name, cycles, ports) in zip((20, 360), cores):
        c.text(left, 30, name, bold=True)
        for row, (port, used) in enumerate(ports):
            c.text(left + 100, 61 + 26 * row, port, "end", 14)
            for cycle in range(cycles):
                full = "fill-b" if used == cycles else "fill-a"
                c.box(left + 110 + 36 * cycle, 45 + 26 * row, 36, 22, full if cycle < used else "back")
    c.text(20, 250, "two vectors of 512 bits: 6 loads, 2 subtractions, 4 multiply-adds, 2 stores; cycles →", size=14, colour="soft")


@picture("How many of the adder's places are used: scalar, vector, four vectors", 250)
def chapter_13(c):
    for i, (name, rows, used) in enumerate((("one float", 1, 1), ("one vector of 8", 1, 8), ("four vectors", 4, 8))):
        left = 20 + 240 * i
        c.text(left, 40, name, bold=True)
        for row in range(4):
            for lane in range(8):
                full = row < rows and lane < used
                c.box(left + 26 * lane, 60 + 32 * row, 26, 26, "fill-a" if full else "back", "soft" if full or row == 0 else "rule")
        c.text(left, 212, f"{rows * used} sum{'s' if rows * used > 1 else ''} that {'do not wait' if rows * used > 1 else 'waits for itself'}", size=14)
    c.text(20, 238, "across: lanes of a register; down: registers in flight during four cycles", size=14, colour="soft")


@picture("False sharing: a line of memory travels between two cores at each write", 270)
def chapter_14(c):
    for left, name, shared in ((20, "sums side by side", True), (380, "a line for each thread", False)):
        c.text(left, 35, name, bold=True)
        for core in range(2):
            c.box(left + 200 * core, 55, 110, 40, "fill-a" if core == 0 else "fill-b")
            c.text(left + 200 * core + 55, 80, f"core {core + 1}", "middle")
        if shared:
            c.box(left + 75, 190, 160, 26)
            c.box(left + 75, 190, 20, 26, "fill-a")
            c.box(left + 95, 190, 20, 26, "fill-b")
            c.line(left + 75, 185, left + 50, 100, "a", 2, arrow=True)
            c.line(left + 235, 185, left + 260, 100, "b", 2, True, True)
            c.line(left + 118, 70, left + 190, 70, "ink", 2, arrow=True)
            c.line(left + 192, 84, left + 120, 84, "ink", 2, arrow=True)
            c.text(left + 155, 130, "to and fro", "middle", 14)
            c.text(left, 245, "one line of 16 floats, two writers", size=14, colour="soft")
        else:
            for core in range(2):
                x = left + 200 * core - 10 * core
                c.box(x, 190, 130, 26)
                c.box(x, 190, 20, 26, "fill-b" if core else "fill-a")
                c.line(x + 60, 185, x + 60, 100, "b" if core else "a", 2, bool(core), True)
            c.text(left, 245, "two lines, each stays where it is", size=14, colour="soft")


@picture("Four verdicts: an interval of the ratio beside the margin of 2 %", 250)
def chapter_15(c):
    def at(ratio):
        return 330 + 2200 * (ratio - 1)
    c.box(at(0.98), 40, at(1.02) - at(0.98), 160, "fill-a", "rule")
    c.line(at(1), 35, at(1), 205, "ink", 1)
    for ratio in (0.92, 0.96, 1, 1.04, 1.08):
        c.text(at(ratio), 224, f"{ratio:g}", "middle", 13, "soft")
    for i, (name, low, high) in enumerate((("FASTER", 0.93, 0.955), ("SAME", 0.992, 1.007), ("SLOWER", 1.03, 1.075), ("NOT RESOLVED", 0.96, 1.05))):
        y = 65 + 40 * i
        c.line(at(low), y, at(high), y, "b" if i == 3 else "a", 6)
        c.dot(at((low + high) / 2), y, 6)
        c.text(556, y + 5, name, bold=True)
    c.text(at(1), 25, "margin", "middle", 14)
    c.text(20, 242, "time over the baseline's", size=14, colour="soft")


@picture("A norm that takes a tenth of a step and saves a third of its own time saves three hundredths of the step", 230)
def chapter_16(c):
    for y, norm, name in ((60, 60, "a step"), (130, 42, "the same, with RMSNorm")):
        c.text(30, y - 10, name)
        c.box(30, y, 540, 34, "back")
        c.box(570, y, norm, 34, "fill-a")
    c.text(300, 83, "everything else: 90 %", "middle")
    c.text(600, 83, "10 %", "middle")
    c.text(591, 153, "7 %", "middle")
    c.line(612, 164, 612, 185, "b", 2, True)
    c.line(630, 94, 630, 185, "b", 2, True)
    c.text(621, 204, "3 % of the step", "middle")
    c.text(30, 204, "saving of the step = norm's share of the step × saving of the norm", size=14, colour="soft")


@picture("Error and bound: a right kernel below its bound, a wrong one above its bound on hard data", 260)
def chapter_17(c):
    def at(units):
        return 210 + 70 * math.log10(units)
    for power in range(7):
        x = at(10 ** power)
        c.line(x, 35, x, 205, "rule", 1)
        c.text(x, 225, f"{10 ** power:,}" if power < 5 else f"10{'⁵⁶'[power - 5]}", "middle", 13, "soft")
    for i, (name, error, bound) in enumerate((("right, easy data", 11, 186), ("wrong, easy data", 14, 186), ("right, hard data", 18, 200),
                                              ("wrong, hard data", 90000, 200))):
        y = 60 + 40 * i
        c.text(200, y + 5, name, "end", 14)
        c.box(at(1), y - 9, at(error) - at(1), 18, "fill-b" if "wrong" in name else "fill-a")
        c.line(at(bound), y - 15, at(bound), y + 15, "ink", 3)
    c.text(at(bound) + 8, 40, "bound", size=14)
    c.text(20, 250, "error, units: both kernels pass on easy data, one fails on hard data", size=14, colour="soft")


@picture("A prediction and its measurement: the distance is the lesson", 240)
def chapter_18(c):
    for y, name, share, colour in ((50, "one row at a time", 1, "back"), (100, "two rows: predicted", 0.75, "fill-a"),
                                   (150, "two rows: measured", 133 / 93, "fill-b")):
        c.text(190, y + 19, name, "end", 14)
        c.box(200, y, 300 * share, 28, colour)
    c.line(425, 140, 625, 140, "ink", 2, arrow=True)
    c.text(440, 120, "not in the prediction: registers", "start", 14)
    c.text(200, 210, "time; the prediction counts loads, but no spilled registers", size=14, colour="soft")


@picture("Each rank has its own count, mean and squares; one exchange merges them", 240)
def chapter_19(c):
    for i in range(4):
        x = 40 + 165 * i
        c.box(x, 50, 130, 60, "fill-b" if i % 2 else "fill-a")
        c.text(x + 65, 75, f"rank {i + 1}", "middle", bold=True)
        c.text(x + 65, 98, "n, mean, S", "middle", 14)
        c.line(x + 65, 112, 360 + 40 * (i - 1.5), 160, "ink", 2, arrow=True)
    c.box(230, 162, 260, 34)
    c.text(360, 184, "merged in a fixed order", "middle")
    c.text(40, 226, "Splitting the batch over ranks cuts BatchNorm's groups, but no row norm's group.", colour="soft", size=14)


def pictures():
    found = {}
    for name, draw in sorted((name, draw) for name, draw in globals().items() if name.startswith("chapter_")):
        canvas = Canvas(draw.title, draw.tall)
        draw(canvas)
        found[FOLDER / f"{name.removeprefix('chapter_').replace('_', '-')}.svg"] = canvas.svg()
    return found


def contrast(one, other):
    """The contrast of two colours as WCAG defines it, from 1 to 21. It is the contrast that remains in grey."""
    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        return sum(w * (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4) for w, p in zip((0.2126, 0.7152, 0.0722), parts))
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def faint():
    """A line for each pair of a theme's colours that merge: text and its background, lines and the page, the two fills."""
    least = [(text, behind, 4.5) for text in ("ink", "soft") for behind in ("back",)]
    least += [("ink", "fill-a", 4.5), ("ink", "fill-b", 4.5), ("a", "back", 3), ("b", "back", 2.5), ("fill-a", "fill-b", 1.2), ("a", "b", 1.1)]
    return [f"{one} on {other} has a contrast of {got:.2f}, less than {most:g}" for theme in (LIGHT, DARK)
            for one, other, most in least if (got := contrast(theme[one], theme[other])) < most]


def main():
    if sys.argv[1:] not in ([], ["--check"]):
        sys.exit(__doc__)
    FOLDER.mkdir(parents=True, exist_ok=True)
    return markers.report(faint() + markers.written(pictures(), len(sys.argv) > 1, "out of date: run scripts/mechanisms.py"))


if __name__ == "__main__":
    sys.exit(main())
