/* compiler.js -- CUDA C that this page compiles: the request, and a list of what the compiler has
 * found, with a button each that selects the place in the text. */
"use strict";
const { make } = require("./dom.js");

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
    const lines = text.split("\n"), before = lines.slice(0, line - 1).join("\n");
    const start = before.length + (line > 1 ? 1 : 0);
    const bytes = new TextEncoder().encode(lines[line - 1] || "");
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

module.exports = { compileRequest, isCuda, marksOf, problemsList, refusedText, sentence };
