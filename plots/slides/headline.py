"""How much time does RMSNorm save over LayerNorm?"""
import slide
import speed

SOURCE = "ln_vs_rms"
PANEL = "f32 forward"
MODES = {"simd": "fused SIMD", "unfused": "unfused: a loop\nper operation"}


def draw(page):
    panels = page.curves()
    if not all(mode in panels.get(PANEL, {}) for mode in MODES):
        raise slide.Missing(f"{SOURCE} lacks {PANEL}, fused SIMD and unfused")
    axes = page.axes(xlabel="x and y together", ylabel="time saved, % of LayerNorm's", right=3)
    axes.set_ylim(-12, 72)
    axes.axhline(0, color=page.muted, linewidth=1.4)
    ends = {}
    for mode, name in MODES.items():
        xs, ys = panels[PANEL][mode]
        low, high = (panels[f"{PANEL}, {end}"][mode][1] for end in ("low", "high"))
        page.line(axes, xs, ys, name, [max(v, -12) for v in low], [min(v, 72) for v in high])
        ends[mode] = ys[-1], low[-1], high[-1]
    slide.log_x(axes, xs, 5, speed.human)
    for low, high, words in ((7, 15, "tutorials: 7 to 15 %"), (40.8, 40.8, "paper: up to 40.8 %"),
                             (64, 64, "paper, pRMSNorm: up to 64 %")):
        page.across(axes, low, high, words)
    page.names(axes)
    page.note("f32, forward, one thread, rows of 1024. Equal engineering, in turns, verified. "
              "Pale strokes: 95 % intervals.")
    (saved, low, high), unfused = ends["simd"], ends["unfused"][0]
    where = slide.home(page.path(SOURCE), xs[-1])
    if low <= 0 <= high:
        return (f"From {where} it is not resolved what RMSNorm saves, {slide.signed(low)} to {slide.signed(high)} %; "
                f"unfused it is {slide.signed(unfused)} %")
    if high < 0:
        return (f"From {where} RMSNorm takes {slide.signed(-saved)} % [{slide.signed(-high)}, "
                f"{slide.signed(-low)}] longer; unfused it saves {slide.signed(unfused)} %")
    return (f"From {where} RMSNorm saves {slide.signed(saved)} % [{slide.signed(low)}, {slide.signed(high)}] of "
            f"LayerNorm's time; unfused {slide.signed(unfused)} %")
