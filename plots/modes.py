"""The names of harness/timing/modes.c's modes and the words for a saving. Standard library only."""
import re
from math import inf, isfinite, nan
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "harness" / "timing" / "modes.c"
WORDS = dict(re.findall(r'^    \{"(\w+)",\s*"([^"]+)"', TABLE.read_text(encoding="utf-8"), re.M))
FRAMEWORKS = {"pytorch": "PyTorch, eager", "torch_compile": "torch.compile", "onnxruntime": "ONNX Runtime", "jax": "JAX, jit",
              "liger": "Liger-Kernel", "normlab": "normlab"}


def size(saving):
    """A saving as a number and its unit, such as 14 and "% less"."""
    if saving <= -100:
        return 1 - saving / 100, "times as long"
    return abs(saving), "% less" if saving >= 0 else "% longer"


def takes(saving, low=nan, high=nan):
    """A saving in words; low and high are the ends of its interval. Examples: 14 [13, 15] % less, 2.7 [2.5, 2.8] times
    as long, 9 % longer [57 % less, 83 % longer]."""
    show = lambda v: f"{v:.0f}" if v >= 99.5 else f"{v:.3g}"
    (value, words), ends = size(saving), [size(end) if isfinite(end) else (inf, "") for end in (high, low)]
    if not all(isfinite(v) for v, _ in ends):
        return f"{show(value)} {words}" + ("" if low != low else " [?]")
    if all(word == words for _, word in ends):
        return f"{show(value)} [{', '.join(show(v) for v in sorted(v for v, _ in ends))}] {words}"
    return f"{show(value)} {words} [{', '.join(f'{show(v)} {word}' for v, word in ends)}]"


def longer(saving):
    """The words for a claim that RMSNorm's saving is below `saving`, a number of at most 0."""
    return f"RMSNorm takes over {takes(saving)}" if saving else "RMSNorm takes longer"


SMALL, CACHE, MEMORY = (f"forward/f32/{n}x1024/normal" for n in (4, 64, 16384))
FUSED = [("simd", SMALL), ("simd", CACHE), ("simd", MEMORY), ("streaming", MEMORY)]


def savings(rows):
    """(mode, case) -> the row of `normlab claims` with the saving of the norm alone, not of a step."""
    return {(row["how"], row["case"]): row for row in rows if row["quantity"] == "saving"
            and float(row.get("share") or 1) == 1 and row["value"] and row["rounds"] != "0"}


def shape(case):
    """64 x 1024, 512 KiB: rows x features, and the bytes of x and y."""
    n, c = map(int, re.search(r"/(\d+)x(\d+)/", case).groups())
    size = n * c * 8 / 1024
    return f"{n} x {c}", f"{size:.0f} KiB" if size < 1024 else f"{size / 1024:.0f} MiB"


def between(savings):
    """The range of the savings: "5 to 24 % less", "9 % less to 0.5 % longer". Percentages from 1 on are integers."""
    show = lambda v, words: f"{v:.2g}" if "%" not in words else f"{v:.1f}" if 0.05 <= v < 0.95 else f"{v:.0f}"
    ends = [(show(v, words), words) for v, words in map(size, (min(savings), max(savings)))]
    (a, low), (b, high) = [(end[0], ends[1 - i][1]) if end[0] == "0" else end for i, end in enumerate(ends)]
    if low != high:
        return f"{b} {high} to {a} {low}"
    a, b = sorted((a, b), key=float)
    return f"{a} {low}" if a == b else f"{a} to {b} {low}"


def is_told(row):
    """Does the whole interval of a saving exclude 0, or lie within 2 % of 0?"""
    low, high = float(row["low"] or nan), float(row["high"] or nan)
    return low > 0 or high < 0 or max(-low, high) <= 2


def against(rows, where="", of=""):
    """The saving in several settings, in a few words. A setting whose interval contains 0 is not resolved. where: words
    that follow the figure; of: what the settings are."""
    resolved = [float(row["value"]) for row in rows if float(row["low"] or nan) > 0 or float(row["high"] or nan) < 0]
    if len(resolved) == len(rows):
        return between(resolved) + where
    if resolved:
        return f"{between(resolved)}{where} ({len(rows) - len(resolved)} of {len(rows)}{of} not resolved)"
    ends = [float(row[key] or nan) for row in rows for key in ("low", "high")]
    if not all(map(isfinite, ends)):
        return f"not resolved{where}"
    return f"the same{where}" if max(map(abs, ends)) <= 2 else f"not resolved{where} ({between(ends)})"


def place(row):
    """The cache or memory that has the data of a row's race: "in L3", "from memory"; "" if the caches are unknown."""
    return (re.search(r"x \d+ (from memory|in L\d)", row.get("where") or "") or [""] * 2)[1]


def from_levels(rows):
    """The savings of one race, grouped by the level (memory or a cache) that holds the data on each machine."""
    apart = {where: [row for row in rows if place(row) == where] for where in sorted(set(map(place, rows)))}
    return ", ".join(against(of, f" {where}".rstrip(), " machines") for where, of in apart.items())


def answer(machines, sizes=False):
    """RMSNorm against LayerNorm in some sentences, from the savings() of some machines; "" if there are none. A headline
    has no sizes in bytes and no streamed stores."""
    found = lambda *races: [at[race] for race in races for at in machines if race in at]
    at = lambda case: f"at {shape(case)[0]}" + f" ({shape(case)[1]})" * sizes
    unfused, large, streamed = found(("unfused", CACHE), ("unfused", MEMORY)), found(("simd", MEMORY)), found(("streaming", MEMORY))
    small = [f"{against(found(race))} {at(race[1])}" for race in FUSED if race[1] != MEMORY and found(race)]
    parts = [f": {against(unfused)} unfused"] if unfused else [""]
    parts += [f"Fused, with SIMD and one-pass statistics: {', '.join(small)}"] if small else []
    parts += [f"A{at(MEMORY)[1:]}: {from_levels(large)}"] if large else []
    parts += [f"Streamed{'' if large else ', ' + at(MEMORY)}: {from_levels(streamed)}"] if streamed and sizes else []
    where = f"On {len(machines)} machines, " * (len(machines) > 1)
    return f"{where}RMSNorm's time against LayerNorm's{'. '.join(parts)}" if any(parts) else ""
