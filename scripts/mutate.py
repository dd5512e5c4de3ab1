#!/usr/bin/env python3
"""Mutation testing: changes one place of the library, and sees whether the tests notice.

    scripts/mutate.py [--minutes 10] [--mutants N] [--seed 1] [--jobs 2]
        tries mutants of core/, optimized/ and the plain rungs, in an order that the seed decides
    scripts/mutate.py --update
        writes the score and the survivors of all runs so far into docs/verification.md

A mutant is one change by the rules of universalmutator. Only one file that contains it is compiled, and
linked before the library of build/dev, whose own object is then not used. It is killed if a short check of
that rung fails, or the built-in suite for it with the errors on record, or another rung with the same
header, or the unit tests. The same object code as without the change is no mutant. Runs append to
build/mutate/mutants.csv, and skip what it holds."""
import argparse
import contextlib
import csv
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
from pathlib import Path

import markers

ROOT = Path(__file__).resolve().parent.parent
BUILD, WORK = ROOT / "build" / "dev", ROOT / "build" / "mutate"
PAGE, EQUIVALENT = ROOT / "docs" / "verification.md", ROOT / "tests" / "equivalent_mutants.txt"
TABLE = WORK / "mutants.csv"
FIELDS = ["file", "line", "old", "new", "fate", "by"]
FOLDERS = ["core", "include", "layernorm", "rmsnorm", "batchnorm", "optimized"]
ISA = "neon" if platform.machine() in ("aarch64", "arm64") else "avx2"  # of optimized/ in the preset dev
SHORT = """{layernorm,rmsnorm,qwen2_rmsnorm}/{forward,backward}/{f32,f16,bf16}/{1x1,3x7,9x64,33x131}/normal{,/residual}
{layernorm,rmsnorm,qwen2_rmsnorm}/forward/{f32,f16,bf16}/9x64/{offset:16,nan,constant,huge}{,/cast-before-weight}
{layernorm,rmsnorm,qwen2_rmsnorm}/{forward,backward}/{f32,bf16}/9x70/outliers{,/in-place,/no-affine}
{layernorm,rmsnorm}/{forward,backward}/f32/{2x16391,130x70}/normal
batchnorm/{forward,backward,inference}/{f32,f16,bf16}/{3x7,9x64,130x20,8x5x49}/{normal,offset:16}{,/no-affine,/in-place}
batchnorm/forward/{f32,f16}/9x64/{nan,inf,constant,huge,tiny,normal/biased-running-var,normal/momentum=0.99}"""


def without_comments(lines):
    """The rules see no comment; the lines stay where they are."""
    text = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", "", m[0]), "".join(lines), flags=re.S)
    return text.splitlines(keepends=True)


def all_mutants():
    from universalmutator import mutator
    found, strings = [], r'"(\\.|[^"])*"'
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.[ch]")) if folder != "include" else []:
            lines = path.read_text().splitlines(keepends=True)
            bare = without_comments(lines)
            rules = ["universal.rules", "c_like.rules", "c.rules"]
            with contextlib.redirect_stdout(None):
                changed = mutator.mutants_regexp(bare, ruleFiles=rules, ignorePatterns=[
                    r"^#(include|if|el|endif|define NL_\w+_H)", r"\.rank ="])
            for line, new, *_ in changed:
                if re.sub(strings, '""', new).split() != re.sub(strings, '""', bare[line - 1]).split():
                    found.append((path.relative_to(ROOT), line, bare[line - 1], new))
    return found


class Workplace:
    """A copy of the sources, and what the build did with them."""
    units = {}     # object: (compile command, the repository's files it is made of)
    link = {}      # program: its command
    original = {}  # object: its code without a change

    def __init__(self, number):
        self.home = WORK / str(number)
        self.passes = {}  # does the rung pass the suite without a change?
        shutil.rmtree(self.home, ignore_errors=True)
        for folder in FOLDERS:
            shutil.copytree(ROOT / folder, self.home / folder)
        shutil.copytree(BUILD / "generated", self.home / "generated")
        (self.home / "short.txt").write_text(SHORT)
        (self.home / "tuning").write_text("fork_forward 1000\nfork_backward 1000\n")
        for file in (self.home / "generated").glob("*/*.c"):
            file.write_text(file.read_text().replace(f'"{ROOT}/', f'"{self.home}/'))

    def compile(self, unit, name, mutated=True):
        command = self.units[unit][0]
        for folder in FOLDERS if mutated else ():
            command = command.replace(f"{ROOT}/{folder}", f"{self.home}/{folder}")
        if mutated:
            command = command.replace(f"{BUILD}/generated", f"{self.home}/generated")
        words = [w for w in shlex.split(command) if w != "-Werror"]
        words[words.index("-o") + 1] = str(self.home / name)
        done = subprocess.run(words + ["-w", "-g0"], cwd=BUILD, capture_output=True, timeout=300)
        return (self.home / name).read_bytes() if done.returncode == 0 else None

    def run(self, words, seconds):
        """True if it passes. Whatever hangs does not."""
        try:
            return subprocess.run(["timeout", "-k", "1", str(seconds), *map(str, words)], cwd=self.home,
                                  env=os.environ | {"TMPDIR": str(self.home), "NL_TUNING": "tuning"},
                                  capture_output=True).returncode == 0
        except OSError:
            return False

    def linked(self, target, objects):
        words = shlex.split(self.link[target])
        words[words.index("-o") + 1] = str(self.home / target)
        first = next(i for i, word in enumerate(words) if word.endswith(".o"))
        words[first:first] = [str(self.home / o) for o in objects]
        subprocess.run(words, cwd=BUILD / ("tests" if target == "normlab_tests" else "."), check=True,
                       capture_output=True)
        return self.home / target

    def suite(self, program, rung):
        """The built-in suite, with the errors on record of what this build has of the rung."""
        words = [program, "check", "--impl", rung, "--threads", 3]
        with open(ROOT / "tests" / "largest_errors.csv") as file:
            lines = [line for i, line in enumerate(file) if i == 0 or line.startswith(f"{rung},{ISA},")
                     or line.startswith(f"{rung},c,") and not rung.startswith("optimized")]
        if len(lines) > 1:
            (self.home / "errors.csv").write_text("".join(lines))
            words += ["--errors", "errors.csv"]
        return self.run(words, 600)

    def killer(self, units, rng):
        """What kills the mutant that the copy holds; "" if nothing does."""
        objects = {}  # the rung that each is of
        rng.shuffle(units)
        for unit in units:
            if unit not in self.original:
                self.original[unit] = self.compile(unit, "original.o", mutated=False)
            name = f"mutant{len(objects)}.o"
            code = self.compile(unit, name)
            if code is None:
                return "does not compile"
            if code == self.original[unit]:
                continue
            kernel = re.search(r"generated/(.*)\.c\.o$", unit)
            objects[name] = rung = kernel[1] if kernel else "best,optimized/*_threaded"
            program = self.linked("normlab", [name])
            if not self.run([program, "check", "--impl", rung, "--threads", 3, "short.txt"], 60):
                return f"{rung}, a short list"
        for name, rung in objects.items():
            program = self.linked("normlab", [name])
            if not self.suite(program, rung):
                if rung not in self.passes:
                    self.passes[rung] = self.suite(BUILD / "normlab", rung)
                if self.passes[rung]:
                    return f"{rung}, the suite"
                raise RuntimeError(f"{rung} fails without a change")
        if not objects:
            return "the same code"
        if not self.run([self.linked("normlab_tests", objects), "-j1"], 900):
            return "the unit tests"
        return ""

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


def recorded():
    if not TABLE.exists():
        return []
    with open(TABLE, newline="") as file:
        return list(csv.DictReader(file))


def reasons():
    """{(file, the mutant's line): why it is equivalent}"""
    rows = (line.split(" | ") for line in EQUIVALENT.read_text().splitlines()
            if line and line[0] != "#") if EQUIVALENT.exists() else ()
    return {(file, new): why for file, new, why in rows}


def summary(rows):
    why = reasons()
    tried = [r for r in rows if r["fate"] != "none"]
    alive = [r for r in tried if r["fate"] == "SURVIVED"]
    open_ones = [r for r in alive if (str(r["file"]), r["new"]) not in why]
    valid = len(tried) - len(alive) + len(open_ones)
    score = 100 * (valid - len(open_ones)) / valid if valid else float("nan")
    text = (f"{len(tried)} mutants, {len(tried) - len(alive)} killed, {len(alive) - len(open_ones)} equivalent, "
            f"{len(open_ones)} survived: {score:.1f} % of those that are not equivalent are killed")
    return text, alive, why, open_ones


def update():
    text, alive, why, _ = summary(recorded())

    def code(line):
        return "`` " + line.replace("|", "\\|") + " ``"
    lines = [text + "."]
    if alive:
        lines += ["", "| where | was | is | why it lives |", "|---|---|---|---|"]
    lines += [f"| {r['file']}:{r['line']} | {code(r['old'])} | {code(r['new'])} | "
              f"{why.get((r['file'], r['new']), 'not killed yet')} |"
              for r in sorted(alive, key=lambda r: (r["file"], int(r["line"])))]
    PAGE.write_text(markers.replace(PAGE, PAGE.read_text(), "mutants", "\n".join(lines)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--mutants", type=int, default=sys.maxsize)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if options.update:
        return update()
    end = time.monotonic() + 60 * options.minutes
    prepare()
    rows = recorded()
    done = {(r["file"], int(r["line"]), r["new"]) for r in rows}
    order = all_mutants()
    random.Random(options.seed).shuffle(order)
    queue = [m for m in order if (str(m[0]), m[1], m[3].strip()) not in done]
    print(f"{len(order)} mutants, {len(done)} of them tried before")
    WORK.mkdir(parents=True, exist_ok=True)
    table = open(TABLE, "a", newline="", buffering=1)
    writer = csv.DictWriter(table, FIELDS)
    if not rows:
        writer.writeheader()
    mine = []

    def work(number):
        place = Workplace(number)
        while queue and time.monotonic() < end and sum(r["fate"] != "none" for r in mine) < options.mutants:
            row = place.try_mutant(queue.pop(0), options.seed)
            mine.append(row)
            writer.writerow(row)
            if row["fate"] != "none":
                print(f"{row['fate']:8} {row['file']}:{row['line']}  {row['old']}  ->  {row['new']}  {row['by']}",
                      flush=True)

    with ThreadPoolExecutor(options.jobs) as pool:
        for _ in pool.map(work, range(options.jobs)):
            pass
    text, _, _, left = summary(mine)
    print(text)
    return not mine or bool(left)


if __name__ == "__main__":
    sys.exit(main())
