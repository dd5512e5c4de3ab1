"""How much time does RMSNorm save, executed in which way, on how many bytes?"""
import slide
import speed
from modes import WORDS

SOURCE = "ln_vs_rms"
MOST = 60  # per cent; larger losses are cut, because some settings take many times as long


def draw(page):
    panel = page.panel("f32 forward")
    shown = [mode for mode in WORDS if mode in panel]
    axes = page.axes(xlabel="x and y together", ylabel="of LayerNorm's time saved, %", right=3.3)
    for mode in shown[:len(slide.LOOKS)]:
        xs, ys = panel[mode]
        page.line(axes, xs, [max(-MOST, y) for y in ys], WORDS[mode].replace(", ", ",\n"))
    slide.log_x(axes, xs, 6, speed.human)
    axes.set_ylim(-MOST, MOST)
    axes.axhline(0, color=page.muted, linewidth=2)
    page.names(axes)
    page.note(f"f32, forward, one thread unless the curve says more; points where RMSNorm takes over {MOST} % longer are cut at the axes.")
    small, large = ({mode: panel[mode][1][end] for mode in shown} for end in (0, -1))
    best = max(large, key=large.get)
    return (f"At {speed.human(xs[-1])} RMSNorm saves up to {large[best]:.0f} % ({WORDS[best]}), "
            f"at {speed.human(xs[0])} up to {max(small.values()):.0f} %")
