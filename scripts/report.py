#!/usr/bin/env python3
"""Makes the report from the results of ./reproduce: one page that shows everything.

    scripts/report.py [--results results] [--out report/index.html] [--program build/release/normlab] [--status WORDS] [--failed WORDS]

The page is a single file with pictures, tables and data, and loads nothing. It names missing results with the command
that makes them. Its top names damaged results, with --status what is still to come, with --failed what failed. Links to
sources lead into the repository. Needs Jinja2 and Pillow (requirements.txt). Exit code: 0 done, 1 some results are damaged, 2 something
needed was missing. SPDX-License-Identifier: MIT"""
import re
import sys
from pathlib import Path

import markers
from markers import ROOT

sys.path.insert(0, str(ROOT / "scripts" / "page"))
import answer
import captions
import claims
import files
import inline
import museum
import pictures
import readme

try:
    import jinja2
    from markupsafe import Markup
except ImportError:
    sys.exit("scripts/report.py needs Jinja2: run it with .venv/bin/python, which ./reproduce makes")

EXPERIMENTS = ROOT / "experiments"
FIRST = ["ln_vs_rms", "rmsnorm2019", "model_step", "ablation", "ladder"]
LIMIT = "How fast does this machine move bytes, and from which size on do streaming stores pay?"


def question(path):
    """An experiment's question, the rest of its opening comment, and its command."""
    text = path.read_text(encoding="utf-8")
    command = re.search(r"^# *command: *(\w+)", text, flags=re.M)
    said = []
    for line in text.splitlines():
        if not line.startswith("#"):
            break
        if not re.match(r"# *(command|takes|impl|baseline|seconds|quick|full|claim):", line):
            said.append(line.lstrip("# ").strip())
    asked, mark, rest = " ".join(said).partition("?")
    return asked + mark, rest.strip(), command[1] if command else ""


def untimed(name):
    """Does this experiment time nothing?"""
    path = EXPERIMENTS / f"{name}.txt"
    return path.exists() and bool(re.search("^# *takes: .*untimed", path.read_text(encoding="utf-8"), flags=re.M))


class Page:
    """The contents of the template."""

    def __init__(self, results, out, program):
        self.results, self.here, self.program = results, out.resolve().parent, program
        self.damaged = {}  # the messages, in order; values are unused

    def whole(self, name, make, otherwise=None):
        """Returns make(); if results/NAME is damaged, returns `otherwise` and adds a note for the page."""
        try:
            return make()
        except files.FAULTS as error:
            self.damaged[files.says(self.results / name, error)] = None
            return otherwise

    def html(self, text, caption, page=None, stacked=False):
        return Markup(inline.tables(text, caption, page or ROOT / "README.md", self.here, stacked))

    def rows(self, name):
        """The lines of results/NAME.csv; [] if there is no file."""
        path = self.results / f"{name}.csv"
        return files.rows(path) if path.exists() else []

    def link(self, path):
        return inline.target(str(path), ROOT / "README.md", self.here)

    def pictures(self, name):
        """The slide of an experiment, and a small copy for the contents; None if it was not drawn."""
        slide = pictures.slide(self.results, name)
        return {"slide": slide and pictures.data(slide), "answer": slide and pictures.answer(slide), "thumb": slide and pictures.data(slide, pictures.THUMB)}

    def answer(self):
        ladder = self.results / "ladder.csv"
        first, saved = self.whole("claims.csv", lambda: answer.of_saving(self.claims_rows()), (None, None))
        claims = self.whole("claims.csv", lambda: answer.of_claims(self.claims_rows()))
        last, steps = self.whole("ladder.csv", lambda: answer.of_ladder(readme.Results(ladder)), (None, [])) if ladder.exists() else (
            None, [])
        slide = pictures.slide(self.results, "headline")
        quick = [name for name in self.names() if self.facts(name).get("quick") == "yes"]
        return {"sentences": [s for s in (first, claims, last) if s], "numbers": [n for n in (saved, *steps) if n],
                "picture": slide and self.whole(slide.name, lambda: pictures.data(slide)),
                "quick": len(quick), "of": len(self.names())}

    def names(self):
        return sorted(path.name.removesuffix(".machine.txt") for path in self.results.glob("*.machine.txt"))

    def experiment(self, name, asked, about, command, source):
        """One experiment: its question, its slide, and sentences and a table from its data."""
        path = self.results / f"{name}.csv"
        about = Markup(inline.words(about, ROOT / "README.md", self.here))
        e = {"name": name, "question": asked, "about": about, "command": command, "source": source}
        return self.whole(path.name, lambda: e | self.found(name, path), e) if path.exists() else e

    def found(self, name, path):
        """The results of an experiment; {} without any."""
        rows = files.rows(path)
        if not rows:
            return {}
        says, title, table = captions.of(rows)
        facts = self.facts(name)
        return {"says": says, "title": title, "table": table and self.html(table, title),
                    "data": inline.data_link(path), "size": f"{path.stat().st_size / 1024:.0f} KiB",
                    **self.pictures(name), "quick": facts.get("quick") == "yes",
                    "where": facts and "{}, commit {}, {}".format(
                        *(facts.get(key, "unknown") for key in ("cpu", "commit")),
                        facts.get("date", "unknown")[:10])}

    def experiments(self):
        names = sorted(path.stem for path in EXPERIMENTS.glob("*.txt"))
        names = [n for n in FIRST if n in names] + [n for n in names if n not in FIRST]
        for name in names:
            path = EXPERIMENTS / f"{name}.txt"
            asked, about, command = question(path)
            yield self.experiment(name, asked, about,
                                  f"normlab {command} experiments/{name}.txt --out results/{name}.csv",
                                  self.link(f"experiments/{name}.txt"))
        yield self.experiment("limit", LIMIT, "", "normlab limit --out results/limit.csv",
                              self.link("harness/commands/cmd_limit.c"))

    def facts(self, name):
        return files.facts(self.results / f"{name}.csv")

    def machine(self):
        """The facts of the latest timed run, and separately the doctor's summary and findings. Experiments without
        timing are the last choice: two run at a time, and each disturbs what the doctor finds for the other."""
        runs = {name: self.facts(name) for name in self.names()}
        if not runs:
            return {}
        timed = [name for name in runs if not untimed(name)] or runs
        facts = max((runs[name] for name in timed), key=lambda run: run.get("date", ""))
        looked = {key[7:]: value.partition(" ") for key, value in facts.items() if key.startswith("doctor ")}
        order = ["bad", "unknown", "note", "good"]
        shown = sorted(looked.items(), key=lambda item: order.index(item[1][0]) if item[1][0] in order else 0)
        table = captions.markdown(["what", "verdict", "seen"],
                                  [[what, verdict, seen] for what, (verdict, _, seen) in shown], 0)
        several = {(run.get("cpu"), run.get("commit")) for run in runs.values()}
        return {"facts": {k: v for k, v in facts.items() if not k.startswith("doctor")},
                "doctor": facts.get("doctor", ""), "looked": shown and self.html(table, "The doctor’s findings"),
                "bad": ", ".join(what for what, (verdict, *_) in shown if verdict == "bad"),
                "several": len(several)}

    def claims_rows(self):
        """The rows of the claims; [] also for results of an older normlab, which have no answers."""
        rows = self.rows("claims")
        return rows if rows and "answer" in rows[0] else []

    def claims(self):
        path, rows = self.results / "claims.csv", self.claims_rows()
        if not rows:
            return None
        meant = [row for row in rows if row["first"]]
        table = captions.markdown(
            ["claim", "answer", "what was found here", "source"],
            [[row["claim"], row["answer"], " ".join(filter(None, [row["sentence"], row["why"]])), row["source"]]
             for row in meant], 0)
        every = captions.markdown(
            ["claim", "said", "where", "case", "found", "measured", "A/A ±", "verdict"],
            [[row["name"], claims.holds(row), row["where"], f"`{row['case']}`", row["outcome"], claims.figure(row),
              row["aa_band"] and f"{float(row['aa_band']):.2g}", row["verdict"]] for row in rows], 0)
        return {"table": self.html(table, "Every claim and its answer", stacked=True), "every": self.html(every, "Every setting"),
                "data": inline.data_link(path), "quick": self.facts("claims").get("quick") == "yes",
                "says": answer.of_claims(rows)}

    def ladder(self):
        path = self.results / "ladder.csv"
        if not path.exists():
            return None
        results, impls = readme.Results(path), readme.implementations(self.program)
        sections = list(readme.sections(results, impls))
        return {"on": ", ".join(results.isas), "where": readme.caption(path) if self.facts("ladder") else "",
                "layers": [(title, [self.html(table, title, readme.LADDER) for table in tables]) for title, tables in sections],
                "legend": readme.legend(str(sections))}

    def museum(self):
        path = self.results / "museum.csv"
        if not path.exists():
            return None
        rows = files.rows(path)
        demos = {i["impl"] for i in museum.listed(self.program) if i["demonstration"] == "1"}
        return {"collection": self.html(museum.collection(), "The exhibits", museum.PAGE),
                "tables": self.html(museum.tables(rows, demos), "Outcome", museum.PAGE)}


def main():
    parser = markers.parser(__doc__, program=True)
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--out", type=Path, default=ROOT / "report" / "index.html")
    parser.add_argument("--status")
    parser.add_argument("--failed")
    options = parser.parse_args()
    if not options.status and not list(options.results.glob("*.csv")):
        print(f"{options.results} has no results; ./reproduce makes them", file=sys.stderr)
        return 2
    page = Page(options.results, options.out, options.program)
    folder = ROOT / "scripts" / "page"
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(folder), autoescape=True,
                                     undefined=jinja2.StrictUndefined, trim_blocks=True,
                                     lstrip_blocks=True)
    experiments, first = list(page.experiments()), page.answer()
    parts = {name: page.whole(f"{name}.csv", getattr(page, name)) for name in ("claims", "ladder", "museum")}
    text = environment.get_template("page.html.j2").render(
        style=Markup((folder / "style.css").read_text()), machine=page.machine(), answer=first,
        status=options.status, failed=options.failed, experiments=experiments, link=page.link, damaged=page.damaged, **parts)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(text, encoding="utf-8")
    print(f"report: {options.out.resolve()}")
    for line in page.damaged:
        print(f"left out: {line}", file=sys.stderr)
    return bool(page.damaged)


if __name__ == "__main__":
    sys.exit(main())
