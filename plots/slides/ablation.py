"""What of a norm does the work: recentring or rescaling?"""
from statistics import mean

import slide

SOURCE = "ablation"
NAMES = {"full": "both: LayerNorm", "rescale": "rescaling: RMSNorm", "recentre": "recentring", "nothing": "neither"}


def draw(page):
    panels = page.curves()
    panel = next((panels[name] for name in panels if name.startswith("errors after")), None)
    if page.quick or not panel:
        raise slide.Missing("after the few steps of --quick no network has learnt" if page.quick else f"{SOURCE} lacks its errors")
    best = {}
    for kind in NAMES:
        seeds = [dict(zip(*curve)) for name, curve in panel.items() if name.startswith(f"{kind},")]
        rates = set.intersection(*(set(seed) for seed in seeds))
        rate = min(rates, key=lambda x: mean(seed[x] for seed in seeds))
        best[kind] = [100 * seed[rate] for seed in seeds], rate
    axes = page.axes(left=3.1, right=0.6, xlabel="pictures read wrongly, %")
    page.bars(axes, [(NAMES[kind], mean(errors), min(errors), max(errors), f"{mean(errors):.1f} % at rate {rate:g}", colour)
                     for (kind, (errors, rate)), colour in zip(best.items(), ("blue", "blue", "amber", "amber"))])
    axes.set_xlim(0, 1.45 * max(max(errors) for errors, _ in best.values()))
    page.note("8 layers, 12 × 12 digits, each norm at its best of four rates; blue: norms that rescale. Strokes: from the "
              "best seed to the worst.")
    (alone, _), (both, _) = best["rescale"], best["full"]
    alike = max(min(alone), min(both)) <= min(max(alone), max(both))  # the strokes overlap
    return (f"Rescaling alone is wrong on {mean(alone):.0f} % of the pictures, with recentring on {mean(both):.0f} %"
            f"{', not told apart' if alike else ''}; recentring alone on {mean(best['recentre'][0]):.0f} %")
