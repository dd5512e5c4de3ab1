/* Code shared by the figures: settings, controls and drawings. A figure fills an element
 * <div data-figure="NAME">; its settings are also in the address, as #NAME?mean=80000&c=4.
 * SPDX-License-Identifier: MIT */

const definitions = {};

/* definition: title; state: the default settings; build(f): makes controls and drawings, once; draw(f, s):
 * shows the settings s. */
function figure(name, definition) {
    definitions[name] = definition;
}

function element(tag, attributes = {}, ...children) {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes))
        key in e && typeof value !== "string" ? e[key] = value : e.setAttribute(key, value);
    e.append(...children);
    return e;
}

function shape(tag, attributes = {}, ...children) {
    const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.append(...children);
    return e;
}

/* A number with the given significant digits, as C's %g. */
function digits(v, count = 4) {
    if (Number.isNaN(v)) return "NaN";
    if (!Number.isFinite(v)) return v < 0 ? "−Inf" : "Inf";
    const text = v !== 0 && (Math.abs(v) < 1e-4 || Math.abs(v) >= 10 ** Math.max(count, 7))
        ? v.toExponential(count - 1).replace(/\.?0+e/, "e").replace("e+", "e") : String(Number(v.toPrecision(count)));
    return text.replace("-", "−").replace("e-", "e−");
}

/* The figure's name and settings, from the address. */
function addressed() {
    try {
        return decodeURI(location.hash.slice(1)).split("?");
    } catch {
        return [""];
    }
}

function settings(name, defaults) {
    const [figureName, query] = addressed();
    const state = {...defaults};
    if (figureName !== name || query === undefined) return state;
    for (const [key, value] of new URLSearchParams(query))
        if (key in defaults)
            state[key] = typeof defaults[key] === "number" ? Number(value) || 0 : value;
    return state;
}

class Figure {
    constructor(root, name, definition, library) {
        Object.assign(this, {root, name, definition, library, said: {}, refreshers: [], surfaces: []});
        this.state = settings(name, definition.state);
        root.replaceChildren();
        root.setAttribute("role", "group"), root.setAttribute("aria-label", definition.title);
        this.controls = root.appendChild(element("div", {class: "nf-controls"}));
        this.pictures = root.appendChild(element("div", {class: "nf-pictures"}));
        this.verdict = root.appendChild(element("p", {class: "nf-verdict", "aria-live": "polite"}));
        this.facts = root.appendChild(element("dl", {class: "nf-facts"}));
        this.note = root.appendChild(element("p", {class: "nf-note"}));
        definition.build(this);
        if (!this.facts.childElementCount) this.facts.remove();
        new ResizeObserver(() => this.soon()).observe(this.pictures);
        addEventListener("hashchange", () => {
            if (location.hash.startsWith(`#${name}?`)) this.state = settings(name, definition.state), this.soon();
        });
        this.draw();
        root.dataset.ready = "";
    }

    /* Changes settings, redraws, and updates the address. */
    set(changes) {
        Object.assign(this.state, changes);
        clearTimeout(this.timer); /* browsers allow few changes of the address a second */
        this.timer = setTimeout(() => this.address(), 150);
        this.soon();
    }

    address() {
        const query = new URLSearchParams();
        for (const [key, value] of Object.entries(this.state))
            if (value !== this.definition.state[key]) query.set(key, value);
        history.replaceState(null, "", `#${this.name}?${query}`);
    }

    soon() {
        this.frame ??= requestAnimationFrame(() => this.draw());
    }

    draw() {
        this.frame = undefined;
        for (const refresh of this.refreshers) refresh(this.state);
        for (const s of this.surfaces) s.begin();
        this.definition.draw(this, this.state);
        for (const s of this.surfaces) s.end();
    }

    /* Adds a range input. log: min, max and step are logarithms; show(v): the value as text. */
    slider(key, label, {min, max, step = 1, log = false, show = v => digits(v)}) {
        const range = element("input", {type: "range", min: String(min), max: String(max), step: String(step)});
        const shown = element("output");
        range.addEventListener("input", () => {
            const v = Number(range.value);
            this.set({[key]: log ? Number((10 ** v).toPrecision(3)) : v});
        });
        range.dataset.key = key;
        this.controls.append(element("label", {class: "nf-slider"}, element("span", {}, label, " ", shown), range));
        this.refreshers.push(s => {
            const [low, high] = log ? [10 ** min, 10 ** max] : [min, max];
            s[key] = Math.min(high, Math.max(low, s[key]));
            const at = log ? Math.log10(s[key]) : s[key];
            if (Math.abs(Number(range.value) - at) > step / 2) range.value = String(at);
            shown.textContent = show(s[key]);
            range.setAttribute("aria-valuetext", show(s[key]));
        });
    }

    /* Adds a group of radio buttons. options: pairs [value, text], or a function of the settings. */
    choice(key, label, options) {
        const list = typeof options === "function" ? options : () => options;
        const box = this.controls.appendChild(element("fieldset", {class: "nf-choice"}, element("legend", {}, label)));
        let before = "";
        this.refreshers.push(s => {
            const allowed = list(s);
            if (!allowed.some(([value]) => value === s[key])) s[key] = allowed[0][0];
            if (before !== String(allowed)) {
                before = String(allowed);
                const buttons = allowed.map(([value, text]) => {
                    const input = element("input", {type: "radio", name: `${this.name}-${key}`, value: String(value)});
                    input.addEventListener("change", () => this.set({[key]: value}));
                    return element("label", {}, input, element("span", {}, text));
                });
                box.replaceChildren(box.firstChild, element("div", {}, ...buttons));
            }
            for (const input of box.querySelectorAll("input")) input.checked = input.value === String(s[key]);
        });
    }

    buttons(label, list) {
        const all = list.map(([text, act]) => {
            const b = element("button", {type: "button"}, text);
            b.addEventListener("click", act);
            return b;
        });
        this.controls.append(element("div", {class: "nf-buttons", role: "group", "aria-label": label},
            element("span", {}, label), element("div", {}, ...all)));
    }

    /* Adds a row to the table of facts; say() fills it. */
    fact(key, label) {
        const value = element("dd", {"data-fact": key});
        this.facts.append(element("div", {}, element("dt", {}, label), value));
        this.said[key] = value;
    }

    say(key, text) {
        if (this.said[key].textContent !== text) this.said[key].textContent = text;
    }

    conclude(text) {
        if (this.verdict.textContent !== text) this.verdict.textContent = text;
    }

    /* The legend of the drawing above: pairs [class, text]. */
    legend(list) {
        this.pictures.append(element("p", {class: "nf-legend"}, ...list.map(([kind, text]) => element("span", {class: kind}, text))));
    }

    /* An SVG as wide as the figure. Each draw() fills it anew; its handles persist, to keep focus and
     * pointer capture. */
    surface(height, label) {
        const s = new Surface(this, height, label);
        this.surfaces.push(s);
        return s;
    }
}

class Surface {
    constructor(f, height, label) {
        this.figure = f, this.tall = height, this.handles = [];
        this.svg = f.pictures.appendChild(shape("svg", {role: "group", "aria-label": label}));
        this.marks = this.svg.appendChild(shape("g", {"aria-hidden": "true"}));
    }

    get width() { return Math.max(280, this.figure.pictures.clientWidth); }
    get height() { return typeof this.tall === "function" ? this.tall(this.width) : this.tall; }

    begin() {
        for (const [key, value] of [["width", this.width], ["height", this.height],
                                    ["viewBox", `0 0 ${this.width} ${this.height}`]])
            this.svg.setAttribute(key, value);
        this.marks.replaceChildren();
    }

    end() {
        for (const h of this.handles) {
            const at = h.at(this.figure.state);
            h.dot.style.display = at ? "" : "none";
            if (!at) continue;
            h.dot.setAttribute("transform", `translate(${at.x} ${at.y})`);
            h.dot.setAttribute("aria-valuetext", at.text), h.dot.setAttribute("aria-valuenow", "0");
        }
    }

    add(tag, attributes, ...children) {
        return this.marks.appendChild(shape(tag, attributes, ...children));
    }

    line(x1, y1, x2, y2, kind = "") {
        return this.add("line", {x1, y1, x2, y2, class: kind});
    }

    text(x, y, words, kind = "", anchor = "middle") {
        return this.add("text", {x, y, class: kind, "text-anchor": anchor}, words);
    }

    path(points, kind) {
        return this.add("polyline", {points: points.map(p => p.map(v => v.toFixed(1)).join()).join(" "), class: kind});
    }

    /* Adds a point that the pointer or the arrow keys move. at(s): its x and y in pixels, and its value as text; false
     * hides it. move(dx, dy): called with the movement in pixels. */
    handle(label, kind, at, move) {
        const dot = this.svg.appendChild(shape("g", {tabindex: "0", role: "slider", "aria-label": label,
                                                     class: `nf-handle ${kind}`},
            shape("circle", {r: 22, class: "nf-reach"}), shape("circle", {r: 8})));
        const steps = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
        let from;
        dot.addEventListener("pointerdown", e => {
            from = [e.clientX, e.clientY], dot.setPointerCapture(e.pointerId), dot.focus(), e.preventDefault();
        });
        dot.addEventListener("pointermove", e => {
            if (!from) return;
            move(e.clientX - from[0], e.clientY - from[1]);
            from = [e.clientX, e.clientY];
        });
        for (const end of ["pointerup", "pointercancel"]) dot.addEventListener(end, () => { from = undefined; });
        dot.addEventListener("keydown", e => {
            if (!steps[e.key]) return;
            const size = e.shiftKey ? 16 : 4;
            move(...steps[e.key].map(v => v * size)), e.preventDefault();
        });
        this.handles.push({dot, at});
    }
}

/* Starts each figure of the page when it comes near the viewport. */
function start(packed) {
    const all = [...document.querySelectorAll("[data-figure]")].filter(root => definitions[root.dataset.figure]);
    if (!all.length) return;
    let loading;
    const show = async root => {
        const name = root.dataset.figure;
        if (root.dataset.begun !== undefined) return;
        root.dataset.begun = "";
        try {
            loading ??= packed().then(text => Library.load(text));
            new Figure(root, name, definitions[name], await loading);
        } catch (error) {
            root.textContent = `This figure does not run here: ${error.message}`;
            throw error;
        }
    };
    const near = new IntersectionObserver(seen => {
        for (const {target, isIntersecting} of seen) if (isIntersecting) near.unobserve(target), show(target);
    }, {rootMargin: "600px"});
    for (const root of all) near.observe(root);
    const named = () => {
        const [name, query] = addressed(), root = all.find(one => one.dataset.figure === name);
        if (root && query !== undefined) show(root), root.scrollIntoView({block: "center"});
    };
    addEventListener("hashchange", named);
    named();
}
