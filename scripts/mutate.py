#!/usr/bin/env python3
"""Mutation testing: changes one place of the library, and sees whether the tests notice.

    scripts/mutate.py [--minutes 10] [--seed 1] [--jobs 2]
        tries mutants of core/, optimized/ and the plain rungs, one of each file in turn, in an order that
        the seed decides. Starts with earlier survivors that are not in tests/equivalent_mutants.txt
    scripts/mutate.py --update
        writes the score and the survivors of all runs so far into docs/verification.md

A mutant is one change by the rules of universalmutator. Only files that contain the change are compiled. They
are linked before the library of build/dev, so that they replace its objects. A mutant is killed if one of these
fails: a short check of the file's rung, or of another rung with the same header; the built-in suite for these rungs,
with the errors on record; a unit test. A change that does not change the object code is no mutant. Runs append to
build/mutate/mutants.csv, and skip the mutants that this file has."""
import collections
import contextlib
import csv
import itertools
import json
import os
import platform
import random
import re
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import markers
from markers import ROOT

BUILD, WORK = ROOT / "build" / "dev", ROOT / "build" / "mutate"
PAGE, EQUIVALENT = ROOT / "docs" / "verification.md", ROOT / "tests" / "equivalent_mutants.txt"
TABLE, SHORT = WORK / "mutants.csv", ROOT / "tests" / "mutate.txt"
FIELDS = ["file", "line", "old", "new", "fate", "by"]
FOLDERS = ["core", "include", "layernorm", "rmsnorm", "batchnorm", "gated_rmsnorm", "half", "optimized"]
ISA = "neon" if platform.machine() in ("aarch64", "arm64") else "avx2"  # the ISA of optimized/ in the preset dev
# Unit tests that can detect a change, besides implementations/*: for entry points; for kernels; slow tests for kernels.
ENTRY = "@(arguments|registry|layer|tune|suite|dtype|routing)/*"
KERNELS, SLOW = "@(demonstrations|extremes|gradients|registry|step)/*", "@(long_rows|museum|routing|threads)/*"
INTRINSICS = WORK / "intrinsics.h"  # compiled once: they take most of the time of a mutant that fails to compile


def without_comments(lines):
    """Blanks the comments, so that the rules do not change them; lines keep their numbers."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", "", m[0]), "".join(lines), flags=re.S)
    return text.splitlines(keepends=True)


def all_mutants():
    from universalmutator import mutator
    found, strings = [], r'"(\\.|[^"])*"'
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")) if folder != "include" else []:
            lines = path.read_text().splitlines(keepends=True)
            bare = without_comments(lines)
            rules = ["universal.rules", "c_like.rules", "c.rules"]
            with contextlib.redirect_stdout(None):
                changed = mutator.mutants_regexp(bare, ruleFiles=rules, ignorePatterns=[r"^#(include|if|el|endif|pragma once)"])
            for line, new, *_ in changed:
                if re.sub(strings, '""', new).split() != re.sub(strings, '""', bare[line - 1]).split():
                    found.append((path.relative_to(ROOT), line, bare[line - 1], new))
    return found


def compiler(command, output):
    """The command with -O1, which compiles in two thirds of the time, and without guesses of branch probabilities: a
    `continue` changes these guesses even if it changes nothing else."""
    words = [w for w in shlex.split(command) if w != "-Werror"]
    words[words.index("-o") + 1] = str(output)
    return words + ["-w", "-g0", "-O1", "-fno-guess-branch-probability"]


class Workplace:
    """A copy of the sources, and the build's commands for them."""
    units = {}     # object -> (compile command, the repository's files that it includes)
    link = {}      # program -> its link command
    passes = {}    # rung -> does it pass the suite without a change?

    def __init__(self, number):
        self.home = WORK / str(number)
        shutil.rmtree(self.home, ignore_errors=True)
        for folder in FOLDERS:
            shutil.copytree(ROOT / folder, self.home / folder)
        shutil.copytree(BUILD / "generated", self.home / "generated")
        (self.home / "tuning").write_text("fork_forward 1000\nfork_backward 1000\nfork_batch 1000\n")
        for file in (self.home / "generated").glob("*/*.c"):
            file.write_text(file.read_text().replace(f'"{ROOT}/', f'"{self.home}/'))

    def compile(self, unit, name, mutated=True):
        command = self.units[unit][0]
        for folder in FOLDERS if mutated else ():
            command = command.replace(f"{ROOT}/{folder}", f"{self.home}/{folder}")
        if mutated:
            command = command.replace(f"{BUILD}/generated", f"{self.home}/generated")
        words = compiler(command, self.home / name)
        if "_optimized" in unit:
            words += ["-include", INTRINSICS]
        done = subprocess.run(words, cwd=BUILD, capture_output=True)
        return (self.home / name).read_bytes() if done.returncode == 0 else None

    def is_original(self, unit, code, certain):
        """Is the object code that of the unchanged source? If that object is missing, compiles it only if `certain`."""
        kept = WORK / "original" / unit.replace("/", "_")
        old = not kept.exists() or kept.stat().st_mtime < (BUILD / unit).stat().st_mtime
        if old and certain:
            kept.parent.mkdir(exist_ok=True)
            self.compile(unit, "original.o", mutated=False)
            os.replace(self.home / "original.o", kept)
        return (certain or not old) and code == kept.read_bytes()

    def run(self, words, seconds, **own):
        """Exit code and output of a command. `seconds` limits the processor time: other programs affect wall time."""
        words = ["timeout", "-k", "1", 30 * seconds, "sh", "-c", 'ulimit -t $0; exec "$@"', seconds, *words]
        own |= {"TMPDIR": str(self.home), "OMP_WAIT_POLICY": "passive"}
        done = subprocess.run([str(w) for w in words], cwd=self.home, env=os.environ | own, errors="replace",
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return done.returncode, done.stdout

    def linked(self, target, objects):
        words = shlex.split(self.link[target])
        words[words.index("-o") + 1] = str(self.home / target)
        first = next(i for i, word in enumerate(words) if word.endswith(".o"))
        words[first:first] = [str(self.home / o) for o in objects]
        subprocess.run(words, cwd=BUILD / ("tests" if target == "normlab_tests" else "."), check=True,
                       capture_output=True)
        return self.home / target

    def short(self, program, rung, seconds=6):
        return self.run([program, "check", "--first", "--impl", rung, "--threads", 3, SHORT], seconds,
                        NL_TUNING="tuning")[0] == 0

    def suite(self, program, rung):
        """Does the rung pass the built-in suite, with its errors on record for this build's instruction sets?"""
        words = [program, "check", "--first", "--impl", rung, "--threads", 3]
        isa = ISA if rung.startswith("optimized") else "c"
        lines = (ROOT / "tests" / "largest_errors.csv").read_text().splitlines()
        own = [f"{problem},{rung}@{isa},{numbers}"
               for problem, impls, numbers in (line.split(",", 2) for line in lines[1:])
               for name, isas in (impl.split("@") for impl in impls.split())
               if name == rung and isa in isas.split("+")]
        if own:
            (self.home / "errors.csv").write_text("\n".join([lines[0], *own]) + "\n")
            words += ["--errors", "errors.csv"]
        return self.run(words, 300, NL_TUNING="tuning")[0] == 0

    def failing_test(self, program, tests, impl="*"):
        """The first test that fails with the change and passes without it; None if all pass."""
        code, text = self.run([program, "-j1", "--fail-fast", "--filter", tests], 60, NL_TEST_IMPL=impl)
        failed = re.search(r"\[FAIL\] (\w+)::(\w+)", text)
        if code and not failed:
            return f"exit code {code}"
        test = f"{failed[1]}/{failed[2]}" if failed else None
        if test and self.run([BUILD / "tests" / "normlab_tests", "--filter", test], 60, NL_TEST_IMPL=impl)[0]:
            raise RuntimeError(f"{test} fails without a change")
        return test

    def try_units(self, units):
        """Yields each changed object with its rung, or the reason if short checks already decide the mutant's fate."""
        count = 0
        for unit in units:
            name = f"mutant{count}.o"
            code = self.compile(unit, name)
            if code is None:
                yield "does not compile", None
            if self.is_original(unit, code, certain=False):
                continue
            kernel = re.search(r"generated/(.*)\.c\.o$", unit)
            shared = re.search(r"/(optimized/\w+)/\w+\.c\.o$", unit)
            rung = kernel[1] if kernel else f"{shared[1]}_*" if shared else "best"
            if not self.short(self.linked("normlab", [name]), rung):
                yield f"{rung}, a short list", None
            if self.is_original(unit, code, certain=True):
                continue
            yield name, rung
            count += 1

    def killer(self, units, rng):
        """The test that kills the mutant in this copy; "" if none does. Objects that compile fast go first."""
        cost = {unit: (BUILD / unit).stat().st_size * rng.uniform(0.5, 1.5) for unit in units}
        objects = {}  # object -> its rung
        for name, rung in self.try_units(sorted(units, key=cost.get)):
            if not rung:
                return name
            objects[name] = rung
        if not objects:
            return "the same code"
        program = self.linked("normlab_tests", objects)
        if "best" in objects.values() and (test := self.failing_test(program, ENTRY)):
            return test
        for rung in objects.values():
            if rung != "best" and (test := self.failing_test(program, "implementations/*", rung)):
                return f"{test}, {rung}"
        if test := self.failing_test(program, KERNELS):
            return test
        for name, rung in objects.items():
            if not self.suite(self.linked("normlab", [name]), rung):
                if rung not in self.passes:
                    self.passes[rung] = self.suite(BUILD / "normlab", rung)
                if not self.passes[rung]:
                    raise RuntimeError(f"{rung} fails without a change")
                return f"{rung}, the suite"
        return self.failing_test(program, SLOW) or ""

    def try_mutant(self, mutant, seed):
        file, line, old, new = mutant
        rng = random.Random(f"{seed} {mutant}")
        units = [u for u, (_, files) in self.units.items() if str(file) in files]
        target = self.home / file
        text = target.read_text()
        lines = text.splitlines(keepends=True)
        lines[line - 1] = new
        try:
            target.write_text("".join(lines))
            by = self.killer(units, rng) if units else "not compiled here"
        finally:
            target.write_text(text)
        none = ("does not compile", "the same code", "not compiled here")
        fate = "SURVIVED" if not by else "none" if by in none else "killed"
        return dict(zip(FIELDS, [file, line, old.strip(), new.strip(), fate, by]))


def prepare():
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    for entry in commands:
        words = shlex.split(entry["command"])
        unit = words[words.index("-o") + 1]
        depend = BUILD / f"{unit}.d"
        if "normlab_core" not in unit and "normlab_kernels" not in unit or not depend.exists():
            continue
        paths = {(BUILD / name).resolve() for name in depend.read_text().replace("\\\n", " ").split()}
        Workplace.units[unit] = (entry["command"], {str(path.relative_to(ROOT)) for path in paths
                                                    if path.is_relative_to(ROOT)})
    for target, folder in (("normlab", "normlab_program"), ("normlab_tests", "tests/CMakeFiles/normlab_tests")):
        path = BUILD / ("" if "/" in folder else "CMakeFiles") / f"{folder}.dir" / "link.txt"
        Workplace.link[target] = path.read_text().strip()
    words = next(compiler(command, f"{INTRINSICS}.gch") for unit, (command, _) in Workplace.units.items()
                 if "_optimized" in unit)
    words[words.index("-c"):words.index("-w")] = ["-x", "c-header", str(INTRINSICS)]
    INTRINSICS.parent.mkdir(parents=True, exist_ok=True)
    INTRINSICS.write_text(f"#include <{'arm_neon.h' if ISA == 'neon' else 'immintrin.h'}>\n")
    subprocess.run(words, cwd=BUILD, check=True)


def recorded():
    if not TABLE.exists():
        return []
    with open(TABLE, newline="") as file:  # keeps the last result of a mutant that was tried twice
        return list({(r["file"], r["line"], r["new"]): r for r in csv.DictReader(file)}.values())


def reasons():
    """Why mutants are equivalent to the original: {(file, the mutant's line with single spaces): reason}"""
    lines = EQUIVALENT.read_text().splitlines() if EQUIVALENT.exists() else ()
    rows = (line.split(" | ") for line in lines if line and line[0] != "#")
    return {(file, " | ".join(new)): why for file, *new, why in rows}


def key(mutant):
    file, line, _, new = mutant
    return str(file), line, new.strip()


def place(row):
    return str(row["file"]), " ".join(row["new"].split())


def summary(rows):
    why = reasons()
    tried = [r for r in rows if r["fate"] != "none"]
    alive = [r for r in tried if r["fate"] == "SURVIVED"]
    open_ones = [r for r in alive if place(r) not in why]
    valid = len(tried) - len(alive) + len(open_ones)
    score = 100 * (valid - len(open_ones)) / valid if valid else float("nan")
    text = (f"{len(tried)} mutants, {len(tried) - len(alive)} killed, {len(alive) - len(open_ones)} equivalent, "
            f"{len(open_ones)} survived: {score:.1f} % of those that are not equivalent are killed")
    return text, open_ones


def update():
    text, left = summary(recorded())

    def code(line):
        return "`` " + " ".join(line.split()).replace("|", "\\|") + " ``"
    lines = [text + "."]
    if left:
        left = [[f"{r['file']}:{r['line']}", code(r["old"]), code(r["new"])]
                for r in sorted(left, key=lambda r: (r["file"], int(r["line"])))]
        lines += ["", markers.table(["where", "was", "is"], left, 3)]
    markers.fill(PAGE, mutants="\n".join(lines))


def main():
    parser = markers.parser(__doc__, "--update")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    if options.update:
        return update()
    end = time.monotonic() + 60 * options.minutes
    prepare()
    rows = recorded()
    _, open_ones = summary(rows)
    done = {(r["file"], int(r["line"]), r["new"]) for r in rows if r not in open_ones}
    order = all_mutants()
    random.Random(options.seed).shuffle(order)
    turn = collections.defaultdict(itertools.count)  # one mutant of each file in turn
    order = [m for _, m in sorted(((next(turn[m[0]]), m) for m in order), key=lambda pair: pair[0])]
    tried = {(r["file"], int(r["line"]), r["new"]) for r in rows}
    queue = [m for m in order if key(m) not in done]
    queue.sort(key=lambda m: key(m) not in tried)
    print(f"{len(order)} mutants, {len(tried)} of them tried before")
    table = open(TABLE, "a", newline="", buffering=1)
    writer = csv.DictWriter(table, FIELDS)
    if not rows:
        writer.writeheader()
    mine = []
    if not Workplace(0).short(BUILD / "normlab", "*", 60):
        raise SystemExit("tests/mutate.txt fails on the unchanged library: mend this first")

    def work(number):
        place = Workplace(number)
        while queue and time.monotonic() < end:
            begin = time.monotonic()
            try:
                row = place.try_mutant(queue.pop(0), options.seed)
            except RuntimeError as error:  # the mutant is not recorded, so that the next run tries it again
                print(error, flush=True)
                continue
            mine.append(row)
            writer.writerow(row)
            if row["fate"] != "none":
                print(f"{row['fate']:8} {row['file']}:{row['line']}  {row['old']}  ->  {row['new']}  {row['by']}"
                      f"  ({time.monotonic() - begin:.0f} s)", flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        list(pool.map(work, range(options.jobs)))
    text, left = summary(mine)
    print(text)
    return not mine or bool(left)


if __name__ == "__main__":
    sys.exit(main())
