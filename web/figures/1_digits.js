/* Where digits die: E[x^2], mean^2 and the mean on the grid of floats. SPDX-License-Identifier: MIT */
{
    /* Exhibits of the museum: a label, and rounded positions of the sliders. */
    const exhibits = {
        ort28463: {label: "80000, …, 80003", mean: 80000, sigma: 1, c: 4},
        pt51102: {label: "2000 + N(0, 1)", mean: 2000, sigma: 1, c: 4},
        mlx2238: {label: "near 1449.5", mean: 1450, sigma: 0.46, c: 16},
        ort31973: {label: "1e5 + 0.01 N(0, 1)", mean: 1e5, sigma: 0.01, c: 256},
        burn5607: {label: "100 + i / 1000", mean: 100, sigma: 0.0046, c: 16},
        control: {label: "N(0, 1)", mean: 1, sigma: 1, c: 1024}
    };
    const methods = [["one_pass", "one pass"], ["two_pass", "two passes"], ["welford", "Welford"],
                     ["refined", "refined"], ["rows_certified", "certified"]];
    const halves = [["layernorm_sum", "16-bit sums"], ["layernorm_pairwise", "16-bit, pairwise"]];
    const bits = {f32: 24, f16: 11, bf16: 8};

    const spelling = s => s.exhibit ? `layernorm/forward/${s.type}/1x${exhibits[s.exhibit].c}/museum:${s.exhibit}/no-affine`
        : `layernorm/forward/${s.type}/1x${s.c}/offset:${s.mean}/no-affine`;
    const spacing = (v, kept) => 2 ** (Math.floor(Math.log2(Math.abs(v))) - kept + 1);

    /* The sums of layernorm/one_pass.c, rounded to float. The test compares their rstd with C's. */
    function moments(x) {
        let sum = 0, squares = 0;
        for (const v of x) {
            sum = Math.fround(sum + v);
            squares = Math.fround(squares + Math.fround(v * v));
        }
        const mean = Math.fround(sum / x.length), square = Math.fround(mean * mean);
        const of = Math.fround(squares / x.length);
        return {mean, square, of, variance: Math.fround(of - square)};
    }

    function compute(f, s) {
        const L = f.library;
        L.open(spelling(s));
        if (!s.exhibit && s.sigma !== 1)
            L.put("x", Array.from({length: s.c}, (_, i) => s.mean + s.sigma * L.normal(0, i)));
        const name = L.implementations().find(one => one.split("/").pop() === s.method);
        const r = {name, ...L.call(name)};
        for (const key of ["x", "y", "mean", "rstd"]) r[key] = L.get(key);
        for (const key of ["xhat", "variance"]) r[`due_${key}`] = L.want(key);
        const first = r.x[0]; /* summing differences keeps more digits of the mean */
        r.due_mean = first + r.x.reduce((sum, v) => sum + (v - first), 0) / r.x.length;
        r.moments = moments(r.x);
        return r;
    }

    /* Draws the number line around `origin`, with floats `ulp` apart as ticks, and the marks on it. */
    function grid(d, origin, ulp, reach, marks) {
        const wide = d.width, middle = wide / 2, y = 92;
        const at = v => middle + Math.max(-1.06, Math.min(1.06, v / reach)) * (wide / 2 - 34);
        d.line(8, y, wide - 8, y, "axis");
        const gap = ulp / reach * (wide / 2 - 34), count = Math.ceil(reach / ulp);
        if (gap >= 4)
            for (let k = -count; k <= count; k++) d.line(at(k * ulp), y - 7, at(k * ulp), y + 7, "tick");
        else
            d.add("rect", {x: 8, y: y - 6, width: wide - 16, height: 12, class: "dense"});
        d.text(middle, y + 88, `${gap >= 4 ? "ticks are floats" : "floats are too close to draw"}: ${digits(ulp)} apart`, "small");
        for (const {v, label, kind, above, level} of marks) {
            const left = marks.some(other => other.above === above && other.v > v);
            const x = at(v - origin), to = above ? y - 20 - 24 * level : y + 20 + 24 * level;
            if (Number.isNaN(x)) continue;
            d.line(x, y, x, to, kind);
            d.add("circle", {cx: x, cy: y, r: 5, class: kind + (above ? " hollow" : "")});
            const starts = x < 130 || (!left && x < wide - 130);
            d.text(x + (starts ? 6 : -6), to + (above ? -1 : 9), label, kind, starts ? "start" : "end");
        }
    }

    function dots(d, r) {
        const count = Math.min(r.y.length, 64), step = (d.width - 50) / count;
        const at = v => 70 - Math.max(-58, Math.min(58, 20 * v));
        d.line(40, 70, d.width - 10, 70, "axis");
        for (const v of [-2, 0, 2]) d.text(34, at(v) + 4, digits(v), "small", "end");
        for (let i = 0; i < count; i++) {
            const x = 44 + step * (i + 0.5);
            d.add("circle", {cx: x, cy: at(r.due_xhat[i]), r: 5, class: "good hollow"});
            if (Number.isFinite(r.y[i])) d.add("circle", {cx: x, cy: at(r.y[i]), r: 2.6, class: "bad"});
        }
        if (!r.y.every(Number.isFinite)) d.text(d.width / 2, 20, "y is NaN", "bad big");
        const part = count < r.y.length ? `, the first ${count} of ${r.y.length}` : "";
        d.text(d.width - 10, 136, `y${part}: rings exact, dots computed`, "small", "end");
    }

    figure("digits", {
        title: "Where digits die",
        state: {mean: 80000, sigma: 1, c: 4, method: "one_pass", type: "f32", exhibit: "ort28463"},
        build(f) {
            const set = f.set.bind(f); /* moving a slider ends the exhibit */
            f.set = changes => set(["mean", "sigma", "c"].some(key => key in changes) ? {exhibit: "", ...changes}
                : changes.exhibit ? {type: "f32", ...changes} : changes);
            f.refreshers.push(s => {
                const {mean, sigma, c} = exhibits[s.exhibit] || (s.exhibit = "", s);
                Object.assign(s, {mean, sigma, c});
            });
            f.choice("exhibit", "from bug reports", [...Object.entries(exhibits).map(([name, e]) => [name, e.label]), ["", "your own"]]);
            f.choice("method", "method", s => s.type === "f32" ? methods : [...methods, ...halves]);
            f.choice("type", "type of x", [["f32", "f32"], ["f16", "f16"], ["bf16", "bf16"]]);
            f.slider("mean", "mean", {min: 0, max: 6, step: 0.02, log: true});
            f.slider("sigma", "σ", {min: -3, max: 2, step: 0.02, log: true});
            f.slider("c", "c", {min: 4, max: 1024, step: 4});
            this.grid = f.surface(186, "The number line near mean squared");
            this.y = f.surface(140, "y: rings are exact, dots are computed");
            for (const [key, label] of [["of", "E[x²], as computed"], ["square", "mean², as computed"],
                                        ["variance", "variance"], ["due", "exact variance"], ["rstd", "rstd"],
                                        ["apart", "from mean² to E[x²], in floats"], ["left", "right bits of y"],
                                        ["error", "largest error of y, units of one rounding"]])
                f.fact(key, label);
        },
        draw(f, s) {
            const r = compute(f, s), m = r.moments, one = s.method === "one_pass";
            const due = r.due_variance[0], mean2 = r.due_mean ** 2, grain = spacing(mean2 || due, 24), lost = !r.x.every(Number.isFinite);
            if (one && Number.isFinite(m.of)) {
                grid(this.grid, m.square, grain, Math.max(4.5 * grain, ...[due, m.variance, mean2 - m.square].map(v => 1.4 * Math.abs(v))), [
                    {v: mean2, label: "mean², exactly", kind: "good", above: true, level: 0},
                    {v: mean2 + due, label: "E[x²], exactly", kind: "good", above: true, level: 1.6},
                    {v: m.square, label: "mean², a float", kind: "bad", above: false, level: 0},
                    {v: m.of, label: "E[x²], a float", kind: "bad", above: false, level: 1}]);
            } else if (!one && Number.isFinite(r.mean[0])) {
                const kept = halves.some(([name]) => name === s.method) ? bits[s.type] : 24;
                const ulp = spacing(r.due_mean || 1e-30, kept), off = Math.abs(r.mean[0] - r.due_mean);
                grid(this.grid, r.due_mean, ulp, Math.max(4.5 * ulp, 1.3 * off), [
                    {v: r.due_mean, label: "mean, exactly", kind: "good", above: true, level: 0},
                    {v: r.mean[0], label: s.method === "refined" ? "mean, as saved (y corrects its error)"
                        : "mean, as computed", kind: "bad", above: false, level: 0}]);
            } else {
                this.grid.text(this.grid.width / 2, 90, "the squares have left the range of the type", "bad");
            }
            dots(this.y, r);
            const all = bits[s.type], left = Math.max(0, all - Math.log2(Math.max(1, r.error)));
            f.say("of", one ? digits(m.of, 10) : "not used"), f.say("square", one ? digits(m.square, 10) : "not used");
            f.say("variance", one ? digits(m.variance, 6) : digits(1 / r.rstd[0] ** 2 - 1e-5, 6));
            f.say("due", digits(due, 6)), f.say("rstd", digits(r.rstd[0], 6)), f.say("error", digits(r.error, 4));
            f.say("apart", one ? digits(m.variance / grain) : "not used");
            f.say("left", lost ? "y has to be NaN" : Number.isFinite(r.error) ? `${Math.floor(left)} of ${all}` : "none: NaN");
            f.conclude(lost ? `x is infinite: the mean exceeds the range of ${s.type}. y has to be NaN.`
                : !Number.isFinite(r.error) ? "y is NaN or infinite: the variance came out negative, or overflowed."
                : r.error <= 32 ? "Right, to the last few bits." : left < all / 6 ? "Wrong, and nothing says so."
                    : `${Math.round(all - left)} of ${all} bits are lost.`);
            f.note.textContent = s.exhibit || s.sigma === 1 ? `normlab check ${spelling(s)} --impl ${r.name}@c` : "";
        }
    });
}
