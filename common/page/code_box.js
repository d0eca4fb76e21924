/* code_box.js -- a box in which a reader writes CUDA C. The browser keeps the text, where it has a
 * store, and the address holds it. */
"use strict";
const { make, replace } = require("./dom.js");
const { marksOf, problemsList } = require("./compiler.js");
const { makeEditor, makeKeys, retype } = require("./editor.js");
const { MOST_LINKED, store } = require("./linked_text.js");

const KEYS = "The tabulator key indents; after Escape it leaves the box.";
const TOO_LONG = `This text is too long for a link, which holds ${MOST_LINKED} characters of a ` +
    "compressed text. The browser keeps it.";
const FROM_LINK = "This is the text of the link.";

/* `run()` compiles and runs the text, `name` is what its button is called. `restored()` is called
 * when the text has become the book's again, and `taken()` when it has become that of a link.
 * `texts` are those of all boxes (linked_text.js); `more`: further buttons. */
function makeCodeBox({ name, run, restored, taken, texts, more = [] }) {
    let shown = null; // { path, text (the book's) }
    const help = make("p", { class: "keys", id: `keys-${++makeCodeBox.count}` },
                      `Ctrl+Enter: ${name.toLowerCase()}. ${KEYS}`);
    const area = make("textarea", { class: "cuda", rows: 24, spellcheck: "false",
                                    autocapitalize: "off", autocomplete: "off",
                                    "aria-label": "Your CUDA C", "aria-describedby": help.id });
    const editor = makeEditor(area);
    const problems = make("div"), said = make("p", { class: "said", role: "status" });
    const note = make("p", { class: "keys", role: "status" });
    const question = make("span", { class: "question", role: "group", "aria-label": "Reset" });
    const runs = make("button", { type: "button", class: "run", onclick: () => run() }, name);
    const reset = make("button", { type: "button", onclick: ask }, "Reset");
    const element = make("div", { class: "code-box" }, editor.element, help,
        make("div", { class: "choices" }, runs, more, reset, question), note, said, problems);
    area.addEventListener("keydown", makeKeys(area, () => run()));
    area.addEventListener("input", () => {
        keep();
        replace(problems);
    });

    const keyOf = () => `upsweep ${shown.path}`;
    const nameOf = () => shown.path.replace(/\.cu$/, "").replace(/[^\w-]/g, "_");
    const kept = () => (area.value === shown.text ? null : area.value);
    function keep() {
        store.set(keyOf(), kept());
        texts.changed(nameOf(), kept());
    }

    /* ---- reset, with a question */

    function answer(isReset) {
        replace(question);
        if (isReset) {
            retype(area, shown.text);
            keep();
            say("", []);
            restored();
        }
        reset.focus();
    }
    function ask() {
        if (kept() === null) {
            answer(true);
            return;
        }
        const discard = make("button", { type: "button", onclick: () => answer(true) },
                             "Discard my text");
        replace(question, "Your changes will be lost. ", discard, " ",
                make("button", { type: "button", onclick: () => answer(false) }, "Keep it"));
        discard.focus();
    }

    /* ---- the text of a link stands in place of the reader's own, which can be brought back */

    function take(text) {
        const mine = area.value;
        taken();
        if (mine === text) return;
        area.value = text;
        editor.drawn();
        say("", []);
        replace(note, FROM_LINK, " ", mine === shown.text ? null
            : make("button", { type: "button", onclick: () => {
                retype(area, mine);
                replace(note);
            } }, "Bring back my own text"));
    }

    /* A source: { path, text }. */
    function show(source) {
        if (shown && shown.path === source.path) return;
        shown = source;
        area.value = store.get(keyOf()) ?? source.text;
        editor.drawn();
        replace(note);
        replace(question);
        say("", []);
        texts.join(nameOf(), { take, linked: (isHeld) => replace(note, isHeld ? "" : TOO_LONG) });
    }
    function say(text, diagnostics) {
        said.textContent = text;
        if (!shown) return;
        editor.mark(marksOf(area.value, diagnostics, shown.path));
        replace(problems, problemsList(diagnostics, shown.path, area, editor.reveal));
    }
    return { element, area, editor, runs, show, say };
}
makeCodeBox.count = 0;

module.exports = { makeCodeBox };
