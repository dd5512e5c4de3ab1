"""Converts files for the page: figures to inline SVG, Markdown tables to HTML, data to links that need no
server. Standard library only. SPDX-License-Identifier: MIT"""
import base64
import re
from html import escape
from os.path import relpath

# The class of a cell by its first word. Colour never stands alone: the word is there too.
VERDICTS = {"ok": "good", "SUPPORTED": "good", "FASTER": "good", "good": "good",
            "fail": "bad", "REFUTED": "bad", "SLOWER": "bad", "bad": "bad",
            "demo": "note", "note": "note", "NOT RESOLVED": "note", "unknown": "note", "skip": "note",
            "SAME": "same"}


def svg(text, name, title):
    """The <svg> element of a file. Prefixes ids with the name, because figures share ids; limits the style
    sheet to the figure; leaves out metadata and comments."""
    text = re.sub(r"<metadata>.*?</metadata>|<!--.*?-->", "", text[text.index("<svg"):], flags=re.S)
    ids = set(re.findall(r"""\bid=["']([^"']+)["']""", text))

    def mine(match):
        before, found, after = match.groups()
        return before + (f"{name}-{found}" if found in ids else found) + after

    text = re.sub(r"""(\bid=["'])([^"']+)(["'])""", mine, text)
    text = re.sub(r"""(href=["']#)([^"']+)(["'])""", mine, text)
    text = re.sub(r"""(url\(["']?#)([^"')]+)(["']?\))""", mine, text)
    text = re.sub(r"(<style[^>]*>)\s*\*\s*\{", rf"\1#{name}-svg *{{", text)
    head, rest = text.split(">", 1)
    head = re.sub(r"""\s(width|height|version)=["'][^"']*["']""", "", head)
    title = escape(title, quote=True)
    return f'{head} id="{name}-svg" role="img" aria-label="{title}">{rest}'


def data_link(path):
    """A link that contains the file."""
    return "data:text/csv;base64," + base64.b64encode(path.read_bytes()).decode()


def target(link, page, here):
    """A link in a page of the repository, relative to the folder `here`."""
    if re.match(r"[a-z]+:|#", link):
        return link
    return relpath(page.parent / link, here).replace("\\", "/")


def words(text, page, here):
    """A line of Markdown with links, bold and code as HTML."""
    text = escape(text.replace("\\|", "|"), quote=False)
    text = re.sub(r"`([^`]+)`", r"<code>\1</code>", text)
    text = re.sub(r"\*\*([^*]+)\*\*", r"<strong>\1</strong>", text)
    return re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)",
                  lambda m: f'<a href="{escape(target(m[2], page, here))}">{m[1]}</a>', text)


def cell(text, head, right, page, here):
    """Gives a number below "% of limit" a bar of that length, and a verdict its colour."""
    kind = next((VERDICTS[v] for v in VERDICTS if re.match(rf"{v}(?![\w:])", text)), "")
    style = ""
    if "% of limit" in head and re.fullmatch(r"[\d.]+", text):
        kind, style = "bar", f' style="--part: {min(float(text), 100):g}%"'
    kinds = " ".join(filter(None, ["number" if right else "", kind]))
    if anchor := re.match(r'<a id="([^"]*)"></a>', text):  # a link target
        text, style = text[anchor.end():], f' id="{anchor[1]}"'
    return f'<td class="{kinds}"{style}>{words(text, page, here)}</td>'


def table(text, caption, page, here):
    """A Markdown table as HTML, in its own scrolling box. A first column without a heading names groups of
    rows."""
    lines = [[part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]] for line in text.split("\n")]
    heads, marks, *rows = lines
    grouped = not heads[0]
    right = [mark.endswith(":") for mark in marks]
    columns = list(zip(heads, right))[grouped:]
    label = escape(caption, quote=True)
    html = [f'<div class="scroll" role="region" tabindex="0" aria-label="{label}">',
            f"<table><caption>{label}</caption><thead><tr>"]
    html += [f'<th scope="col"{" class=number" if r else ""}>{words(h, page, here)}</th>' for h, r in columns]
    html.append("</tr></thead><tbody>")
    for row in rows:
        if grouped and row[0]:
            html.append(f'<tr><th scope="rowgroup" colspan="{len(columns)}">{words(row[0], page, here)}</th></tr>')
        cells = [cell(text, *column, page, here) for text, column in zip(row[grouped:], columns)]
        html.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join(html) + "</tbody></table></div>"


def tables(text, caption, page, here):
    """Markdown of headings, tables and paragraphs as HTML."""
    parts = []
    for block in re.split(r"\n\s*\n", text.strip()):
        if block.startswith("|"):
            parts.append(table(block, caption, page, here))
        elif block.startswith("### "):
            caption = block[4:]
            parts.append(f"<h3>{words(caption, page, here)}</h3>")
        else:
            parts.append(f"<p>{words(block, page, here)}</p>")
    return "\n".join(parts)
