#!/usr/bin/env python3
"""Keeps the machines' answers to the claims. Writes docs/claims.md, the table of chapter 16, and the sentence about
RMSNorm and LayerNorm in these two pages and in the README.

    normlab claims --passes 6
    scripts/claims.py --add NAME [results/evidence/PROCESSOR] [--program build/release/normlab]
        copies the passes to docs/machines/NAME/claims/, puts their answers into
        docs/machines/NAME/claims.csv, and writes the pages. NAME: the microarchitecture, such as zen3
    scripts/claims.py
        writes the pages from docs/machines/
    scripts/claims.py --check [--program build/release/normlab]
        writes nothing; exit code 1 if a page is out of date, lacks a claim, or has a claim that no longer exists; if a
        machine's claims.csv is not what the program computes from its passes; if a sentence in docs/relations.csv does
        not hold; or if a page has a time, rate or share that no script wrote and docs/numbers.csv does not allow

Standard library only. Running it twice changes nothing the second time."""
import datetime
import math
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path

import markers
import files
import typed
from markers import ROOT
from modes import answer, longer, place, savings, shape, takes

PAGE = ROOT / "docs" / "claims.md"
MACHINES = ROOT / "docs" / "machines"
CHAPTERS = ROOT / "docs" / "course"
README, CHAPTER_PAGE = ROOT / "README.md", CHAPTERS / "16-the-claims.md"
HEADLINE = ROOT / "docs" / "pictures" / "slides" / "headline.png"


def claims():
    return [path.stem for path in sorted((ROOT / "experiments" / "claims").glob("*.txt"))]


def stated(name):
    """A claim's file as a row, with texts and predicate."""
    text = (ROOT / "experiments" / "claims" / f"{name}.txt").read_text()
    row = dict.fromkeys(["why", "unit"], "") | dict(
        line.split(": ", 1) for line in text.splitlines() if ": " in line and line[0] != "#")
    low, _, high = row.get("predicate", "").partition(" .. ")
    sign, number = low[:1], low[1:].strip()
    if high or sign not in ("<", ">", "="):
        return row | {"predicate_low": low, "predicate_high": high}
    return row | {"predicate_low": number * (sign != "<"), "predicate_high": number * (sign != ">")}


def caption(path):
    known = files.machine(path)
    cpu = f"{known.get('cpu', 'unknown')}, family {known.get('family', 'unknown')}, {known.get('cpus', '').split(' ')[0]} CPUs"
    return (f"Measured on {known.get('gpu', cpu)}, "
            f"commit {known.get('commit', 'unknown')}, {known.get('date', 'unknown')[:10]}.")


def machines():
    """A machine's name -> the rows with its answers."""
    found = {path.parent.name: files.rows(path) for path in sorted(MACHINES.glob("*/claims.csv"))}
    for name, rows in found.items():
        if not rows or (lacks := [key for key in KEPT if key not in rows[0]]):
            raise files.Damaged(f"docs/machines/{name}/claims.csv lacks {', '.join(lacks) if rows else 'rows'}")
    return found


def facts(path, keys):
    known = files.facts_of(path)
    if lacks := [key for key in keys if not known.get(key)]:
        raise files.Damaged(f"{path.relative_to(ROOT)} lacks {', '.join(lacks)}")
    return known


def about(name):
    home = MACHINES / name
    if not any(home.glob("claims/*/machine.txt")):
        raise files.Damaged(f"docs/machines/{name} has no passes")
    known = sorted((facts(path, OWN) for path in (home / "claims").glob("*/machine.txt")), key=lambda each: each["date"])
    last, timed = facts(home / "machine.txt", FACTS[:3]) | known[-1], [int(row["passes"] or 0) for row in machines()[name]]
    fewest = min((count for count in timed if count), default=0)
    some = f" (of some races {fewest} count)" * (fewest < len(known))
    return (f"{name}: {last['cpu']}, family {last['family']}, {last['cpus'].split(' ')[0]} CPUs, {len(known)} passes{some} from "
            f"{known[0]['date'].replace('T', ' ')[:16]} to {last['date'].replace('T', ' ')[:16]} UTC, kernels {last['kernels']}.")


def link(source):
    return re.sub(r"^([\w-]+/[\w.-]+)#(\d+)$", r"[\g<0>](https://github.com/\1/issues/\2)", source)


def short(text):
    value = float(text)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def figure(row):
    if not row["value"]:
        return row["skipped"] or "not measured"
    if row["quantity"] == "saving":
        return takes(*(float(row[key] or "nan") for key in ("value", "low", "high")))
    text = short(row["value"])
    if row["rounds"] != "0" and row["low"] and row["high"]:
        text += f" [{short(row['low'])}, {short(row['high'])}]"
    return f"{text} {row['unit']}".strip()


NAMES = {"rival_saving": "time saved", "rival_speedup": "speed-up", "gain_folded": "error over the unfolded layer's",
         "centring_folded": "error over LayerNorm's", "from_y": "error over that from x", "norm_inputs": "share",
         "gated_outputs": "share", "ones": "mean over rms"}


def holds(row):
    low, high = ("" if "inf" in text else text for text in (row["predicate_low"], row["predicate_high"]))
    unit = row["unit"]
    if row["quantity"] == "saving" and not low and float(high) <= 0:
        return longer(float(high))
    if low == high:
        text = f"= {short(low)}"
    elif not low or not high:
        text = f"> {short(low)}" if low else f"< {short(high)}"
    else:
        text = f"{short(low)} to {short(high)}"
    return f"{NAMES.get(row['quantity'], row['quantity'])} {text} {unit}".strip()


def everybodys(answers):
    """The machines' common answer. If answers differ: DEPENDS if a machine has it, else "DEPENDS on the machine"."""
    decided = {a for a in answers if a in ("HOLDS", "FAILS", "DEPENDS")}
    if len(decided) > 1:
        return "DEPENDS" if "DEPENDS" in decided else "DEPENDS on the machine"
    return next(iter(decided or answers or ["not measured yet"]))


GROUPS = {  # group -> quantities; the last group has all other quantities
    "RMSNorm's time beside LayerNorm's": {"saving", "speedup"},
    "Time saved in other ways": {"rival_saving", "rival_speedup", "root_speedup"},
    "Operations, bytes and parameters": {"flops_share", "gated_outputs", "norm_inputs", "parameters", "scans", "state_bytes",
                                         "state_share", "traffic"},
    "Values and errors": set(),
}
TIMED = set().union(*[*GROUPS.values()][:2])
COUNTED = [*GROUPS.values()][2]  # the same on every machine


def claims_table():
    """A table for each group of claims, with the common answer and a column for each machine."""
    everywhere = machines()
    lines = {group: [] for group in GROUPS}
    for name in claims():
        own = {machine: [row for row in rows if row["name"] == name and row["setting"] == "0"]
               for machine, rows in everywhere.items()}
        row = next((rows[0] for rows in own.values() if rows), None) or stated(name)
        answer = everybodys([rows[0]["answer"] for rows in own.values() if rows])
        cells = [f"[{name}](../experiments/claims/{name}.txt): {row['claim']}", link(row["source"]),
                 f"**{answer}**" + (f"<br>{row['why']}" if row["why"] else ""), holds(row)]
        for rows in own.values():
            # An untimed or unresolved claim has its figure in `sentence`.
            timed = rows and rows[0]["passes"] != "0" and rows[0]["outcome"] != "not resolved"
            cells.append("<br>".join([rows[0]["answer"], rows[0]["sentence"]] +
                                     [f"{rows[0]['where']}: {figure(rows[0])}"] * bool(timed)) if rows else "not measured")
        group = next((group for group, quantities in GROUPS.items() if row["quantity"] in quantities), [*GROUPS][-1])
        lines[group].append([cell.replace("|", "\\|") for cell in cells])
    heads = ["claim", "said by", "answer", "it holds when", *everywhere]
    tables = (f"### {group}\n\n{markers.table(heads, rows, len(heads))}\n" for group, rows in lines.items() if rows)
    return "\n".join([*tables, *map(about, everywhere)])


CHAPTER = [  # (setting in words, mode, case)
    ("unfused: single operations, as a framework's graph of 2019", "unfused", "forward/f32/64x1024/normal"),
    ("unfused, more rows", "unfused", "forward/f32/16384x1024/normal"),
    ("one fused kernel in plain C, one accumulator for a sum", "scalar", "forward/f32/64x1024/normal"),
    ("one fused kernel with vectors", "simd", "forward/f32/4x1024/normal"),
    ("one fused kernel with vectors, more rows", "simd", "forward/f32/64x1024/normal"),
    ("one fused kernel with vectors, forward and backward", "simd", "both/f32/64x1024/normal"),
    ("one fused kernel with vectors, from memory or L3", "simd", "forward/f32/16384x1024/normal"),
    ("one fused kernel with vectors and streaming stores", "streaming", "forward/f32/16384x1024/normal"),
    ("RMSNorm unfused, LayerNorm as one kernel", "unfused_rms", "forward/f32/64x1024/normal"),
]


def chapter_table():
    """A table of RMSNorm's time in each setting, with the cache or memory that holds x and y on each machine."""
    found = {name: savings(rows) for name, rows in machines().items()}
    lines = []
    for words, how, case in CHAPTER:
        rows = [at.get((how, case)) for at in found.values()]
        lines.append([words, ", ".join(shape(case)), *(f"{figure(row)}, {place(row)}" if row else "not measured" for row in rows)])
    heads = ["executed as", "rows x features, bytes", *(f"RMSNorm's time, {name}" for name in found)]
    return markers.table(heads, lines, len(heads))


def in_a_sentence():
    return "\n".join(textwrap.wrap(answer([savings(rows) for rows in machines().values()], sizes=True) + ".", 120))


def pages():
    says = in_a_sentence()
    return {README: markers.filled(README, saving=says), PAGE: markers.filled(PAGE, saving=says, claims=claims_table()),
            CHAPTER_PAGE: markers.filled(CHAPTER_PAGE, saving=says, measured=chapter_table())}


TEXTS = ["claim", "source", "why", "answer", "sentence"]  # columns that are written once for each claim
KEPT = ["name", "setting", "how", "case", "quantity", "unit", "predicate_low", "predicate_high", "share", "value", "low",
        "high", "rounds", "passes", "skipped", "outcome", "where", *TEXTS]
FACTS = ["cpu", "family", "cpus", "caches", "isa", "threads", "memory", "kernel", "compiler", "flags"]  # facts of a machine
OWN = ["commit", "kernels", "date", "races", "quick", "crc"]  # facts of a pass


def add(home, evidence, program):
    """Keeps a machine's new passes beside its earlier passes on the same kernels. From all these passes, writes all
    savings, and each claim's answer in the claim's own setting. `normlab claims --evidence` prints other settings."""
    found = [(path, files.facts_of(path)) for path in sorted(evidence.glob("*/machine.txt"))]
    found = [(path, known) for path, known in found if known.get("quick") == "no"]
    latest = max((known for _, known in found), key=lambda known: known.get("date", ""), default={})
    for path in (home / "claims").glob("*/machine.txt"):
        if files.facts_of(path).get("kernels") != latest.get("kernels"):
            shutil.rmtree(path.parent)
    for path, known in found:
        if any(known.get(key, latest.get(key)) != latest.get(key) for key in ["kernels", *FACTS[:6]]):
            continue
        if known.get("commit", "").endswith("-dirty"):
            sys.exit(f"{path}: the sources had uncommitted changes ({known['commit']}): commit, build and measure again")
        kept = home / "claims" / path.parent.name
        kept.mkdir(parents=True, exist_ok=True)
        shutil.copy(path.with_name("races.csv"), kept)
        for path, keys in (kept / "machine.txt", OWN), (home / "machine.txt", FACTS):
            if keys[0] in known:  # a pass in docs/machines has only its own facts
                files.write_facts(path, known, [key for key in keys if key in known])
    try:
        files.write(home / "claims.csv", KEPT, computed(program, "--evidence", home / "claims"))
    except files.Damaged as error:
        sys.exit(str(error).replace(f"{home / 'claims'}", str(evidence)))


def computed(program, *arguments):
    """The rows for claims.csv: what `normlab claims` answers. Arguments: names of claims, --evidence and a folder of passes."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "claims.csv")
        says = subprocess.run([program, "claims", *arguments, "--out", out], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True).stderr
        if wrong := re.findall("^(?:left out: |FAIL |normlab: ).*", says, re.M):
            raise files.Damaged(wrong[0])
        rows = files.rows(out)
    saved = savings(rows).values()
    return [row if row["setting"] == "0" else row | dict.fromkeys(TEXTS, "") for row in rows
            if row["setting"] == "0" or row in saved]


def same(one, other):
    """Are two fields the same text or, up to rounding, the same number?"""
    try:
        return one == other or math.isclose(float(one), float(other), rel_tol=1e-3, abs_tol=1e-3)
    except ValueError:
        return False


def about_any(quantities):
    """The names of the claims about one of these quantities."""
    return [name for name in claims() if stated(name)["quantity"] in quantities]


def strays(path, kept, rows):
    """How the rows of a machine's claims.csv differ from those that the program computes."""
    if len(kept) != len(rows):
        yield f"{path} has {len(kept)} rows of claims about {rows[0]['quantity']} and others, not {len(rows)}"
    for has, row in zip(kept, rows):
        yield from (f"{path}: {row['name']}, {row['how']} {row['case']}: {key} is '{has[key]}', not '{row[key]}'"
                    for key in KEPT if not same(has[key], row[key]))


def answer_faults(program):
    """Do the timed claims of each machine follow from its passes, and the counted ones from the program?"""
    counted = computed(program, *about_any(COUNTED))
    for name, kept in machines().items():
        path = f"docs/machines/{name}/claims.csv"
        try:
            timed = computed(program, *about_any(TIMED), "--evidence", MACHINES / name / "claims")
        except files.FAULTS as error:
            yield files.says(path, error)
            continue
        for quantities, rows in (TIMED, timed), (COUNTED, counted):
            yield from strays(path, [row for row in kept if row["quantity"] in quantities], rows)


def evidence_faults():
    """Is every pass whole, of clean sources and not from the future, and in one place only?"""
    seen, now = {}, datetime.datetime.now(datetime.timezone.utc).isoformat()
    for path in sorted(MACHINES.glob("*/claims/*/races.csv")):
        name, known = path.relative_to(ROOT), facts(path.with_name("machine.txt"), OWN)
        if not files.sound(path):
            yield f"{name} has changed since it was measured"
        if known["commit"].endswith("-dirty") or known["date"] > now:
            yield f"{name}: commit {known['commit']}, date {known['date']}: of uncommitted sources, or from the future"
        if seen.setdefault(path.read_bytes(), name) != name:
            yield f"{name} is a copy of {seen[path.read_bytes()]}"
    yield from (f"docs/machines/{home.name} has passes but no claims.csv: run scripts/claims.py --add {home.name}"
                for home in MACHINES.iterdir() if (home / "claims").is_dir() and not (home / "claims.csv").exists())


def title(picture):
    """The Title in a PNG's metadata; "" if it has none."""
    data, at = picture.read_bytes(), 8
    while at < len(data):  # a chunk: size, kind, content, checksum
        end = at + 8 + int.from_bytes(data[at:at + 4], "big")
        if data[at + 4:].startswith(b"tEXtTitle\0"):
            return data[at + 14:end].decode("latin-1").replace("\u00a0", " ")
        at = end + 4
    return ""


def faults(program):
    yield from typed.faults()
    yield from evidence_faults()
    yield from markers.written(pages(), True, "not what docs/machines/ says: run scripts/claims.py")
    shown = markers.between(PAGE.read_text(), "claims")
    has = set(re.findall(r"\(\.\./experiments/claims/(\w+)\.txt\)", shown))
    yield from (f"docs/claims.md lacks {name}: run scripts/claims.py --add" for name in claims() if name not in has)
    yield from (f"docs/claims.md has {name}, which is gone" for name in sorted(has - set(claims())))
    says = answer([savings(rows) for rows in machines().values()])
    if title(HEADLINE) != says:
        yield f"{HEADLINE.relative_to(ROOT)} says '{title(HEADLINE)}', docs/machines/ says '{says}'"
    yield from answer_faults(program)
    relations = files.rows(ROOT / "docs" / "relations.csv")
    for machine, rows in machines().items():
        found = savings(rows)
        for row in relations:
            saving = float(found.get((row["how"], row["case"]), {}).get("value", math.nan))
            if not float(row["low"]) <= saving <= float(row["high"]):
                yield (f"{row['page']}: '{row['words']}' does not hold on {machine}: {row['how']} {row['case']} saves "
                       f"{saving:.1f} %, not {row['low']} to {row['high']}")
    for row in relations:
        if len(row["words"]) < 20 or not -100 < float(row["low"]) <= float(row["high"]) < 100:
            yield f"docs/relations.csv: '{row['words']}' needs 20 characters or more, and bounds in per cent"
        if row["words"] not in " ".join((ROOT / row["page"]).read_text().split()):
            yield f"{row['page']} does not say '{row['words']}', but docs/relations.csv names these words"


def main():
    parser = markers.parser(__doc__, "--check", program=True)
    parser.add_argument("file", nargs="?", type=Path, help="the folder of passes that --add copies")
    parser.add_argument("--add", metavar="NAME")
    options = parser.parse_args()
    if options.check:
        with files.needed("docs/machines"):
            return markers.report(list(faults(options.program)))
    if options.add:
        found = [options.file] if options.file else sorted((ROOT / "results" / "evidence").glob("*"))
        if len(found) != 1 or not found[0].is_dir():
            sys.exit("--add: name one folder in results/evidence; normlab claims --passes 6 makes it")
        if not re.fullmatch(r"\w[\w-]*", options.add):
            parser.error(f"'{options.add}' is no folder's name, such as zen3")
        home = MACHINES / options.add
        with tempfile.TemporaryDirectory() as folder:  # so that a damaged pass changes nothing
            draft = Path(folder, options.add)
            shutil.copytree(home, draft) if home.exists() else draft.mkdir()
            add(draft, found[0], options.program)
            if lacks := [key for key in FACTS[:3] if not files.facts_of(draft / "machine.txt").get(key)]:
                sys.exit(f"{found[0]}: no pass has the machine's {', '.join(lacks)}")
            shutil.rmtree(home, ignore_errors=True)
            shutil.move(draft, home)
    with files.needed("docs/machines"):
        markers.written(pages(), False, "")
    return 0


if __name__ == "__main__":
    sys.exit(main())
