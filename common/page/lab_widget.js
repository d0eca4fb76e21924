/* lab_widget.js -- a lab without a compiler (labs.js) in its chapter: its questions, the verdicts
 * of the emulator, and a link that holds the answers. The browser keeps the answers, too. */
"use strict";
const { make, replace, choice, whenRead } = require("./dom.js");
const { BARRIER, LABS, answersOfText, judge, textOfAnswers } = require("./labs.js");
const { makeOrderLines } = require("./order_lines.js");

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

module.exports = { makeAnswers, makeLabs };
