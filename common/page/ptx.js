/* ptx.js -- finds a kernel's code and its barriers in a PTX text, removes barriers, and numbers the
 * lines for the emulator. */
"use strict";

const { placesOf } = require("./places.js");

const BARRIER = new RegExp("^(\\s*(?:\\.loc \\d+ \\d+ 1 )?)(?:@!?%\\w+\\s+)?" +
    "((?:bar|barrier)(?:\\.cta)?(?:\\.sync|\\.red)\\b[^;]*;|bar\\.warp\\.sync\\b[^;]*;)");
const INSTRUCTION = /^\s*(?:@!?%\w+\s+)?[a-z][\w.]*(?:\s[^;]*)?;/;

const LOC = /^\s*\.loc\s/;
const FUNCTION = /\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)/;

/* The functions of a text: { name, first, end (the index behind its last line), called (names) }. A
 * declaration and the definition that follows it are two. */
function functionsOf(ptx) {
    const lines = ptx.split("\n"), functions = [];
    lines.forEach((line, index) => {
        const found = FUNCTION.exec(line);
        if (found) functions.push({ name: found[1], first: index });
    });
    const names = new Set(functions.map((one) => one.name));
    functions.forEach((one, k) => {
        one.end = k + 1 < functions.length ? functions[k + 1].first : lines.length;
        const words = lines.slice(one.first, one.end).join("\n").match(/[\w$]+/g);
        one.called = words.filter((word) => names.has(word));
    });
    return functions;
}

/* The indices of the lines of these kernels and of the functions that they call. */
function codeOf(ptx, kernels) {
    const functions = functionsOf(ptx), reached = new Set(kernels), waiting = [...kernels];
    const indices = new Set();
    while (waiting.length) {
        const name = waiting.pop();
        for (const one of functions.filter((each) => each.name === name)) {
            for (let index = one.first; index < one.end; index++) indices.add(index);
            for (const called of one.called.filter((each) => !reached.has(each))) {
                reached.add(called);
                waiting.push(called);
            }
        }
    }
    return indices;
}

/* The names of the source files of these kernels' code, that of the first instruction first. */
function filesOf(ptx, kernels) {
    const places = placesOf(ptx), lines = ptx.split("\n");
    const code = [...codeOf(ptx, kernels)].sort((a, b) => a - b);
    const used = code.filter((index) => LOC.test(lines[index])).map((index) => places[index])
        .filter((place) => place.line);
    return [...new Set(used.map((place) => place.file.split("/").pop()))];
}

/* The barriers of these kernels: { index of the line, file, line of the source, isWarp }. */
function barriersOf(ptx, kernels) {
    const places = placesOf(ptx), code = codeOf(ptx, kernels), barriers = [];
    ptx.split("\n").forEach((text, index) => {
        const barrier = code.has(index) && BARRIER.exec(text);
        if (barrier)
            barriers.push({ index, ...places[index], isWarp: barrier[2].startsWith("bar.warp") });
    });
    return barriers;
}

const keyOf = (barrier) => `${barrier.file.split("/").pop()}:${barrier.line}`;

/* The text without those barriers of the kernels whose keys ("scan.cu:52") are in a set. Lines keep
 * their numbers. */
function withoutBarriers(ptx, kernels, keys) {
    const lines = ptx.split("\n");
    for (const barrier of barriersOf(ptx, kernels))
        if (keys.has(keyOf(barrier)))
            lines[barrier.index] = lines[barrier.index].replace(BARRIER, "$1/* removed: $2 */");
    return lines.join("\n");
}

/* A text without line information gets that of the PTX itself: each instruction belongs to its own
 * line of a file with this name. */
function withLines(ptx, name) {
    if (/^\s*\.loc\s/m.test(ptx)) return ptx;
    let depth = 0, isNamed = false;
    return ptx.split("\n").map((text, index) => {
        const isInside = depth > 0;
        depth += (text.match(/{/g) || []).length - (text.match(/}/g) || []).length;
        if (isInside && INSTRUCTION.test(text)) return `.loc 1 ${index + 1} 1 ${text}`;
        if (isNamed || !/^\s*\.address_size/.test(text)) return text;
        isNamed = true;
        return `${text} .file 1 "${name}"`;
    }).join("\n");
}

/* ---- edits in links ------------------------------------------------------------------------ */

/* How a text differs from another one: "first line,lines that are replaced,their new text"; "": not
 * at all. */
function editOf(original, text) {
    if (text === original) return "";
    const old = original.split("\n"), now = text.split("\n");
    const most = Math.min(old.length, now.length);
    let head = 0, tail = 0;
    while (head < most && old[head] === now[head]) head++;
    while (tail < most - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail++;
    return `${head},${old.length - head - tail},${now.slice(head, now.length - tail).join("\n")}`;
}

const EDIT = /^(\d+),(\d+),([^]*)$/;

/* Whether a text describes a change of the original. */
function isEdit(original, edit) {
    const [, head, count] = EDIT.exec(edit) || [];
    return head !== undefined && Number(head) + Number(count) <= original.split("\n").length;
}

/* The text that editOf() has described. */
function withEdit(original, edit) {
    if (!isEdit(original, edit)) return original;
    const [, head, count, text] = EDIT.exec(edit);
    const lines = original.split("\n"), now = text.split("\n");
    const rest = lines.slice(Number(head) + Number(count));
    return lines.slice(0, Number(head)).concat(text === "" ? [] : now, rest).join("\n");
}

module.exports = { barriersOf, filesOf, keyOf, withoutBarriers, withLines, editOf, isEdit,
                   withEdit };
