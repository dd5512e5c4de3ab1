/* Depth: sizes over many random layers, in the networks of the study `depth`. SPDX-License-Identifier: MIT */
{
    const norms = {none: ["none", -1], batchnorm: ["BatchNorm", 0], layernorm: ["LayerNorm", 1], rmsnorm: ["RMSNorm", 2]};
    const places = {plain: ["no residual", 0], pre: ["pre-norm", 1], post: ["post-norm", 2]};
    const lines = {activations: ["activations", "good"], gradients: ["their gradients", "bad"],
                   weights: ["the weights' gradients", "third"]};

    figure("depth", {
        title: "Depth",
        state: {gain: 1.1, layers: 64, width: 64, norm: "none", place: "plain"},
        build(f) {
            f.choice("norm", "norm", Object.entries(norms).map(([key, [name]]) => [key, name]));
            f.choice("place", "its place", Object.entries(places).map(([key, [name]]) => [key, name]));
            f.slider("gain", "scale of weights", {min: 0.5, max: 2, step: 0.05, show: v => digits(v, 3)});
            f.slider("layers", "layers", {min: 2, max: 64}), f.slider("width", "width", {min: 8, max: 64, step: 8});
            this.plot = f.surface(300, "Sizes by layer, on a logarithmic scale");
            f.legend([["what", "rms of the"], ...Object.values(lines).map(([name, kind]) => [kind, name])]);
            for (const [key, [name]] of Object.entries(lines)) f.fact(key, `${name}, first and last`);
        },
        draw(f, s) {
            const d = this.plot, r = f.library.network(places[s.place][1], norms[s.norm][1], s.gain, s.layers, s.width, 32);
            const all = Object.values(r).flatMap(list => [...list]).filter(v => v > 0 && Number.isFinite(v)).map(Math.log10);
            const low = Math.floor(Math.min(-1, ...all)), high = Math.ceil(Math.max(1, ...all)), left = 52, right = d.width - 12;
            const x = layer => left + (right - left) * layer / s.layers;
            const y = v => 14 + (d.height - 50) * (high - Math.log10(v)) / (high - low);
            const every = Math.max(1, Math.ceil((high - low) / 6));
            for (let k = low; k <= high; k++) if (k % every === 0) {
                d.line(left, y(10 ** k), right, y(10 ** k), k ? "rule" : "axis");
                d.text(left - 6, y(10 ** k) + 4, k < -3 || k > 3 ? `1e${String(k).replace("-", "−")}` : digits(10 ** k), "small", "end");
            }
            d.text(left, d.height - 8, "input", "small", "start"), d.text(right, d.height - 8, `layer ${s.layers}`, "small", "end");
            for (const [key, [, kind]] of Object.entries(lines)) {
                const shift = key === "weights" ? 0.5 : 0;
                d.path([...r[key]].map((v, k) => [x(k + shift), y(v)]).filter(p => p.every(Number.isFinite)), kind);
                f.say(key, `${digits(r[key][0], 3)} … ${digits(r[key][r[key].length - 1], 3)}`);
            }
            const g = r.gradients[0] / r.gradients[s.layers], w = r.weights[0] / r.weights[s.layers - 1];
            f.conclude(`From the last layer to the first the gradient of the activations changes by a factor of ${digits(g, 3)}, that of the weights by ${digits(w, 3)}.`);
        }
    });
}
