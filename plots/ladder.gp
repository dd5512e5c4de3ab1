# What does each idea buy? The bandwidth of every rung of the four layers, and its speed-up.
# A row is a rung, a column a size. Both come from the CSV, and the figure grows with them.
USAGE = "gnuplot -c plots/ladder.gp results/ladder.csv results/ladder"
MAKE = "normlab bench experiments/ladder.txt --out results/ladder.csv"
NEEDS = "case impl isa threads op pass dtype n c s data options verdict ns ns_low ns_high gbps limit_gbps bytes flag"
CSV = ARG1; OUT = ARG2
folder = ARG0[:strlen(ARG0) - strlen("ladder.gp")]
load folder."common.gp"

# The place of a line of the CSV: by layer, pass, plain C or optimized, then in the order of rungs.py.
# Only f32 on normal data without an option is in the ladder; other lines have the place -1.
layer(op) = op eq "layernorm" ? 0 : op eq "rmsnorm" ? 1 : op eq "qwen2_rmsnorm" ? 2 : 3
pass(name) = name eq "forward" ? 0 : name eq "inference" ? 1 : 2
group(op, name, impl) = 6 * layer(op) + 2 * pass(name) + optimized(impl)
ladder(dtype, data, options) = dtype eq "f32" && data eq "normal" && options eq ""
kind(impl, demo) = demo ? 4 : optimized(impl) ? 3 : strstrt(impl, "/naive") ? 1 : 2
ISA = "" # the widest, the last one in the table of implementations
stats CSV using (ISA = optimized(strcol("impl")) && strcol("verdict") ne "skip" ? strcol("isa") : ISA, 1) nooutput

stats CSV using (column("n")) nooutput
N = STATS_records + STATS_invalid
array CASE[N]; array GROUP[N]; array KEY[N]; array RUNG[N]; array KIND[N]; array SHAPE[N]; array PICTURE[N]
array NS[N]; array BASE[N]; array Y[N]
flagged = 0
stats CSV using (i = int($0) + 1, CASE[i] = strcol("case"), Y[i] = 0, \
    GROUP[i] = ladder(strcol("dtype"), strcol("data"), strcol("options")) ? \
        group(strcol("op"), strcol("pass"), strcol("impl")) : -1, \
    KEY[i] = 10000 * GROUP[i] + (place(strcol("impl")) ? place(strcol("impl")) : 9999), \
    RUNG[i] = rung(strcol("impl"), strcol("isa"), column("threads"), ISA), \
    KIND[i] = kind(strcol("impl"), strcol("verdict") eq "demo"), PICTURE[i] = column("s") > 1, \
    SHAPE[i] = shape(column("n"), column("c"), column("s")), NS[i] = column("ns"), BASE[i] = NaN, \
    flagged = flagged || (GROUP[i] >= 0 && strcol("flag") eq "IMPOSSIBLE"), 1) nooutput

# Columns: the matrices, then shapes with positions (pictures).
shapes = ""; matrices = 0
do for [picture=0:1] { do for [i=1:N] {
    if (GROUP[i] >= 0 && PICTURE[i] == picture && !strstrt(shapes." ", " ".SHAPE[i]." ")) {
        shapes = shapes." ".SHAPE[i]; matrices = matrices + !picture
    }
} }
if (shapes eq "") {
    print CSV.": nothing in f32 on normal data without an option\n  to make the results: ".MAKE
    exit status 2
}

# Rows, from the top. The baseline of a pass is naive, or without one the first rung.
y = 0; letters = 16; last = -1; shown = 2
array TOP[4] = [0, 0, 0, 0]
array SEEN[4] = [0, 0, 0, 0]
array PASS[12]
do for [p=1:12] { PASS[p] = 0 }
set print $rungs
print "y,rung"
while (1) {
    next = 0
    do for [i=1:N] { if (GROUP[i] >= 0 && Y[i] == 0 && (next == 0 || KEY[i] < KEY[next])) { next = i } }
    if (next == 0) { break }
    g = GROUP[next]
    first = last < 0 || g / 2 != last / 2
    if (TOP[g / 6 + 1] == 0) { TOP[g / 6 + 1] = y + 1.6; y = y + 2 } else { if (g != last) { y = y + 0.4 } }
    y = y + 1; last = g
    if (first) { PASS[g / 2 + 1] = y }
    print sprintf("%g,%s", y, RUNG[next])
    if (strlen(RUNG[next]) > letters) { letters = strlen(RUNG[next]) }
    do for [j=1:N] {
        if (GROUP[j] == g && Y[j] == 0 && RUNG[j] eq RUNG[next]) {
            Y[j] = y
            if (!SEEN[KIND[j]]) { SEEN[KIND[j]] = 1; shown = shown + 1 }
            do for [m=1:N] { if ((first || KIND[j] == 1) && CASE[m] eq CASE[j]) { BASE[m] = NS[j] } }
        }
    }
}
unset print
y = y + 0.7

# Column k: its lines in the CSV, its scale, and the bytes of a forward call.
C = words(shapes)
mine(k) = (i = int(column(0)) + 1, Y[i] > 0 && SHAPE[i] eq word(shapes, k))
timed(k) = mine(k) && column("ns") > 0
bar(k, style) = timed(k) && (style == 0 || KIND[i] == style) ? column("gbps") : NaN
low(k) = timed(k) ? column("bytes") / column("ns_high") : NaN
high(k) = timed(k) ? column("bytes") / column("ns_low") : NaN
limit(k) = timed(k) ? column("limit_gbps") : NaN
array MAX[C]; array BYTES[C]
do for [k=1:C] {
    stats CSV using (timed(k) ? (high(k) > limit(k) ? high(k) : limit(k)) : 0.01) nooutput
    MAX[k] = STATS_max
    stats CSV using (mine(k) && strcol("pass") eq "forward" ? column("bytes") : 0) nooutput
    BYTES[k] = STATS_max
}

beside(gbps, flag) = times(gbps).(flag eq "IMPOSSIBLE" ? " ‡" : "")
times(gbps) = BASE[i] == NS[i] ? short(gbps)." GB/s" : BASE[i] > 0 ? short(BASE[i] / NS[i])."×" : ""
untimed(k) = mine(k) && !timed(k) ? 0 : NaN
why(verdict) = verdict eq "fail" ? bold(18, "✗ FAIL: wrong, so not timed") : "not on this processor"
title(l) = bold(21, l == 1 ? "LayerNorm" : l == 2 ? "RMSNorm".(TOP[3] > 0 ? "" : ", and in the same files Qwen2RMSNorm") : \
    l == 3 ? "Qwen2RMSNorm (gain 1 + w)" : "BatchNorm")
meaning(s) = s == 1 ? "naive" : s == 2 ? "plain C" : s == 3 ? "optimized, ".ISA : \
    "promises nothing on these data"
note = "Beside a bar: times as fast as naive, or\nas the first rung of the pass; there its GB/s.\n" \
    ."GB/s: every input read once and every\noutput written once, over the median time." \
    .(flagged ? "\n‡ IMPOSSIBLE: beyond the limit by more\nthan the noise, so do not believe it." : "")
heading = bold(28, "What does each idea buy? Bandwidth of every rung, and how many times as fast as naive")
FILL = PALE." ".SKY." ".BLUE." ".BLACK
PATTERN = "3 3 3 0" # full, full, full, hollow

H = 25 * y < 270 ? 520 : int(256 + 25 * y)
left = 110 + 11.5 * letters
wide = (1920 - left) / (C + (C == matrices || TOP[4] < 13)) # the key: above the pictures, or beside
above = 1 - 140.0 / H; below = 116.0 / H
unset ytics
set style textbox opaque noborder margins 0.2,0
do for [ending in "png svg"] {
    if (ending eq "png") { set terminal @PNG } else { set terminal @SVG }
    set output OUT.".".ending
    set multiplot
    set border 3 lc rgb GREY
    set grid xtics lc rgb PALE lt 1
    set xtics nomirror out tc rgb BLACK
    set label heading at screen 0.006, screen 1 - 34.0 / H
    set label corner at screen 0.994, screen 18.0 / H right noenhanced tc rgb (corner[:5] eq "QUICK" ? RED : GREY)
    set bmargin at screen below
    do for [k=1:C] {
        picture = k > matrices
        top = picture ? TOP[4] - 0.85 : 0
        set lmargin at screen (left + (k - 1) * wide) / 1920
        set rmargin at screen (left + k * wide - 30) / 1920
        set tmargin at screen above - (above - below) * top / y
        set yrange [y:top]
        set xrange [0:MAX[k] * 1.28]
        set xlabel C > 1 ? "GB/s (mind the scale)" : "GB/s" offset 0,0.3
        set label bold(18, word(shapes, k)).(picture ? " (pictures)" : "") \
            at graph 0,1 offset screen 0,40.0 / H
        set label short(BYTES[k] / 1e6)." MB".fits(BYTES[k]) at graph 0,1 offset screen 0,15.0 / H
        do for [l=1:(k == 1 ? 4 : 0)] {
            if (TOP[l] > 0) { set label title(l) at screen 0.006, first TOP[l] boxed front }
        }
        do for [p=1:(k == 1 ? 12 : 0)] {
            if (PASS[p] > 0) {
                set label word("forward inference backward", (p - 1) % 3 + 1) at screen 0.006, first PASS[p] \
                    tc rgb GREY
            }
        }
        plot for [s=1:4] CSV using (bar(k, s)):(Y[i]):(0):(bar(k, s)):(Y[i] - 0.37):(Y[i] + 0.37) \
                with boxxyerror fs pattern int(word(PATTERN, s)) \
                border lc rgb BLACK fc rgb word(FILL, s) notitle, \
            '' using (limit(k)):(Y[i] - 0.5):(0):(1) with vectors nohead lw 5 lc rgb LIMIT notitle, \
            '' using (bar(k, 0)):(Y[i]):(low(k)):(high(k)) with xerrorbars pt 0 lw 1.5 lc rgb BLACK notitle, \
            '' using (high(k)):(Y[i]):(beside(column("gbps"), strcol("flag"))) with labels left boxed offset 0.6,0 notitle, \
            '' using (untimed(k)):(Y[i]):(why(strcol("verdict"))) \
                with labels left offset 0.6,0 tc rgb RED notitle, \
            for [once=1:(k == 1)] $rungs using (0):(column("y")):(strcol("rung")) \
                with labels right offset -0.6,0 noenhanced notitle
        unset label
    }
    unset border; unset xtics; unset xlabel # the key: samples of bars that lie out of sight
    set lmargin at screen 1 - (wide + 15) / 1920; set rmargin at screen 1
    set tmargin at screen above + 24.0 / H
    set xrange [0:1]; set yrange [0:1]
    set key left top Left reverse samplen 2.2 spacing (ending eq "png" ? 1.25 : 0.95)
    set label note at graph 0, screen above - (27 * shown + 14.0) / H offset 1,0
    plot for [s=1:4] CSV using (-9):(-9):(-9):(-9):(-9):(-9) with boxxyerror fs pattern \
            int(word(PATTERN, s)) border lc rgb BLACK fc rgb word(FILL, s) title SEEN[s] ? meaning(s) : "", \
        '' using (-9):(-9):(-9):(-9) with xerrorbars pt 0 lw 1.5 lc rgb BLACK \
            title "95 % interval of the median", \
        '' using (-9):(-9):(-9):(-9) with vectors nohead lw 5 lc rgb LIMIT title "the machine's limit"
    unset key; unset label
    unset multiplot
    unset output
}
