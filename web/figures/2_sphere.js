/* The sphere: what the norms do to a point of three features. SPDX-License-Identifier: MIT */
{
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    const scaled = (a, k) => a.map(v => v * k);
    const plus = (a, b) => a.map((v, i) => v + b[i]);
    const triple = v => `(${[...v].map(one => digits(one, 3)).join(", ")})`;

    /* The screen's axes, in the coordinates of the features. */
    function axes(s) {
        const [a, b] = [s.turn, s.tilt].map(v => v * Math.PI / 180);
        const right = [-Math.sin(a), Math.cos(a), 0];
        const up = [-Math.sin(b) * Math.cos(a), -Math.sin(b) * Math.sin(a), Math.cos(b)];
        return {right, up};
    }

    function layer(f, s, pass) {
        const L = f.library, x = [s.x, s.y, s.z];
        L.open(`${s.norm}/${pass}/f32/1x3/normal/eps=0`);
        L.put("x", x), L.put("gamma", [s.g1, s.g2, s.g3]);
        if (pass === "forward" && s.norm === "layernorm") L.put("beta", [0, 0, 0]);
        if (pass === "backward") L.put("dy", [s.p, s.q, s.r]);
        L.call(L.implementations().find(name => /\/(naive|backward)$/.test(name)));
        return L.get(pass === "forward" ? "y" : "dx");
    }

    figure("sphere", {
        title: "The sphere",
        state: {x: 0.4, y: 2.2, z: 1.6, turn: 28, tilt: 22, norm: "layernorm", g1: 1, g2: 1, g3: 1, p: 0.9, q: 0.3, r: 1,
                pass: "forward"},
        build(f) {
            f.choice("norm", "norm", [["layernorm", "LayerNorm"], ["rmsnorm", "RMSNorm"]]);
            f.choice("pass", "show", [["forward", "y"], ["backward", "y, and the gradient"]]);
            const put = change => () => {
                const [x, y, z] = [f.state.x, f.state.y, f.state.z].map(change);
                if (Math.max(...[x, y, z].map(Math.abs)) <= 3.5) f.set({x, y, z}); /* a clamped x would have another direction */
            };
            f.buttons("x:", [["× ½", put(v => v / 2)], ["× 2", put(v => v * 2)], ["+ ½", put(v => v + 0.5)], ["− ½", put(v => v - 0.5)],
                             ["(1, 1, 1)", put(() => 1)]]);
            for (const k of [1, 2, 3]) f.slider(`g${k}`, `gain of x${"₁₂₃"[k - 1]}:`, {min: -2, max: 2, step: 0.1});
            f.slider("turn", "turn", {min: -180, max: 180, show: v => `${v}°`}), f.slider("tilt", "tilt", {min: -90, max: 90, show: v => `${v}°`});
            const d = this.space = f.surface(wide => Math.min(440, wide), "Three features as three axes");
            const scale = () => Math.min(d.width, d.height) / 6.6;
            this.at = v => {
                const {right, up} = axes(f.state);
                return [d.width / 2 + scale() * dot(v, right), d.height / 2 - scale() * dot(v, up)];
            };
            const mover = keys => (dx, dy) => {
                const {right, up} = axes(f.state), k = 1 / scale();
                const step = plus(scaled(right, dx * k), scaled(up, -dy * k));
                f.set(Object.fromEntries(keys.map((key, i) =>
                    [key, Math.max(-3.4, Math.min(3.4, Number((f.state[key] + step[i]).toFixed(3))))])));
            };
            d.handle("x, in the plane of the screen", "x", s => {
                const [x, y] = this.at([s.x, s.y, s.z]);
                return {x, y, text: triple([s.x, s.y, s.z])};
            }, mover(["x", "y", "z"]));
            d.handle("dy, the gradient of y", "dy", s => {
                const [x, y] = this.at(plus(this.result, [s.p, s.q, s.r]));
                return s.pass === "backward" && Number.isFinite(x) && {x, y, text: triple([s.p, s.q, s.r])};
            }, mover(["p", "q", "r"]));
            let from;
            d.svg.addEventListener("pointerdown", e => { if (!e.target.closest(".nf-handle")) from = [e.clientX, e.clientY]; });
            d.svg.addEventListener("pointermove", e => {
                if (!from) return;
                const turn = (f.state.turn - (e.clientX - from[0]) / 2 + 540) % 360 - 180;
                const tilt = Math.max(-90, Math.min(90, f.state.tilt + (e.clientY - from[1]) / 2));
                f.set({turn: Math.round(turn), tilt: Math.round(tilt)}), from = [e.clientX, e.clientY];
            });
            for (const end of ["pointerup", "pointerleave", "pointercancel"])
                d.svg.addEventListener(end, () => { from = undefined; });
            for (const [key, label] of [["x", "x"], ["mean", "mean of x"], ["y", "y, from C"], ["sum", "sum of (y / gain)"],
                                        ["rms", "rms of (y / gain)"], ["dx", "dx, from C"], ["along", "dx · x"], ["total", "dx · (1, 1, 1)"]])
                f.fact(key, label);
        },
        draw(f, s) {
            const d = this.space, x = [s.x, s.y, s.z], gain = [s.g1, s.g2, s.g3], ln = s.norm === "layernorm";
            const y = this.result = layer(f, s, "forward"), mean = (x[0] + x[1] + x[2]) / 3;
            const bare = y.map((v, i) => v / (gain[i] || 1)), centred = x.map(v => v - mean);
            const {right, up} = axes(s), out = [0, 1, 2].map(i => right[(i + 1) % 3] * up[(i + 2) % 3] - right[(i + 2) % 3] * up[(i + 1) % 3]);
            const stroke = (from, to, kind) => d.path([this.at(from), this.at(to)], kind);
            const ring = (a, b, kind) => {
                for (let k = 0; k < 72; k++) {
                    const points = [k, k + 1].map(i => plus(scaled(a, Math.sqrt(3) * Math.cos(i * Math.PI / 36)),
                                                           scaled(b, Math.sqrt(3) * Math.sin(i * Math.PI / 36))).map((v, j) => v * gain[j]));
                    d.path(points.map(this.at), kind + (dot(points[0], out) < 0 ? " far" : ""));
                }
            };
            for (const [i, name] of ["x₁", "x₂", "x₃"].entries()) {
                const tip = [0, 0, 0].map((_, j) => i === j ? 3 : 0);
                stroke([0, 0, 0], tip, "axis");
                d.text(...this.at(scaled(tip, 1.08)), name, "small");
            }
            if (ln) {
                stroke([-1.9, -1.9, -1.9], [1.9, 1.9, 1.9], "dashed");
                d.text(...this.at([2.05, 2.05, 2.05]), "(1, 1, 1)", "small");
                ring(scaled([1, -1, 0], Math.SQRT1_2), scaled([1, 1, -2], 1 / Math.sqrt(6)), "good");
            } else {
                for (const [a, b] of [[0, 1], [1, 2], [2, 0]])
                    ring([0, 1, 2].map(i => Number(i === a)), [0, 1, 2].map(i => Number(i === b)), "good");
            }
            stroke([0, 0, 0], x, "soft");
            if (ln) stroke(x, centred, "dashed"), stroke([0, 0, 0], centred, "soft");
            if (y.every(Number.isFinite)) {
                stroke([0, 0, 0], y, "bad");
                d.add("circle", {cx: this.at(y)[0], cy: this.at(y)[1], r: 6, class: "bad"});
                d.text(this.at(y)[0] - 9, this.at(y)[1] + 17, "y", "bad", "end");
            }
            d.text(this.at(x)[0] + 12, this.at(x)[1] - 10, "x", "", "start");
            f.say("x", triple(x)), f.say("mean", digits(mean, 3)), f.say("y", triple(y));
            const some = gain.every(Boolean), even = gain.every(v => v === 1);
            f.say("sum", some ? digits(bare[0] + bare[1] + bare[2], 2) : "a gain is 0"), f.say("rms", some ? digits(Math.sqrt(dot(bare, bare) / 3), 6) : "a gain is 0");
            for (const key of ["dx", "along", "total"]) f.said[key].parentElement.hidden = s.pass === "forward";
            if (s.pass === "backward" && !y.every(Number.isFinite)) for (const key of ["dx", "along", "total"]) f.say(key, "NaN");
            else if (s.pass === "backward") {
                const dx = layer(f, s, "backward");
                const tip = plus(y, [s.p, s.q, s.r]);
                stroke(y, tip, "bad"), d.text(this.at(tip)[0] + 12, this.at(tip)[1] - 10, "dy", "bad", "start");
                stroke(x, plus(x, dx), "third");
                d.text(...this.at(plus(x, scaled(dx, 1.15))), "dx", "third");
                f.say("dx", triple(dx)), f.say("along", digits(dot(dx, x), 2)), f.say("total", digits(dx[0] + dx[1] + dx[2], 2));
            }
            f.conclude(ln ? x.every(v => v === x[0]) ? "All features are equal: no direction is left, and y is NaN or rounding noise (eps is 0 here)."
                : `LayerNorm keeps the direction of x − mean: y lies on ${even ? "a circle" : "an ellipse"}.`
                : y.every(Number.isFinite) ? `RMSNorm keeps the direction of x: y lies on ${even ? "a sphere" : "an ellipsoid"}.`
                    : "x is 0: it has no direction, and y is NaN (eps is 0 here).");
        }
    });
}
