#!/usr/bin/env python3
"""The fewest cycles that a core needs for the inner loops of the row norms, by OSACA's models of ports, and the
share of this limit that the rungs reach (chapter 12).

    scripts/ports.py --model [--program build/release/normlab]
        runs a call of each rung one instruction at a time, finds its loops, and writes docs/ports.csv: cycles for 16
        elements. Needs Linux on x86-64, binutils, and .venv/bin/pip install -r requirements-ports.txt
    scripts/ports.py --time
        prints the commands that time these rungs, for an idle machine
    scripts/ports.py --add NAME [results/ports.csv]
        keeps these times, and the clock from peak.csv beside them, in docs/machines/NAME/, and writes the tables
    scripts/ports.py
        writes the tables from what is kept
    scripts/ports.py --check
        writes nothing; exit code 1 if a page is out of date, or a time is below the limit

The limit of a loop is the largest of four: its operations on the busiest ports; its loads and stores on the busiest
memory ports; its instructions divided by the core's width; the longest chain from one step to the next. A rung's limit
is the sum over its loops: only a few steps of two loops overlap, since a core seldom predicts the end of a loop. Only
--model needs more than the standard library. SPDX-License-Identifier: MIT"""
import csv
import ctypes
import itertools
import math
import os
import re
import signal
import struct
import subprocess
import sys
from collections import Counter
from pathlib import Path

import markers
import files
import rungs
from markers import ROOT

MODEL, HOME = ROOT / "docs" / "ports.csv", ROOT / "docs" / "machines"
CHAPTER, RUNGS = ROOT / "docs" / "course" / "12-the-machine.md", ROOT / "docs" / "optimized.md"
# OSACA's name of a core -> our name, the ports of loads and stores, the instructions per cycle, the widest set.
CORES = {"SPR": ("Sapphire Rapids", "2 3 11 4 7 8 9", 6, "avx512"), "ICX": ("Ice Lake", "2 2D 3 3D 4 7 8 9", 5, "avx512"),
         "ZEN4": ("Zen 4", "1 1D 3 3D 5 5D 8 13", 6, "avx512"), "ZEN3": ("Zen 3", "4 11 12 13", 6, "avx2")}
LANES, CHAIN = {"avx2": 8, "avx512": 16}, 4  # floats in a vector; cycles of a fused multiply-add, on all of these cores
DONE = 80  # % of either limit
SETS = ["avx2", "avx512"]  # not sse2: all these cores have AVX2
KINDS = {"ports": "ports", "memory": "loads and stores", "width": "width", "latency": "latency"}
N, C, BLOCK = 16, 1024, 16  # rows, features; all limits are in cycles per BLOCK elements


def wanted(program):
    """(case, rung, instruction set) of row norms in f32 on one thread, with data that fit a core's own caches."""
    for impl in csv.DictReader(output(program, "list", "--csv").splitlines()):
        if impl["impl"].startswith("optimized/rows_") and impl["isa"] in SETS and impl["runs_here"] == "1" and impl["c_max"] == "0" \
                and "f32" in impl["dtypes"].split() and not re.search("streaming|prefetch|threaded", impl["impl"]):
            for op in {"layernorm", "rmsnorm"} & set(impl["ops"].split()):
                yield f"{op}/{impl['passes']}/f32", impl["impl"], impl["isa"]


class Stepper:
    """A process that ptrace() runs one instruction at a time."""
    TRACEME, PEEK, PEEKUSER, POKE, CONTINUE, STEP, GETREGS, SETREGS = 0, 1, 3, 4, 7, 9, 12, 13
    IP, SP = 16, 19  # indices of registers in the kernel's user_regs_struct

    def __init__(self, arguments):
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
        self.libc.ptrace.restype = ctypes.c_long
        self.pid = os.fork()
        if not self.pid:
            self.libc.ptrace(self.TRACEME, 0, None, None)
            os.execv(arguments[0], arguments)
        self.wait()
        self.base = int(Path(f"/proc/{self.pid}/maps").read_text().split("-")[0], 16)

    def ask(self, what, address=None, value=None):
        return self.libc.ptrace(what, self.pid, address, value)

    def wait(self):
        _, status = os.waitpid(self.pid, 0)
        if not os.WIFSTOPPED(status):
            sys.exit(f"the program ended before its call did: wait status {status}")
        return os.WSTOPSIG(status)

    def resume(self, how):
        """Runs the process until its next SIGTRAP, and delivers no other signal to it."""
        self.ask(how)
        while self.wait() != signal.SIGTRAP:
            self.ask(how)

    def call(self, function):
        """The addresses, in the file, of the instructions that one call of the function runs."""
        at = self.base + function
        word = self.ask(self.PEEK, at)
        self.ask(self.POKE, at, word & ~0xFF | 0xCC)  # a breakpoint
        self.resume(self.CONTINUE)
        self.ask(self.POKE, at, word)
        raw = ctypes.create_string_buffer(27 * 8)
        self.ask(self.GETREGS, None, raw)
        registers = list(struct.unpack("27Q", raw.raw[:216]))
        registers[self.IP] = at
        self.ask(self.SETREGS, None, ctypes.create_string_buffer(struct.pack("27Q", *registers)))
        ran = [function]
        while self.ask(self.PEEKUSER, self.SP * 8) <= registers[self.SP]:
            self.resume(self.STEP)
            ran.append(self.ask(self.PEEKUSER, self.IP * 8) - self.base)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        return ran


def disassembled(text):
    """Address -> instruction, from the output of objdump -d --no-show-raw-insn, without comments and names."""
    found = re.findall(r"^ *([0-9a-f]+):\t(.*)", text, flags=re.M)
    return {int(address, 16): re.sub(r"\s*(<[^>]*>|#.*)", "", what).strip() for address, what in found}


def loops(ran, code):
    """[(instructions of a step, steps)] of the innermost loops with at least a hundredth of the instructions that ran, and
    the share of these loops.
    A step ends with a jump back to where it began. The last step may end at any jump, so the instruction that ran most
    often gives the number of steps."""
    ran = [at for at in ran if at in code]  # leaves out the C library
    times, taken, most, steps, path = Counter(ran), Counter(), Counter(), Counter(), []
    for at, then in zip(ran, ran[1:]):
        path.append(at)
        if then <= at and code[at].startswith("j"):
            if then in path:
                step = tuple(path[path.index(then):])
                steps[step] += 1
                taken[at] += 1
                most[at] = max(most[at], *(times[each] for each in step))
            path = []
    found = [([code[at] for at in step], count * most[step[-1]] / taken[step[-1]]) for step, count in steps.items()]
    found = [each for each in found if len(each[0]) * each[1] * 100 >= len(ran)]
    return found, sum(len(step) * count for step, count in found) / len(ran)


def busiest(uops):
    """The cycles of operations [(cycles, ports)] that share their ports in the best way. A set of ports needs the
    cycles of the operations that can use no other port, divided by its size; the busiest set decides."""
    kinds = {frozenset(ports) for _, ports in uops}
    unions = {frozenset().union(*some) for size in range(1, len(kinds) + 1) for some in itertools.combinations(kinds, size)} \
        if len(kinds) <= 12 else kinds
    return max((sum(cycles for cycles, ports in uops if set(ports) <= union) / len(union) for union in unions), default=0)


class Core:
    def __init__(self, name):
        try:
            from osaca.osaca import get_asm_parser
            from osaca.semantics import ArchSemantics, KernelDG, MachineModel
        except ImportError:
            sys.exit("OSACA is not installed: .venv/bin/pip install -r requirements-ports.txt, then use .venv/bin/python")
        _, memory, self.width, self.widest = CORES[name]
        self.name, self.memory, self.graph = name, set(memory.split()), KernelDG
        self.parser, self.model = get_asm_parser(name, "ATT"), MachineModel(arch=name)
        self.semantics, self.known = ArchSemantics(self.parser, self.model), {}

    def cycles(self, step):
        """The cycles of one step of a loop: kind -> cycles."""
        text = "\n".join(re.sub(r"^(j\w+)\s+.*", r"\1 .L1", line) for line in step) + "\n"
        if text not in self.known:
            kernel = self.parser.parse_file(text)
            self.semantics.normalize_instruction_forms(kernel)
            self.semantics.add_semantics(kernel)
            for line in kernel:
                if {"tp_unknown", "lt_unknown"} & set(line.flags) and "mm" in line.line:  # only vectors matter
                    sys.exit(f"OSACA's model of {self.name} lacks: {line.line}")
            uops = [(cycles, ports) for line in kernel for cycles, ports in line.port_uops]
            uops = [(cycles, [ports] if ports in self.model.get_ports() else list(ports)) for cycles, ports in uops]
            chains = self.graph(kernel, self.parser, self.model, self.semantics, 60, False).get_loopcarried_dependencies()
            self.known[text] = {
                "ports": busiest([uop for uop in uops if not set(uop[1]) <= self.memory]),
                "memory": busiest([uop for uop in uops if set(uop[1]) <= self.memory]),
                "width": sum(not line.startswith("j") for line in step) / self.width,  # a jump fuses with its comparison
                "latency": max((chain["latency"] for chain in chains.values() if any("mm" in each[0].line for each in chain["dependencies"])),
                               default=0)}  # only vector chains: OSACA's Zen 3 model gives an lea 5 cycles
        return self.known[text]


def output(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def program_of(path):
    """The address of the function that makes one call, and the program's instructions."""
    function = re.search(r"^(\w+) . counting_this_call$", output("nm", path), flags=re.M)
    return int(function[1], 16), disassembled(output("objdump", "-dw", "--no-show-raw-insn", path))


def model(program):
    function, code = program_of(program)
    cores, lines = [Core(name) for name in CORES], []
    for layer, impl, isa in wanted(program):
        ran = Stepper([program, "count", "--inside", "--impl", f"{impl}@{isa}", f"{layer}/{N}x{C}/normal"]).call(function)
        found, inside = loops(ran, code)
        for core in cores:
            if SETS.index(isa) <= SETS.index(core.widest):
                cycles = [(core.cycles(step), count * BLOCK / (N * C)) for step, count in found]
                largest = Counter()
                for each, count in cycles:
                    largest[max(each, key=each.get)] += count * max(each.values())
                lines.append([layer, impl, isa, core.name, f"{inside:.2f}", f"{largest.total():.2f}", largest.most_common(1)[0][0],
                              *(f"{sum(each[kind] * count for each, count in cycles):.2f}" for kind in KINDS)])
        print(*lines[-1], file=sys.stderr)
    with open(MODEL, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(
            [["case", "impl", "isa", "core", "inside", "limit", "bound", *KINDS], *sorted(lines)])


def timing():
    every = sorted({(row["case"], row["impl"], row["isa"]) for row in files.rows(MODEL)})
    cases, impls = ({f"{row[0]}/64x1024/normal": 0 for row in every}, {f"{row[1]}@{row[2]}": 0 for row in every})
    print(f"build/release/normlab study peak --out results/peak.csv\n"
          f"build/release/normlab bench {' '.join(cases)} --impl {','.join(impls)} --seconds 1 --out results/ports.csv")


def add(name, results):
    """Copies the times, and the facts that identify the machine, into docs/machines/NAME."""
    with files.needed(results):
        rows, facts = files.rows(results), files.machine(results)
        peak = {row["series"]: float(row["y"]) for row in files.rows(results.with_name("peak.csv")) if row["x"] == "1"}
        kept = [row | {"ghz": f"{peak[row['isa']] * CHAIN / 2 / LANES[row['isa']]:.2f}"}
                for row in rows if row["ns"] and row["verdict"] == "ok"]
    (HOME / name).mkdir(exist_ok=True)
    files.write(HOME / name / "ports.csv", ["case", "impl", "isa", "ns", "limit_pct", "ghz"], kept)
    files.write_facts(HOME / name / "ports.machine.txt", facts, ["cpu", "family", "compiler", "kernels", "commit", "date"])


def limits():
    """(case, rung, set) -> core -> row."""
    found = {}
    for row in files.rows(MODEL):
        found.setdefault((row["case"], row["impl"], row["isa"]), {})[row["core"]] = row
    return found


def reached(name, of):
    """(case, rung, set) -> the shares (%) of the core's limit and of copying that a machine reaches, and its ns."""
    found = {}
    for row in files.rows(HOME / name / "ports.csv"):
        op, pass_, dtype, shape, *_ = row["case"].split("/")
        key = f"{op}/{pass_}/{dtype}", row["impl"], row["isa"]
        n, c = map(int, shape.split("x"))
        ns, cycles = float(row["ns"]), float(of[key][files.NEAREST[name]]["limit"]) * n * c / BLOCK
        found[key] = 100 * cycles / float(row["ghz"]) / ns, float(row["limit_pct"]), ns
    return found


def machines():
    return sorted(path.parent.name for path in HOME.glob("*/ports.csv"))


def label(key):
    op, pass_, _ = key[0].split("/")
    return [f"{rungs.LAYERS[op]} {pass_}", key[2].replace("avx", "AVX-").replace("-2", "2")]


def cell(row):
    return f"{float(row['limit']):.1f} {KINDS[row['bound']]}" if row else ""


def tables():
    """The chapter's table, which has each machine's fastest rungs, and the table of all rungs."""
    of = limits()
    order = sorted(of, key=lambda key: (key[0].split("/")[1] == "backward", key[0], key[2], rungs.place(key[1])))
    short, far, wide = [], {}, []
    for name in machines():
        far[name] = reached(name, of)
        fastest = {}
        for key, (*_, ns) in far[name].items():
            if ns < far[name].get(fastest.get((key[0], key[2])), (0, 0, math.inf))[2]:
                fastest[key[0], key[2]] = key
        for key in (key for key in order if key in fastest.values()):
            core, copying, _ = far[name][key]
            short.append([name, *label(key), rungs.short(key[1]), cell(of[key][files.NEAREST[name]]), f"{core:.0f}", f"{copying:.0f}",
                          "done" if max(core, copying) >= DONE else "lead"])
    for key in order:
        shares = [far[name].get(key) for name in far]
        wide.append([*label(key), rungs.short(key[1]), *(cell(of[key].get(core)) for core in CORES),
                     *(f"{share[0]:.0f}, {share[1]:.0f}" if share else "" for share in shares)])
    head = ["layer", "set", "rung"]
    wide = markers.table([*head, *(words for words, *_ in CORES.values()), *(f"{name}: of both, %" for name in far)], wide, 7)
    timed = [(name, files.facts(HOME / name / "ports.csv")) for name in far]
    return (markers.table(["machine", *head, "the core's limit", "reached, %", "of copying, %", ""], short, 5),
            "\n\n".join([wide, *(f"Timed on {name}: {facts['compiler']}, commit {facts['commit']}, {facts['date'][:10]}." for name, facts in timed)]))


def main():
    parser = markers.parser(__doc__, results=ROOT / "results" / "ports.csv", program=True)
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--model", action="store_true")
    what.add_argument("--time", action="store_true")
    what.add_argument("--add", metavar="NAME", choices=files.NEAREST)
    what.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.time:
        return timing()
    if options.model:
        model(str(Path(options.program).resolve()))
    if options.add:
        add(options.add, options.results)
    short, wide = tables()
    pages = {CHAPTER: markers.filled(CHAPTER, ports=short), RUNGS: markers.filled(RUNGS, ports=wide)}
    wrong = [f"{name}: {' '.join(key)} takes less time than its limit: the model or the choice of loops is wrong"
             for name in machines() for key, (core, *_) in reached(name, limits()).items() if core > 100]
    return markers.report(markers.written(pages, options.check, "not what docs/ports.csv says: run scripts/ports.py") + wrong)


if __name__ == "__main__":
    sys.exit(main())
