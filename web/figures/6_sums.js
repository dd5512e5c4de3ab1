/* Trees of sums: where an addition rounds. SPDX-License-Identifier: MIT */
{
    const kinds = {
        ones: ["ones", () => 1], first: ["256, then ones", (_L, i) => i ? 1 : 256],
        squares: ["squares of N(0, 1)", (L, i) => L.normal(0, i) ** 2]
    };
    const unit = {f32: 2 ** -24, f16: 2 ** -11, bf16: 2 ** -8};

    /* add() rounds to the type, counts all sums and the rounded sums, and returns a node; lost: exact sum - value. */
    function adder(L, type) {
        const made = {rounded: 0, all: 0, history: []};
        const round = v => type === "f32" ? Math.fround(v) : L.round(type, Math.fround(v));
        made.add = (a, b) => {
            const exact = a.value + b.value, value = round(exact);
            made.all++, made.rounded += value !== exact;
            return {value, depth: Math.max(a.depth, b.depth) + 1, lost: exact - value, parts: [a, b]};
        };
        return made;
    }

    function pairwise(t, leaves) {
        if (leaves.length === 1) return leaves[0];
        const middle = leaves.length >> 1;
        return t.add(pairwise(t, leaves.slice(0, middle)), pairwise(t, leaves.slice(middle)));
    }

    function total(t, leaves, s) {
        if (s.order === "pairwise") return pairwise(t, leaves);
        const lanes = Number(s.lanes), block = s.order === "blocks" ? Math.max(1, Math.round(Math.sqrt(leaves.length / lanes))) : Infinity;
        const done = Array(lanes).fill(undefined), now = Array(lanes).fill(undefined);
        const join = (a, b) => a === undefined ? b : b === undefined ? a : t.add(a, b);
        leaves.forEach((leaf, i) => {
            const k = i % lanes, ends = (Math.floor(i / lanes) + 1) % block === 0;
            now[k] = join(now[k], leaf);
            if (ends) done[k] = join(done[k], now[k]), now[k] = undefined;
            if (lanes === 1 && block === Infinity) t.history.push(now[0].value);
        });
        const rest = Array.from({length: lanes}, (_, k) => join(done[k], now[k])).filter(v => v !== undefined);
        return pairwise(t, rest);
    }

    function tree(d, root) {
        const leaves = [], levels = root.depth;
        const collect = v => v.parts ? v.parts.forEach(collect) : leaves.push(v);
        collect(root);
        const step = (d.width - 24) / leaves.length, tall = (d.height - 60) / Math.max(1, levels);
        leaves.forEach((v, k) => { v.x = 12 + step * (k + 0.5), v.y = d.height - 26; });
        const place = v => {
            if (!v.parts) return v.x;
            const [a, b] = v.parts.map(place);
            v.x = (a + b) / 2, v.y = d.height - 26 - tall * v.depth;
            for (const p of v.parts) d.line(p.x, p.y, v.x, v.y, "soft");
            return v.x;
        };
        place(root);
        const mark = (v, inner) => { /* inner: v is an inner sum of a chain, and its line to the next sum goes right */
            const chain = v.parts && !v.parts[1].parts;
            if (v.parts) v.parts.forEach((p, k) => mark(p, chain && k === 0));
            d.add("circle", {cx: v.x, cy: v.y, r: v.parts ? 5 : 3, class: v.parts ? v.lost ? "bad" : "good" : "leaf"});
            const side = v !== root && (inner || (chain && v.depth > 1)) ? -8 : 8;
            if (v.parts && (step > 24 || v === root))
                d.text(v.x + side, v.y - 6, digits(v.value, 4), `small ${v.lost ? "bad" : ""}`, side < 0 ? "end" : "start");
        };
        mark(root, false);
        if (step > 22) for (const v of leaves) d.text(v.x, d.height - 8, digits(v.value, 3), "small");
    }

    /* Draws the sum after each term, computed and exact. */
    function running(d, history, leaves) {
        let exact = 0;
        const sums = leaves.map(v => exact += v.value), most = Math.max(exact, ...history);
        const at = (k, v) => [46 + (d.width - 60) * k / leaves.length, d.height - 26 - (d.height - 60) * v / most];
        const every = Math.max(1, Math.floor(leaves.length / 400)), thin = list => list.map((v, k) => at(k, v)).filter((_, k) => k % every === 0);
        d.line(46, d.height - 26, d.width - 14, d.height - 26, "axis"), d.line(46, 20, 46, d.height - 26, "axis");
        d.path(thin(sums), "good"), d.path(thin(history), "bad");
        d.text(40, d.height - 22, "0", "small", "end"), d.text(40, 38, digits(most, 5), "small", "end");
        d.text(d.width - 14, d.height - 8, `${leaves.length} terms`, "small", "end");
        d.text(d.width - 20, at(0, sums[sums.length - 1])[1] + 18, "exact", "good", "end");
        d.text(d.width - 20, at(0, history[history.length - 1])[1] - 6, "as computed", "bad", "end");
    }

    figure("sums", {
        title: "Trees of sums",
        state: {n: 4, lanes: "1", order: "chain", type: "bf16", data: "first"},
        build(f) {
            f.choice("data", "terms", Object.entries(kinds).map(([key, [name]]) => [key, name]));
            f.choice("type", "type", [["bf16", "bf16"], ["f16", "f16"], ["f32", "f32"]]);
            f.choice("order", "order", [["chain", "one after the other"], ["blocks", "in blocks"], ["pairwise", "pairwise"]]);
            f.choice("lanes", "lanes", s => s.order === "pairwise" ? [["1", "none"]] : ["1", "2", "4", "8"].map(k => [k, k]));
            f.slider("n", "how many", {min: 1, max: 15, show: v => String(2 ** v)});
            this.tree = f.surface(300, "The additions as a tree");
            f.legend([["what", "an addition:"], ["bad", "● rounded"], ["good", "● exact"]]);
            for (const [key, label] of [["sum", "sum, as computed"], ["exact", "sum, exactly"], ["error", "error, units of one rounding"], ["path", "additions on the longest way"],
                                        ["rounded", "additions that rounded"]]) f.fact(key, label);
        },
        draw(f, s) {
            const L = f.library, t = adder(L, s.type), n = 2 ** s.n;
            const leaves = Array.from({length: n}, (_, i) => ({depth: 0, value: L.round(s.type, kinds[s.data][1](L, i))}));
            const root = total(t, leaves, s), exact = leaves.reduce((sum, v) => sum + v.value, 0);
            if (n <= 32) tree(this.tree, root);
            else if (t.history.length) running(this.tree, t.history, leaves);
            else this.tree.text(this.tree.width / 2, 150, "A tree is drawn for up to 32 terms.", "small");
            f.say("sum", digits(root.value, 8)), f.say("exact", digits(exact, 8)), f.say("path", String(root.depth));
            f.say("error", digits(Math.abs(root.value - exact) / exact / unit[s.type], 3)), f.say("rounded", `${t.rounded} of ${t.all}`);
            const off = Math.abs(exact - root.value), short = digits(off, 6), spacing = 2 ** (Math.floor(Math.log2(exact)) + 1) * unit[s.type];
            f.conclude(off === 0 ? "The sum is exact."
                : off <= spacing / 2 ? `Right: ${digits(exact, 8)} is no ${s.type}, and none is nearer than ${digits(root.value, 8)}.`
                    : root.value < exact ? `${short} is missing.` : `${short} is too much.`);
        }
    });
}
