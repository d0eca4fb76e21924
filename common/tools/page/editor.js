/*
 * editor.js -- the box in which a reader writes CUDA C: its colours and keys, and what the compiler
 * has found.
 */
"use strict";
const { make, replace } = require("./dom.js");
const { MOST_LINKED, store } = require("./linked_text.js");

/* ---- colours --------------------------------------------------------------------------------- */
/* CUDA C in pieces, for its colours: comments, strings, numbers, words of the language,
 * and what is between them. */

const WORDS = "__\\w+__|__sync\\w+|alignas|auto|bool|break|case|char|const|constexpr|continue|" +
    "default|do|double|else|enum|extern|false|float|for|if|inline|int|long|return|short|signed|" +
    "size_t|sizeof|static|struct|switch|template|true|typedef|typename|unsigned|void|volatile|while";
const PIECE = new RegExp([
    /(?<comment>\/\/.*|\/\*[^]*?(?:\*\/|(?![^])))/, /(?<string>"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/,
    /(?<number>(?<![\w.])\.?\d(?:[\w.]|(?<=[eEpP])[-+])*)/, /(?<directive>^[ \t]*#[ \t]*\w+)/,
].map((one) => one.source).join("|") + `|(?<word>(?<!\\w)(?:${WORDS})(?!\\w))`, "gm");
const MOST = 1 << 20; // characters of a text that is coloured

/* A text as [kind, piece], of which kind "" has no colour. */
function piecesOf(text) {
    const pieces = [];
    let end = 0;
    for (const { 0: piece, index, groups } of text.length > MOST ? [] : text.matchAll(PIECE)) {
        if (index > end) pieces.push(["", text.slice(end, index)]);
        pieces.push([Object.keys(groups).find((kind) => groups[kind] !== undefined), piece]);
        end = index + piece.length;
    }
    if (end < text.length) pieces.push(["", text.slice(end)]);
    return pieces;
}

/* Comments are <i>, and words of the language <b>; other kinds are classes. */
const TAGS = { comment: "i", word: "b", directive: "b" };
const coloured = ([kind, piece]) => (!kind ? document.createTextNode(piece)
    : TAGS[kind] ? make(TAGS[kind], {}, piece) : make("span", { class: kind }, piece));

/* The pieces of each line. */
function linesOf(text) {
    const lines = [[]];
    for (const [kind, piece] of piecesOf(text))
        piece.split("\n").forEach((part, k) => {
            if (k) lines.push([]);
            if (part) lines[lines.length - 1].push([kind, part]);
        });
    return lines;
}

/* ---- the text box ---------------------------------------------------------------------------- */
/* A text box with the colours of CUDA C, numbered lines, and marks at what a compiler
 * has found. The box is a textarea, and so are its keys and its undo; the colours are a copy of the
 * text behind it, which has no letters of its own for screen readers. */

const INDENT = "    ";
const MOST_COLOURED = 50000; // characters: a longer text is drawn too slowly while one types

/* Types a text at the cursor, so that it can be undone. */
function type(area, text) {
    area.focus();
    if (document.execCommand("insertText", false, text)) return;
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
}

/* Replaces the whole text, so that it can be undone; without a change if it is the same. */
function retype(area, text) {
    if (area.value === text) return;
    area.focus();
    area.select();
    type(area, text);
    area.setSelectionRange(0, 0);
}

/* The line that the cursor stands in, up to the cursor. */
function lineBefore(area) {
    const before = area.value.slice(0, area.selectionStart);
    return before.slice(before.lastIndexOf("\n") + 1);
}

/* A new line begins where the one before began, and further in after a brace. */
function typeLine(area) {
    const line = lineBefore(area), [indent] = /[ \t]*/.exec(line);
    type(area, `\n${indent}${/\{\s*$/.test(line) ? INDENT : ""}`);
}

/* A brace that is the first of its line ends the block: it stands further out. */
function typeBrace(area) {
    const line = lineBefore(area), isAlone = area.selectionStart === area.selectionEnd;
    if (isAlone && !line.trim() && line.endsWith(INDENT)) area.selectionStart -= INDENT.length;
    type(area, "}");
}

/* The keys of a box. `run()` is called by Ctrl or Cmd and Enter. */
function makeKeys(area, run) {
    let leaves = false; // Escape was the last key
    return (event) => {
        const isPlain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.isComposing;
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            run();
        } else if (event.key === "Enter" && isPlain && !event.shiftKey) {
            event.preventDefault();
            typeLine(area);
        } else if (event.key === "}" && !event.isComposing) { // some keyboards need Ctrl and Alt
            event.preventDefault();
            typeBrace(area);
        } else if (event.key === "Tab" && isPlain && !event.shiftKey && !leaves) {
            event.preventDefault();
            type(area, INDENT);
        }
        leaves = event.key === "Escape" || (leaves && event.key === "Shift");
        event.stopPropagation(); // the player's keys
    };
}

/* The pieces of a text, cut where marks begin and end; those in a mark are in a <mark>. */
function marked(text, marks) {
    const nodes = [];
    let at = 0;
    for (const [kind, piece] of piecesOf(text)) {
        const end = at + piece.length;
        const cuts = [at, ...marks.flatMap(({ start, end: stop }) => [start, stop])
            .filter((cut) => cut > at && cut < end).sort((a, b) => a - b), end];
        for (let k = 0; k + 1 < cuts.length; k++) {
            const part = coloured([kind, text.slice(cuts[k], cuts[k + 1])]);
            const mark = marks.find(({ start, end: stop }) => start <= cuts[k] && cuts[k] < stop);
            nodes.push(mark ? make("mark", { class: mark.kind }, part) : part);
        }
        at = end;
    }
    return nodes;
}

/* The box around a textarea: { element, mark(marks), reveal(start, end), drawn() }. Marks are
 * { start, end, kind }, places in the text; they go when the text changes. isColoured(text): a text
 * without colours has the textarea alone. */
function makeEditor(area, isColoured = () => true) {
    const under = make("pre", { class: "under" }), numbers = make("pre", { class: "numbers-of" });
    const paper = make("div", { class: "paper" }, numbers, under, area);
    const element = make("div", { class: "editor" }, paper);
    let marks = [], drawnText = null, count = 0;

    function draw() {
        const text = area.value, lines = text.split("\n").length;
        const isPlain = text.length > MOST_COLOURED || !isColoured(text);
        element.classList.toggle("plain", isPlain);
        drawnText = text;
        if (isPlain) return;
        if (lines !== count)
            numbers.textContent = Array.from({ length: lines }, (_, k) => k + 1).join("\n");
        count = lines;
        replace(under, marked(text, marks), "\n");
    }
    function changed() {
        if (area.value === drawnText) return;
        marks = [];
        draw();
    }
    for (const one of [under, numbers]) one.setAttribute("aria-hidden", "true");
    area.setAttribute("wrap", "off");
    area.addEventListener("input", changed);
    /* The box scrolls, and never the textarea in it. */
    area.addEventListener("scroll", () => {
        if (element.classList.contains("plain")) return;
        area.scrollTop = area.scrollLeft = 0;
    });
    /* Where a line begins, its first letters are what one wants to see. */
    const toLeft = () => { element.scrollLeft = 0; };
    area.addEventListener("blur", toLeft);
    area.addEventListener("input", () => { if (!lineBefore(area).trim()) toLeft(); });
    draw();

    /* Scrolls to a place of the text; the box alone moves. */
    function scrollToPlace(start) {
        const line = area.value.slice(0, start).split("\n").length;
        const box = element.classList.contains("plain") ? area : element;
        const lines = area.value.split("\n").length;
        box.scrollTop = box.scrollHeight * (line - 1) / lines - box.clientHeight / 3;
        box.scrollLeft = 0;
    }
    return { element, drawn: changed,
             mark: (found) => {
                 marks = found.map((one) => ({ ...one, end: Math.max(one.end, one.start + 1) }));
                 draw();
             },
             scrollTo: scrollToPlace,
             reveal: (start, end) => {
                 area.focus({ preventScroll: true });
                 area.setSelectionRange(start, end);
                 scrollToPlace(start);
                 element.scrollIntoView({ block: "nearest" });
             } };
}

/* Where a line of a text begins and ends. */
function startOfLine(text, line) {
    const lines = text.split("\n");
    const from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
    return [from, from + (lines[line - 1] || "").length];
}

/* ---- what the compiler has found ------------------------------------------------------------- */
/* CUDA C that this page compiles: the request, and a list of what the compiler has
 * found, with a button each that selects the place in the text. */

/* Whether a text is CUDA C: it has C's signs, and none of PTX's directives. */
const isCuda = (text) => /[{};#]|__global__/.test(text) &&
    !/^\s*\.(?:version|target|address_size|visible|entry|func)\b/m.test(text);

/* The request (face/face.h) that compiles a text. `headers`: texts by path; words: "program": with
 * its main. */
function compileRequest(name, text, headers, words = []) {
    const parts = Object.entries(headers).map(([path, header]) =>
        `header ${path} ${header.split("\n").length}\n${header}`);
    return [...words, ...parts, `compile ${name}`, text].join("\n");
}

/* Where a finding begins and ends in a text. Its column and length count bytes. */
function rangeOf(text, { line, column, length }) {
    const [start, end] = startOfLine(text, line);
    const bytes = new TextEncoder().encode(text.slice(start, end));
    const charactersIn = (count) => new TextDecoder().decode(bytes.slice(0, count)).length;
    return [start + charactersIn(column - 1), start + charactersIn(column - 1 + length)];
}

/* What an editor marks: the findings about its file. */
const marksOf = (text, diagnostics, name) => diagnostics.filter((one) => one.file === name)
    .map((one) => {
        const [start, end] = rangeOf(text, one);
        return { start, end, kind: one.severity };
    });

/* Names between grave accents are code. */
const sentence = (text) => text.split("`").map((part, k) =>
    (k % 2 ? make("code", {}, part) : part || null));

/* What is wrong, and what to do. */
function foundText({ text, hint }) {
    const whole = hint ? `${text}; ${hint}` : text;
    return /[.?!]$/.test(whole) ? whole : `${whole}.`;
}

/* The findings about a file, which is the text in `area`, and about its headers. reveal(start, end)
 * shows a place of the text. */
function problemsList(diagnostics, name, area, reveal) {
    if (!diagnostics.length) return "";
    const place = (one) => (one.file !== name ? `${one.file}:${one.line}`
        : make("button", { type: "button", onclick: () => reveal(...rangeOf(area.value, one)) },
               `line ${one.line}, column ${one.column}`));
    return make("div", { class: "problems", role: "list", "aria-label": "What the compiler found" },
        diagnostics.map((one) => make("div", { class: one.severity, role: "listitem" }, place(one),
            " ", make("strong", {}, one.severity), ": ", sentence(foundText(one)))));
}

/* "2 errors: nothing has run." */
function refusedText(diagnostics) {
    const errors = diagnostics.filter((one) => one.severity === "error").length;
    return `This page's compiler has found ${errors} error${errors === 1 ? "" : "s"}, ` +
        "so nothing has run.";
}

/* ---- the box --------------------------------------------------------------------------------- */
/* A box in which a reader writes CUDA C. The browser keeps the text, where it has a
 * store, and the address holds it. */

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

module.exports = { coloured, compileRequest, isCuda, linesOf, makeCodeBox, makeEditor, marksOf,
                   piecesOf, problemsList, refusedText, sentence, startOfLine };
