/*
 * sweep.js -- the two sweeps over eight numbers as a film, read from the trace of step 3's kernel:
 * a stage for the load, for each level up, for the cleared root and for each level down. What
 * moves, and what it is worth, comes from the trace. Only the drawing knows that it is a tree.
 */
"use strict";
const trace = require("./trace.js");
const { NUMBERS, requestOf, stepOf } = require("./kernels.js");
const { feedsOf } = require("./ptx.js");
const { valueOfBits } = require("./texts.js");

const N = 8, LEVELS = 3, LEAST = -99, MOST = 99;
const SOURCE = "steps/03-work-efficient/scan.cu";
const STEP = stepOf(3);
const PTX = STEP.variants[0].ptx;

/* The request that runs the kernel on these numbers. */
function requestFor(numbers, ptx) {
    const plan = STEP.variants[0].plan(N);
    plan.buffers[0][3] = `values ${numbers.join(" ")}`;
    return requestOf(plan, ptx, { check: 0, trace: true });
}

/* ---- stages ---------------------------------------------------------------------------------- */

/* The stores of an interval, in runs that read shared memory, or do not. */
function runsOf(stores) {
    const runs = [];
    for (const one of stores) {
        const last = runs[runs.length - 1];
        if (last && !last[0].sources.length === !one.sources.length) last.push(one);
        else runs.push([one]);
    }
    return runs;
}

/* The lines of source that run up to the last store of a stage. */
function codeOf(events, first, end, source) {
    const lines = new Set(events.slice(first, end).filter((one) => !trace.isBarrier(one))
        .map((one) => one.line));
    return [...lines].sort((a, b) => a - b).map((line) => source.split("\n")[line - 1].trim());
}

/* The stages of a trace: { kind ("load", "up", "root" or "down"), level (of the words that are
 * stored, 0: the leaves), moves ({ word, value, sources }), before and after (what the eight words
 * hold), code }. */
function stagesOf(text, ptx, source) {
    const events = trace.readTrace(text), stages = [];
    let words = new Array(N).fill(null), first = 0, level = 0, isUp = true;
    const intervals = trace.intervalsOf(events, feedsOf(ptx));
    for (const stores of intervals.flatMap((one) => runsOf(one.stores))) {
        const kind = !stages.length ? "load" : !stores[0].sources.length ? "root"
            : isUp ? "up" : "down";
        isUp = isUp && kind !== "root";
        level += kind === "up" ? 1 : kind === "down" ? -1 : 0;
        const moves = stores.map(({ word, bits, sources }) =>
            ({ word, value: valueOfBits(bits), sources })).sort((a, b) => a.word - b.word);
        const before = words, end = stores[stores.length - 1].at + 1;
        words = words.slice();
        for (const { word, value } of moves) words[word] = value;
        stages.push({ kind, level, moves, before, after: words,
                      code: codeOf(events, first, end, source) });
        first = end;
    }
    return stages;
}

/* When the page is built: runs the kernel on the first screen's numbers in the page's emulator, and
 * prints the stages as JSON. Arguments: emulator.js, the folder of PTX. */
async function main() {
    const fs = require("fs"), { makeEmulator, runRequest } = require("./worker.js");
    const [file, folder] = process.argv.slice(2), read = (path) => fs.readFileSync(path, "utf8");
    const ptx = read(`${folder}/${PTX}.ptx`);
    const emulator = await makeEmulator(require(fs.realpathSync(file)),
                                        fs.readFileSync(file.replace(/js$/, "wasm")));
    const answer = JSON.parse(runRequest(emulator, requestFor(NUMBERS, ptx)));
    if (answer.error) throw new Error(answer.message);
    const stages = stagesOf(answer.trace, ptx, read(`${__dirname}/../../../${SOURCE}`));
    process.stdout.write(JSON.stringify(stages));
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A number as people write it, with a minus sign of its own. */
const numberText = (value) => String(value).replace("-", "\u2212");
const termText = (value) => (value < 0 ? `(${numberText(value)})` : numberText(value));
const sumText = (a, b, sum) => // which a line does not break
    `${numberText(a)}\u00a0+\u00a0${termText(b)}\u00a0=\u00a0${numberText(sum)}`;
const COUNTS = { 1: "One thread adds", 2: "Two threads add", 4: "Four threads add" };
const WHAT = { 1: "neighbours", 2: "pairs of pairs", 3: "the two halves" };

function upText({ level, moves, before }) {
    const sums = moves.map(({ value, sources: [a, b] }) => sumText(before[a], before[b], value));
    return `${COUNTS[moves.length]} ${WHAT[level]}${moves.length > 1 ? ", all at once" : ""}: ` +
        `${sums.join(", ")}${level === LEVELS ? ", the sum of all." : "."}`;
}

function downText({ level, moves, before }) {
    const sums = moves.filter(({ sources }) => sources.length > 1)
        .map(({ word, value, sources }) =>
            sumText(before[word], before[sources.find((one) => one !== word)], value));
    return "A left child gets its parent's value, a right child that value plus the left child's " +
        `sum: ${sums.join(", ")}.` + (level ? "" :
        " Now every place holds the sum of all numbers before it.");
}

/* What a stage is called, and one sentence about it. */
function nameOf({ kind, level }) {
    return { load: "Start", up: `Up, level ${level} of ${LEVELS}`, root: "The root becomes 0",
             down: `Down, level ${LEVELS - level} of ${LEVELS}` }[kind];
}

function sentenceOf(stage) {
    return { load: () => "Four threads load your eight numbers, two each. They are the leaves of a tree.",
             up: upText, down: downText,
             root: () => "On the way down, a node gets the sum of all numbers to the left of its " +
                 "own. To the left of the whole array there are none, and the sum of none is 0." }[stage.kind](stage);
}

module.exports = { LEAST, LEVELS, MOST, N, NUMBERS, PTX, SOURCE, nameOf, numberText, requestFor,
                   sentenceOf, stagesOf };
if (require.main === module) main();
