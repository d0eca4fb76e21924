/*
 * trace.js -- the events of a launch, from the emulator's trace (common/emu/trace/trace.h), and
 * what shared memory holds after each of them.
 */
"use strict";

const WORD = 4;
const FIELDS = ["launch", "kernel", "block", "warp", "epoch", "place", "operation", "space",
                "bytes", "mask", "wavefronts", "ideal", "sectors", "addresses", "values"];
const NUMBERS = ["launch", "block", "warp", "epoch", "bytes", "wavefronts", "ideal", "sectors"];

function eventOf(line) {
    const event = {};
    line.split("\t").forEach((text, k) => { event[FIELDS[k]] = text; });
    for (const name of NUMBERS) event[name] = Number(event[name]) || 0;
    const colon = event.place.lastIndexOf(":");
    event.file = event.place.slice(0, colon);
    event.line = Number(event.place.slice(colon + 1));
    event.mask = parseInt(event.mask, 16);
    return event;
}

/* All events, in the order in which they happened. */
function readTrace(text) {
    return text.split("\n").slice(1).filter((line) => line).map(eventOf);
}

const isShared = (event) => event.space === "shared";
const isBarrier = (event) => /^bar/.test(event.operation) && event.operation !== "bar.warp";
const isShuffle = (event) => event.operation.startsWith("shfl");
const isVote = (event) => event.operation.startsWith("vote");
const conflictsOf = (event) => (isShared(event) ? event.wavefronts - event.ideal : 0);

/* The active lanes, with the address and the values of each: { lane, address, values }. */
function lanesOf(event) {
    if (!event.lanes) event.lanes = readLanes(event);
    return event.lanes;
}

function readLanes(event) {
    const addresses = event.addresses.split(" "), values = event.values.split(" ");
    const lanes = [];
    for (let lane = 0, k = 0; lane < 32; lane++) {
        if (!(event.mask >>> lane & 1)) continue;
        lanes.push({ lane, address: parseInt(addresses[k], 16), values: (values[k] || "-").split(",") });
        k++;
    }
    return lanes;
}

/* What a shuffle or a vote has done for each of its lanes: { lane, from, given, received }. `from`
 * is the lane whose value it has received, its own number if it keeps its own; null for a vote. */
function exchangeOf(event) {
    const bits = (text) => parseInt(text, 16);
    return lanesOf(event).map(({ lane, address, values }) => ({
        lane, from: isShuffle(event) ? address : null,
        given: bits(values[0]), received: bits(values[1]) }));
}

/* ---- banks ------------------------------------------------------------------------------- */

const banksOf = (rules) => (rules === "g80" || rules === "gt200" ? 16 : 32);

/* The words that each bank has to serve in one go: a list for each bank. Older GPUs serve half a
 * warp at a time, and lists of both halves are joined here. */
function wordsByBank(event, banks) {
    const lists = Array.from({ length: banks }, () => []);
    const groups = banks === 16 ? [[0, 15], [16, 31]] : [[0, 31]];
    for (const [first, last] of groups) {
        const seen = new Set();
        for (const { lane, address } of lanesOf(event)) {
            if (lane < first || lane > last) continue;
            for (let word = Math.floor(address / WORD);
                 word * WORD < address + event.bytes; word++) seen.add(word);
        }
        for (const word of seen) lists[word % banks].push(word);
    }
    return lists;
}

/* ---- shared memory ----------------------------------------------------------------------- */

function sizeOf(events) {
    let size = 0;
    for (const event of events)
        if (isShared(event))
            for (const { address } of lanesOf(event)) size = Math.max(size, address + event.bytes);
    return size;
}

function store(view, written, event, number) {
    for (const { address, values } of lanesOf(event)) {
        const width = event.bytes / values.length;
        values.forEach((hex, k) => {
            if (hex === "-") return;
            const at = address + k * width;
            if (width === WORD) view.setUint32(at, parseInt(hex, 16), true);
            else for (let byte = 0; byte < width; byte++)
                view.setUint8(at + byte, parseInt(hex.substr(2 * (width - 1 - byte), 2), 16));
            for (let word = Math.floor(at / WORD); word * WORD < at + width; word++)
                written[word] = number;
        });
    }
}

const emptyMemory = (size) => {
    const words = Math.ceil(size / WORD);
    return { view: new DataView(new ArrayBuffer(words * WORD)), words,
             written: new Array(words).fill(-1) };
};

/* The bytes after the first `count` events, and for each word the last event that stored it (-1:
 * none). */
function memoryAfter(events, count, size) {
    const memory = emptyMemory(size);
    for (let k = 0; k < count; k++)
        if (isShared(events[k]) && events[k].operation === "st")
            store(memory.view, memory.written, events[k], k);
    return memory;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* What the first `count` events add to the counters. */
function sumsOf(events, count) {
    const sums = { ld: { wavefronts: 0, conflicts: 0, instructions: 0, requests: 0, sectors: 0 },
                   st: { wavefronts: 0, conflicts: 0, instructions: 0, requests: 0, sectors: 0 } };
    for (let k = 0; k < count; k++) {
        const event = events[k], sum = sums[event.operation];
        if (!sum) continue;
        sum.wavefronts += event.wavefronts;
        sum.conflicts += conflictsOf(event);
        sum.instructions += isShared(event);
        sum.requests += event.space === "global";
        sum.sectors += event.sectors;
    }
    return sums;
}

/* The accesses to shared memory between two barriers: { epoch, lines, ld, st } with the conflicts
 * of loads and of stores. */
function levelsOf(events) {
    const levels = [];
    for (const event of events) {
        if (!isShared(event)) continue;
        const level = levels[event.epoch] ||
            (levels[event.epoch] = { epoch: event.epoch, lines: new Set(), ld: 0, st: 0 });
        level.lines.add(event.line);
        if (event.operation in level) level[event.operation] += conflictsOf(event);
    }
    return levels.filter((level) => level);
}

module.exports = { readTrace, isShared, isBarrier, isShuffle, isVote, conflictsOf, lanesOf,
                   exchangeOf, banksOf, wordsByBank, sizeOf, memoryAfter, sumsOf, levelsOf, WORD };
