/* questions.js -- what a chapter asks: labs without a compiler, some with lines that are put in
 * order, and predictions before a table. */
"use strict";
const { make, replace, choice, whenRead, labelled } = require("./dom.js");
const { coloured, piecesOf } = require("./editor.js");
const { BARRIER, LABS, answersOfText, judge, textOfAnswers } = require("./labs.js");

/* ---- lines in order -------------------------------------------------------------------------- */
/* Lines of code that a reader puts in order, by keys, by a pointer or by two
 * buttons. */

const KEYS = "Up and down choose a line; with Alt they move it. A pointer drags it.";
const code = (text) => make("code", {}, piecesOf(text).map(coloured));
const withNumber = (line, ...more) => [make("span", { class: "at", "aria-hidden": "true" },
                                          String(line)), more];

/* `order` is that of labs.js; `letters` the present order, and changed(letters) is called after each
 * move. The elements { element, show(letters) }. */
function makeOrderLines({ before, after, lines }, letters, changed) {
    let mine = [...letters], chosen = 0;
    const help = make("p", { class: "keys", id: `order-${++makeOrderLines.count}` }, KEYS);
    const list = make("div", { role: "listbox", class: "order", "aria-label": "Lines in your order",
                               "aria-describedby": help.id, onkeydown: keys, onpointerdown: drag });
    const said = make("span", { role: "status", class: "said" });
    const fixed = ({ line, text }) => make("div", { class: "fixed" }, withNumber(line, code(text)));
    const button = (name, step) => make("button", { type: "button", onclick: () => {
        move(chosen + step);
    } }, name);

    /* The rows; that of the chosen line can be focused. */
    function draw(hasFocus) {
        replace(list, lines(mine.join("")).map(({ line, text }, k) => make("div", {
            role: "option", "aria-selected": String(k === chosen), tabindex: k === chosen ? 0 : -1,
            "data-k": k }, withNumber(line, code(text),
                make("span", { class: "handle", "aria-hidden": "true" }, "⠿")))));
        if (hasFocus) list.children[chosen].focus({ preventScroll: true });
    }
    function choose(k, hasFocus = true) {
        chosen = Math.max(0, Math.min(mine.length - 1, k));
        draw(hasFocus);
    }
    /* Moves the chosen line to a place. */
    function move(to, hasFocus = true) {
        if (to < 0 || to >= mine.length || to === chosen) return;
        mine.splice(to, 0, ...mine.splice(chosen, 1));
        chosen = to;
        draw(hasFocus);
        said.textContent = `Line ${chosen + 1} of ${mine.length}.`;
        changed(mine.join(""));
    }
    function keys(event) {
        const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        const to = { Home: 0, End: mine.length - 1 }[event.key];
        if ((step === undefined && to === undefined) || event.ctrlKey || event.metaKey) return;
        event.preventDefault();
        event.stopPropagation();
        (event.altKey ? move : choose)(to ?? chosen + step);
    }

    /* The line under the pointer goes with it; on a touch screen by its handle, as a touch elsewhere
     * scrolls. */
    function drag(event) {
        const row = event.target.closest("[role=option]");
        if (!row || event.button) return;
        choose(Number(row.dataset.k));
        if (event.pointerType === "touch" && !event.target.closest(".handle")) return;
        event.preventDefault();
        const go = ({ clientY }) => {
            const { top, height } = list.getBoundingClientRect();
            const to = Math.floor((clientY - top) * mine.length / height);
            move(Math.max(0, Math.min(mine.length - 1, to)));
        };
        const end = () => list.removeEventListener("pointermove", go);
        list.setPointerCapture(event.pointerId); // the row is drawn anew
        list.addEventListener("pointermove", go);
        for (const name of ["pointerup", "pointercancel"])
            list.addEventListener(name, end, { once: true });
    }

    draw(false);
    return { show: (given) => { mine = [...given]; choose(0, false); },
             element: make("div", { class: "lines" },
                           make("div", { class: "rows" }, before.map(fixed), list,
                                after.map(fixed)),
                           make("div", { class: "choices" }, button("Move up", -1),
                                button("Move down", 1), said), help) };
}
makeOrderLines.count = 0;

/* ---- labs ------------------------------------------------------------------------------------ */
/* A lab without a compiler (labs.js) in its chapter: its questions, the verdicts
 * of the emulator, and a link that holds the answers. The browser keeps the answers, too. */

const KEY = "upsweep-answers";

/* Where the browser keeps nothing, as some do for files, the answers last as long as the page. */
function kept() {
    try {
        return localStorage.getItem(KEY) || "";
    } catch (error) {
        return "";
    }
}
function keep(text) {
    try {
        localStorage.setItem(KEY, text);
    } catch (error) { /* the link still has them */ }
}

/* The answers of all labs. A link's are shown in place of the kept ones. */
function makeAnswers() {
    let all = answersOfText(kept());
    const shows = [];
    return { shows, of: (name) => all[name] || LABS[name].rows.map(() => ""),
             set: (name, k, value) => {
                 all[name] ||= LABS[name].rows.map(() => "");
                 all[name][k] = value;
                 keep(textOfAnswers(all));
             },
             take: (text) => {
                 all = answersOfText(text);
                 for (const show of shows) show();
             },
             text: () => textOfAnswers(all) };
}

/* ---- questions ------------------------------------------------------------------------------- */

/* Where lines of code are the answers: a choice before each line that has a place. */
function codeChoices(lines, chosen, changed) {
    const option = ({ text, place }) => make("label", { class: "place" },
        text.match(/^ */)[0], make("input", { type: "radio", name: "place", value: place,
            checked: String(place) === chosen, onchange: () => changed(String(place)) }),
        " ", make("code", {}, BARRIER));
    return lines.flatMap((one) => [one.place ? option(one) : null,
        one.text.trim() === BARRIER ? null : make("code", {}, one.text)]);
}

const numbered = (lines) => make("pre", { tabindex: 0, role: "region", "aria-label": "The kernel" },
    lines.map(({ line, text }) => `${String(line).padStart(3)}  ${text}\n`));

function field(options, chosen, name, changed) {
    if (!options) return make("input", { size: 5, inputmode: "numeric", value: chosen,
        "aria-label": name, oninput: (event) => changed(event.target.value.trim()) });
    const select = choice([["", "…"], ...options], chosen, changed);
    select.setAttribute("aria-label", name);
    return select;
}

/* The questions as rows; says[k] is where the verdict of question k is written. */
function questions(lab, answers, shown, says, changed) {
    const { rows, head, options } = lab;
    const row = (name, k) => make("tr", {}, make("th", { scope: "row" }, name),
        shown.length ? make("td", {}, shown[k]) : null,
        make("td", {}, field(options, answers[k], `${head} ${name}`, (value) => changed(k, value))),
        says[k]);
    return make("table", {}, make("thead", {}, make("tr", {},
        [head, ...(shown.length ? ["what the checkers say"] : []), "your answer", "verdict"]
            .map((text) => make("th", { scope: "col" }, text)))),
        make("tbody", {}, rows.map(row)));
}

/* ---- a lab ----------------------------------------------------------------------------------- */

/* `bench()` is that of labs.js, `copy(link)` gives a link to the reader. */
function makeLab(host, name, given) {
    const { answers, bench, copy } = given, lab = LABS[name], form = make("div", { class: "form" });
    const said = make("p", { class: "verdict", role: "status" }), linked = make("span");
    const says = lab.rows.map(() => make(lab.head ? "td" : "p", { class: "says" }));
    const check = make("button", { type: "button", class: "run", onclick: ask }, "Check");
    const labs = () => Object.entries(LABS).flatMap(([other, { chapter }]) => [
        make("a", { href: `#chapter=${chapter}&place=lab-${other}` }, other),
        answers.of(other).some(Boolean) ? " (with answers). " : ". "]);

    function changed(k, value) {
        answers.set(name, k, value);
        replace(says[k]);
        said.textContent = "";
    }
    async function ask() {
        check.disabled = true;
        said.textContent = "The emulator runs …";
        try {
            const verdicts = await judge(name, answers.of(name), bench());
            verdicts.forEach(({ isRight, says: text }, k) => replace(says[k], make("span", {
                class: isRight ? "right" : answers.of(name)[k] ? "wrong" : "none" }, text)));
            const right = verdicts.filter((one) => one.isRight).length;
            said.textContent = right === verdicts.length ? "All of it is right."
                : `${right} of ${verdicts.length} right.`;
        } catch (error) {
            said.textContent = error.message;
        }
        check.disabled = false;
        replace(linked, labs());
    }
    /* Lines in order: until one is moved, there is no answer. */
    function lines(order, mine) {
        return [makeOrderLines(order, mine || order.begins,
                               (letters) => changed(0, letters)).element, says[0]];
    }
    async function show() {
        if (lab.order) {
            replace(form, lines(lab.order(bench().source), answers.of(name)[0]));
            return;
        }
        const shown = lab.shown ? await lab.shown(bench()) : [];
        const code = lab.code ? lab.code(bench().source) : [], mine = answers.of(name);
        replace(form, lab.head ? [lab.shown ? numbered(code) : null,
                                  questions(lab, mine, shown, says, changed)]
            : [make("fieldset", { class: "places" }, make("legend", {}, "The barrier stands"),
                    codeChoices(code, mine[0], (value) => changed(0, value))), says[0]]);
    }
    const address = () => `${location.href.replace(/#.*/, "")}#chapter=${lab.chapter}` +
        `&place=lab-${name}&answers=${answers.text()}`;
    host.querySelector("details").before(form, make("div", { class: "choices" }, check,
        make("button", { type: "button", onclick: () => copy(address()) },
             "Copy a link with your answers"), said));
    host.append(make("p", { class: "legend" }, "Labs of this page: ", linked));
    replace(linked, labs());
    answers.shows.push(() => { if (!form.querySelector(".begin")) show(); });
    /* Where the kernels have to run first, the reader begins. */
    if (lab.shown)
        replace(form, make("button", { type: "button", class: "begin", onclick: show }, "Begin"));
    else if (lab.code || lab.order) whenRead(show);
    else show();
}

/* All labs of a chapter. */
function makeLabs(article, given) {
    for (const one of article.querySelectorAll("[data-lab]")) makeLab(one, one.dataset.lab, given);
}

/* ---- predictions ----------------------------------------------------------------------------- */
/* A chapter's question before a table: the table is hidden until the reader has
 * written a number, or asks for it. The answer is the table's own cell. */

const CLOSE = 0.05; // of the answer

const textOf = (cell) => cell.textContent.trim();

/* Numbers in a text. "1 007 576" and "1,007,576" are one; any other comma between digits is a
 * decimal point. A sign and an exponent belong to their number. */
function numbersIn(text) {
    const joined = text.replace(/(\d)[\s,\u00a0\u202f](?=\d{3}(?!\d))/g, "$1")
        .replace(/(\d),(?=\d)/g, "$1.");
    const found = joined.match(/[-\u2212]?\d+(?:\.\d+)?(?:e[+-]?\d+)?/gi) || [];
    return found.map((one) => Number(one.replace("\u2212", "-")));
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

/* Whether numbers differ from the answer's by at most this part of them. A reader may give the sum
 * of a pair of loads + stores. */
function isNear(guess, answer, part) {
    const given = guess.length === answer.length ? guess : [sum(guess)];
    const wanted = guess.length === answer.length ? answer : [sum(answer)];
    return given.every((value, k) => Math.abs(value - wanted[k]) <= part * wanted[k]);
}

/* Whether a text is a guess: a number, and no share where the answer is none. */
const isGuess = (guess, answer) => numbersIn(guess).length > 0 &&
    (!guess.includes("%") || answer.includes("%"));

function verdict(guess, answer) {
    const numbers = numbersIn(guess), wanted = numbersIn(answer);
    if (!isGuess(guess, answer))
        return numbers.length ? "The answer is no share. Write a number without %."
            : "Write a number.";
    if (isNear(numbers, wanted, 0)) return `Right: ${answer}.`;
    return isNear(numbers, wanted, CLOSE) ? `Close. It is ${answer}.`
        : `It is ${answer}, not ${guess}.`;
}

/* The tables behind the question, up to the one whose first head is `name`. */
function tablesBehind(place, name) {
    const tables = [];
    for (let one = place.nextElementSibling; one; one = one.nextElementSibling) {
        if (one.tagName !== "TABLE") continue;
        tables.push(one);
        if (textOf(one.rows[0].cells[0]) === name) return tables;
    }
    return [];
}

function cellOf(table, row, column) {
    const heads = [...table.rows[0].cells].map(textOf);
    const found = [...table.rows].find((one) => textOf(one.cells[0]) === row);
    return found ? found.cells[heads.indexOf(column)] : null;
}

function makePrediction(place) {
    const { table, row, column } = place.dataset;
    const tables = tablesBehind(place, table);
    const cell = tables.length ? cellOf(tables[tables.length - 1], row, column) : null;
    if (!cell) return;
    const guess = make("input", { size: 9, inputmode: "decimal", autocomplete: "off" });
    const said = make("p", { class: "verdict", role: "status" });
    const show = () => {
        for (const one of tables) one.hidden = false;
        cell.classList.add("answer");
        if (document.activeElement === button) guess.focus();
        button.remove();
    };
    const compare = () => {
        replace(said, verdict(guess.value.trim(), textOf(cell)));
        if (isGuess(guess.value, textOf(cell))) show();
    };
    const button = make("button", { type: "button", onclick: show }, "Show the table");
    for (const one of tables) one.hidden = true;
    place.append(make("form", { onsubmit: (event) => { event.preventDefault(); compare(); } },
                      labelled("your prediction", guess),
                      make("button", { type: "submit" }, "Compare"), button), said);
}

/* All questions of a chapter. */
function makePredictions(article) {
    article.querySelectorAll(".predict").forEach(makePrediction);
}

module.exports = { makeAnswers, makeLabs, isNear, makePredictions, numbersIn, verdict };
