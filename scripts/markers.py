"""Reads and replaces the generated text of a page, between <!-- NAME:begin --> and <!-- NAME:end -->."""
import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "plots"))
import files


def between(text, name):
    return text.split(f"<!-- {name}:begin -->")[-1].split(f"<!-- {name}:end -->")[0]


def replace(page, text, name, content):
    """The text with new content there; page: its path, for the error message."""
    begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
    if text.count(begin) != 1 or text.count(end) != 1:
        sys.exit(f"{page.name} should have {begin} and {end}, once each")
    head, rest = text.split(begin)
    return head + begin + ("\n" + content if content else "") + "\n" + end + rest.split(end)[1]


def save(page, old, text):
    """Writes the page if it changed, and says which."""
    if text != old:
        page.write_text(text)
    print(page.name, "rewritten" if text != old else "is up to date")


def table(head, rows, left=1):
    """A table in Markdown; after `left` columns of words, numbers are aligned to the right."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * left + "---:|" * (len(head) - left)]
    return "\n".join(lines + ["| " + " | ".join(cells) + " |" for cells in rows])


def command(doc, results, rewrite, check):
    """Of a script that rewrites pages from results and the program's table, or with --check compares them."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("results", nargs="?", type=Path, default=results)
    parser.add_argument("--program", default=results.parent.parent / "build" / "release" / "normlab")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    if options.check:
        return check(options.program)
    with files.needed(options.results):
        rewrite(options.results, options.program)
    return 0
