"""The rungs in the order of docs/forward.md and docs/optimized.md, and the look of each in all figures: a
colour (from Okabe and Ito's palette or Tol's muted one, for the colour-blind) and a marker, for print in
grey. Lines of rungs in plain C are dashed.

Rungs that are not in the table come last. Standard library only, because scripts/ use it too."""

TABLE = """
unfused                 #CC79A7 P
naive                   #000000 o
rmsnorm/one_pass        #D55E00 v
two_pass                #0072B2 s
scaled                  #0072B2 s
one_pass                #D55E00 v
welford                 #E69F00 ^
refined                 #009E73 D
inference               #009E73 D
backward                #000000 o
backward_hoisted        #0072B2 s
backward_recompute      #E69F00 ^
optimized/simd          #88CCEE <
optimized/accumulators  #44AA99 >
optimized/tiles         #44AA99 >
optimized/blocks        #44AA99 >
optimized/refined       #117733 d
optimized/shifted       #CC6677 *
optimized/certified     #999933 h
optimized/pipelined     #332288 p
optimized/prefetch      #AA4499 8
optimized/reverse       #AA7744 <
optimized/streaming     #882255 ^
optimized/registers     #DDAA33 H
optimized/threaded      #661100 P
optimized/inference     #88CCEE <
"""
LOOKS = {name: (colour, marker) for name, colour, marker in map(str.split, TABLE.split("\n")[1:-1])}
OTHERS = [("#56B4E9", m) for m in "<>hp8d"] + [("#666666", m) for m in "<>hp8d"]

IMPOSSIBLE = "‡ IMPOSSIBLE: faster than the limit by more than the noise; one of the two numbers is wrong"


def mark(row):
    """Beside the number of a row that is flagged as IMPOSSIBLE."""
    return IMPOSSIBLE[0] * bool(row["flag"])


def short(impl):
    """optimized/rows_simd, optimized/rows_backward_simd -> simd, layernorm/naive -> naive"""
    stem = impl.rpartition("/")[2].strip("()")
    return (stem.partition("_")[2] or stem).removeprefix("backward_") if is_optimized(impl) else stem


def is_optimized(impl):
    return impl.startswith("optimized/")


def line(impl):
    """Its name in the table, or else its own."""
    alike = f"optimized/{short(impl)}" if is_optimized(impl) else short(impl)
    return next((name for name in (impl, alike) if name in LOOKS), impl)


def name(impl):
    """Its name in figures: short, with "SIMD" where a rung in plain C has the same name."""
    return "SIMD " * (is_optimized(impl) and short(impl) in LOOKS) + short(impl)


def place(impl):
    """Its place in the order."""
    return list(LOOKS).index(line(impl)) if line(impl) in LOOKS else len(LOOKS)


def looks(impls):
    """name -> (colour, marker, dash), in the order of the table; other rungs take the other looks."""
    ordered = sorted(dict.fromkeys(impls), key=place)
    others = [impl for impl in ordered if line(impl) not in LOOKS]
    return {name(impl): (*(LOOKS.get(line(impl)) or OTHERS[others.index(impl) % len(OTHERS)]),
                         "-" if is_optimized(impl) else (0, (4, 1.5))) for impl in ordered}
