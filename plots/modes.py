"""What people call the modes of harness/timing/modes.c, and a saving, in figures and prose alike. Standard library only."""
import re
from math import inf, isfinite, nan
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "harness" / "timing" / "modes.c"
WORDS = dict(re.findall(r'^    \{"(\w+)",\s*"([^"]+)"', TABLE.read_text(encoding="utf-8"), re.M))


def size(saving):
    """A saving in per cent without a sign, and its words."""
    if saving <= -100:
        return 1 - saving / 100, "times as long"
    return abs(saving), "% less" if saving >= 0 else "% longer"


def takes(saving, low=nan, high=nan):
    """RMSNorm's time against LayerNorm's; low and high are the ends of the saving: 14 [13, 15] % less, 2.7 [2.5, 2.8] times as
    long, 9 % longer [57 % less, 83 % longer]."""
    show = lambda v: f"{v:.0f}" if v >= 99.5 else f"{v:.3g}"
    (value, words), ends = size(saving), [size(end) if isfinite(end) else (inf, "") for end in (high, low)]
    if not all(isfinite(v) for v, _ in ends):
        return f"{show(value)} {words}" + ("" if low != low else " [?]")
    if all(word == words for _, word in ends):
        return f"{show(value)} [{', '.join(show(v) for v in sorted(v for v, _ in ends))}] {words}"
    return f"{show(value)} {words} [{', '.join(f'{show(v)} {word}' for v, word in ends)}]"


def longer(saving):
    """The words for a claim that the saving is below a number, which is at most 0."""
    return f"RMSNorm takes over {takes(saving)}" if saving else "RMSNorm takes longer"
