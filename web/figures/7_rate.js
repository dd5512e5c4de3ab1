/* The effective rate: what a norm does to the steps of the weights before it. SPDX-License-Identifier: MIT */
{
    const STEPS = 300, C = 64;
    const size = v => Math.sqrt(v.reduce((sum, one) => sum + one * one, 0));

    /* Stochastic gradient descent on the noisy loss -target · y. y is RMSNorm of w, with the gradient of the
     * backward kernel, or w itself. */
    function train(L, s) {
        const w = Array.from({length: C}, (_, i) => s.start * L.normal(0, i)), sizes = [size(w)], angles = [];
        const backward = s.norm === "rmsnorm";
        if (backward) L.open(`rmsnorm/backward/f32/1x${C}/normal/no-affine`);
        const name = backward ? L.implementations().find(one => one.endsWith("/backward")) : "";
        for (let t = 0; t < STEPS; t++) {
            let g = Array.from({length: C}, (_, i) => -L.normal(3, i) / 8 + L.normal(4, t * C + i));
            if (backward) L.put("x", w), L.put("dy", g), L.call(name), g = L.get("dx");
            const before = w.slice();
            for (let i = 0; i < C; i++) w[i] -= s.rate * (g[i] + s.decay * w[i]);
            const along = before.reduce((sum, v, i) => sum + v * w[i], 0) / size(before) / size(w);
            angles.push(Math.acos(Math.min(1, along)) * 180 / Math.PI), sizes.push(size(w));
        }
        return {sizes, angles};
    }

    function plot(d, values, label, kind, hint) {
        const logs = [...values, ...hint ? [hint] : []].filter(v => v > 0).map(Math.log10);
        const low = Math.min(...logs) - 0.15, high = Math.max(...logs) + 0.15;
        const at = (t, v) => [56 + (d.width - 70) * t / STEPS, 26 + (d.height - 50) * (high - Math.log10(v)) / (high - low)];
        d.line(56, d.height - 22, d.width - 14, d.height - 22, "axis"), d.line(56, 20, 56, d.height - 22, "axis");
        for (const v of [10 ** (low + 0.15), 10 ** (high - 0.15)]) d.text(50, at(0, v)[1] + 4, digits(v, 2), "small", "end");
        if (hint) d.path([at(0, hint), at(STEPS, hint)], "dashed");
        d.path(values.map((v, t) => at(t, Math.max(v, 10 ** low))), kind);
        d.text(56, 13, label, `small ${kind}`, "start"), d.text(d.width - 14, d.height - 7, `${STEPS} steps`, "small", "end");
    }

    figure("rate", {
        title: "The effective rate",
        state: {rate: 0.1, decay: 0.1, start: 1, norm: "rmsnorm"},
        build(f) {
            f.choice("norm", "norm of w", [["rmsnorm", "RMSNorm"], ["none", "none"]]);
            f.slider("rate", "rate", {min: -3, max: 0, step: 0.05, log: true}), f.slider("decay", "decay", {min: -4, max: 0, step: 0.05, log: true});
            f.slider("start", "initial size of w", {min: -1, max: 1.5, step: 0.05, log: true});
            this.sizes = f.surface(170, "The size of w over the steps"), this.angles = f.surface(170, "The angle of each step");
            f.legend([["what", "Both scales are logarithmic. Dashed: √(2 · rate · decay)."]]);
            f.fact("size", "‖w‖ at the end"), f.fact("angle", "angle of the last steps, °"), f.fact("due", "√(2 · rate · decay), °");
        },
        draw(f, s) {
            const {sizes, angles} = train(f.library, s), last = angles.slice(-50).reduce((sum, v) => sum + v / 50, 0);
            const due = Math.sqrt(2 * s.rate * s.decay) * 180 / Math.PI;
            plot(this.sizes, sizes, "‖w‖", "good"), plot(this.angles, angles, "how far a step turns w, in degrees", "bad", s.norm === "rmsnorm" && due);
            f.say("size", digits(sizes[STEPS], 3)), f.say("angle", digits(last, 3)), f.say("due", s.norm === "rmsnorm" ? digits(due, 3) : "only with a norm");
            f.conclude(s.norm !== "rmsnorm" ? "Without a norm the rate is the rate: a step does not care how large w is."
                : Math.abs(Math.log(last / due)) < 0.1 ? "In balance: the steps turn w by √(2 · rate · decay), wherever it began."
                    : "Not in balance yet: ‖w‖ still moves, and so does the angle by which a step of this rate turns w.");
        }
    });
}
