/* The end of the bundle: in a page, the figures begin; the library's text comes by a script of its own, since
 * pages opened as files may fetch nothing. SPDX-License-Identifier: MIT */
if (typeof document !== "undefined") {
    const folder = document.currentScript.src.replace(/[^/]*$/, "");
    const packed = () => new Promise((resolve, reject) => {
        const script = document.createElement("script");
        script.src = `${folder}normlab.wasm.js`;
        script.onload = () => resolve(globalThis.normlabWasm);
        script.onerror = () => reject(new Error("normlab.wasm.js is missing"));
        document.head.append(script);
    });
    if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => start(packed));
    else start(packed);
}
