/*
 * ptx.js -- what a PTX text says: the source line of each line, a kernel's code and its barriers,
 * which are removed here, and which loads feed which stores.
 */
"use strict";

/* ---- places ---------------------------------------------------------------------------------- */
/* The source line of each line of a PTX text, by the emulator's rule
 * (common/tools/emu/ptx/ptx_function.c): code of a toolkit header counts for the line that has called it,
 * and code of the compiler's own (line 0) for the line before. */

const FILE = /\.file\s+(\d+)\s+"([^"]*)"/;
const PLACE_LINE = /^\s*\.loc\s+(\d+)\s+(\d+)\s+(\d+)(?:.*inlined_at\s+(\d+)\s+(\d+)\s+(\d+))?/;

const isToolkit = (path) => (path || "").includes("/include/");

/* For each line of the text { file, line }, with the whole name of the file; "" and 0 before the
 * first place. */
function findPlaces(ptx) {
    const lines = ptx.split("\n"), files = {}, homes = new Map();
    for (const line of lines) {
        const file = FILE.exec(line);
        if (file) files[file[1]] = file[2];
    }
    let current = { file: "", line: 0 }, first = null;
    return lines.map((text) => {
        const loc = PLACE_LINE.exec(text);
        if (!loc) return current;
        const [, file, line, column, ...caller] = loc;
        first = first || file;
        const calls = homes.get(caller.join(" ")) || { file: files[caller[0]], line: Number(caller[1]) };
        const isInner = caller[0] && isToolkit(files[file]) && !isToolkit(files[first]);
        const home = isInner ? calls : { file: files[file] || "", line: Number(line) };
        homes.set([file, line, column].join(" "), home);
        if (home.line) current = home;
        return current;
    });
}

let latest = { ptx: null, places: [] }; // several views ask for the places of one text

function placesOf(ptx) {
    if (latest.ptx !== ptx) latest = { ptx, places: findPlaces(ptx) };
    return latest.places;
}

/* ---- code and barriers ----------------------------------------------------------------------- */
/* Finds a kernel's code and its barriers in a PTX text, removes barriers, and numbers the lines
 * for the emulator. */

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

/* ---- loads that feed stores ------------------------------------------------------------------ */
/* Which loads of shared memory feed a store to shared memory: read from the
 * registers of a PTX text. Places are "file:line" of the source, as in traces.
 *
 * The order of instructions is not regarded: a register that is defined twice feeds as both
 * definitions do. Predicates and addresses feed nothing. */

const BEFORE_CODE = /^\s*(?:\.loc\s+\d+\s+\d+\s+1\s+)?(?:[\w$]+:\s*)?(?:@!?%\w+\s+)?/;
const OPERATION = /^([a-z][\w.]*)\s+(.*)$/;
const VALUE_REGISTER = /%(?!p\d)\w+/g;

const registersIn = (text) => text.replace(/\[[^\]]*\]/g, "").match(VALUE_REGISTER) || [];

/* The operands of an instruction: the first one (a list of registers in braces counts as one), and
 * the rest. */
function splitOperands(text) {
    const first = /^(\{[^}]*\}|\[[^\]]*\]|[^,]*),?\s*(.*)$/.exec(text);
    return [first[1], first[2]];
}

/* Adds what an instruction does to a function's registers: definitions (registers, and places of
 * loads), and the registers that are stored. */
function addInstruction(found, name, operands, place) {
    const [first, rest] = splitOperands(operands);
    if (/^st\./.test(name)) {
        if (/\.shared\b/.test(name)) found.stores.push({ place, registers: registersIn(rest) });
        return;
    }
    for (const register of registersIn(first)) {
        const definition = found.definitions.get(register) || { uses: new Set(), loads: new Set() };
        if (/^ld\..*\.?shared\b/.test(name)) definition.loads.add(place);
        else registersIn(rest).forEach((use) => definition.uses.add(use));
        found.definitions.set(register, definition);
    }
}

/* The places of all loads that feed these registers. */
function loadsBehind(definitions, registers) {
    const seen = new Set(), loads = new Set(), waiting = [...registers];
    while (waiting.length) {
        const register = waiting.pop(), definition = definitions.get(register);
        if (seen.has(register) || !definition) continue;
        seen.add(register);
        definition.loads.forEach((place) => loads.add(place));
        waiting.push(...definition.uses);
    }
    return loads;
}

/* All functions of a text. */
function registersOf(ptx) {
    const functions = [], places = placesOf(ptx);
    let found = null;
    ptx.split("\n").forEach((line, index) => {
        const { file, line: number } = places[index];
        const place = `${file.split("/").pop()}:${number}`;
        if (/\.(entry|func)\b/.test(line))
            functions.push(found = { definitions: new Map(), stores: [] });
        for (const part of line.replace(/\/\/.*/, "").replace(BEFORE_CODE, "").split(";")) {
            const one = OPERATION.exec(part.trim().replace(/^@!?%\w+\s+/, ""));
            if (found && one) addInstruction(found, one[1], one[2], place);
        }
    });
    return functions;
}

/* A map from the place of a store to the set of the places of the loads that feed it. */
function feedsOf(ptx) {
    const feeds = new Map();
    for (const { definitions, stores } of registersOf(ptx))
        for (const { place, registers } of stores) {
            const loads = feeds.get(place) || new Set();
            loadsBehind(definitions, registers).forEach((load) => loads.add(load));
            feeds.set(place, loads);
        }
    return feeds;
}

module.exports = { placesOf, barriersOf, filesOf, keyOf, withoutBarriers, withLines, editOf,
                   isEdit, withEdit, feedsOf };
