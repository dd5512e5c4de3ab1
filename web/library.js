/* The library in the page: WebAssembly made from core/, the plain rungs, the reference and the judge, with the
 * interface web.h. Nothing is fetched: normlab.wasm.js has the module as text. SPDX-License-Identifier: MIT */

const ARG = {x: 0, residual: 1, dy: 2, gamma: 3, beta: 4, mean: 5, rstd: 6, y: 9, dx: 11};
const WANT = {xhat: 0, mean: 1, variance: 2, rstd: 3, dx: 4};
const OUTCOME = ["ok", "fail", "demo", "skip"];

/* The WASI calls that the C library makes, on files in memory. print(file, text) gets all output: file 1 is
 * stdout, 2 stderr. */
function system(files, print) {
    const OK = 0, BAD_FILE = 8, NO_FILE = 44, NOT_HERE = 52, ROOT = 3;
    const open = {};
    let memory, next = ROOT + 1;
    const view = () => new DataView(memory.buffer);
    const bytes = (at, count) => new Uint8Array(memory.buffer, at, count);
    const name = (at, count) => new TextDecoder().decode(bytes(at, count)).replace(/^[./]+/, "");
    const blocks = (at, count) => Array.from({length: count}, (_, i) =>
        [view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)]);
    const about = (at, size, kind) => {
        bytes(at, 64).fill(0);
        view().setUint8(at + 16, kind);
        view().setBigUint64(at + 32, BigInt(size), true);
        return OK;
    };
    const calls = {
        environ_sizes_get(count, size) {
            view().setUint32(count, 0, true), view().setUint32(size, 0, true);
            return OK;
        },
        environ_get: () => OK,
        clock_time_get(_id, _precision, at) {
            view().setBigUint64(at, BigInt(Math.round(1e6 * performance.now())), true);
            return OK;
        },
        fd_prestat_get(file, at) {
            if (file !== ROOT) return BAD_FILE;
            view().setUint32(at, 0, true), view().setUint32(at + 4, 1, true);
            return OK;
        },
        fd_prestat_dir_name(_file, at) {
            bytes(at, 1)[0] = "/".charCodeAt(0);
            return OK;
        },
        fd_fdstat_get(file, at) {
            bytes(at, 8).fill(0), bytes(at + 8, 16).fill(0xff);
            view().setUint8(at, file < ROOT ? 2 : file === ROOT ? 3 : 4);
            return OK;
        },
        fd_filestat_get: (file, at) => open[file] ? about(at, open[file].data.length, 4) : about(at, 0, 2),
        path_filestat_get(_file, _flags, path, count, at) {
            const data = files[name(path, count)];
            return data ? about(at, data.length, 4) : NO_FILE;
        },
        path_open(_file, _lookup, path, count, _how, _rights, _inherited, _flags, at) {
            const data = files[name(path, count)];
            if (!data) return NO_FILE;
            open[next] = {data, at: 0};
            view().setUint32(at, next++, true);
            return OK;
        },
        fd_close(file) {
            delete open[file];
            return OK;
        },
        fd_seek(file, offset, from, at) {
            const f = open[file];
            if (!f) return BAD_FILE;
            f.at = Number(offset) + [0, f.at, f.data.length][from];
            view().setBigUint64(at, BigInt(f.at), true);
            return OK;
        },
        fd_read(file, list, count, at) {
            const f = open[file];
            let total = 0;
            if (!f) return BAD_FILE;
            for (const [to, size] of blocks(list, count)) {
                const part = f.data.subarray(f.at, f.at + size);
                bytes(to, part.length).set(part);
                f.at += part.length, total += part.length;
            }
            view().setUint32(at, total, true);
            return OK;
        },
        fd_write(file, list, count, at) {
            let total = 0;
            for (const [from, size] of blocks(list, count)) {
                print(file, new TextDecoder().decode(bytes(from, size)));
                total += size;
            }
            view().setUint32(at, total, true);
            return OK;
        },
        proc_exit(code) {
            throw new Error(`the program ended with ${code}`);
        }
    };
    return {
        imports: new Proxy(calls, {get: (all, call) => all[call] || (() => NOT_HERE)}),
        uses(it) { memory = it; }
    };
}

class Library {
    /* packed: the module, gzipped, in base64. */
    static async load(packed) {
        const data = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
        const plain = new Blob([data]).stream().pipeThrough(new DecompressionStream("gzip"));
        const library = new Library(), files = {};
        library.files = files, library.printed = "";
        const here = system(files, (_file, text) => { library.printed += text; });
        const module = await WebAssembly.compile(await new Response(plain).arrayBuffer());
        const imports = {};
        for (const {module: from} of WebAssembly.Module.imports(module)) imports[from] = here.imports;
        library.c = (await WebAssembly.instantiate(module, imports)).exports;
        here.uses(library.c.memory);
        library.c._initialize();
        return library;
    }

    get text() {
        const all = new Uint8Array(this.c.memory.buffer), at = this.c.web_text();
        return new TextDecoder().decode(all.slice(at, all.indexOf(0, at)));
    }

    set text(value) {
        const written = new TextEncoder().encode(`${value}\0`);
        new Uint8Array(this.c.memory.buffer).set(written, this.c.web_text());
    }

    numbers(count) {
        const at = this.c.web_numbers(count);
        if (!at) throw new Error("out of memory");
        return new Float64Array(this.c.memory.buffer, at, count);
    }

    /* Opens a case, such as layernorm/forward/f32/1x4/normal. */
    open(spelling) {
        this.text = spelling;
        if (!this.c.web_open()) throw new Error(this.text);
    }

    /* The implementations that accept the open case. */
    implementations() {
        const names = [];
        for (let i = 0, takes; (takes = this.c.web_accepts(i)) >= 0; i++) if (takes) names.push(this.text);
        return names;
    }

    get(arg) {
        return this.numbers(this.c.web_get(ARG[arg])).slice();
    }

    put(arg, values) {
        this.numbers(values.length).set(values);
        this.c.web_put(ARG[arg]);
    }

    want(what) {
        return this.numbers(this.c.web_want(WANT[what])).slice();
    }

    call(implementation) {
        this.text = implementation;
        const outcome = this.c.web_call();
        if (outcome < 0) throw new Error(this.text);
        const [error, bound] = this.numbers(2);
        return {outcome: OUTCOME[outcome], error, bound, why: this.text};
    }

    network(wiring, norm, stretch, layers, width, rows) {
        if (!this.c.web_network(wiring, norm, stretch, layers, width, rows)) throw new Error("out of memory");
        const all = this.numbers(3 * layers + 2).slice();
        return {activations: all.slice(0, layers + 1), gradients: all.slice(layers + 1, 2 * layers + 2),
                weights: all.slice(2 * layers + 2).map(v => v / Math.sqrt(rows / 2))};
    }

    interval(values) {
        this.numbers(Math.max(values.length, 3)).set(values);
        this.c.web_interval(values.length);
        const [low, median, high] = this.numbers(3);
        return {low, median, high};
    }

    verdict({low, median, high}, band, margin) {
        return ["FASTER", "SLOWER", "SAME", "NOT RESOLVED"][this.c.web_verdict(low, median, high, band, margin)];
    }

    round(type, v) {
        return this.c.web_round(["f32", "f16", "bf16"].indexOf(type), v);
    }

    normal(stream, i) {
        return this.c.web_normal(stream, i);
    }

    /* `normlab judge WORDS`, on files {name: bytes}: its exit code and all that it prints. */
    judge(words, files) {
        for (const name of Object.keys(this.files)) delete this.files[name];
        Object.assign(this.files, files);
        this.printed = "";
        this.text = words.join("\n");
        const code = this.c.web_judge();
        return {code, printed: this.printed.replace(/^\[\d+\/\d+\] .*\n/gm, "")}; /* lines of progress removed */
    }
}
globalThis.NormlabLibrary = Library;
