/* code_box.js -- the box in which a reader changes a step's CUDA C. The text is kept in the
 * browser, where it has a store. */
"use strict";
const { make, replace } = require("./dom.js");
const { problemsList } = require("./compiler.js");

const INDENT = "    ";
const KEYS = "Ctrl+Enter compiles and runs the text. The tabulator key indents; after Escape it " +
    "leaves the box.";

/* The browser's store; a page may have none. */
const store = {
    get: (key) => { try { return localStorage.getItem(key); } catch (error) { return null; } },
    set: (key, text) => {
        try {
            if (text === null) localStorage.removeItem(key);
            else localStorage.setItem(key, text);
        } catch (error) { /* the text stays in the box */ }
    },
};
const keyOf = (path) => `upsweep ${path}`;

/* `run()` compiles and runs the text; `restore()` is called when it has become the book's
 * again. */
function makeCodeBox(run, restore) {
    let shown = null; // { path, text (the book's) }
    let leaves = false; // Escape was the last key
    const help = make("p", { class: "keys", id: `keys-${++makeCodeBox.count}` }, KEYS);
    const editor = make("textarea", { class: "cuda", rows: 24, spellcheck: "false", wrap: "off",
                                      autocapitalize: "off", "aria-label": "Your CUDA C",
                                      "aria-describedby": help.id, oninput: () => keep(),
                                      onkeydown: (event) => keys(event) });
    const problems = make("div"), said = make("p", { class: "said", role: "status" });
    const element = make("div", { class: "code-box" }, editor, help,
        make("div", { class: "choices" },
             make("button", { type: "button", onclick: () => run() }, "Compile and run"),
             make("button", { type: "button", onclick: () => {
                 editor.value = shown.text;
                 keep();
                 restore();
             } }, "Reset")), said, problems);

    function keep() {
        store.set(keyOf(shown.path), editor.value === shown.text ? null : editor.value);
    }
    function keys(event) {
        const isTab = event.key === "Tab" && !event.shiftKey;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            run();
        } else if (isTab && !leaves) {
            event.preventDefault();
            document.execCommand("insertText", false, INDENT); // which can be undone
        }
        leaves = event.key === "Escape";
        event.stopPropagation(); // the player's keys
    }
    function show(source) {
        if (shown && shown.path === source.path) return;
        shown = source;
        editor.value = store.get(keyOf(source.path)) ?? source.text;
        say("", []);
    }
    function say(text, diagnostics) {
        said.textContent = text;
        replace(problems, shown ? problemsList(diagnostics, shown.path, editor) : "");
    }
    return { element, editor, show, say };
}
makeCodeBox.count = 0;

module.exports = { makeCodeBox };
