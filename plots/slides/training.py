"""What does a norm change in training? The share of errors by learning rate"""
import slide

SOURCE = "training"


def draw(page):
    panels = page.curves()
    try:
        middle, low, high = (panels[f"errors by rate{end}"] for end in ("", ", low", ", high"))
    except KeyError:
        raise slide.Missing(f"{SOURCE} lacks its errors by rate") from None
    if page.quick:
        raise slide.Missing("after the few steps of --quick no network has learnt")
    axes = page.axes(xlabel="learning rate", ylabel="pictures read wrongly, %", right=2.7)
    for name, (xs, ys) in middle.items():
        page.line(axes, xs, [100 * y for y in ys], name, *([100 * y for y in ends[name][1]] for ends in (low, high)))
    rates = middle["no norm"][0]
    slide.log_x(axes, rates, text=lambda x: f"{x:g}")
    axes.set_ylim(0, 100)
    page.names(axes)
    page.note("5 layers of 32, plain gradient descent, 400 steps of 32 pictures; strokes from the best of six seeds to the worst. "
              "tanh: tanh(2 z) instead of a norm.")
    best = 100 * min(middle["RMSNorm"][1])
    lost = [rate for rate, y in zip(*middle["no norm"]) if y == 1]
    return (f"RMSNorm learns at every rate, with {best:.0f} % of errors at best; without a norm the network "
            + (f"diverges from a rate of {min(lost):g} on" if lost else "does not diverge either"))
