"""What did the RMSNorm paper measure, and what does it come to here?"""
import slide

SOURCE = "rmsnorm2019"
MODES = {"unfused": "here, a loop per operation", "simd": "here, fused SIMD"}


def draw(page):
    panels = page.curves()
    tables = [name.removesuffix(", paper") for name in panels if name.endswith(", paper")]
    if not tables or f"{tables[0]}, step" not in panels:
        raise slide.Missing(f"{SOURCE} lacks the paper's tables")
    axes = page.axes(left=4.7, right=3.2, xlabel="saved of the training step, %")
    names, paper, margin = [], [], []
    for table in tables:
        told = panels[f"{table}, paper"]
        names.append(table.partition(": ")[2])
        paper.append(told["RMSNorm"][1][0])
        margin.append(told["RMSNorm, +-"][1][0])
    ys = list(range(len(tables)))
    axes.barh(ys, paper, height=0.6, color=page.rule, zorder=1)
    axes.hlines(ys, [p - m for p, m in zip(paper, margin)], [p + m for p, m in zip(paper, margin)], color=page.muted, linewidth=3)
    axes.set_yticks(ys, names)
    axes.set_ylim(len(ys) - 0.4, -0.6)
    here = {}
    for (mode, words), (colour, marker, _) in zip(MODES.items(), slide.LOOKS):
        here[mode] = [panels[f"{table}, step"][mode][1][-1] for table in tables]
        axes.plot(here[mode], ys, marker=marker, color=page.colours[colour], markersize=13, linestyle="none", zorder=3)
    axes.set_xlim(min(0, *(1.3 * x for xs in here.values() for x in xs)), None)
    for (mode, words), (colour, marker, _), y in zip(MODES.items(), slide.LOOKS, (0.62, 0.5)):
        page.figure.text(1 - 2.85 / slide.WIDE, y, words.replace(", ", ",\n"), fontsize=slide.TEXT, color=page.ink, va="center")
        axes.plot(1 + 0.22 / (axes.get_position().width * slide.WIDE), (y - axes.get_position().y0) / axes.get_position().height,
                  transform=axes.transAxes, clip_on=False, marker=marker, color=page.colours[colour], markersize=13)
    page.figure.text(1 - 2.85 / slide.WIDE, 0.38, "bars: the paper,\nwith its ±", fontsize=slide.TEXT, color=page.muted, va="center")
    size = panels[f"{tables[0]}, step"]["simd"][0][-1] / 2**20
    page.note(f"Here: the norm's share of the step in the paper's table, times the saving measured here in f32, forward, x and y of "
              f"{size:.3g} MiB, in one process.")
    return (f"The paper saves {min(paper):.0f} to {max(paper):.0f} % of a step; the same shares give "
            f"{min(here['unfused']):.0f} to {max(here['unfused']):.0f} % unfused, {min(here['simd']):.0f} to {max(here['simd']):.0f} % fused with SIMD")
