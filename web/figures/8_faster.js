/* Is it faster? Intervals of simulated measurements, by the statistics of `normlab bench` and `claims`.
 * SPDX-License-Identifier: MIT */
{
    const MARGIN = 0.02, DAYS = 60;
    const percent = v => Number.isFinite(v) ? `${digits(100 * (1 - Math.exp(v)), 2)} %` : "?";

    /* Normal noise from two streams, cached. */
    const drawn = [[], []];
    function noise(L, which, i) {
        const list = drawn[which], at = i % 300000;
        while (list.length <= at) list.push(L.normal(20 + which, list.length));
        return list[at];
    }

    /* Simulates a measurement: the log ratios of the rounds of each pass. `round` is the noise of each round, `pass`
     * the shift of all rounds of a pass. */
    function measure(L, s, day, truth) {
        const passes = [], which = truth ? 0 : 1;
        for (let p = 0; p < s.passes; p++) {
            const shift = s.pass / 100 * L.normal(10 + which, day * 1000 + p);
            passes.push(Array.from({length: s.rounds}, (_, r) =>
                truth + shift + s.round / 100 * noise(L, which, (day * 12 + p) * 400 + r)));
        }
        const medians = passes.map(list => L.interval(list).median);
        return {passes, first: L.interval(passes[0]), all: s.passes > 2 ? L.interval(medians) : {low: -Infinity, median: medians[0], high: Infinity}};
    }

    figure("faster", {
        title: "Is it faster?",
        state: {gain: 3, round: 4, pass: 2, rounds: 100, passes: 3, share: 10, day: 0},
        build(f) {
            const cent = v => `${digits(v, 3)} %`;
            f.slider("gain", "true saving", {min: -10, max: 40, step: 0.5, show: cent}), f.slider("round", "noise of a round", {min: 0.5, max: 20, step: 0.5, show: cent});
            f.slider("pass", "noise of a pass", {min: 0, max: 10, step: 0.25, show: cent}), f.slider("rounds", "rounds in a pass", {min: 6, max: 400, step: 2});
            f.slider("passes", "passes", {min: 1, max: 12}), f.slider("share", "norm's share", {min: 1, max: 60, show: cent});
            f.buttons("The same again:", [["another day", () => f.set({day: (f.state.day + 1) % 900})]]);
            this.strip = f.surface(() => 128 + 18 * f.state.passes, "Ratios of the rounds, and intervals");
            f.legend([["what", "A dot: the ratio of one round. A row of dots: a pass."]]);
            this.bar = f.surface(74, "A step of the model, before and after");
            for (const [key, label] of [["first", "saved, by the first pass alone"], ["all", "saved, by all passes"], ["verdict", "verdict of normlab"],
                                        ["held", `of ${DAYS} days, the truth was in the interval`], ["step", "saved of a whole step"]]) f.fact(key, label);
        },
        draw(f, s) {
            const L = f.library, truth = Math.log(1 - s.gain / 100) || 1e-12, r = measure(L, s, s.day, truth), own = measure(L, s, s.day, 0);
            const band = Math.max(Math.abs(own.all.low), Math.abs(own.all.high)), d = this.strip;
            const reach = Math.max(0.06, Math.abs(truth) + 2.5 * (s.round + s.pass) / 100);
            const at = v => d.width / 2 + Math.max(-1, Math.min(1, v / reach)) * (d.width / 2 - 12);
            d.add("rect", {x: at(-MARGIN), y: 4, width: at(MARGIN) - at(-MARGIN), height: d.height - 24, class: "band"});
            d.line(at(0), 4, at(0), d.height - 20, "axis"), d.line(at(truth), 4, at(truth), d.height - 20, "dashed");
            const span = (y, e, kind) => {
                d.line(at(e.low), y, at(e.high), y, `thick ${kind}`);
                d.add("circle", {cx: at(e.median), cy: y, r: 5, class: kind});
            };
            r.passes.forEach((list, p) => list.forEach((v, k) => k < 120 && d.add("circle", {cx: at(v), cy: 16 + 18 * p, r: 1.6, class: "leaf"})));
            const y = 30 + 18 * s.passes;
            span(y, r.first, "bad"), d.text(12, y - 8, "the first pass alone", "small bad", "start");
            if (s.passes > 2) span(y + 34, r.all, "good");
            d.text(12, y + 26, s.passes > 2 ? "all passes" : "all passes: three are needed for an interval", "small good", "start");
            d.text(at(truth) + 5, d.height - 26, "true", "small", "start");
            d.text(12, d.height - 4, "← faster", "small", "start"), d.text(d.width - 12, d.height - 4, "slower →", "small", "end"), d.text(at(0), d.height - 4, "same ± 2 %", "small");
            const share = s.share / 100, saved = share * s.gain / 100, wide = this.bar.width - 24;
            [[6, share, "before"], [40, share * (1 - s.gain / 100), "after"]].forEach(([top, norm, name]) => {
                this.bar.add("rect", {x: 12, y: top, width: wide * norm / 1.1, height: 26, class: "chain chain1"});
                this.bar.add("rect", {x: 12 + wide * norm / 1.1, y: top, width: wide * (1 - share) / 1.1, height: 26, class: "idle"});
                this.bar.text(12 + wide * norm / 1.1 + 8, top + 18, `${name}: the norm, and the rest`, "small bare", "start");
            });
            let one = 0, many = 0;
            for (let day = 0; day < DAYS; day++) {
                const m = measure(L, s, day, truth);
                one += m.first.low <= truth && truth <= m.first.high, many += m.all.low <= truth && truth <= m.all.high;
            }
            const verdict = s.passes > 2 ? L.verdict(r.all, band, MARGIN) : "NOT RESOLVED";
            f.say("first", `${percent(r.first.high)} … ${percent(r.first.low)}`), f.say("all", s.passes > 2 ? `${percent(r.all.high)} … ${percent(r.all.low)}` : "no interval");
            f.say("verdict", verdict), f.say("held", `first pass ${one}, all passes ${s.passes > 2 ? many : "—"}`), f.say("step", `${digits(100 * saved, 3)} %`);
            f.conclude(one < 0.8 * DAYS ? "More rounds make the first pass sure of itself, not right: what all of its rounds share does not average out."
                : `${verdict}: a whole step would take ${digits(Math.abs(100 * saved), 2)} % ${saved < 0 ? "longer" : "less"}.`);
        }
    });
}
