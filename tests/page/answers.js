/* answers.js -- for test_emulator.py: answers the requests on stdin, a JSON array of texts, by
 * WebAssembly. Arguments: emulator.js, worker.js. With --requests, prints the requests of every
 * step and variant instead, as the page makes them: objects of step, variant, n, choice and
 * request; the argument is the folder of PTX. With --judge, judges the answers to a lab on stdin,
 * [name, answers] (common/tools/page/labs.js). With --code, judges the texts on stdin as the page does,
 * [task, path, text] each (common/tools/page/code_lab.js), and measures the processor's time. With
 * --flow, checks the lines that the page draws from loads to stores: of each { ptx, trace } on stdin,
 * how many stores have lines, and how many of these are not the sum of the words at which their
 * lines begin, as the thread has loaded them. With --sums, adds up the counters of each launch in the
 * traces on stdin. */
"use strict";
const fs = require("fs");
const path = require("path");
const PAGE = path.join(__dirname, "..", "..", "common", "tools", "page");
const trace = require(path.join(PAGE, "trace.js"));
const { feedsOf } = require(path.join(PAGE, "ptx.js"));
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

async function runnerOf(file) {
    const { makeEmulator, runRequest } = require(path.join(PAGE, "worker.js"));
    const emulator = await makeEmulator(require(path.resolve(file)),
                                        fs.readFileSync(file.replace(/js$/, "wasm")));
    const answer = (text) => runRequest(emulator, text);
    return Object.assign(answer, { printed: emulator.printed });
}

const given = () => JSON.parse(fs.readFileSync(0, "utf8"));

async function judged(file) {
    const run = await runnerOf(file), [name, answers] = given();
    const read = (...parts) => fs.readFileSync(path.join(...parts), "utf8");
    return require(path.join(PAGE, "labs.js")).judge(name, answers, {
        run: (request) => JSON.parse(run(request)), source: (one) => read(PAGE, "../../..", one),
        ptx: (one) => read(path.dirname(file), "ptx", `${one}.ptx`) });
}

/* What the page gives to the judge: it is built with this text. */
function labTexts(file) {
    const page = fs.readFileSync(path.join(path.dirname(file), "upsweep.html"), "utf8");
    return JSON.parse(/<script type="application\/json" id="data">(.*?)<\/script>/s.exec(page)[1])
        .labs;
}
async function judgedCode(file) {
    const { judgeRequest } = require(path.join(PAGE, "code_lab.js"));
    const run = await runnerOf(file), labs = labTexts(file);
    return given().map(([judge, name, text]) => {
        const start = process.cpuUsage(), request = judgeRequest(labs, { judge }, name, text);
        const answer = JSON.parse(run(request)), seconds = process.cpuUsage(start).user / 1e6;
        return { ...answer, printed: [...run.printed], seconds };
    });
}

const view = new DataView(new ArrayBuffer(4));
function floatOf(bits) {
    view.setUint32(0, bits);
    return view.getFloat32(0);
}

/* The value that each thread has loaded last from each word before each store. */
function check(events, feeds, found) {
    const loaded = new Map();
    const stores = trace.intervalsOf(events, feeds).flatMap((one) => one.stores);
    let next = 0;
    events.forEach((event, at) => {
        if (!trace.isShared(event)) return;
        if (event.operation === "ld")
            for (const { lane, address, values } of trace.lanesOf(event))
                values.forEach((hex, k) => loaded.set(`${event.warp} ${lane} ${address / 4 + k}`,
                                                      floatOf(parseInt(hex, 16))));
        for (; next < stores.length && stores[next].at === at; next++) {
            const { lane, sources, bits } = stores[next], value = floatOf(bits);
            if (!sources.length) continue;
            const from = sources.map((word) => loaded.get(`${event.warp} ${lane} ${word}`));
            const sum = from.reduce((a, b) => a + b, 0);
            found.stores++;
            if (value !== sum && (from.length > 1 || !from.includes(value))) found.wrong++;
            if (from.length > 1 && value === sum) found.sums++;
        }
    });
}

function checked({ ptx, trace: text }) {
    const events = trace.readTrace(text), feeds = feedsOf(ptx);
    const found = { stores: 0, sums: 0, wrong: 0 };
    const keys = new Set(events.map((event) => `${event.launch} ${event.block}`));
    for (const key of keys)
        check(events.filter((event) => `${event.launch} ${event.block}` === key), feeds, found);
    return found;
}

function summed(text) {
    const events = trace.readTrace(text);
    return [...new Set(events.map((event) => event.launch))].map((launch) =>
        trace.sumsOf(events.filter((event) => event.launch === launch), Infinity));
}

async function main() {
    const [what, file] = process.argv.slice(2);
    const result = what === "--requests" ? requests(file)
        : what === "--judge" ? await judged(file)
        : what === "--flow" ? given().map(checked)
        : what === "--sums" ? given().map(summed)
        : what === "--code" ? await judgedCode(file) : given().map(await runnerOf(file));
    process.stdout.write(JSON.stringify(result));
}
main();
