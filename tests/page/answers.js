/* answers.js -- for test_emulator.py: answers the requests on stdin, a JSON array of texts, by
 * WebAssembly. Arguments: emulator.js, worker.js. With --requests, prints the requests of every
 * step and variant instead, as the page makes them: objects of step, variant, n, choice and
 * request; the argument is the folder of PTX. */
"use strict";
const fs = require("fs");
const path = require("path");
const PAGE = path.join(__dirname, "..", "..", "common", "page");
const ALL_CHECKERS = 15;
/* What a reader may choose beside n and variant; tried with a step's first n. */
const CHOICES = [{}, { seed: 7 }, { rules: "g80" }, { rules: "kepler8" }];

function requests(folder) {
    const { STEPS, requestOf } = require(path.join(PAGE, "kernels.js"));
    const found = [];
    for (const step of STEPS)
        for (const variant of step.variants)
            for (const n of step.sizes)
                for (const choice of n === step.sizes[0] ? CHOICES : [{}]) {
                    const ptx = fs.readFileSync(path.join(folder, `${variant.ptx}.ptx`), "utf8");
                    const options = { check: ALL_CHECKERS, trace: true, ...choice };
                    found.push({ step: step.step, variant: variant.name, n, choice,
                                 request: requestOf(variant.plan(n), ptx, options) });
                }
    return found;
}

async function answers(file) {
    const { runRequest } = require(path.join(PAGE, "worker.js"));
    const emulator = await require(path.resolve(file))({
        wasmBinary: fs.readFileSync(file.replace(/js$/, "wasm")) });
    return JSON.parse(fs.readFileSync(0, "utf8")).map((text) => runRequest(emulator, text));
}

async function main() {
    const [what, file] = process.argv.slice(2);
    const result = what === "--requests" ? requests(file) : await answers(file);
    process.stdout.write(JSON.stringify(result));
}
main();
