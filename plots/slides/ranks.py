"""From which batch on does BatchNorm over two ranks pay? Forward, 256 channels of 7 × 7."""
import numpy as np

import slide

SOURCE = "ranks"
BYTES = 256 * 3 * 4  # count, mean and M2 of each channel
PAPER = {"20 µs, on paper": 20e3, "200 µs, on paper": 200e3}  # one-way delays in ns, added to veth's latency


def fit(sizes, times):
    """Fits the latency in ns and the ns per byte; minimizes the relative errors."""
    sizes, times = np.asarray(sizes), np.asarray(times)
    return np.linalg.lstsq(np.stack([1 / times, sizes / times], 1), np.ones(len(times)), rcond=None)[0]


def draw(page):
    curves = page.curves()
    fits = {name: fit(*line) for name, line in curves.get("any", {}).items()}
    if "veth" not in fits or "library" not in curves:
        raise slide.Missing("ranks lacks networks: run mpi/network.sh as root")
    fits |= {name: fits["veth"] + [delay, 0] for name, delay in PAPER.items()}
    times = {name: latency + BYTES * byte for name, (latency, byte) in fits.items()}
    sample = 2 * min(np.divide(*curves["library"]["veth"][::-1]))  # ns for a sample; a rank has half of them
    axes = page.axes(xlabel="samples in the batch, half on each rank", ylabel="communication's share of the time, %", right=3.3)
    batches = 2 ** np.arange(1, 13)
    for name, time in times.items():
        page.line(axes, batches, 100 * time / (time + sample * batches / 2), name)
    slide.log_x(axes, batches)
    axes.set_ylim(0, 100)
    axes.axhline(50, color=page.muted, linewidth=1.6, linestyle=(0, (2, 2)), zorder=0.6)
    axes.text(0.72, 50, "below: two are faster", transform=axes.get_yaxis_transform(), fontsize=slide.NOTE + 2, color=page.muted, va="bottom")
    page.names(axes)
    page.note("The fitted time of one allreduce, and the library's kernel. veth: two network namespaces of one machine; the delays are assumed.")
    first, last = (2 * times[name] / sample for name in ("veth", "200 µs, on paper"))
    return f"Two ranks pay from a batch of {np.ceil(first):.0f} on, and with 200 µs of delay from {np.ceil(last):.0f} on"
