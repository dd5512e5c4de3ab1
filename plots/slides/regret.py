"""How far is nl_best()'s choice from the fastest rung?"""
import slide

SOURCE = "regret"


def draw(page):
    cases = {}
    for row in page.read():
        if row["ns"] and row["verdict"] == "ok" and not row["flag"]:
            cases.setdefault(row["case"], []).append(row)
    regrets = []
    for case, rows in cases.items():
        chosen = next((row for row in rows if row["comparison"] == "baseline"), None)
        ratios = [float(row["speedup"]) for row in rows if row["speedup"]]
        if chosen and ratios:
            regrets.append(100 * (max(1, max(ratios)) - 1))
    if not regrets:
        raise slide.Missing(f"{SOURCE} has no choice of nl_best()")
    regrets.sort()
    axes = page.axes(xlabel="cases, from the best choice to the worst", ylabel="how much faster the fastest rung is, %", right=0.6)
    xs = range(1, len(regrets) + 1)
    page.line(axes, list(xs), regrets, "regret")
    axes.axhline(5, color=page.muted, linewidth=2, linestyle=(0, (2, 2)))
    axes.text(1, 5.5, "5 %", fontsize=slide.TEXT, color=page.muted, va="bottom")
    axes.set_yscale("symlog", linthresh=1)  # a logarithmic axis cannot show a regret of 0
    axes.set_ylim(-0.1, max(regrets) * 2)
    axes.yaxis.set_major_formatter(lambda y, _: f"{y:g}")
    sizes = [sorted(cases.values(), key=lambda rows: int(rows[0]["bytes"]))[end][0] for end in (0, -1)]
    page.note("{} cases, from {} to {}, one thread; ratios within the same rounds, noise included.".format(
        len(regrets), *(f"{row['n']} × {row['c']}" + f" × {row['s']}" * (row["s"] != "1") for row in sizes)))
    near = sum(regret <= 5 for regret in regrets)
    return f"nl_best() is within 5 % of the fastest rung in {near} of {len(regrets)} cases; at worst the fastest gains {regrets[-1]:.0f} %"
