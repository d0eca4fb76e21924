/*
 * labs.js -- the labs without a compiler: their questions, the answers as a text for links, and a
 * judge that has the emulator run the steps' own kernels. The page and `make grade N=page` use it.
 *
 * The answers to a lab are a list of texts, "" where there is none. A bench is what a judge needs:
 * ptx(name), source(path), of a step or of a header, and run(request), which promises an answer
 * (face/face.h).
 */
"use strict";
const trace = require("./trace.js");
const { ALL_CHECKERS, kernelsOf, requestOf, stepOf, variantOf } = require("./kernels.js");
const { barriersOf, keyOf, withoutBarriers, placesOf } = require("./ptx.js");
const { compileRequest } = require("./editor.js");
const { counted, resultText } = require("./texts.js");

/* The answer for a plan, with its document read; an Error if the request is refused. */
async function ran(bench, plan, ptx, options) {
    const answer = await bench.run(requestOf(plan, ptx, options));
    if (!answer.document) throw new Error(answer.message);
    return { ...answer, document: JSON.parse(answer.document) };
}

/* Lines of source from one that begins with a text to another: { line, text }, without comments. */
function codeOf(source, first, last) {
    const lines = source.split("\n").map((text, k) => ({ line: k + 1, text }));
    const find = (part) => lines.findIndex(({ text }) => text.trim().startsWith(part));
    return lines.slice(find(first), find(last) + 1)
        .map(({ line, text }) => ({ line, text: text.replace(/\s*\/\/.*/, "").slice(4) }))
        .filter(({ text }) => text.trim());
}

const lineOf = (place) => (place && place.line) || 0;

/* Where racecheck has found hazards, in words. */
function findingsText(findings) {
    const lines = findings.filter((one) => one.tool === "racecheck").map((one) =>
        [...new Set([lineOf(one.place), lineOf(one.other_place)])].filter(Boolean)
            .sort((a, b) => a - b));
    const texts = (count) => [...new Set(lines.filter((one) => one.length === count)
        .map((one) => one.join(" and ")))].join(", ");
    const parts = [texts(2) && `between lines ${texts(2)}`, texts(1) && `in line ${texts(1)}`];
    return lines.length ? `racecheck finds hazards ${parts.filter(Boolean).join("; ")}`
        : "the checkers find nothing";
}

/* Why a kernel was stopped, and at which line of its source, if a checker has found the reason. The
 * lab may not show this line. */
function stoppedText({ message, document }, source) {
    const found = document.findings.find((one) => one.severity === "error" && lineOf(one.place));
    const line = found && lineOf(found.place);
    const code = line ? source.split("\n")[line - 1].replace(/\s*\/\/.*/, "").trim() : "";
    return `stopped: ${message.split(/[,\n]/)[0]}${line ? `, in line ${line}: ${code}` : ""}`;
}

/* ---- predict the conflicts ------------------------------------------------------------------- */

const PREDICTED = { n: 128, offsets: [1, 2, 4, 8, 16, 32, 64] };

/* Each level of step 3's up-sweep lies between two barriers. */
async function judgeConflicts(text, k, bench) {
    const { plan, ptx } = variantOf(stepOf(3)), levels = [];
    const answer = await ran(bench, plan(PREDICTED.n), bench.ptx(ptx), { check: 0, trace: true });
    for (const event of trace.readTrace(answer.trace)) trace.addToLevels(levels, event);
    const isRight = Number(text) === levels[k + 1].ld;
    return { isRight, says: isRight ? "right" : `not ${Number(text)}` };
}

/* ---- find the missing barrier ---------------------------------------------------------------- */

const MISSING = { n: 128, runs: [2, 3, 1], // the number of the barrier that each run lacks
                  source: "steps/03-work-efficient/scan.cu",
                  first: "temp[2 * thid] =", last: "g_odata[2 * thid + 1] =" };

/* What the checkers find in step 3's kernel without one of its barriers. */
async function findingsWithout(number, bench) {
    const { plan: planOf, ptx: name } = variantOf(stepOf(3));
    const plan = planOf(MISSING.n), ptx = bench.ptx(name), kernels = kernelsOf(plan);
    const key = keyOf(barriersOf(ptx, kernels)[number - 1]);
    const text = withoutBarriers(ptx, kernels, new Set([key]));
    return (await ran(bench, plan, text, { check: ALL_CHECKERS })).document.findings;
}

const briefOf = ({ tool, kind, place, other_place: other, count }) =>
    [tool, kind, lineOf(place), lineOf(other), count].join(" ");

/* Right is whichever barrier's absence has the same findings. */
async function judgeMissing(text, k, bench) {
    const found = await findingsWithout(Number(text), bench);
    const wanted = await findingsWithout(MISSING.runs[k], bench);
    const isRight = String(found.map(briefOf)) === String(wanted.map(briefOf));
    return { isRight, says: isRight ? "right"
        : `not this one: without it, ${findingsText(found)}` };
}

/* What is shown of each run. */
async function missingRuns(bench) {
    const texts = [];
    for (const number of MISSING.runs)
        texts.push(findingsText(await findingsWithout(number, bench)));
    return texts;
}

/* ---- choose the padding ---------------------------------------------------------------------- */

const PADDED = [{ n: 512, rules: "hopper", says: "n = 512, 32 banks" },
                { n: 2048, rules: "hopper", says: "n = 2048, 32 banks" },
                { n: 256, rules: "g80", says: "n = 256, the 16 banks of 2007" }];

/* A variant's conflicts, and the words that it leaves unused. */
async function paddingOf(variant, { n, rules }, bench) {
    const plan = variant.plan(n), [[, , , bytes]] = plan.launches;
    const { document } = await ran(bench, plan, bench.ptx(variant.ptx), { check: 0, rules });
    const { shared_load: loads, shared_store: stores } = document.launches[0].counters;
    const excess = (part) => part.wavefronts - part.ideal_wavefronts;
    return { conflicts: excess(loads) + excess(stores), unused: bytes / trace.WORD - n };
}

async function judgePadding(name, k, bench) {
    const all = [], { variants } = stepOf(4);
    for (const one of variants) all.push(await paddingOf(one, PADDED[k], bench));
    const mine = all[variants.findIndex((one) => one.name === name)];
    const words = counted(mine.unused, "unused word");
    if (mine.conflicts)
        return { isRight: false, says: `${counted(mine.conflicts, "bank conflict")} left` };
    return all.some((one) => !one.conflicts && one.unused < mine.unused)
        ? { isRight: false, says: `no conflict, but ${words}: fewer do` }
        : { isRight: true, says: `right: no conflict, and ${words}` };
}

/* ---- choose the place of a barrier ----------------------------------------------------------- */

/* The lines of step 2's kernel before which its second barrier may be put. One of them is that
 * barrier itself. */
const BARRIER = "__syncthreads();";
const PLACED = { n: 64, removed: 2, source: "steps/02-naive/scan.cu",
                 first: "for (int offset = 1;", last: "g_odata[thid] =" };
const BEFORE = ["pout = 1 - pout;", "temp[pout * n + thid] = temp[pin * n + thid] + ", BARRIER,
                PLACED.last];

/* The code with the places: { line, text, place (0: none) }. */
const placedCode = (source) => codeOf(source, PLACED.first, PLACED.last).map((one) => ({
    ...one, place: BEFORE.findIndex((part) => one.text.trim().startsWith(part)) + 1 }));

/* The kernel with its barrier moved to a place: behind the mark of the line in PTX. */
function withBarrierAt(place, plan, bench) {
    const ptx = bench.ptx(variantOf(stepOf(2)).ptx), kernels = kernelsOf(plan);
    const key = keyOf(barriersOf(ptx, kernels)[PLACED.removed - 1]);
    const text = withoutBarriers(ptx, kernels, new Set([key])), lines = text.split("\n");
    const { line } = placedCode(bench.source(PLACED.source)).find((one) => one.place === place);
    const at = placesOf(text).findIndex((one, k) =>
        one.line === line && /^\s*\.loc\s/.test(lines[k]));
    lines[at] += " bar.sync 0;";
    return lines.join("\n");
}

async function judgeBarrier(text, k, bench) {
    const plan = variantOf(stepOf(2)).plan(PLACED.n);
    const ptx = withBarrierAt(Number(text), plan, bench);
    const { error, message, document } = await ran(bench, plan, ptx, { check: ALL_CHECKERS });
    const isRight = !error && document.findings.length === 0;
    return { isRight, says: error ? stoppedText({ message, document }, bench.source(PLACED.source))
        : `${isRight ? "right: " : ""}${findingsText(document.findings)}` };
}

/* ---- put lines in order ---------------------------------------------------------------------- */

/* A loop of a step's kernel. `begins` are its letters in the order in which the reader finds the
 * lines: a is the first line of the book's kernel. `from` and `to` are the first and the last line
 * that the lab shows, `first` and `next` the loop's first line and the one after it. */
const ORDERED = {
    sweep: { step: 2, n: 256, source: "steps/02-naive/scan.cu", begins: "hdbgafice",
             from: "int pout = 0", first: "for (int offset = 1;", next: "g_odata[thid] =" },
    upsweep: { step: 3, n: 256, source: "steps/03-work-efficient/scan.cu", begins: "fceigahbd",
               from: "temp[2 * thid] =", first: "for (int d = n >> 1;", next: "if (thid == 0)" },
};
const HEADER = "common/step/step.h", A = "a".charCodeAt(0), SEEDS = [0, 7];

/* { before, lines, after }: the code, { line, text }; `lines` are those to be put in order. */
function orderedCode({ source, from, first, next }, texts) {
    const code = codeOf(texts(source), from, next);
    const start = code.findIndex(({ text }) => text.startsWith(first));
    return { before: code.slice(0, start), lines: code.slice(start, -1), after: code.slice(-1) };
}

/* Lines as the letters of an answer say, each { line, text } with a place of its own. */
function inOrder(lines, letters) {
    const order = [...letters].map((letter) => lines[letter.charCodeAt(0) - A].text.trim());
    let depth = 0, isSingle = false; // the statement after an `if` without braces
    return order.map((text, k) => {
        if (text.startsWith("}")) depth--;
        const indent = Math.max(0, depth) + (isSingle && text !== "{" ? 1 : 0);
        if (text.endsWith("{")) depth++;
        isSingle = /^(if|else|for)\b.*[^{;]$|^else$/.test(text);
        return { line: lines[0].line + k, text: " ".repeat(4 * indent) + text };
    });
}

const isOrder = (name, letters) => {
    const { begins } = ORDERED[name];
    return [...letters].sort().join("") === [...begins].sort().join("");
};

/* The kernel with its lines in this order; what follows them stays in its lines. */
function orderedSource(name, letters, texts) {
    const { source, next } = ORDERED[name], { lines } = orderedCode(ORDERED[name], texts);
    const all = texts(source).split("\n"), first = lines[0].line - 1;
    const end = all.findIndex((text) => text.trim().startsWith(next));
    const mine = inOrder(lines, letters).map(({ text }) => `    ${text}`);
    return [...all.slice(0, first), ...mine, ...Array(end - first - mine.length).fill(""),
            ...all.slice(end)].join("\n");
}

async function judgeOrder(letters, k, bench, name) {
    const { step, n, source } = ORDERED[name], { plan } = variantOf(stepOf(step));
    const text = orderedSource(name, letters, bench.source);
    const { ptx, diagnostics } = await bench.run(
        compileRequest(source, text, { [HEADER]: bench.source(HEADER) }));
    const error = diagnostics.find((one) => one.severity === "error");
    if (error) return { isRight: false, says: `line ${error.line}: ${error.text}` };
    for (const seed of SEEDS) {
        const answer = await ran(bench, plan(n), ptx, { check: ALL_CHECKERS, seed });
        if (answer.error) return { isRight: false, says: stoppedText(answer, text) };
        const { findings } = answer.document, result = resultText(answer);
        if (findings.length || !result.startsWith("The result is right"))
            return { isRight: false, says: findings.length
                ? `${result} And ${findingsText(findings)}.` : result };
    }
    return { isRight: true, says: "right: all sums are, and the checkers find nothing" };
}

/* ---- all labs -------------------------------------------------------------------------------- */

/* rows: what each question is about, under a head. options: [value, name] of the possible answers;
 * null: a number. code: lines that the lab shows, { line, text, place }. order: lines that
 * are to be put in order, { before, after, lines(letters) }, and the letters to begin with. */
const ordered = (chapter, name) => ({
    chapter, head: "", rows: [""], options: null, judge: judgeOrder,
    isAnswer: (text) => isOrder(name, text),
    order: (texts) => {
        const { before, lines, after } = orderedCode(ORDERED[name], texts);
        return { before, after, begins: ORDERED[name].begins,
                 lines: (letters) => inOrder(lines, letters) };
    } });
const LABS = {
    barrier: { chapter: "02-naive", head: "", rows: [""],
               options: BEFORE.map((_, k) => [String(k + 1), ""]), judge: judgeBarrier,
               code: (source) => placedCode(source(PLACED.source)) },
    conflicts: { chapter: "03-work-efficient", head: "offset",
                 rows: PREDICTED.offsets.map(String), options: null, judge: judgeConflicts },
    missing: { chapter: "03-work-efficient", head: "run",
               rows: ["A", "B", "C"], judge: judgeMissing, shown: missingRuns,
               options: [["1", "on the way up"], ["2", "on the way down"],
                         ["3", "before the result"]],
               code: (source) => codeOf(source(MISSING.source), MISSING.first, MISSING.last) },
    sweep: ordered("02-naive", "sweep"), upsweep: ordered("03-work-efficient", "upsweep"),
    padding: { chapter: "04-conflict-free", head: "kernel",
               rows: PADDED.map((one) => one.says), options: stepOf(4).paddings,
               judge: judgePadding },
};

/* Promises a verdict { isRight, says } for each answer to a lab. */
async function judge(name, answers, bench) {
    const verdicts = [];
    for (const [k, text] of answers.entries())
        verdicts.push(text ? await LABS[name].judge(text, k, bench, name)
            : { isRight: false, says: "no answer yet" });
    return verdicts;
}

/* Answers by lab as a text: "barrier.2_padding.pad32-none-". An address holds it as it is. */
const textOfAnswers = (all) => Object.entries(all).filter(([, answers]) => answers.some(Boolean))
    .map(([name, answers]) => `${name}.${answers.join("-")}`).join("_");

/* Reads that text: of what it holds, those answers that a lab can have. */
function answersOfText(text) {
    const all = {};
    for (const part of text.split("_")) {
        const [name, list = ""] = part.split("."), answers = list.split("-");
        const lab = Object.hasOwn(LABS, name) && LABS[name];
        if (!lab || answers.length !== lab.rows.length) continue;
        const isAnswer = lab.isAnswer || ((one) => (lab.options
            ? lab.options.some(([value]) => value === one) : /^\d{1,5}$/.test(one)));
        all[name] = answers.map((one) => (isAnswer(one) ? one : ""));
    }
    return all;
}

module.exports = { BARRIER, LABS, answersOfText, judge, textOfAnswers };
