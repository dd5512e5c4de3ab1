"""Converts files for the page: Markdown tables to HTML, data to links that need no server. Standard library
only. SPDX-License-Identifier: MIT"""
import base64
import gzip
import re
from html import escape
from os.path import relpath

# A cell's first word -> its class, which sets the colour. The word stays, so colour is never the only sign.
VERDICTS = {"HOLDS": "good", "FAILS": "bad", "DEPENDS": "note", "NOT RUN": "note",
            "ok": "good", "SUPPORTED": "good", "FASTER": "good", "good": "good",
            "fail": "bad", "REFUTED": "bad", "SLOWER": "bad", "bad": "bad",
            "demo": "note", "note": "note", "NOT RESOLVED": "note", "unknown": "note", "skip": "note",
            "SAME": "same"}


def data_link(path):
    """A link that contains the file, compressed; the same file gives the same link."""
    return "data:application/gzip;base64," + base64.b64encode(gzip.compress(path.read_bytes(), mtime=0)).decode()


def target(link, page, here):
    """A link in a repository page, relative to the folder `here`; None if it leads to neither repository nor web."""
    if re.match(r"https?://|#", link):
        return link
    return None if ":" in link else relpath(page.parent / link, here).replace("\\", "/")


def anchor(match, page, here):
    """The HTML of a link in escaped Markdown, or its text as it stands."""
    link = target(match[2], page, here)
    return f'<a href="{link.replace(chr(34), "&quot;")}">{match[1]}</a>' if link else match[0]


def words(text, page, here):
    """A line of Markdown with links, bold and code as HTML."""
    text = escape(text.replace("\\|", "|"), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", lambda match: anchor(match, page, here), text)


def cell(text, head, right, page, here, stacked=False):
    """Gives a number below "% of limit" a bar of that length, and a verdict its colour."""
    kind = next((VERDICTS[v] for v in VERDICTS if re.match(rf"{v}(?![\w:])", text)), "")
    style = ""
    if "% of limit" in head and re.fullmatch(r"[\d.]+", text):
        kind, style = "bar", f' style="--part: {min(float(text), 100):g}%"'
    kinds = " ".join(filter(None, ["number" if right else "", kind]))
    if place := re.match(r'<a id="([^"]*)"></a>', text):  # a link target
        text, style = text[place.end():], f' id="{place[1]}"'
    label = f' data-label="{escape(head, quote=True)}"' if stacked else ""
    return f'<td class="{kinds}"{style}{label}>{words(text, page, here)}</td>'


def table(text, caption, page, here, stacked=False):
    """A Markdown table as HTML, in its own scrolling box. A first column without a heading names groups of
    rows. stacked: on a phone each row becomes a list of its cells."""
    lines = [[part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.split("\n")]
    heads, marks, *rows = lines
    grouped = not heads[0]
    right = [mark.endswith(":") for mark in marks]
    columns = list(zip(heads, right))[grouped:]
    label = escape(caption, quote=True)
    html = [f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">',
            f"<table{' class=stacked' * stacked}><caption>{label}</caption><thead><tr>"]
    html += [f'<th scope="col"{" class=number" if r else ""}>{words(h, page, here)}</th>' for h, r in columns]
    html.append("</tr></thead><tbody>")
    for row in rows:
        if grouped and row[0]:
            html.append(f'<tr><th scope="rowgroup" colspan="{len(columns)}">{words(row[0], page, here)}</th></tr>')
        cells = [cell(text, *column, page, here, stacked) for text, column in zip(row[grouped:], columns)]
        html.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(html) + "</tbody></table></div>"


def tables(text, caption, page, here, stacked=False):
    """Markdown of headings, tables and paragraphs as HTML."""
    parts = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("|"):
            parts.append(table(block, caption, page, here, stacked))
        elif block.startswith("### "):
            caption = block[4:]
            parts.append(f"<h3>{words(caption, page, here)}</h3>")
        else:
            parts.append(f"<p>{words(block, page, here)}</p>")
    return "\n".join(parts)
