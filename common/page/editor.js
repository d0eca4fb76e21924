/* editor.js -- a text box with the colours of CUDA C, numbered lines, and marks at what a compiler
 * has found. The box is a textarea, and so are its keys and its undo; the colours are a copy of the
 * text behind it, which has no letters of its own for screen readers. */
"use strict";
const { make, replace } = require("./dom.js");
const { coloured, piecesOf } = require("./lexer.js");

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
             } };
}

module.exports = { makeEditor, makeKeys, retype };
