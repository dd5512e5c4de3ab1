"""How many wrong kernels do the tests of other projects let pass?"""
import slide

SOURCE = "other_tests"
KERNELS = {"mutant", "lab", "museum"}
HEADLINE = "allclose 1e-2"


def draw(page):
    rows = page.read()
    tests = [name for name in rows[0] if name not in ("group", "name", "smallest", "when")]
    if HEADLINE not in tests:
        raise slide.Missing(f"{SOURCE} lacks {HEADLINE}")
    bars, shares = [], {}
    for test in tests:
        seen = [row[test] for row in rows if row["group"] in KERNELS and row[test] != "unseen"]
        right = [row[test] for row in rows if row["group"] == "right" and row[test] != "unseen"]
        rejects = right.count("caught")
        shares[test] = seen.count("passes"), len(seen)
        words = f"{shares[test][0]} of {len(seen)}" + f"; rejects {rejects} of {len(right)} right ones" * bool(rejects)
        bars.append((test, 100 * shares[test][0] / len(seen), None, None, words, "amber" if test == HEADLINE else "blue"))
    axes = page.axes(left=2.9, right=2.4, xlabel="wrong kernels that pass, % of those that the test looks at")
    page.bars(axes, bars)
    axes.set_xlim(0, 100)
    page.note("Each test has its project's data, tolerance and outputs; docs/other-tests.md has the sources.")
    passed, seen = shares[HEADLINE]
    return f"Of {seen} wrong kernels {passed} pass allclose at 1e-2"
