"""Functions shared by scripts that write pages: the text of a page between <!-- NAME:begin --> and <!-- NAME:end -->,
tables, and --check. Import this module before those of plots/: it puts them on the path."""
import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "build" / "release" / "normlab"
sys.path.insert(0, str(ROOT / "plots"))
import files


def between(text, name):
    return text.split(f"<!-- {name}:begin -->")[-1].split(f"<!-- {name}:end -->")[0]


def replace(page, text, name, content):
    """The text with new content between the markers; page: its path, for the error message."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{page.name} should have {begin} and {end}, once each")
    head, rest = text.split(begin)
    return head + begin + ("\n" + content if content else "") + "\n" + end + rest.split(end)[1]


def filled(page, **parts):
    """The page's text with new content between the markers of each name."""
    text = text_of(page)
    for name, content in parts.items():
        text = replace(page, text, name, content)
    return text


def every_page():
    return [page for page in sorted(ROOT.rglob("*.md"))
            if not re.match(r"\.|build/|results/", str(page.relative_to(ROOT)))]


def text_of(page):
    """The page's text; raises Damaged if it is no UTF-8."""
    try:
        return page.read_text(encoding="utf-8")
    except ValueError as error:
        raise files.Damaged(f"{page.relative_to(ROOT)}: {error}") from None


def save(page, old, text):
    """Writes the page if it changed, and prints its name."""
    if text != old:
        page.write_text(text)
    print(page.name, "rewritten" if text != old else "is up to date")


def fill(page, **parts):
    save(page, page.read_text(), filled(page, **parts))


def written(pages, check, again):
    """Writes pages (path -> text). With check, writes nothing, and returns a line for each page that differs."""
    for path, text in pages.items() if not check else ():
        save(path, path.read_text() if path.exists() else "", text)
    return [f"{path.relative_to(ROOT)} is {again}" for path, text in pages.items()
            if not path.exists() or path.read_text() != text]


def report(wrong):
    """Prints the faults, and returns the exit code."""
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


def table(head, rows, left=1):
    """A table in Markdown; after `left` columns of words, numbers are aligned to the right."""
    first, *others = ["| " + " | ".join(map(str, cells)) + " |" for cells in [head, *rows]]
    return "\n".join([first, "|" + "---|" * left + "---:|" * (len(head) - left), *others])


def parser(doc, *flags, results=None, program=False):
    """A parser with the arguments of many scripts: flags, a path to results, --program."""
    made = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    if results:
        made.add_argument("results", nargs="?", type=Path, default=results)
    if program:
        made.add_argument("--program", default=str(PROGRAM))
    for flag in flags:
        made.add_argument(flag, action="store_true")
    return made


def update_or_check(doc, program=False):
    """A parser, and its group of options. The user must give one option of the group."""
    made = parser(doc, program=program)
    what = made.add_mutually_exclusive_group(required=True)
    what.add_argument("--update", action="store_true")
    what.add_argument("--check", action="store_true")
    return made, what


def command(doc, results, rewrite, check):
    """The main function of a script: rewrites pages from results and the program or, with --check, compares them."""
    options = parser(doc, "--check", results=results, program=True).parse_args()
    if options.check:
        with files.needed(ROOT / "docs"):
            return check(options.program)
    with files.needed(options.results):
        rewrite(options.results, options.program)
    return 0
