/*
 * worker.js -- runs requests (face/face.h) in the emulator, outside of the page's own thread. It
 * stands behind emulator.js, which defines Emulator(), and WASM, the module, deflated and in base64.
 * Messages are { id, request }; an answer is { id, answer } with the JSON text, or { id, failure }
 * with a sentence.
 */
"use strict";

/* Calls face_run with a text, and returns its answer. */
function runRequest(emulator, request) {
    const size = emulator.lengthBytesUTF8(request) + 1;
    const at = emulator._malloc(size);
    if (!at) throw new Error("The request does not fit into the emulator's memory.");
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
    const ready = inflated(WASM).then((wasmBinary) => Emulator({ wasmBinary }));
    onmessage = (event) => {
        const { id, request } = event.data;
        ready.then((emulator) => postMessage({ id, answer: runRequest(emulator, request) }))
            .catch((error) => postMessage({ id, failure: String(error.message || error) }));
    };
} else {
    module.exports.runRequest = runRequest;
}
