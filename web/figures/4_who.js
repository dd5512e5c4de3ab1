/* Who sees whom: which outputs depend on an input, on padding and on the batch. SPDX-License-Identifier: MIT */
{
    const N = 3, C = 4, P = 4; /* samples, channels, places */
    const norms = {
        batch: ["Batch", "a channel, over all samples and places"],
        layer: ["Layer", "the channels of one place"],
        rms: ["RMS", "the channels of one place, no mean"],
        instance: ["Instance", "the places of one channel of one sample"],
        group: ["Group of 2", "two channels of one sample, over all places"]
    };
    const index = (n, c, p) => (n * C + c) * P + p;

    /* Normalizes each group of elements as a row. */
    function rows(L, op, x, groups) {
        const y = new Float64Array(x.length);
        L.open(`${op}/forward/f32/${groups.length}x${groups[0].length}/normal/no-affine`);
        L.put("x", groups.flat().map(i => x[i]));
        L.call(`${op}/naive`);
        L.get("y").forEach((v, k) => { y[groups.flat()[k]] = v; });
        return y;
    }

    function groupsOf(norm, count) {
        const all = [], each = (n, size, make) => { for (let i = 0; i < size; i++) all.push(make(n, i)); };
        const range = k => Array.from({length: k}, (_, i) => i);
        for (let n = 0; n < count; n++) {
            if (norm === "layer" || norm === "rms") each(n, P, (m, p) => range(C).map(c => index(m, c, p)));
            if (norm === "instance") each(n, C, (m, c) => range(P).map(p => index(m, c, p)));
            if (norm === "group") each(n, 2, (m, g) => [2 * g, 2 * g + 1].flatMap(c => range(P).map(p => index(m, c, p))));
        }
        if (norm === "batch")
            for (let c = 0; c < C; c++) all.push(range(count).flatMap(n => range(P).map(p => index(n, c, p))));
        return all;
    }

    function output(L, norm, x, count) {
        if (norm !== "batch") return rows(L, norm === "rms" ? "rmsnorm" : "layernorm", x, groupsOf(norm, count));
        L.open(`batchnorm/forward/f32/${count}x${C}x${P}/normal/no-affine`);
        L.put("x", x.slice(0, count * C * P));
        L.call("batchnorm/naive");
        return L.get("y");
    }

    figure("who", {
        title: "Who sees whom",
        state: {norm: "batch", cell: index(0, 1, 1), value: 4, batch: N, length: P},
        build(f) {
            f.choice("norm", "norm", Object.entries(norms).map(([key, [name]]) => [key, name]));
            f.slider("value", "x of the chosen cell", {min: -6, max: 6, step: 0.5});
            f.slider("batch", "batch size", {min: 1, max: N}), f.slider("length", "length of sample 1", {min: 1, max: P});
            this.cells = [];
            const box = f.pictures.appendChild(element("div", {class: "nf-block"}));
            for (let n = 0; n < N; n++) {
                const sample = box.appendChild(element("div", {role: "group", "aria-label": `sample ${n + 1}`}, element("p", {}, `sample ${n + 1}`)));
                const cells = sample.appendChild(element("div", {class: "nf-cells"}));
                for (let i = n * C * P; i < (n + 1) * C * P; i++) {
                    const b = cells.appendChild(element("button", {type: "button"}));
                    b.addEventListener("click", () => f.set({cell: i}));
                    b.addEventListener("keydown", e => {
                        const to = i + {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -P, ArrowDown: P}[e.key], next = this.cells[to];
                        if (next && !next.disabled) e.preventDefault(), next.focus(), f.set({cell: to});
                    });
                    this.cells.push(b);
                }
            }
            f.pictures.append(element("p", {class: "nf-legend"}, "Rows are channels, columns places; the numbers are y. " +
                "Framed: shares the statistics of the chosen cell. Red: moved, strong red by more than 0.3. Dashed: padding."));
            f.fact("moved", "outputs that moved"), f.fact("others", "of them, moved by another sample"), f.fact("shares", "statistics are of");
        },
        draw(f, s) {
            const L = f.library, sample = i => Math.floor(i / C / P), padded = i => i < C * P && i % P >= s.length;
            const changed = test => new Float64Array(N * C * P).map((_, i) =>
                !test(sample(i)) ? L.normal(0, i) : padded(i) ? 0 : i === s.cell ? s.value : L.normal(0, i));
            const before = output(L, s.norm, changed(() => false), N), after = output(L, s.norm, changed(() => true), s.batch);
            const alone = Array.from({length: N}, (_, n) => output(L, s.norm, changed(one => one === n), N)); /* only sample n changes */
            const group = groupsOf(s.norm, s.batch).find(one => one.includes(s.cell)) || [], home = s.cell < s.batch * C * P ? s.cell : 0;
            let moved = 0, others = 0;
            this.cells.forEach((b, i) => {
                const there = i < s.batch * C * P, by = there && !padded(i) ? Math.abs(after[i] - before[i]) : 0;
                const place = `sample ${sample(i) + 1}, channel ${Math.floor(i / P) % C + 1}, place ${i % P + 1}`;
                b.disabled = !there, b.tabIndex = i === home ? 0 : -1, b.textContent = there ? digits(Number(after[i].toFixed(1))) : "";
                b.setAttribute("aria-pressed", String(i === s.cell));
                b.setAttribute("aria-label", `${place}: y ${there ? digits(after[i], 3) : "is not in the batch"}${by > 0 ? ", moved" : ""}`);
                b.className = `${by > 0 ? by > 0.3 ? "much" : "some" : ""}${group.includes(i) ? " shares" : ""}${padded(i) ? " padding" : ""}`;
                if (by > 0) moved++, others += after[i] !== alone[sample(i)][i];
            });
            f.say("moved", `${moved} of ${s.batch * C * P}`), f.say("others", String(others)), f.say("shares", norms[s.norm][1]);
            f.conclude(others ? "An output depends on what else is in the batch." : "No sample sees another.");
        }
    });
}
