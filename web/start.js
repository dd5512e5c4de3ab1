/* Starts the figures of a page. The library is a separate script, because a page opened as a file may not use
 * fetch(); it is loaded only if the page has a figure. SPDX-License-Identifier: MIT */
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
