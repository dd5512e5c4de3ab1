"""Finds numbers with units that no script wrote into a page. scripts/claims.py --check runs this."""
import re

import markers
import files
from markers import ROOT

UNITS = (r"(?:[%‰]|[nµμu]s|usec|ms|s|[MGT]i?B(?:/s| per second)|[gG](?:flop|FLOP|Flop)/s|[MG]Hz|pct|[Pp]er ?cent|percentage points|"
         r"(?:milli|micro|nano)seconds)")
SEVERAL = r"(?:\d+(?:[.,]\d+)?(?: to | and |, | ± |–))?"
NUMBER = re.compile(rf"(?<![\w.])(?<!e-)(?:(?:± )?{SEVERAL}\d+(?:[.,]\d+)?[ -]?{UNITS}|{SEVERAL}\d+\.\d+(?: times| ?[x×](?! ?\d)|-fold)|"
                    r"\d+\.\d+ to \d+ times|factor of \d+\.\d+)(?!\w)")
# page: the parts that scripts write
WRITTEN = {"README.md": "why pictures saving ladder caption", "CONTRIBUTING.md": "stopwatch", "plots/README.md": "slides charts",
           "docs/claims.md": "saving claims", "docs/course/16-the-claims.md": "saving measured", "docs/ladder.md": "caption ladder",
           "docs/museum.md": "collection tables", "docs/ranks.md": "ranks", "docs/optimized.md": "ports", "docs/peers.md": "peers",
           "docs/frameworks.md": "savings claims compiled step invariance rounding judge", "docs/machines/README.md": "machines",
           "docs/gpu.md": "savings claims compiled step invariance rounding judge", "docs/other-tests.md": "summary words matrix",
           "docs/verification.md": "mutants", "docs/course/12-the-machine.md": "ports", "docs/course/README.md": "contents",
           "docs/course/exam.md": "exam"}


def found_in(page):
    """The times, rates and shares in a page's prose that no script wrote; code and output do not count."""
    text = markers.text_of(page)
    for name in WRITTEN.get(str(page.relative_to(ROOT)), "").split():
        text = markers.replace(page, text, name, "")
    lines = re.sub(r"```.*?```", "", text, flags=re.S).replace("&nbsp;", " ").replace("\u00a0", " ").split("\n")
    prose = []
    for before, line in zip(["", *lines], lines):
        if not line.startswith("    ") or (before.strip() and not before.startswith("    ")):  # not indented code
            prose.append(line.strip(" >"))
    return {found[0] for found in NUMBER.finditer(re.sub(r"[*_]|(?<= ) +", "", " ".join(prose)))}


def faults():
    """Finds numbers with units that were typed into a page. docs/numbers.csv has the allowed numbers, with reasons."""
    allowed = {}
    for row in files.rows(ROOT / "docs" / "numbers.csv"):
        allowed.setdefault(row["page"], set()).update(row["numbers"].split("; "))
        if not row["why"].strip() or (row["numbers"] == "*" and row["page"] != "docs/what-did-not-help.md"):
            yield f"docs/numbers.csv: {row['page']} needs numbers and a reason; only the notebook may have *"
    for page in markers.every_page():
        name = str(page.relative_to(ROOT))
        has, may = found_in(page), allowed.pop(name, set())
        if may == {"*"}:
            continue
        yield from (f"{name}: '{number}' is typed: let a script write it, state a relation in docs/relations.csv, or say in "
                    "docs/numbers.csv why it may stand" for number in sorted(has - may))
        yield from (f"docs/numbers.csv: {name} has no '{number}'" for number in sorted(may - has))
    yield from (f"docs/numbers.csv: there is no page {name}" for name in allowed)
