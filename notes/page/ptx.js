/* ptx.js -- finds and removes barriers in a PTX text, and numbers its lines for the emulator. */
"use strict";

const { placesOf } = require("./places.js");

const BARRIER = /^(\s*(?:\.loc \d+ \d+ 1 )?)((?:bar|barrier)(?:\.cta)?(?:\.sync|\.red)\b[^;]*;|bar\.warp\.sync\b[^;]*;)/;
const INSTRUCTION = /^\s*(?:@!?%\w+\s+)?[a-z][\w.]*(?:\s[^;]*)?;/;

/* The barriers: { index of the line, file, line of the source, isWarp }. */
function barriersOf(ptx) {
    const places = placesOf(ptx), barriers = [];
    ptx.split("\n").forEach((text, index) => {
        const barrier = BARRIER.exec(text);
        if (barrier)
            barriers.push({ index, ...places[index], isWarp: barrier[2].startsWith("bar.warp") });
    });
    return barriers;
}

const keyOf = (barrier) => `${barrier.file.split("/").pop()}:${barrier.line}`;

/* The text without the barriers whose keys ("scan.cu:52") are in a set. Lines keep their numbers. */
function withoutBarriers(ptx, keys) {
    const lines = ptx.split("\n");
    for (const barrier of barriersOf(ptx))
        if (keys.has(keyOf(barrier)))
            lines[barrier.index] = lines[barrier.index].replace(BARRIER, "$1// removed: $2");
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

/* The text that editOf() has described. */
function withEdit(original, edit) {
    const [, head, count, text] = /^(\d+),(\d+),([^]*)$/.exec(edit) || [];
    if (head === undefined) return original;
    const lines = original.split("\n"), now = text.split("\n");
    const rest = lines.slice(Number(head) + Number(count));
    return lines.slice(0, Number(head)).concat(text === "" ? [] : now, rest).join("\n");
}

module.exports = { barriersOf, keyOf, withoutBarriers, withLines, editOf, withEdit };
