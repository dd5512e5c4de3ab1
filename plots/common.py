"""Code shared by slides and charts: errors, reading, the note in the corner, saving.

Sizes are for a slide of 13.3 x 7.5 inches; 9 points are the smallest letters.
"""
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

import files

WIDE = 1920 / 144
plt.rcParams.update({
    "figure.figsize": (WIDE, 7.5), "figure.dpi": 144, "savefig.facecolor": "white",
    "font.size": 10, "axes.titlesize": 11, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "figure.titlesize": 15, "figure.titleweight": "bold",
    "xtick.labelsize": 9, "ytick.labelsize": 9, "legend.fontsize": 9.5, "legend.frameon": False,
    "axes.spines.top": False, "axes.spines.right": False, "axes.edgecolor": "#666666",
    "axes.grid": True, "axes.axisbelow": True, "grid.color": "#E4E4E4", "grid.linewidth": 0.6,
    "svg.hashsalt": "normlab",  # the same ids in every run
    "svg.fonttype": "none", "pdf.fonttype": 42,  # text that an editor can edit and search
})

RED, GREY = "#D55E00", "#666666"
QUICK = "QUICK, a first look · "  # in the corner of a figure whose results were made with --quick
ENDS = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}


def widest(rows):
    """impl -> the widest instruction set that ran. It is in the last row, because the table lists the widest last."""
    return {row["impl"]: row["isa"] for row in rows if row["verdict"] != "skip"}


def on_widest(rows):
    """The rows of the widest instruction set of each implementation, and failed rows of any instruction set."""
    isas = widest(rows)
    return [row for row in rows if row["isa"] == isas.get(row["impl"]) or row["verdict"] == "fail"]


def fail(message):
    print(message, file=sys.stderr)
    raise SystemExit(2)


def read(path, needs, make):
    again = f"\n  to make the results: {make}"
    try:
        lines = files.rows(path)
    except files.FAULTS as error:
        fail(f"{files.says(path, error)}{again}")
    if not lines:
        fail(f"{path}: there are no results in it{again}")
    need(path, lines, needs.split(), make)
    return lines


def need(path, lines, names, make):
    """Ends the script if the results lack a column."""
    missing = [name for name in names if name not in lines[0]]
    if missing:
        fail(f"{path}: these columns are missing: {' '.join(missing)}; there are {' '.join(lines[0])}\n"
             f"  to make the results: {make}")


def curves(lines):
    """The points of a study: panel -> series -> (list of x, list of y), in the order of x."""
    panels = {}
    for line in lines:
        series = panels.setdefault(line["panel"], {})
        series.setdefault(line["series"], []).append((float(line["x"]), float(line["y"])))
    return {panel: {name: tuple(zip(*sorted(points))) for name, points in series.items()}
            for panel, series in panels.items()}


def machine(path, lines):
    """One line about where and when the results were made, from NAME.machine.txt beside them."""
    facts = files.facts(path)
    if not facts:
        print(f'warning: there is no {path.with_suffix(".machine.txt")}, so the figure says "unknown machine"', file=sys.stderr)
        return "unknown machine"
    cpu, cpus, commit, date = (facts.get(key, "unknown") for key in ("cpu", "cpus", "commit", "date"))
    threads = max(int(text) if (text := str(line.get("threads", 1))).isdigit() else 1 for line in lines)
    return (f"{QUICK * (facts.get('quick') == 'yes')}{cpu}, {cpus.split()[0]} cpus, "
            f"{'1 thread' if threads == 1 else f'up to {threads} threads'} · commit {commit} · {date[:10]}")


def label(axes, axis):
    """The text that names the axis; on slides the name of the y axis stands above it."""
    return axes.above if axis == "y" and hasattr(axes, "above") else getattr(axes, f"{axis}axis").label


def logarithmic(figure, axis):
    return [axes for axes in figure.axes if axes.get_visible() and axes.axison and getattr(axes, f"get_{axis}scale")() != "linear"]


def name_scales(figure):
    """Adds "log scale" to the labels of logarithmic axes; returns the words for axes without a label."""
    missing = []
    for axis in "xy":
        found = logarithmic(figure, axis)
        named = [axes for axes in found if label(axes, axis).get_text()]
        for axes in named:
            part = " above 1" * (getattr(axes, f"get_{axis}scale")() == "symlog")
            label(axes, axis).set_text(f"{label(axes, axis).get_text()}, log scale{part}")
        missing += [axis] * bool(found and not named)
    return f"{' and '.join(missing)}: log scale · " * bool(missing)


def save(figure, out, corner):
    """Writes OUT.png, .svg and .pdf; the same input gives the same bytes."""
    quick = corner.startswith(QUICK)
    figure.text(0.995, 0.008, name_scales(figure) + corner, ha="right", va="bottom", color=RED if quick else GREY, fontsize=9,
                weight="bold" if quick else "normal")
    try:
        for end, metadata in ENDS.items():
            figure.savefig(f"{out}{end}", metadata=metadata)
    except OSError as error:
        fail(f"{out}: cannot write it: {error.strerror}")
