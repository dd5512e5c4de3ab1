"""Reads results, and the facts of the machine beside them. Bytes that are no UTF-8 become a replacement character,
because users write names and claims. Standard library only, because scripts/ use it too."""
import csv
import re
import sys
import zlib
from contextlib import contextmanager
from pathlib import Path


class Damaged(ValueError):
    """Says which file and line are damaged, and how."""


# The errors that damaged results cause.
FAULTS = ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError


def rows(path):
    """The lines of a CSV as dictionaries; raises OSError or Damaged."""
    found = []
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        lines = csv.reader(file, strict=True)
        try:
            head = next(lines, None)
            if not head:
                raise Damaged(f"{path}: there are no results in it")
            for line in lines:
                if line and len(line) != len(head):
                    raise Damaged(f"{path}:{lines.line_num}: has {len(line)} fields, not {len(head)}")
                if line:
                    found.append(dict(zip(head, line)))
        except csv.Error as error:
            raise Damaged(f"{path}:{lines.line_num}: {error}") from None
    return found


def write(path, columns, lines):
    with open(path, "w", newline="") as file:
        table = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        table.writerows(lines)


def facts(path):
    """The machine's facts, from NAME.machine.txt beside NAME.csv and the folder's machine.txt, or {}."""
    return facts_of(Path(path).with_name("machine.txt")) | facts_of(Path(path).with_suffix(".machine.txt"))


def facts_of(path):
    """The machine's facts, from their file; {} if it is absent."""
    try:
        text = Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return {}
    return dict(line.split(": ", 1) for line in text.split("\n") if ": " in line)


def sound(races):
    """Are a pass's file, and machine.txt's facts about the pass, unchanged? True if there is no checksum."""
    known = facts_of(races.with_name("machine.txt"))
    own = "".join(known.get(key, "") + "\n" for key in ("kernels", "quick", "races", "date"))
    return known.get("crc") in (None, f"{zlib.crc32(races.read_bytes() + own.encode()):08x}")


def is_busy(rows):
    """Do the baseline's two times differ by over 30 % in more than a quarter of the rows? Then other programs ran."""
    bands = [float(row["aa_band"]) for row in rows if row.get("aa_band")]
    return 4 * sum(band > 0.3 for band in bands) > len(bands)


def caches(path):
    """[("L1", bytes), ...] of the known caches of a thread."""
    return [(level, 1024 * int(kib)) for level, kib in re.findall(r"(L\d) (\d+)K", facts(path).get("caches", ""))]


def write_facts(path, known, keys):
    path.write_text("".join(f"{key}: {known.get(key, '')}\n" for key in keys))


def machine(path):
    """The machine's facts; raises Damaged if there are none."""
    if known := facts(path):
        return known
    raise Damaged(f"{path}: {path.with_suffix('.machine.txt').name} should be beside it, and name the machine")


def says(path, error):
    """A fault in one line."""
    if isinstance(error, Damaged):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename or path}: {error.strerror}"
    return f"{path} is damaged: {type(error).__name__}: {error}"


@contextmanager
def needed(path):
    """Ends the program with a one-line message if the `with` block cannot read or use the file."""
    try:
        yield
    except FAULTS as error:
        sys.exit(says(path, error))


# machine -> its core in docs/ports.csv or, if OSACA lacks that core, the core with the nearest model (chapter 12).
NEAREST = {"xeon": "SPR", "zen3": "ZEN3", "zen4": "ZEN4"}


def core(path, machines):
    """The core of the machine that made the results. None: no machine in the folder `machines` has its processor."""
    known = facts(path)
    return next((core for name, core in NEAREST.items() if (kept := facts(machines / f"{name}.csv"))
                 and all(kept.get(key) == known.get(key) for key in ("cpu", "family"))), None)
