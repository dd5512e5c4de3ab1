# What the gnuplot figures share: errors, palette, the machine, the note in the corner, terminals.
# A script sets CSV and OUT (its arguments), NEEDS (columns), USAGE, MAKE and folder, and loads this.
# Sizes are pixels of a slide 1920 wide: 18 pixels are 9 points on a slide of 13.3 inches.

set encoding utf8
set datafile separator comma
set datafile columnheaders
quoted(path) = "'".path."'"
shell(command) = system(command." 2>/dev/null")

wrong = ""
header = OUT eq "" ? "" : shell("head -n 1 ".quoted(CSV))
do for [name in NEEDS] {
    if (!strstrt(",".header.",", ",".name.",")) { wrong = wrong." ".name }
}
if (wrong ne "") { wrong = CSV.": these columns are missing:".wrong }
if (shell("sed -n 2p ".quoted(CSV)) eq "") { wrong = CSV.": there are no results in it" }
if (shell("test -r ".quoted(CSV)." && echo yes") ne "yes") { wrong = CSV.": there is no such file" }
if (OUT eq "") { wrong = "two arguments are needed: the CSV, and the picture without .png" }
if (wrong ne "") {
    print wrong."\n  to make the results: ".MAKE."\n  to draw them:        ".USAGE
    exit status 2
}

# Okabe and Ito's palette. In grey, lightness and pattern distinguish its colours.
BLUE = "#0072B2"; SKY = "#56B4E9"; GREEN = "#009E73"; ORANGE = "#E69F00"; RED = "#D55E00"
PALE = "#DDDDDD"; GREY = "#666666"; LIMIT = "#9A9A9A"; BLACK = "#000000"

MACHINE = CSV[:strlen(CSV) - 4].".machine.txt"
fact(key) = shell("sed -n 's/^".key.": *//p' ".quoted(MACHINE))
stats CSV using (column("threads")) nooutput
corner = sprintf("%s, %s cpus, %s · commit %s · %s", fact("cpu"), word(fact("cpus"), 1), \
    STATS_max > 1 ? sprintf("up to %d threads", STATS_max) : "1 thread", fact("commit"), fact("date")[:10])
if (fact("quick") eq "yes") { corner = "QUICK, a first look · ".corner }
if (fact("cpu") eq "") {
    corner = "unknown machine"
    print "warning: there is no ".MACHINE.", so the figure says \"unknown machine\""
}

# "fits in L2": the smallest cache that holds so many bytes; empty if the machine is unknown.
# The fact is like: L1 48K (cpus 0), L2 1024K (cpus 0), L3 32768K (cpus 0-1)
caches = fact("caches")
number(size) = 1024.0 * int(size[:strlen(size) - 1])
fits_from(w, bytes) = w > words(caches) ? "fits in no cache" : word(caches, w)[:1] eq "L" \
    && number(word(caches, w + 1)) >= bytes ? "fits in ".word(caches, w) : fits_from(w + 1, bytes)
fits(bytes) = strstrt(caches, "K ") ? ", ".fits_from(1, bytes) : ""

# Names as in rungs.py, "refined", "SIMD refined@avx2 ×8" (threads; the ISA if it is not the widest), and
# places in its order. Shapes like "64×1024", and numbers in two or three digits.
order = " ".shell("sed -n 's/^\\([a-z_/]*\\)  *#.*/\\1/p' ".quoted(folder."rungs.py")." | tr '\\n' ' '")
optimized(impl) = impl[:10] eq "optimized/"
last(impl) = impl[strstrt(impl, optimized(impl) ? "_" : "/") + 1:]
stem(impl) = last(impl)[(optimized(impl) && last(impl)[:9] eq "backward_" ? 10 : 1):]
place(impl) = strstrt(order, " ".impl." ") ? strstrt(order, " ".impl." ") : \
    strstrt(order, " ".(optimized(impl) ? "optimized/" : "").stem(impl)." ")
rung(impl, isa, threads, widest) = \
    (optimized(impl) && strstrt(order, " ".stem(impl)." ") ? "SIMD " : "").stem(impl) \
    .(optimized(impl) && isa ne widest ? "@".isa : "").(threads > 1 ? sprintf(" ×%d", threads) : "")
shape(n, c, s) = sprintf("%d×%d", n, c).(s > 1 ? sprintf("×%d", s) : "")
short(v) = sprintf(v < 0.95 ? "%.2f" : v < 9.95 ? "%.1f" : "%.0f", v)

# Set H, the height, and then: set terminal @PNG
PNG = "pngcairo size 1920,H font 'DejaVu Sans,18' fontscale 0.75 background '#FFFFFF'"
SVG = "svg size 1920,H font 'sans-serif,18' name 'normlab' background '#FFFFFF'"
bold(size, text) = sprintf("{/:Bold=%d %s}", size, text)
