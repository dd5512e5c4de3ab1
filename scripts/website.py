#!/usr/bin/env python3
"""Makes the site, in build/site/html, from the repository's Markdown. `./site` calls it.

    scripts/website.py [--out build/site]

README.md, docs/ and the pages that they link to keep their places, so the links on GitHub work here too. A
linked source file becomes a page, a linked folder a list. Formulas become MathML, so the pages need no
script, no font and no other host for them. The pages of the API come from include/normlab.h and python/normlab.
Fails on a link that leads nowhere and on a formula that cannot be read. Needs requirements-site.txt."""
from __future__ import annotations

import ast
import contextlib
import json
import logging
import os
import re
import runpy
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

from latex2mathml.converter import convert
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from mkdocs.commands.build import build
from mkdocs.config import load_config
from pymdownx.slugs import slugify

import course
import figures
import markers
from markers import ROOT

FIRST = ["README.md", "CONTRIBUTING.md", "docs", "labs", "python/README.md", "plots/README.md"]
FENCE = re.compile(r"(^ *```.*?^ *```\n)", flags=re.M | re.S)
LINK = re.compile(r"(\]\()([^)\s#]+)(#[^)\s]*)?(\))")
LIMITS = {"msub": "munder", "msup": "mover", "msubsup": "munderover"}  # limits above and below a sum, not beside it
LANGUAGES = {".c": "c", ".h": "c", ".py": "python", ".sh": "bash", ".cpp": "cpp", ".rs": "rust", ".f90": "fortran",
             ".json": "json", ".toml": "toml", ".cmake": "cmake"}


def mathml(text, display="inline"):
    """LaTeX as MathML. Ends the program at an unknown command, which the converter would leave in its output."""
    result = convert(text.strip().replace("{aligned}", "{align*}"), display=display)
    if unknown := re.search(r"\\[A-Za-z]+", result):
        sys.exit(f"website.py: {unknown[0]} cannot be shown; the formula is {text.strip()}")
    upright = r'(?:<mi mathvariant="normal">\w</mi>){2,}'  # consecutive letters form a word, not a product
    result = re.sub(upright, lambda word: f"<mi>{re.sub('<.*?>', '', word[0])}</mi>", result)
    tree = ElementTree.fromstring(result.replace(' xmlns="http://www.w3.org/1998/Math/MathML"', ""))
    for node in tree.iter():
        if display == "block" and node.tag in LIMITS and node[0].text in ("\u2211", "\u220f"):
            node.tag = LIMITS[node.tag]
    return ElementTree.tostring(tree, encoding="unicode")


class Dollars(InlineProcessor):
    """$...$, as GitHub reads it."""

    def handleMatch(self, m, data):
        return self.md.htmlStash.store(mathml(m[1])), m.start(0), m.end(0)


class Formulas(Extension):
    def extendMarkdown(self, md):
        dollars = Dollars(r"(?<![\\$\w])\$(?![\s$])((?:\\\$|[^$])+?)(?<!\s)\$(?![\w$])", md)
        md.inlinePatterns.register(dollars, "formulas", 185)  # after `code`, before \escapes


def formula(source, *_, **__):
    return f'<div class="formula">{mathml(source, "block")}</div>'


def in_lists(text):
    """Indents the contents of list items by four, as Python-Markdown requires."""
    lines, width, loose = [], 0, False
    for line in text.split("\n"):
        indent = len(line) - len(line.lstrip())
        if marker := re.match(r"(- |\d+\. )", line):
            lines += [""] * (loose and width > 0 and lines[-1] != "")
            width, loose = len(marker[0]), False
        elif not line.strip():
            loose = True
        elif not indent:
            width = 0
        elif width and indent >= width:
            line = " " * (4 - width) + line
        lines.append(line)
    return "\n".join(lines)


def as_markdown(text):
    """Rewrites GitHub's Markdown for Python-Markdown: a blank line before lists, Markdown inside <details>."""
    text = re.sub(r"<details( open)?>", r'<details\1 markdown="1">', text)
    text = re.sub(r"(<summary>.*?</summary>)\n(?=\S)", r"\1\n\n", text)
    return re.sub(r"(?m)^(?!\s*(?:[-*] |\d+\. |\||#|>|<!--))(\S.*\n)(?=(?:- |1\. )\S)", r"\1\n", text)


class Pages:
    """The repository's pages, staged in a folder."""

    def __init__(self, folder):
        self.folder, self.todo, self.done, self.has_figures = folder, [], set(), False
        for name in FIRST:
            path = ROOT / name
            self.todo += sorted(path.rglob("*.md")) if path.is_dir() else [path] if path.exists() else []
        while self.todo:
            self.stage(self.todo.pop())

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def stage(self, path):
        if path in self.done:
            return
        self.done.add(path)
        name = path.relative_to(ROOT)
        if path.is_dir():
            items = sorted(item for item in path.iterdir() if item.is_file() and is_text(item))
            links = [f"- [{item.name}]({item.name})" for item in items]
            text = "\n".join([f"# {name}", "", *links, ""])
            self.write(name / "README.md", self.page(path / "README.md", text, False))
        elif path.suffix == ".md":
            self.write(name, self.page(path, path.read_text()))
        elif is_text(path):
            language = LANGUAGES.get(path.suffix, "text")
            self.write(f"{name}.md", f"---\nsearch:\n  exclude: true\n---\n# {name}\n\n"
                       f"`````{language}\n{path.read_text().rstrip()}\n`````\n")
        else:
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, self.folder / name)

    def page(self, path, text, search=True):
        def link(match):
            if re.match(r"[a-z]+:|/", match[2]):
                return match[0]
            target = Path(os.path.normpath(path.parent / match[2]))
            if not target.exists():
                sys.exit(f"website.py: {path.relative_to(ROOT)} links to {match[2]}, which does not exist")
            address = match[2]
            if target.is_dir():
                address = address.rstrip("/") + "/README.md"
                target = target / "README.md" if (target / "README.md").exists() else target
            elif target.suffix != ".md" and is_text(target):
                address += ".md"
            self.todo.append(target)
            return f"{match[1]}{address}{match[3] or ''}{match[4]}"
        if figures.MARKER.search(text):
            self.has_figures = True
            script = os.path.relpath(ROOT / "figures" / "figures.js", path.parent)
            text = f'{figures.on_site(path, text)}\n<script src="{script}"></script>\n'
        for picture in re.findall(r'<img src="([^":]+)"', text):
            self.todo.append(Path(os.path.normpath(path.parent / picture)))
        parts = FENCE.split(in_lists(text))
        for i in range(0, len(parts), 2):
            parts[i] = LINK.sub(link, as_markdown(parts[i]))
        return ("" if search else "---\nsearch:\n  exclude: true\n---\n") + "".join(parts)


def is_text(path):
    if path.is_dir() or path.suffix in (".png", ".svg", ".npy", ".xz"):
        return False
    try:
        return len(path.read_text(encoding="utf-8")) < 200_000
    except UnicodeDecodeError:
        return False


def words_of(comment):
    """A C comment as Markdown: its indented lines are code."""
    lines = [re.sub(r"^ ?\* ?", "", line) for line in comment.strip().removeprefix("/*").removesuffix("*/").split("\n")]
    return "\n".join(f"\n    {line.strip()}\n" if line.startswith("  ") else re.sub(r"[*_<]", r"\\\g<0>", line.strip())
                     for line in lines).replace("\n\n\n    ", "\n    ")


def header():
    """include/normlab.h: every declaration with its comment."""
    text = (ROOT / "include" / "normlab.h").read_text()
    parts = ["# include/normlab.h\n", words_of(text.split("*/")[0].replace("SPDX-License-Identifier: MIT", "")), ""]
    body = text.split("#define NL_VERSION", 1)[1].split("#ifdef __cplusplus")[0].split("\n", 1)[1]
    for block in re.split(r"\n\n+(?=/\*|typedef|NL_API|#define)", body.strip()):
        comment = re.match(r"/\*.*?\*/\n", block, flags=re.S)
        code = block[comment.end():] if comment else block
        names = re.findall(r"^typedef (?:enum|struct) (\w+)|\b(nl_\w+)\((?!\*)|^#define (\w+)",
                           re.sub(r"/\*.*?\*/", "", code, flags=re.S), flags=re.M)
        names = list(dict.fromkeys("".join(name) for name in names))
        parts += ["## " + ", ".join(names), "", words_of(comment[0]) if comment else "", "", "```c", code, "```", ""]
    return "\n".join(parts)


def python_api():
    """The Python package: every public function and class with its documentation."""
    package = ROOT / "python" / "normlab"
    tops = {path.stem: ast.parse(path.read_text()) for path in sorted(package.glob("[!_]*.py"))}
    init = ast.parse((package / "__init__.py").read_text())
    documented = runpy.run_path(str(package / "_document.py"))["documented"]
    parts = ["# The Python package", "", "```text", ast.get_docstring(init), "```", ""]
    for statement in init.body:
        if not isinstance(statement, ast.ImportFrom) or statement.module not in tops:
            continue
        module = tops[statement.module]
        parts += [f"## normlab.{statement.module}", "", "```text", ast.get_docstring(module) or "", "```", ""]
        wanted, names = {alias.name for alias in statement.names}, {"documented": documented}
        for node in module.body:
            if isinstance(node, ast.Assign):  # the names that decorators use; other assignments need the package
                with contextlib.suppress(NameError):
                    exec(ast.unparse(node), names)
            if getattr(node, "name", None) not in wanted:
                continue
            if isinstance(node, ast.ClassDef):
                inside = [item for item in node.body if not getattr(item, "name", "").startswith("_")]
                code = [f"class {node.name}:"] + [f"    {ast.unparse(item)}" if isinstance(item, ast.AnnAssign) else
                                                  f"    def {item.name}({ast.unparse(item.args)})" for item in inside
                                                  if isinstance(item, (ast.AnnAssign, ast.FunctionDef))]
            else:
                code = [f"def {node.name}({ast.unparse(node.args)}) -> {ast.unparse(node.returns)}"]
            text = ast.get_docstring(node) or ""
            if node.decorator_list:  # the decorator adds sections to the docstring
                node.body = node.body[:1]
                exec(compile(ast.Module([node], []), "", "exec", annotations.compiler_flag), names)
                text = names[node.name].__doc__
            parts += [f"### {node.name}", "", "```python", *code, "```", "", "```text", text, "```", ""]
    return "\n".join(parts)


def whole_course():
    """All chapters on one page, to be printed, with the answers."""
    parts = ["---\nsearch:\n  exclude: true\n---\n# The course on one page\n"]
    for page in course.chapters():
        body = figures.MARKER.sub("", page.read_text()).rstrip().rpartition("\n")[0].replace("<details>", "<details open>")
        parts.append(re.sub(r"^#", "##", body, flags=re.M) + "\n")
    return "\n".join(parts)


STYLE = """
.formula { overflow-x: auto; overflow-y: hidden; margin: 1em 0; }
.formula math { font-size: 1.15em; }
math { font-family: "STIX Two Math", "Latin Modern Math", "Cambria Math", "DejaVu Math TeX Gyre", math; }
.md-typeset details { border: 0; box-shadow: none; }
@media print { details { break-inside: avoid; } h1 { break-before: page; } .md-footer, .md-header { display: none; } }
"""


# The theme's search runs in a worker, which browsers refuse to pages that were opened as files. The theme then
# loads a script from another host, unless there is an IFrameWorker: ours runs the search in a frame.
FRAME = """
if (location.protocol === "file:") {
    window.IFrameWorker = window.Worker = class extends EventTarget {
        constructor(url) {
            super();
            const frame = document.createElement("iframe"), script = document.createElement("script");
            frame.hidden = true;
            document.body.append(frame);
            frame.contentWindow.postMessage = data => this.dispatchEvent(new MessageEvent("message", {data}));
            this.loaded = new Promise(resolve => { script.onload = () => resolve(frame.contentWindow); });
            script.src = url;
            frame.contentDocument.body.append(script);
        }
        postMessage(data) {
            this.loaded.then(worker => worker.dispatchEvent(new MessageEvent("message", {data})));
        }
        terminate() {}
    };
}
"""


def navigation(pages):
    def entries(pattern):
        return [str(path.relative_to(pages)) for path in sorted(pages.glob(pattern))]
    chapters = entries("docs/course/[0-9]*.md")
    labs = entries("labs/README.md") + entries("labs/[0-9]*/README.md")
    reference = [name for name in entries("docs/*.md") if not re.search("README|lecture|figures", name)]
    nav = [{"normlab": "README.md"},
           {"Course": ["docs/course/README.md", *chapters, *entries("docs/course/term*.md"), *entries("docs/figures.md"),
                       *entries("docs/lecture*.md"),
                       *entries("docs/course/exam.md"), "docs/course/whole.md"]}]
    nav += [{"Labs": labs}] if labs else []
    return nav + [{"Reference": [*entries("docs/README.md"), *reference]},
                  {"API": [{"C: normlab.h": "api/normlab.md"}, {"Python": "api/python.md"}]},
                  {"Contributing": "CONTRIBUTING.md"}]


def configuration(out):
    colours = [("(prefers-color-scheme)", "default", "auto", "light"),
               ("(prefers-color-scheme: light)", "default", "7", "dark"),
               ("(prefers-color-scheme: dark)", "slate", "4", "the system's")]
    return {
        "site_name": "normlab",
        "site_description": "BatchNorm, LayerNorm and RMSNorm on the CPU: a course and its measurements",
        "docs_dir": str(out / "pages"), "site_dir": str(out / "html"), "use_directory_urls": False, "strict": True,
        "extra_css": ["site.css"], "extra": {"polyfills": ["iframe-worker.js"]}, "plugins": ["search", "offline"],
        "nav": navigation(out / "pages"),
        "theme": {"name": "material", "font": False,
                  "icon": {"logo": "material/chart-bell-curve", "repo": "material/source-branch"},
                  "features": ["navigation.tabs", "navigation.sections", "navigation.footer", "navigation.top",
                               "search.highlight", "content.code.copy", "toc.follow"],
                  "palette": [{"media": media, "scheme": scheme, "primary": "blue grey", "accent": "deep orange",
                               "toggle": {"icon": f"material/brightness-{icon}", "name": f"Switch to {other} colours"}}
                              for media, scheme, icon, other in colours]},
        "markdown_extensions": ["attr_list", "md_in_html", "tables", "sane_lists", {"toc": {"permalink": True}},
                                {"pymdownx.highlight": {"anchor_linenums": False}}, "pymdownx.superfences"],
        "validation": {"nav": {"omitted_files": "ignore"}, "links": {"not_found": "warn", "anchors": "warn",
                       "unrecognized_links": "warn"}},
    }


def main():
    parser = markers.parser(__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "site")
    out = parser.parse_args().out.resolve()
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    shutil.rmtree(out / "pages", ignore_errors=True)
    pages = Pages(out / "pages")
    pages.write("docs/course/whole.md", pages.page(course.COURSE / "whole.md", whole_course()))
    while pages.todo:
        pages.stage(pages.todo.pop())
    pages.write("api/normlab.md", header())
    pages.write("api/python.md", python_api())
    pages.write("site.css", STYLE)
    if pages.has_figures:
        figures.bundle(out / "pages" / "figures")
        pages.write("site.css", STYLE + (figures.WEB / "figures.css").read_text())
    pages.write("iframe-worker.js", FRAME)
    (out / "mkdocs.yml").write_text(json.dumps(configuration(out), indent=1))
    config = load_config(str(out / "mkdocs.yml"))
    config.markdown_extensions.append(Formulas())
    config.mdx_configs["toc"]["slugify"] = slugify(case="lower")
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": [
        {"name": "math", "class": "formula", "format": formula}]}
    build(config)
    print(f"site: {out / 'html' / 'index.html'}")


if __name__ == "__main__":
    main()
