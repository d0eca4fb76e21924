/*
 * worker.js -- runs requests (face/face.h) in the emulator, outside of the page's own thread. It
 * stands behind emulator.js, which defines Emulator(), and WASM, the module, deflated and in base64.
 * Messages are { id, request }; an answer is { id, answer, printed } with the JSON text and the
 * first lines that kernels have printed, or { id, failure } with a sentence. Before it come messages
 * { id, done, all } of a lab's runs.
 */
"use strict";
const MOST_PRINTED = 20, PRINTED_LINE = 199; // as check-lab shows them

/* The emulator, with what kernels print. Of a flood it stops the kernel. */
async function makeEmulator(Module, wasmBinary) {
    const printed = [];
    const emulator = await Module({ wasmBinary, print: (line) => {
        if (printed.length < MOST_PRINTED) printed.push(line.slice(0, PRINTED_LINE));
        emulator._face_printed(emulator.lengthBytesUTF8(line) + 1);
    } });
    emulator.printed = printed;
    return emulator;
}

/* Calls face_run with a text, and returns its answer. */
function runRequest(emulator, request) {
    const size = emulator.lengthBytesUTF8(request) + 1;
    const at = emulator._malloc(size);
    if (!at) throw new Error("The request does not fit into the emulator's memory.");
    emulator.printed.length = 0;
    emulator.stringToUTF8(request, at, size);
    const answer = emulator._face_run(at);
    emulator._free(at);
    if (!answer) throw new Error("The emulator needs more memory than the page has. " +
                                "Choose a smaller n or fewer threads.");
    const text = emulator.UTF8ToString(answer);
    emulator._free(answer);
    return text;
}

/* The bytes of a deflated text in base64. */
function inflated(text) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate")))
        .arrayBuffer();
}

if (typeof WorkerGlobalScope !== "undefined") {
    const ready = inflated(WASM).then((wasmBinary) => makeEmulator(Emulator, wasmBinary));
    onmessage = (event) => {
        const { id, request } = event.data;
        ready.then((emulator) => {
            emulator.progress = (done, all) => postMessage({ id, done, all });
            const answer = runRequest(emulator, request);
            postMessage({ id, answer, printed: emulator.printed });
        }).catch((error) => postMessage({ id, failure: String(error.message || error) }));
    };
} else {
    Object.assign(module.exports, { makeEmulator, runRequest });
}
