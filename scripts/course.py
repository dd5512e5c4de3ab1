#!/usr/bin/env python3
"""Fills and checks the chapters of the course, docs/course/NN-NAME.md.

    scripts/course.py --update
        puts source code into every page of docs/course that has a marker for it,

            <!-- code: rmsnorm/naive.c rmsnorm -->           a whole function, or a constant
            <!-- code: core/view.h "FIRST" "LAST" -->       from the line that begins with FIRST to the next that begins with LAST
            <!-- gcc 12.2: COMMAND -->                       a command and its output, if cc is that version
                                                             for x86-64; otherwise the old output stays
            <!-- diff: rmsnorm/naive.c rmsnorm/one_pass.c rmsnorm -->   a function of two files, compared

        and writes the last line of each chapter and the table of contents in docs/course/README.md
    scripts/course.py --check [--program build/release/normlab]
        writes nothing; exit code 1 if a page is out of date, a chapter lacks one of its parts (CONTRIBUTING.md,
        "Add a chapter"), a link or a picture leads nowhere, or the program refuses a command. Without a program
        that can run, the commands are not tested

Standard library only. Running --update twice changes nothing the second time."""
import difflib
import functools
import itertools
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import markers
import readme
from markers import ROOT

COURSE = ROOT / "docs" / "course"
# chapter -> the number of its lab in labs/
LABS = {0: 0, 4: 1, 5: 1, 6: 9, 7: 4, 8: 4, 9: 2, 10: 3, 11: 5, 12: 6, 13: 6, 14: 7, 15: 8, 17: 1, 18: 8, 19: 10}
BLOCK = r' -->\n(?:\n?```\w*\n.*?^```\n)?'
CODE = re.compile(r'^<!-- code: (\S+) (?:(\w+)|"((?:\\"|[^"])+)" "((?:\\"|[^"])+)")' + BLOCK, re.M | re.S)
DIFF = re.compile(r'^<!-- diff: (\S+) (\S+) (\w+)' + BLOCK, re.M | re.S)
ASSEMBLY = re.compile(r"^<!-- gcc (\S+): (.+?)" + BLOCK, re.M | re.S)
LANGUAGES = {".h": "c", ".sh": "bash", ".txt": "text", ".py": "python"}


def chapters():
    return sorted(COURSE.glob("[0-9][0-9]-*.md"))


def title(page):
    """"12. The machine" """
    return page.read_text().split("\n", 1)[0].removeprefix("# ").strip()


TABLE = r"static const \w+ {} = "


def begins(lines, i, function):
    """Does line i define a function or constant of that name? A prototype, which has no brace, defines nothing."""
    rest = "".join(lines[i:i + 8])
    return re.match(TABLE.format(function), lines[i]) or re.match(rf"[A-Za-z_][^=;]*\b{function}\(", lines[i]) and re.search("[;{]", rest)[0] == "{"


def excerpt(file, function, first, last):
    """The lines of a file that a marker names; raises ValueError with the reason if they are missing."""
    first, last = ((text or "").replace('\\"', '"') for text in (first, last))
    if not (ROOT / file).is_file():
        raise ValueError(f"{file} does not exist")
    lines = (ROOT / file).read_text().splitlines()
    starts = [i for i, line in enumerate(lines)
              if (begins(lines, i, function) if function else line.strip().startswith(first))]
    what = f"function {function}" if function else f'line that begins with "{first}"'
    if len(starts) != 1:
        raise ValueError(f"{file} should have one {what}, but has {len(starts)}")
    table = function and re.match(TABLE.format(function), lines[starts[0]])
    for end in range(starts[0], len(lines)):
        if lines[end].endswith(";") if table else lines[end] == "}" if function else lines[end].strip().startswith(last):
            return textwrap.dedent("\n".join(lines[starts[0]:end + 1]))
    raise ValueError(f'{file}: after the {what} no line begins with "{last}"')


@functools.cache
def compiler():
    """The version of cc if it is GCC for x86-64, else ''."""
    done = subprocess.run("cc -dumpmachine && cc -dumpfullversion", shell=True, capture_output=True, text=True)
    machine, _, version = done.stdout.partition("\n")
    return version.strip() if machine.startswith("x86_64") else ""


def printed(command):
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    if not done.stdout.strip():
        raise ValueError(f"prints nothing: {command}{done.stderr[:500]}")
    return textwrap.dedent(done.stdout.replace("\t", "    ").rstrip())


def with_code(text):
    """The text with every excerpt updated from the sources."""
    def assembly(match):
        if not compiler().startswith(match[1] + "."):
            return match[0]
        return f"<!-- gcc {match[1]}: {match[2]} -->\n```console\n$ {match[2]}\n{printed(match[2])}\n```\n"

    def block(match):
        head = match[0].split("\n", 1)[0]
        language = LANGUAGES.get(Path(match[1]).suffix, Path(match[1]).suffix[1:])
        return f"{head}\n```{language}\n{excerpt(*match.groups())}\n```\n"

    def difference(match):
        old, new = (excerpt(file, match[3], None, None).splitlines() for file in match.group(1, 2))
        lines = [line for line in list(difflib.unified_diff(old, new, lineterm="", n=1))[2:] if line[:2] != "@@"]
        if not lines:
            raise ValueError(f"{match[3]} is the same in {match[1]} and {match[2]}")
        return "\n".join([match[0].split("\n", 1)[0], "```diff", *lines, "```", ""])
    return ASSEMBLY.sub(assembly, DIFF.sub(difference, CODE.sub(block, text)))


def navigation(page):
    """The last line of a chapter."""
    pages, names = chapters(), []
    at = pages.index(page)
    for word, other in [("Previous", at - 1), ("Next", at + 1)]:
        if 0 <= other < len(pages):
            names.append(f"{word}: [{title(pages[other])}]({pages[other].name})")
    for lab in sorted((ROOT / "labs").glob(f"{LABS.get(number(page), 'none')}-*/README.md")):
        names.append(f"Lab: [{lab.parent.name}](../../labs/{lab.parent.name}/README.md)")
    return " · ".join([*names, "[Contents](README.md)"])


def number(page):
    return int(page.name[:2])


def with_navigation(page, text):
    body, separator, last = text.rstrip().rpartition("\n")
    kept = body.rstrip() if last.endswith("[Contents](README.md)") else text.rstrip()
    return f"{kept}\n\n{navigation(page)}\n"


def idea(page):
    """The first paragraph of a chapter, on one line."""
    parts = re.split(r"\n\s*\n", page.read_text().strip())
    return " ".join(parts[1].split()) if len(parts) > 1 else ""


def contents():
    return markers.table(["chapter", "the idea"], [[f"[{title(page)}]({page.name})", idea(page)] for page in chapters()], 2)


def expected(page):
    text = with_code(page.read_text())
    if page.name == "README.md":
        return markers.replace(page, text, "contents", contents())
    return with_navigation(page, text) if page in chapters() else text


def section(text, heading):
    found = re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, flags=re.M | re.S)
    return found[1] if found else ""


def commands(text):
    """The normlab commands in indented and fenced blocks; joins continued lines."""
    lines = re.findall(r"^(?:    )?(.*)$", text.replace("\\\n", " "), flags=re.M)
    return [line.strip() for line in lines if re.match(r"\s*(\w+=\S+ )*normlab ", line)]


def missing_parts(page, text):
    """The parts that a chapter lacks. Chapter 0 explains how to read the course, and needs few parts."""
    if not re.match(rf"# {number(page)}\. \S", text):
        yield f'begins with "# {number(page)}. TITLE"'
    if re.match(r"[#!|<`\-]", idea(page)) or not 1 <= len(re.findall(r"[.?!](?:\s|$)", idea(page))) <= 4:
        yield "has the idea, in two or three sentences, right below its title"
    mechanism = rf"^!\[[^\]]{{5,}}\]\(\.\./pictures/course/{number(page):02}\.svg\)$"
    if not re.search(mechanism, text, flags=re.M):
        yield f"shows its mechanism, ../pictures/course/{number(page):02}.svg (scripts/mechanisms.py)"
    if number(page) == 0:
        return
    results = re.sub(mechanism, "", text, flags=re.M)
    picture = re.search(r"!\[[^\]]{5,}\]\([^)]+\.(?:png|svg)\)(.*?)(?=^#|\Z)", results, flags=re.M | re.S)
    if not picture or not re.search(r"\./reproduce|plots/", picture[1]):
        yield "has a picture with a description, and below it the command that makes it (./reproduce or plots/)"
    experiment = section(text, "Experiment")
    before = re.split(r"^ *(?:\w+=\S+ )*normlab ", experiment, maxsplit=1, flags=re.M)
    if len(before) < 2 or len(before[0].split()) < 10:
        yield "has a section Experiment that says first what to expect, and then has a normlab command"
    questions = section(text, "Questions")
    answers = re.findall(r"<details>\s*<summary>[^<]+</summary>(.*?)</details>", questions, flags=re.S)
    if len(answers) != 3 or any(len(answer.split()) < 5 for answer in answers) or questions.count("?") < 3:
        yield "has a section Questions with three questions, each answer in <details><summary>Answer</summary>"
    if len(section(text, "Sources").split()) < 10:
        yield "has a section Sources that says what was checked, and against which source"


def run(program, *arguments):
    return subprocess.run([program, *arguments], capture_output=True, text=True, cwd=ROOT)


def listed(program, *arguments):
    """The first words of the indented lines of a help text."""
    return re.findall(r"^  (\w+)  ", run(program, *arguments, "--help").stdout, flags=re.M)


def refusal(program, command):
    """The reason why the program refuses a command, or None. Checks the options and the names of studies and claims;
    runs the cases with nl_best()'s choice, and each implementation on a small case. Times nothing."""
    words = shlex.shlex(command, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    words = list(itertools.takewhile(lambda word: not re.fullmatch("[|<>&;]+", word), words))
    while "=" in words[0]:
        words.pop(0)
    command, arguments = words[1], words[2:]
    if command.startswith("--"):
        return None
    if command not in listed(program):
        return f"{command} is no command"
    if command == "study" and not {Path(arguments[0]).stem} <= set(listed(program, command)):
        return f"{arguments[0]} is no study"
    for word in arguments if command == "claims" else []:
        if re.fullmatch(r"[a-z]\w*", word) and not (ROOT / "experiments" / "claims" / f"{word}.txt").exists():
            return f"{word} is no claim"
    tries = [] if "--load" in arguments else [[command, *arguments, "--help"]]
    if command in ("check", "bench") and "--load" not in arguments:
        globs = [value for option, value in zip(arguments, arguments[1:]) if option in ("--impl", "--baseline")]
        cases = [word for word in arguments if word.count("/") >= 4 and word not in globs
                 and "/file/" not in word]
        tries += [["check", "--quick", "--impl", glob, "rmsnorm/forward/f32/3x4/normal"] for glob in globs]
        tries += [["check", "--quick", "--impl", "best", *cases]] * bool(cases)
    return next((done.stderr.split("\n")[0] for done in (run(program, *words) for words in tries)
                 if done.returncode == 2), None)


def check(program):
    wrong, tested = [], 0
    runs = program.is_file() and os.access(program, os.X_OK)
    if not chapters():
        wrong.append("there are no chapters in docs/course")
    for page in sorted(COURSE.glob("*.md")):
        name, text = page.relative_to(ROOT), page.read_text()
        try:
            if expected(page) != text:
                wrong.append(f"{name} is out of date: run scripts/course.py --update")
        except ValueError as error:
            wrong.append(f"{name}: {error}")
        if page in chapters():
            wrong += [f"{name}: should be a page that {part}" for part in missing_parts(page, text)]
        wrong += [f"{name} links to {target}, which does not exist" for target in readme.dead_links(page)]
        for command in commands(text) if runs else []:
            tested += 1
            if reason := refusal(program, command):
                wrong.append(f"{name}: `{command}`: {reason}")
    print(f"{len(chapters())} chapters, {tested} commands" + ("" if runs else f" (not tested: no {program})"))
    return markers.report(wrong)


def update():
    for page in sorted(COURSE.glob("*.md")):
        try:
            markers.save(page, page.read_text(), expected(page))
        except ValueError as error:
            sys.exit(f"{page.relative_to(ROOT)}: {error}")
    return 0


def main():
    options = markers.update_or_check(__doc__, program=True)[0].parse_args()
    return update() if options.update else check(Path(options.program))


if __name__ == "__main__":
    sys.exit(main())
