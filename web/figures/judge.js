/* `normlab judge` in the page, for files dropped on the page. Nothing leaves the page. SPDX-License-Identifier: MIT */
{
    const roles = ["x", "residual", "gamma", "beta", "y", "dy", "dx", "dresidual", "dgamma", "dbeta", "running_mean", "running_var"];

    /* The argument whose values a file has, from the file's name: gamma for late.gamma.npy. */
    const roleOf = name => {
        const words = name.replace(/\.npy$/, "").toLowerCase().split(/[.\-\s]/);
        return roles.find(role => role === words[words.length - 1]) || roles.find(role => words.includes(role));
    };

    function npy(values, shape) {
        const head = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape.join(", ")},), }`;
        const padded = head.padEnd(Math.ceil((head.length + 11) / 64) * 64 - 11) + "\n";
        const all = new Uint8Array(10 + padded.length + 4 * values.length);
        all.set([0x93, 78, 85, 77, 80, 89, 1, 0, padded.length & 255, padded.length >> 8]);
        all.set(new TextEncoder().encode(padded), 10);
        all.set(new Uint8Array(new Float32Array(values).buffer), 10 + padded.length);
        return all;
    }

    figure("judge", {
        title: "Judge in the page",
        state: {layer: "layernorm", eps: "1e-5", casting: "last", rounded: ""},
        build(f) {
            this.files = {};
            f.choice("layer", "layer", [["layernorm", "LayerNorm"], ["rmsnorm", "RMSNorm"], ["qwen2_rmsnorm", "Qwen2RMSNorm"], ["batchnorm", "BatchNorm"]]);
            f.choice("eps", "eps", ["1e-5", "1e-6", "1e-12", "0"].map(v => [v, v]));
            f.choice("casting", "cast to y's type", [["last", "last"], ["before-weight", "before the weight"]]);
            f.choice("rounded", "y was rounded to", [["", "its own type"], ["f16", "f16"], ["bf16", "bf16"]]);
            const input = element("input", {type: "file", multiple: true, accept: ".npy"});
            const box = element("label", {class: "nf-drop"}, "Drop x.npy and y.npy here, with gamma.npy and beta.npy if there are any; or choose them: ", input);
            this.list = element("p", {class: "nf-legend"});
            const take = async files => {
                for (const file of files) if (roleOf(file.name)) this.files[roleOf(file.name)] = new Uint8Array(await file.arrayBuffer());
                this.stranger = [...files].filter(file => !roleOf(file.name)).map(file => file.name).join(", ");
                f.soon();
            };
            input.addEventListener("change", () => take(input.files));
            for (const kind of ["dragover", "drop"]) f.root.addEventListener(kind, e => { e.preventDefault(); if (kind === "drop") take(e.dataTransfer.files); });
            f.buttons("Or:", [["an example", () => this.example(f)], ["forget the files", () => { this.files = {}, input.value = "", f.soon(); }]]);
            this.out = element("pre", {class: "nf-report", tabindex: "0", "aria-label": "report"});
            f.pictures.append(box, this.list, f.verdict, this.out);
        },
        /* Rows whose means lie ever farther from zero, normalized by one_pass. */
        example(f) {
            const L = f.library, rows = 24, c = 64, x = [];
            for (let i = 0; i < rows * c; i++) x.push(Math.fround(L.normal(0, i) + 2 ** (Math.floor(i / c) / 3)));
            L.open(`layernorm/forward/f32/${rows}x${c}/normal/no-affine`);
            L.put("x", x), L.call("layernorm/one_pass");
            this.files = {x: npy(x, [rows, c]), y: npy(L.get("y"), [rows, c])};
            f.set({layer: "layernorm", eps: "1e-5", casting: "last", rounded: ""});
        },
        draw(f, s) {
            const names = roles.filter(role => this.files[role]), {x, y, dx} = this.files;
            this.list.textContent = (names.length ? `Taken: ${names.join(", ")}.` : "No file yet.") +
                (this.stranger ? ` Not known by its name: ${this.stranger}.` : "");
            const words = [s.layer, ...names.flatMap(role => [`--${role.replace("_", "-")}`, `${role}.npy`]), "--eps", s.eps];
            if (s.casting !== "last") words.push("--casting", s.casting);
            if (s.rounded) words.push("--rounded-to", s.rounded);
            const asked = [words.join(" "), ...names.map(role => this.files[role])];
            if (this.asked && asked.every((v, i) => v === this.asked[i]) && asked.length === this.asked.length) return;
            this.asked = asked, this.out.textContent = "";
            f.note.textContent = names.length ? `normlab judge ${asked[0]}` : "";
            if (!x || !(y || dx)) return f.conclude(names.length ? "x and y are needed, or x, dy and dx." : ""), undefined;
            f.conclude("computing …");
            setTimeout(() => this.asked === asked && this.judge(f, words, names), 50);
        },
        judge(f, words, names) {
            const files = Object.fromEntries(names.map(role => [`${role}.npy`, this.files[role]]));
            let found;
            try {
                found = f.library.judge(words, files);
            } catch (error) { /* WebAssembly stopped, for example because it got no memory */
                return f.conclude(`Not judged in the page: ${error.message}. The command below judges the files in a terminal.`), undefined;
            }
            const {code, printed} = found, lines = printed.trim().split("\n");
            this.out.textContent = printed;
            f.conclude(code > 1 ? lines[0] : lines.filter(line => /^(verdict|likely mechanism)/.test(line))
                .map(line => line.replace(/^verdict +/, "").replace(/^likely mechanism +/, "Likely mechanism: ")).join(". "));
        }
    });
}
