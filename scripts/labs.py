#!/usr/bin/env python3
"""Makes a course's handouts and its autograder from a folder with an assignment.

    scripts/labs.py classroom labs/2-one-pass FOLDER --owner OWNER
        a template repository for GitHub Classroom: the student's file, the page, the assignment and
        the workflow that grades each push; the workflow builds github.com/OWNER/normlab

    scripts/labs.py gradescope labs/2-one-pass FILE.zip --seed N
        the autograder of a programming assignment, for upload to Gradescope. It has normlab's
        sources, builds them once, and grades on the data of a seed that no student sees

    scripts/labs.py course FOLDER
        this repository without solutions and wrong kernels

SPDX-License-Identifier: MIT"""

import argparse
import pathlib
import re
import secrets
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SERVICES = ROOT / "examples" / "grading"
SECRET = re.compile(r"^labs/(solutions|[^/]+/wrong)/")
UNBUILT = ("docs/", "tests/", "experiments/", "plots/", "python/", "examples/", "scripts/", ".")


def fail(text):
    print(f"labs.py: {text}", file=sys.stderr)
    sys.exit(2)


def sources():
    """The repository's files, as paths from its root."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    names = listed.stdout.split("\n") if listed.returncode == 0 else (
        str(p.relative_to(ROOT)) for p in ROOT.rglob("*"))
    names = [n for n in names if n and (ROOT / n).is_file() and not n.startswith(("build", "results", ".git/"))]
    return sorted(names) or fail(f"{ROOT} has no files")


def lab_of(text):
    folder = pathlib.Path(text)
    for name in ("assignment.txt", "start.c"):
        if not (folder / name).is_file():
            fail(f"{folder} has no {name}: name a folder such as labs/2-one-pass")
    return folder


def new_folder(text):
    folder = pathlib.Path(text)
    if folder.exists() and any(folder.iterdir()):
        fail(f"{folder} is not empty")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def page_for_students(lab, owner):
    """The lab's page, with links into normlab's repository and the name of the student's file."""
    page = (lab / "README.md").read_text() if (lab / "README.md").is_file() else f"# {lab.name}\n"
    base = f"https://github.com/{owner}/normlab/blob/main/"
    page = re.sub(r"\]\((?:\.\./)?\.\./(?=docs/|optimized/|layernorm/|rmsnorm/|batchnorm/|half/|core/|examples/)",
                  "](" + base, page)
    page = re.sub(r"\]\(\.\./(?=[0-9a-z])", f"]({base}labs/", page)
    return page.replace(f"{lab.name}.c", "kernel.c")


def classroom(a):
    lab, folder = lab_of(a.lab), new_folder(a.out)
    shutil.copyfile(lab / "start.c", folder / "kernel.c")
    shutil.copyfile(lab / "assignment.txt", folder / "assignment.txt")
    (folder / "README.md").write_text(page_for_students(lab, a.owner))
    flow = SERVICES / "classroom/.github/workflows/grade.yml"
    to = folder / ".github/workflows/grade.yml"
    to.parent.mkdir(parents=True)
    to.write_text(flow.read_text().replace("OWNER/normlab", f"{a.owner}/normlab"))
    print(f"{folder}: commit it, and mark the repository as a template")


def gradescope(a):
    lab, seed = lab_of(a.lab), secrets.randbelow(2**31) if a.seed is None else a.seed
    with zipfile.ZipFile(a.out, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name in ("run_autograder", "setup.sh"):
            bundle.write(SERVICES / "gradescope" / name, name)
        bundle.write(lab / "assignment.txt", "assignment.txt")
        bundle.writestr("seed", f"{seed}\n")
        for name in sources():
            if not name.startswith(UNBUILT) and not SECRET.search(name):
                bundle.write(ROOT / name, f"normlab/{name}")
    print(f"{a.out}: upload it as the autograder; its seed is {seed}")


def course(a):
    folder = new_folder(a.out)
    for name in sources():
        if not SECRET.search(name):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    print(f"{folder}: the repository without labs/solutions, labs/*/wrong and history")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, what in ((classroom, "FOLDER"), (gradescope, "FILE.zip"), (course, "FOLDER")):
        sub = commands.add_parser(command.__name__)
        sub.set_defaults(run=command)
        if command is not course:
            sub.add_argument("lab", metavar="LAB", help="a folder with assignment.txt and start.c")
        sub.add_argument("out", metavar=what)
        if command is classroom:
            sub.add_argument("--owner", required=True, help="the workflow builds github.com/OWNER/normlab")
        if command is gradescope:
            sub.add_argument("--seed", type=int, help="seed of the data (default: random)")
    a = parser.parse_args()
    a.run(a)


if __name__ == "__main__":
    main()
