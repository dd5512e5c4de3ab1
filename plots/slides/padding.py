"""What does padding do to the tokens beside it?"""
SOURCE = "batch_statistics"
NAMES = {"BatchNorm, mean 2 sigma": "BatchNorm,\nmean 2 σ", "BatchNorm, mean 0": "BatchNorm,\nmean 0",
         "LayerNorm, mean 2 sigma": "LayerNorm", "RMSNorm, mean 2 sigma": "RMSNorm"}


def draw(page):
    panel = page.panel("padding", *NAMES)
    axes = page.axes(xlabel="padding, % of the rows", ylabel="how far the output of the real tokens moves (rms)", right=2.6)
    for name, shown in NAMES.items():
        xs, ys = panel[name]
        page.line(axes, [100 * x for x in xs], ys, shown)
    axes.set_ylim(0, None)
    page.names(axes)
    page.note("252 real rows, and rows of zeros that count as tokens. Without padding the output has an rms of 1 around its mean.")
    half = {name: 100 * dict(zip(*panel[name]))[0.5] for name in NAMES}
    batch, rows = ([y for name, y in half.items() if ("Batch" in name) == of_batch] for of_batch in (True, False))
    return (f"When half of the rows are padding BatchNorm's output moves by {min(batch):.0f} to {max(batch):.0f} %, "
            f"LayerNorm's and RMSNorm's by {max(rows):.0f} %")
