"""The command `python -m normlab.frameworks`."""
import argparse
import csv
import os
import signal
import sys
from collections.abc import Callable, Sequence
from time import monotonic
from typing import Any, Optional

from .. import _core
from ..cases import case
from . import __doc__ as about
from . import compiled, exhibits, invariance, rounding, saving, step
from .registry import JUDGED, NAMES, ON_GPU, TIMED, each

Rows = list[Any]
#: Options that a mode does not use.
UNUSED = {"judge": ("threads", "seconds"), "rounding": ("case", "threads", "seconds"), "step": ("case",), "invariance": ("seconds",)}


def progress(done: int, total: int, begun: float, what: str) -> None:
    left = (monotonic() - begun) / done * (total - done) if done else 0
    eta = f", {int(left) // 60}:{int(left) % 60:02d} left" if done else ""
    end, clear = ("\r", "\x1b[K") if sys.stderr.isatty() else ("\n", "")
    print(f"{done}/{total} {what}{eta}{clear}", end=end, file=sys.stderr, flush=True)


def collect(rows: Rows, function: Callable[..., Any], names: Sequence[str], arguments: list[tuple[Any, ...]],
            kind: Any) -> None:
    """Adds the rows of all frameworks, and prints them with line() of module `kind`. Names a missing framework once."""
    begun, done, total = monotonic(), 0, len(names) * len(arguments)
    for name in names:
        missing = 0
        for of, row in zip(arguments, each(function, [(name, *of) for of in arguments])):
            done += 1
            progress(done, total, begun, f"{name} {of[0]}")
            if isinstance(row, BaseException):
                print(f"FAIL {name} {of[0]}: its process died", file=sys.stderr)
            elif not row.version and row.verdict == "skip":
                print(f"skipped: {name}: {row.why}", file=sys.stderr)
                missing = len(arguments) - arguments.index(of) - 1
            else:
                if not rows:
                    print(kind.HEAD)
                rows.append(row)
                print(kind.line(row), flush=True)
            if missing:
                done += missing
                break


def write(path: str, rows: Rows, quick: bool, device: str) -> None:
    with open(path, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(rows[0]._fields)
        for row in rows:
            table.writerow([f"{v:.6g}" if isinstance(v, float) and v == v else "" if v != v else v for v in row])
    _core.machine(path, quick)
    if device == "cuda":
        import torch

        gpu = torch.cuda.get_device_properties(0)
        with open(path.removesuffix(".csv") + ".machine.txt", "a") as file:
            file.write(f"gpu: {gpu.name}, {gpu.multi_processor_count} multiprocessors, {gpu.total_memory >> 30} GiB, "
                       f"CUDA {torch.version.cuda}\n")
    print(f"results: {path}", file=sys.stderr)


def read_options(given: Optional[Sequence[str]]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m normlab.frameworks", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--judge", action="store_true",
                      help="judge results on the museum's data and on special values, do not time")
    what.add_argument("--rounding", action="store_true", help="find where norms round in 16 bits, do not time")
    what.add_argument("--step", action="store_true", help="time a training step of a transformer, not single layers")
    what.add_argument("--invariance", action="store_true",
                      help="compare the bits of rows computed alone and in batches of up to 257, do not time")
    what.add_argument("--compiled", action="store_true",
                      help="time torch.compile against kernels that were written by hand")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller cases, shorter timing; no effect on --rounding")
    parser.add_argument("--out", metavar="FILE.csv", help="write the rows as CSV")
    parser.add_argument("--only", action="append", metavar="FRAMEWORK", help="only this framework; may be repeated; one of "
                        f"{', '.join(NAMES)}; with --rounding, one of {', '.join(rounding.NAMES)}")
    parser.add_argument("--case", action="append", metavar="PASS/DTYPE/NxC/DATA",
                        help="use this case, such as forward/f32/64x1024/normal; PASS may be `both`. With --judge, "
                        "--invariance and --compiled: LAYER/PASS/...")
    parser.add_argument("--threads", type=int, metavar="N", help="threads that each framework may use (1)")
    parser.add_argument("--seconds", type=float, metavar="S", help="seconds per candidate (0.3; with --quick 0.05)")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="cuda: PyTorch and Liger-Kernel on a GPU")
    options = parser.parse_args(given)
    for mode, name in ((mode, name) for mode, names in UNUSED.items() for name in names):
        if getattr(options, mode) and getattr(options, name) is not None:
            parser.error(f"argument --{name}: --{mode} does not use it: leave --{name} out")
    known = rounding.NAMES if options.rounding else NAMES
    for one in options.only or ():
        if one not in known:
            parser.error(f"argument --only: {one} should be one of {', '.join(known)}")
    options.threads = 1 if options.threads is None else options.threads
    if options.threads < 1:
        parser.error(f"argument --threads: {options.threads} should be 1 or more")
    if options.seconds is not None and not 1e-6 <= options.seconds <= 1e6:
        parser.error(f"argument --seconds: {options.seconds:g} should be from 1e-06 to 1e+06")
    for one in () if options.judge else options.case or ():
        passes, _, rest = one.partition("/")
        try:
            of_layer = options.invariance or options.compiled
            if options.compiled:
                one = one.replace("/both/", "/backward/")
            case(one if of_layer else f"layernorm/{'backward' if passes == 'both' else passes}/{rest}")
        except ValueError as error:
            like = "layernorm/forward" if of_layer else "forward"
            parser.error(f"argument --case: {one} should be as {like}/f32/64x1024/normal: {error}")
    if options.out and not os.path.isdir(folder := os.path.dirname(options.out) or "."):
        parser.error(f"argument --out: {options.out}: there is no such folder: mkdir -p '{folder}'")
    return options


def main(given: Optional[Sequence[str]] = None) -> int:
    """Exit code. 0: done. 1: nothing could be measured, or normlab was wrong. 130: Ctrl-C; rows so far are written."""
    options = read_options(given)
    seconds = options.seconds or (0.05 if options.quick else 0.3)
    device, gpu = options.device, options.device == "cuda"
    timed = ON_GPU if gpu else TIMED
    rows: Rows = []
    work: list[tuple[Any, ...]]
    interrupted = False
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # SIGTERM of `timeout` acts as Ctrl-C
    try:
        if options.judge:
            work = [(c, device) for c in options.case or exhibits.cases(options.quick)]
            collect(rows, exhibits.judge_by_name, options.only or (ON_GPU if gpu else JUDGED), work, exhibits)
        elif options.invariance:
            work = [(c, options.threads, device) for c in options.case or invariance.cases(options.quick)]
            collect(rows, invariance.compare_by_name, options.only or timed, work, invariance)
            if not options.only and not gpu:
                print("skipped: onednn: use the program: normlab check --impl 'peer/onednn*'", file=sys.stderr)
        elif options.rounding:
            for how in options.only or (rounding.ON_GPU if gpu else rounding.ON_CPU):
                collect(rows, rounding.find_by_name, [how], [(c, device) for c in rounding.cases(how)], rounding)
        elif options.step:
            work = [(size, options.threads, seconds, device) for size in step.sizes(options.quick, device)]
            collect(rows, step.measure_by_name, options.only or step.NAMES, work, step)
        elif options.compiled:
            work = [(c, options.threads, seconds, device) for c in options.case or compiled.cases(options.quick)]
            collect(rows, compiled.measure_by_name, options.only or compiled.BY_HAND[device], work, compiled)
        else:
            # Judging the gradients of 16384 rows takes minutes, and 4096 rows exceed the caches too.
            cases = options.case or (saving.cases([4, 64]) if options.quick else
                                     saving.cases([4, 64, 512, 2048, 16384], ("forward",)) +
                                     saving.cases([4, 64, 512, 4096], ("both",)))
            work = [(c, options.threads, seconds, device) for c in cases]
            collect(rows, saving.measure_by_name, options.only or timed, work, saving)
    except KeyboardInterrupt:
        interrupted = True
    if rows and options.out:
        write(options.out, rows, options.quick, device)
    if interrupted:
        return 130
    ours_wrong = [row for row in rows if row.how == "normlab" and row.verdict in ("fail", "wrong", "differs")]
    return 1 if ours_wrong or all(row.verdict in ("skip", "error") for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
