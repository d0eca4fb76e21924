/* code_lab.js -- a lab, an exercise or a first puzzle whose kernel is written in the page: the box,
 * and what `make check3 COMPILER=own` says of the text, which the emulator's worker computes with
 * the same code (face/judge.c). */
"use strict";
const { make, replace, table, whenRead } = require("./dom.js");
const { makeCodeBox, sentence, startOfLine } = require("./editor.js");
const { printedView } = require("./view_counters.js");

const SECONDS = 60; // until a check is stopped
const LEVELS = 3; // of hints
const CHECKING = "The page compiles and runs the kernels …";
const UNJUDGED = "It does not compile yet, so nothing has run, and no points are taken off.";

/* A text with a number of lines before it, as the request has it. */
const header = (path, text) => `header ${path} ${text.split("\n").length}\n${text}`;

/* A lab begins as its solution without what stands in the gaps, as `make labN` writes it. */
const GAP = /( *\/\/ ---- \(about .*\n)[^]*?( *\/\/ ---- end of gap)/g;
const textOf = (labs, { judge, text }) => text || labs.solutions[judge].replace(GAP, "$1\n$2");

/* The request (face/face.h) that judges a text. */
function judgeRequest(labs, { judge }, path, text) {
    const solution = labs.solutions[judge];
    return [...(solution ? [header("solution.cu", solution)] : []),
            header("weights.txt", labs.weights), header("hints.txt", labs.hints),
            `lab ${judge} ${path}`, text].join("\n");
}

/* ---- what a check has said ------------------------------------------------------------------- */

/* Names of chapters become links to them, and places in the file buttons. */
const PLACE = /(labs\/\w+\.cu:(\d+)|notes\/([\w-]+)\.md)/;
function linked(text, toLine) {
    const parts = text.split(PLACE), nodes = [];
    for (let k = 0; k < parts.length; k += 4) {
        const [plain, whole, line, chapter] = parts.slice(k, k + 4);
        nodes.push(...sentence(plain));
        if (line) nodes.push(toLine(Number(line)));
        else if (whole) nodes.push(chapterLink(chapter) || whole);
    }
    return nodes;
}

/* null: the page does not have it. */
function chapterLink(chapter) {
    const href = `#chapter=${chapter}`;
    const entry = document.querySelector(`nav a[href="${href}"]`);
    return entry && make("a", { href }, entry.textContent);
}

const whole = (text) => (/[.!?]$/.test(text) ? text : `${text}.`);

/* A reason for lost points, or a note that costs none. */
function reason({ criterion, lost, line, text, chapter }, toLine) {
    return make("li", {}, make("b", { class: lost ? "lost" : "" },
                               `${lost ? `\u2212${lost.toFixed(2)} ` : ""}${criterion}`), " ",
                line ? [toLine(line), " "] : null, sentence(whole(text)), " See ",
                linked(chapter, toLine), ".");
}

const pair = ({ got, solution }) => `${got} / ${solution}`;

function sizesTable(sizes) {
    return table("Each size: yours / the step's solution",
        ["n", "additions", "bank conflicts", "sectors", "findings", "result"],
        sizes.map((one) => [String(one.n), pair(one.additions), pair(one.conflicts),
                            pair(one.sectors), String(one.findings),
                            one.right ? make("span", { class: "right" }, "right")
                                : one.wrong]));
}

/* How many runs are right, the points and their sum, as check-lab prints them. */
const POINTS = /^(?:(.* right\.)\n)?([\d.]+ of [\d.]+) points: (.*)$/m;

/* A link to the reader's own kernel, which runs a text and plays it back. */
const ownLink = (text, form, to, name) => make("a", { class: "go", href: `#${new URLSearchParams({
    chapter: "own", own: text, form: JSON.stringify({ hasRun: true, ...form }), ...to })}` }, name);

/* The smallest run that is wrong, at the last store to its first wrong element. */
const lookBack = (plan, text) => ownLink(text, { plan }, {
    to: plan.element !== undefined ? `output[${plan.element}]` : plan.why ? "end" : "first-race" },
`Look back at n = ${plan.n}`);

/* What does not compile has no points to lose. */
function labView(answer, program, toLine, isCompiled) {
    const verdict = JSON.parse(answer.verdict);
    const [runs, points, how] = POINTS.exec(answer.text).slice(1);
    const notes = [
        ...verdict.empty_gaps.map(({ gap, line }) =>
            make("li", {}, toLine(line), ` gap ${gap} is still empty.`)),
        ...(isCompiled ? verdict.lost : []).map((one) => reason(one, toLine))];
    return [make("p", { class: "points" }, isCompiled ? [
        make("b", { class: answer.right ? "right" : "wrong" }, `${points} points`),
        ` ${runs || ""} ${how}`] : UNJUDGED),
            answer.failing ? make("p", {}, lookBack(answer.failing, program)) : null,
            notes.length ? make("ul", { class: "reasons" }, notes) : null,
            verdict.sizes.length ? make("div", { class: "sizes", tabindex: 0, role: "region",
                                                 "aria-label": "The sizes" },
                                        sizesTable(verdict.sizes)) : null,
            make("details", {}, make("summary", {}, "The check's text, as in a terminal"),
                 make("pre", { tabindex: 0, role: "region", "aria-label": "The check's text" },
                      answer.text))];
}

/* The check's words, for a reader who has no files, and may have pasted another program. */
const puzzleText = (text) => text.trim().replace(/^labs\/.* is right\.$/m, "Your kernel is right.")
    .replace(/^.*has no kernel '(\w+)'.*$/m, "This puzzle launches the kernel `$1`, which the " +
             "text does not have. “Your own kernel”, in the list of chapters, runs others.");
/* Right numbers of a kernel that is wrong are not said in red. */
function puzzleView({ text, right }, program, toLine) {
    const said = puzzleText(text), [numbers] = (!right && /^all .* right\n/.exec(said)) || [""];
    return [numbers ? make("p", {}, `${numbers.trim()}, but …`) : null,
            make("p", { class: right ? "right" : "wrong" },
                 linked(said.slice(numbers.length), toLine)),
            make("p", {}, ownLink(program, {}, {},
                                  "Play the threads back, instruction by instruction"))];
}

/* On a phone, lines that are comments alone are broken. */
const NARROW = 600, COMMENT = 30; // pixels; letters
function broken(text) {
    if (innerWidth >= NARROW) return text;
    const line = new RegExp(`(.{1,${COMMENT}})(?: |$)`, "g");
    return text.replace(/^( *)\/\/ (?!----)(.*)(?:\n\1\/\/ (?!----).*)*/gm, (all, indent) =>
        all.split("\n").map((one) => one.trim().slice(3)).join(" ")
            .replace(line, `${indent}// $1\n`).trimEnd());
}

/* ---- the lab --------------------------------------------------------------------------------- */

function download(name, text) {
    const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    make("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address));
}

/* `bench()` has labs, run and stop; `texts` are those of all boxes. */
function makeCodeLab(host, name, { bench, texts }) {
    const { labs } = bench(), task = labs.tasks[name], path = `labs/${name}.cu`;
    const isPuzzle = !labs.solutions[task.judge];
    const result = make("div", { class: "outcome" }), hints = make("ol", { class: "hints" });
    const bar = make("progress", { hidden: true, "aria-label": "Runs of the kernels" });
    const stop = make("button", { type: "button", hidden: true, onclick: () => bench().stop() },
                      "Stop");
    const hint = make("button", { type: "button", hidden: !/^lab/.test(name), onclick: showHint },
                      "Hint"); // as there is `make hint3`
    let latest = null; // the text that was checked, and the answer

    const box = makeCodeBox({
        name: "Check", texts, run: () => ask(), restored: forget, taken: () => open(),
        more: [stop, hint, make("button", { type: "button", onclick: () =>
            download(`${name}.cu`, box.area.value) }, `Download ${name}.cu`)] });
    box.area.setAttribute("aria-label", `Your ${name}.cu`);
    box.element.append(bar, hints, result);
    box.area.addEventListener("input", () => {
        if (latest) result.classList.add("old");
    });

    function forget() {
        latest = null;
        replace(result);
        replace(hints);
        hint.disabled = false;
    }
    function toLine(line) {
        const place = startOfLine(box.area.value, line);
        return make("button", { type: "button", class: "to", onclick: () =>
            box.editor.reveal(...place) }, `line ${line}`);
    }
    function show(answer) {
        const isCompiled = !answer.diagnostics.some((one) => one.severity === "error");
        box.say(isCompiled || !isPuzzle ? "" : "Nothing has run.", answer.diagnostics);
        result.classList.remove("old");
        replace(result, isPuzzle ? (isCompiled ? puzzleView(answer, box.area.value, toLine) : "")
            : labView(answer, box.area.value, toLine, isCompiled),
        printedView(answer.printed || []));
    }

    /* Promises whether there is an answer for the text. */
    async function ask() {
        const text = box.area.value;
        if (box.runs.disabled) return false;
        forget();
        box.say(CHECKING, []);
        box.runs.disabled = hint.disabled = true;
        stop.hidden = bar.hidden = false;
        bar.removeAttribute("value");
        try {
            const answer = await bench().run(judgeRequest(labs, task, path, text), SECONDS,
                                             (done, all) => Object.assign(bar, { max: all,
                                                                                 value: done }));
            if (answer.error) throw new Error(answer.message);
            latest = { text, answer };
            show(answer);
        } catch (error) {
            box.say(error.message, []);
        }
        box.runs.disabled = hint.disabled = false;
        stop.hidden = bar.hidden = true;
        return latest !== null;
    }
    async function showHint() {
        if (!(latest && latest.text === box.area.value) && !await ask()) return;
        const given = latest.answer.hints, level = hints.childElementCount;
        if (level >= given.length || (level && given[level] === given[0])) return;
        hints.append(make("li", { role: "status" }, linked(given[level], toLine)));
        hint.disabled = hints.childElementCount === LEVELS;
    }

    /* ---- the box is there when the reader wants it */
    const begin = make("button", { type: "button", class: "begin", onclick: () => {
        open();
        box.editor.reveal(gapOf(), gapOf());
    } }, `Open ${name}.cu`);
    function open() {
        if (box.element.isConnected) return;
        begin.replaceWith(box.element);
        if (gapOf()) box.editor.scrollTo(gapOf());
    }
    /* Where the reader begins to write: after the comment that asks for a line. */
    function gapOf() {
        const gap = /\/\/ (?:---- gap|your line.*(?:\n *\/\/.*)*)/.exec(box.area.value);
        return gap ? gap.index + (/gap/.test(gap[0]) ? 0 : gap[0].length) : 0;
    }
    host.append(begin);
    box.show({ path, text: broken(textOf(labs, task)) });
    if (/^lab|^first1$/.test(name)) open();
}

/* All of a chapter, when the page is read: what they begin with is part of its data. */
function makeCodeLabs(article, given) {
    whenRead(() => {
        for (const one of article.querySelectorAll("[data-code]"))
            makeCodeLab(one, one.dataset.code, given);
    });
}

module.exports = { judgeRequest, makeCodeLabs };
