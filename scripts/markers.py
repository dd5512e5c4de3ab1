"""Reads and replaces the generated text of a page, between <!-- NAME:begin --> and <!-- NAME:end -->."""
import sys


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
