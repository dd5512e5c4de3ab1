#!/usr/bin/env python3
"""Measures how long the commands of a contributor take, and writes the medians into CONTRIBUTING.md.

    scripts/stopwatch.py [--times 3] [ROW...]
        ROW: program, header, check, all, reproduce, peers, package; without one, all of them, which takes hours

Each time begins with a fresh clone of HEAD in a temporary folder. What a command needs is built first and not counted
(for the row `header`, the program with the old header). Rows that are not measured keep their text on the page. Use
the machine for nothing else meanwhile. Standard library only."""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import markers

ROOT = markers.ROOT
PAGE = ROOT / "CONTRIBUTING.md"
KEPT = ROOT / "build/check/stopwatch"  # the logs of a failed command
PROGRAM = "export CMAKE_GENERATOR=Ninja && cmake --preset release && cmake --build --preset release --target normlab_program"
DEV = PROGRAM.replace("release", "dev")
# name: (its name on the page, the uncounted command, the timed command)
ROWS = {
    "program": ("the program, with Ninja: `cmake --preset release`, then `--build` with the target `normlab_program`", "true", PROGRAM),
    "header": ("a changed header of `optimized/`: build again with the preset `dev`, and check one rung",
               f"{DEV} && test -f optimized/rows/rows.h && echo >>optimized/rows/rows.h",
               f"{DEV} && build/dev/normlab check --impl optimized/rows_pipelined"),
    "check": ("`./check`", "true", "./check"),
    "all": ("`./check --all`", "true", "./check --all"),
    "reproduce": ("`./reproduce`", "true", "./reproduce"),
    "peers": ("`./reproduce --peers`, without downloads and measurements",
              f"{{ [ ! -e '{ROOT}/.venv-peers' ] || ln -s '{ROOT}/.venv-peers' .; }} && "
              "./reproduce --peers --build && rm -rf build/peers", "./reproduce --peers --build"),
    "package": ("`pip install .`", "python3 -m venv fresh", "fresh/bin/pip install --quiet ."),
}


def run(command, folder, log):
    """Seconds of wall clock and of processor time; ends the program if the command fails."""
    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(log, "w") as file:
        code = subprocess.run(["bash", "-c", command], cwd=folder, stdout=file, stderr=subprocess.STDOUT).returncode
    wall, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
    if code:
        if (logs := Path(folder, "build/check")).is_dir():
            shutil.copytree(logs, KEPT, dirs_exist_ok=True)
        sys.exit(f"exit code {code}: {command}\n{''.join(open(log).readlines()[-20:])}\nits logs: {KEPT}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure(name, times):
    """The medians of wall clock and processor time."""
    _, first, timed = ROWS[name]
    found = []
    for i in range(times):
        with tempfile.TemporaryDirectory(prefix="normlab-") as folder:
            subprocess.run(["git", "clone", "--quiet", str(ROOT), f"{folder}/normlab"], check=True)
            run(first, f"{folder}/normlab", f"{folder}/log")
            found.append(run(timed, f"{folder}/normlab", f"{folder}/log"))
        print(f"{name}, {i + 1} of {times}: {found[-1][0]:.0f} s, {found[-1][1]:.0f} s of processor time", file=sys.stderr)
    return [statistics.median(column) for column in zip(*found)]


def clock(seconds):
    seconds = round(seconds)
    return f"{seconds} s" if seconds < 100 else f"{seconds // 60}:{seconds % 60:02} min"


def where(times):
    model = next((line.split(":", 1)[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), "unknown") if Path("/proc/cpuinfo").exists() else "unknown"
    commit = subprocess.run(["git", "-C", str(ROOT), "describe", "--always"], capture_output=True, text=True, check=True)
    return f"{model}, {os.cpu_count()} CPUs, commit {commit.stdout.strip()}, {time.strftime('%Y-%m-%d')}, of {times}"


def main():
    parser = markers.parser(__doc__)
    parser.add_argument("rows", nargs="*", choices=[*ROWS, []], metavar="ROW")
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    if options.times < 1:
        parser.error("--times takes 1 or more")
    shown = {cells[1]: cells for line in markers.between(PAGE.read_text(), "stopwatch").splitlines() if line.startswith("| ")
             and len(cells := [cell.strip() for cell in line.split("|")]) > 4}
    rows = []
    for name, (what, *_) in ROWS.items():
        if not options.rows or name in options.rows:
            rows.append([what, *map(clock, measure(name, options.times)), where(options.times)])
        elif what in shown:
            rows.append(shown[what][1:5])
    markers.fill(PAGE, stopwatch=markers.table(["what", "time", "processor time", "where"], rows))


if __name__ == "__main__":
    main()
