"""How does the error of a sum of squares grow with the length of the row?"""
import slide

SOURCE = "length"


def draw(page):
    panel = next((panel for name, panel in page.curves().items() if name.startswith("median")), None)
    if not panel:
        raise slide.Missing(f"{SOURCE} lacks its medians")
    axes = page.axes(xlabel="values added", ylabel="median error of the sum, units of 2⁻²⁴", right=2.7)
    for name, (xs, ys) in panel.items():
        page.line(axes, xs, ys, name)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(lambda x, _: slide.power(2)(x))
    slide.log_y(axes, 0.2, 2 * max(max(ys) for _, ys in panel.values()))
    page.names(axes)
    page.note("The squares of the same N(0, 1) values, added up in float in seven ways, against a compensated double sum.")
    one, pair = panel["1 accumulator"][1][-1], panel["pairwise"][1][-1]
    return f"One accumulator is off by {one:,.0f} units after {panel['pairwise'][0][-1]:,.0f} values; pairwise by {pair:.1f}"
