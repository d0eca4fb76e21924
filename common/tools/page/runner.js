/*
 * runner.js -- the worker that runs requests. A request that takes too long ends with the worker,
 * and the next one gets a new worker.
 */
"use strict";

const SECONDS = 10; // until a kernel is stopped
/* A page has no environment variables. */
const LIMIT = /, and EMU_KERNEL_INSTRUCTIONS allows no more/g, ENDLESS = ": does a loop not end?";

/* run(request, seconds, progress) gives a promise of the answer (face/face.h), with what the kernels
 * have printed, or of an Error with a sentence; progress(done, all) is called while a lab is judged.
 * stop() ends what runs. */
function makeRunner(program) {
    let worker = null, pending = null, count = 0;

    function start() {
        const address = URL.createObjectURL(new Blob([program], { type: "text/javascript" }));
        worker = new Worker(address);
        worker.onmessage = (event) => finish(event.data);
        worker.onerror = (event) => finish({ id: pending && pending.id, failure: event.message });
        URL.revokeObjectURL(address);
    }

    function finish({ id, answer, printed, failure, done, all }) {
        if (!pending || pending.id !== id) return;
        const { resolve, reject, timer, progress } = pending;
        if (all) {
            if (progress) progress(done, all);
            return;
        }
        pending = null;
        clearTimeout(timer);
        if (failure) reject(new Error(`The emulator has failed: ${failure}`));
        else resolve({ ...JSON.parse(answer.replace(LIMIT, ENDLESS)), printed });
    }

    function stop(sentence) {
        if (!pending) return;
        const { reject, timer } = pending;
        pending = null;
        clearTimeout(timer);
        worker.terminate();
        worker = null;
        reject(new Error(sentence || "The run was stopped."));
    }

    function run(request, seconds = SECONDS, progress = null) {
        stop("Another run has begun.");
        if (!worker) start();
        const id = ++count;
        return new Promise((resolve, reject) => {
            const timer = setTimeout(() => stop(
                `The kernel had not ended after ${seconds} s, so it was stopped. ` +
                "Does a loop wait for something that never happens?"),
            seconds * 1000);
            pending = { id, resolve, reject, timer, progress };
            worker.postMessage({ id, request });
        });
    }
    return { run, stop: () => stop() };
}

module.exports = { SECONDS, makeRunner };
