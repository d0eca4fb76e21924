/*
 * grade_links.js -- `make grade N=page`: judges the answers to the labs of the page anew, from the
 * links that students hand in, with the emulator and the judge of the page
 * (common/tools/page/labs.js).
 *
 *     node grade_links.js SUBMISSIONS --out FOLDER [--roster FILE]
 *
 * SUBMISSIONS is a file with a name and a link in each line, or a folder of files NAME.txt or
 * NAME/…, as learning platforms write them. Of a submission's text counts only what follows
 * "answers=", and of that only answers that a lab can have, and what follows "text=": a lab's file,
 * which is compiled, run and judged in WebAssembly, whose memory is all that it can reach.
 */
"use strict";
const fs = require("fs");
const path = require("path");
const { execFileSync } = require("child_process");
const TOP = path.join(__dirname, "..", "..", ".."), BUILD = path.join(TOP, "build", "page");
const PAGE = path.join(TOP, "common", "tools", "page");
const { LABS, answersOfText, judge } = require(path.join(PAGE, "labs.js"));
const { judgeRequest } = require(path.join(PAGE, "code_lab.js"));
const { decoded } = require(path.join(PAGE, "linked_text.js"));
const { makeEmulator, runRequest } = require(path.join(PAGE, "worker.js"));

const MOST_BYTES = 1 << 18, MOST_ANSWER = 1 << 26, POINTS = 25; // for each lab
const LINK = /answers=([\w.-]*)/g, TEXT = /text=labs_(lab\d+)\.([\w-]*)/g;

function fail(sentence) {
    process.stderr.write(`grade_links.js: ${sentence}\n`);
    process.exit(2);
}

function readable(file) {
    try {
        return fs.readFileSync(file, "utf8");
    } catch (error) {
        return fail(`${file} cannot be read: ${error.code}`);
    }
}

/* ---- submissions ----------------------------------------------------------------------------- */

/* The files of a folder, and of its folders: { name, file }. Links are not followed. */
function filesOf(folder, name) {
    return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
        const file = path.join(folder, entry.name);
        if (entry.name.startsWith(".")) return [];
        if (entry.isDirectory()) return filesOf(file, name || entry.name);
        return entry.isFile() ? [{ name: name || path.parse(file).name, file }] : [];
    });
}

function textOf(file) {
    if (fs.statSync(file).size > MOST_BYTES) return "";
    return fs.readFileSync(file, "utf8");
}

/* Each student's text: { name, text }. */
function submissionsOf(given) {
    if (fs.existsSync(given) && fs.statSync(given).isDirectory())
        return filesOf(given).map(({ name, file }) => ({ name, text: textOf(file) }));
    return readable(given).split("\n").filter((line) => line.trim()).map((line) => {
        const [, name, text] = /^\s*(.*?)[\s,;]*((?:https?|file):.*|#.*)?$/.exec(line);
        return { name: name.replace(/^"|"$/g, ""), text: text || "" };
    });
}

/* The names on a roster, as grader/roster.py reads them. */
const rosterOf = (file) => (file ? readable(file).replace(/^\ufeff/, "").split("\n")
    .map((line) => line.trim()).filter((line) => line && !line.startsWith("#")) : []);

/* Each name on the roster with its submission, then the others; a name may go on with _. */
function inOrder(submissions, roster) {
    const belongs = ({ name }, student) => name === student || name.startsWith(`${student}_`);
    const owner = (one) => roster.filter((student) => belongs(one, student))
        .sort((a, b) => b.length - a.length)[0];
    const listed = roster.flatMap((student) => {
        const mine = submissions.filter((one) => owner(one) === student);
        return mine.length ? mine.map(({ text }) => ({ name: student, text }))
            : [{ name: student, text: null }];
    });
    return [...listed, ...submissions.filter((one) => !owner(one))];
}

/* ---- the table ------------------------------------------------------------------------------- */

/* A cell that no spreadsheet takes for a formula (grader/basics.py says why). */
const cell = (text) => `"${text.replace(/[\x00-\x1f\x7f]/g, "?")
    .replace(/(^|[,;|])([\s"]*)(?=[=+\-@\uff1d\uff0b\uff0d\uff20])/g, "$1$2'")
    .replace(/"/g, '""')}"`;

/* The points of each lab whose file a link holds, "" where none does. The last link counts. */
async function pointsOf(text, bench) {
    const points = Object.fromEntries(bench.codes.map((name) => [name, ""]));
    for (const [, name, letters] of (text || "").matchAll(TEXT)) {
        const found = bench.codes.includes(name) && await decoded(`${name}.${letters}`);
        if (found) points[name] = await bench.judge(name, found.text);
    }
    return points;
}

/* The status, and the number of right answers in each lab. The last link counts. */
async function judgedOf(text, bench) {
    const links = [...(text || "").matchAll(LINK)], right = {};
    const answers = links.length ? answersOfText(links[links.length - 1][1]) : {};
    for (const name of Object.keys(LABS)) {
        const verdicts = answers[name] ? await judge(name, answers[name], bench) : [];
        right[name] = verdicts.filter((one) => one.isRight).length;
    }
    return { right, status: text === null ? "nothing handed in"
        : links.length ? "judged" : "look at it: no link with answers" };
}

async function rowOf({ name, text }, bench) {
    const { right, status } = await judgedOf(text, bench), labs = Object.entries(LABS);
    const codes = Object.values(await pointsOf(text, bench)), isJudged = codes.some(Boolean);
    const points = labs.reduce((sum, [lab, { rows }]) =>
        sum + POINTS * right[lab] / rows.length, 0);
    return [cell(name), isJudged ? "judged" : status, points.toFixed(2), POINTS * labs.length,
            ...labs.map(([lab, { rows }]) => `${right[lab]} of ${rows.length}`),
            ...codes].join(",");
}

/* The same request is run once. */
function makeBench() {
    const answers = new Map();
    const run = (request) => {
        if (!answers.has(request))
            answers.set(request, execFileSync(path.join(BUILD, "native"), {
                input: request, encoding: "utf8", maxBuffer: MOST_ANSWER }));
        return JSON.parse(answers.get(request));
    };
    /* Anew for each file, so that none finds what another has left in memory. */
    const emulator = path.join(BUILD, "emulator.js"), wasm = fs.readFileSync(
        path.join(BUILD, "emulator.wasm"));
    const [, data] = /<script type="application\/json" id="data">(.*?)<\/script>/s.exec(
        readable(path.join(BUILD, "upsweep.html"))), { labs } = JSON.parse(data);
    async function judgeCode(name, text) {
        const request = judgeRequest(labs, labs.tasks[name], `labs/${name}.cu`, text);
        try {
            const made = runRequest(await makeEmulator(require(emulator), wasm), request);
            return JSON.parse(JSON.parse(made).verdict).points.toFixed(2);
        } catch (error) { // it needs more memory than there is, for example
            return "not judged";
        }
    }
    const codes = Object.keys(labs.tasks).filter((name) => /^lab\d+$/.test(name));
    return { run, codes, judge: judgeCode,
             ptx: (name) => readable(path.join(BUILD, "ptx", `${name}.ptx`)),
             source: (name) => readable(path.join(TOP, name)) };
}

function optionsOf([given, ...rest]) {
    if (!given) fail("give a file of links, or a folder: make grade N=page DIR=links.txt");
    const options = { given };
    for (let k = 0; k < rest.length; k += 2) {
        if (!["--out", "--roster"].includes(rest[k]) || rest[k + 1] === undefined)
            fail(`"${rest[k]}" is not an option; there are --out FOLDER and --roster FILE`);
        options[rest[k].slice(2)] = rest[k + 1];
    }
    return options;
}

async function main() {
    const { given, out, roster } = optionsOf(process.argv.slice(2));
    const bench = makeBench(), rows = [];
    for (const one of inOrder(submissionsOf(given), rosterOf(roster)))
        rows.push(await rowOf(one, bench));
    const head = ["name", "status", "points", "most", ...Object.keys(LABS),
                  ...bench.codes].join(",");
    const file = path.join(out, "grades.csv");
    fs.mkdirSync(out, { recursive: true });
    fs.writeFileSync(file, `${[head, ...rows].join("\n")}\n`);
    process.stdout.write(`${rows.length} submissions: ${file}\n`);
}
main();
