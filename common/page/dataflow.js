/*
 * dataflow.js -- which loads of shared memory feed a store to shared memory: read from the
 * registers of a PTX text. Places are "file:line" of the source, as in traces.
 *
 * The order of instructions is not regarded: a register that is defined twice feeds as both
 * definitions do. Predicates and addresses feed nothing.
 */
"use strict";

const { placesOf } = require("./places.js");

const BEFORE_CODE = /^\s*(?:\.loc\s+\d+\s+\d+\s+1\s+)?(?:[\w$]+:\s*)?(?:@!?%\w+\s+)?/;
const INSTRUCTION = /^([a-z][\w.]*)\s+(.*)$/;
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
function functionsOf(ptx) {
    const functions = [], places = placesOf(ptx);
    let found = null;
    ptx.split("\n").forEach((line, index) => {
        const { file, line: number } = places[index];
        const place = `${file.split("/").pop()}:${number}`;
        if (/\.(entry|func)\b/.test(line))
            functions.push(found = { definitions: new Map(), stores: [] });
        for (const part of line.replace(/\/\/.*/, "").replace(BEFORE_CODE, "").split(";")) {
            const one = INSTRUCTION.exec(part.trim().replace(/^@!?%\w+\s+/, ""));
            if (found && one) addInstruction(found, one[1], one[2], place);
        }
    });
    return functions;
}

/* A map from the place of a store to the set of the places of the loads that feed it. */
function feedsOf(ptx) {
    const feeds = new Map();
    for (const { definitions, stores } of functionsOf(ptx))
        for (const { place, registers } of stores) {
            const loads = feeds.get(place) || new Set();
            loadsBehind(definitions, registers).forEach((load) => loads.add(load));
            feeds.set(place, loads);
        }
    return feeds;
}

module.exports = { feedsOf };
