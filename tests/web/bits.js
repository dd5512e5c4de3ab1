/* Tests that the library of the figures gives the same bits, verdicts, errors and judge's reports as the native
 * build. Usage: node bits.js FOLDER NATIVE ARRAYS... (FOLDER has figures.js, NATIVE has the output of native.c).
 * ARRAYS is a folder for the judge: its file `words` has the judge's arguments, and ARRAYS.report has the output
 * of the native build. SPDX-License-Identifier: MIT */
const fs = require("fs"), path = require("path");
const [folder, native, ...judged] = process.argv.slice(2);
require(path.resolve(folder, "figures.js")), require(path.resolve(folder, "normlab.wasm.js"));

(async () => {
    const L = await NormlabLibrary.load(normlabWasm);
    const lines = fs.readFileSync(native, "utf8").trim().split("\n").map(line => line.split("\t"));
    const cases = new Set(lines.map(([spelling]) => spelling)), wrong = [];
    for (const [spelling, name, hash, outcome, error] of lines) {
        L.open(spelling);
        const r = L.call(name);
        L.c.web_hash();
        if (L.text !== hash) wrong.push(`${spelling} ${name}: ${L.text}, not ${hash}`);
        const native = Number(error.replace("inf", "Infinity").replace("nan", "NaN"));
        const near = Object.is(r.error, native) || Math.abs(r.error - native) <= 1e-6 + 1e-4 * native;
        if (!near || r.outcome !== ["ok", "fail", "demo", "skip"][outcome])
            wrong.push(`${spelling} ${name}: ${r.outcome} ${r.error}, not ${outcome} ${error}`);
    }
    for (const arrays of judged) {
        const files = {};
        for (const file of fs.readdirSync(arrays)) files[file] = new Uint8Array(fs.readFileSync(path.join(arrays, file)));
        const {printed} = L.judge(fs.readFileSync(path.join(arrays, "words"), "utf8").trim().split(/\s+/), files);
        if (printed !== fs.readFileSync(`${arrays}.report`, "utf8")) wrong.push(`${arrays}: the judge prints\n${printed}`);
    }
    if (cases.size < 200) wrong.push(`${cases.size} cases are fewer than 200`);
    for (const line of wrong.slice(0, 20)) console.error(line);
    console.log(`${cases.size} cases, ${lines.length} calls: ${wrong.length} differ`);
    process.exitCode = wrong.length ? 1 : 0;
})();
