"""What people call the modes of harness/timing/modes.c, in figures and prose alike. Standard library only."""
import re
from pathlib import Path

TABLE = Path(__file__).resolve().parent.parent / "harness" / "timing" / "modes.c"
WORDS = dict(re.findall(r'^    \{"(\w+)",\s*"([^"]+)"', TABLE.read_text(encoding="utf-8"), re.M))
