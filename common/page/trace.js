/*
 * trace.js -- the events of a launch, from the emulator's trace (common/emu/watch/trace.h), and
 * what shared memory holds after each of them.
 */
"use strict";

const WORD = 4, COPY_EVERY = 1024; // events
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

/* The lines of a trace's events, in the order in which they happened. */
const linesOf = (text) => text.split("\n").slice(1).filter((line) => line);

const readTrace = (text) => linesOf(text).map(eventOf);

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

/* What tells an instruction apart in kernels that differ in their padding alone: the interval, the
 * warp, what it does, and how many like it came before. */
function instructionOf(events, index) {
    const event = events[index];
    const isAlike = (one) => one.epoch === event.epoch && one.warp === event.warp &&
        one.operation === event.operation && one.space === event.space;
    return event && { event, before: events.slice(0, index).filter(isAlike).length, isAlike };
}

/* The index of this instruction in the events of another kernel, or -1. */
const findInstruction = (events, { before, isAlike }) =>
    events.findIndex((one) => isAlike(one) && !before--);

/* The event at which a thread has accessed an address at a line, or -1. `place` is that of a
 * finding (report/document.h), `block` has the block's three sizes. */
function eventAt(events, place, address, block) {
    const [x, y, z] = place.thread, thread = x + block[0] * (y + block[1] * z);
    const at = Number(address), warp = Math.floor(thread / 32), lane = thread % 32;
    const name = place.file.split("/").pop();
    return events.findIndex((event) => event.line === place.line && event.file === name &&
        event.warp === warp && event.space !== "-" && lanesOf(event).some((one) =>
        one.lane === lane && one.address <= at && at < one.address + event.bytes));
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

/* Where the access of an event to shared memory ends; 0: it is none. */
function endOf(event) {
    let end = 0;
    if (isShared(event))
        for (const { address } of lanesOf(event)) end = Math.max(end, address + event.bytes);
    return end;
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
             written: new Int32Array(words).fill(-1) };
};
const copyOf = ({ view, words, written }) =>
    ({ view: new DataView(view.buffer.slice(0)), words, written: written.slice() });

/* A function of `count`: the bytes after the first `count` events, and for each word the last event
 * that stored it (-1: none). It keeps copies on the way, so that no call begins at the start. */
function makeHistory(events, size) {
    const copies = [];
    let memory = emptyMemory(size), done = 0;
    return (count) => {
        if (count < done) {
            const k = Math.floor(count / COPY_EVERY);
            memory = copyOf(copies[k]);
            done = k * COPY_EVERY;
        }
        for (; done < count; done++) {
            if (done % COPY_EVERY === 0) copies[done / COPY_EVERY] ||= copyOf(memory);
            if (isShared(events[done]) && events[done].operation === "st")
                store(memory.view, memory.written, events[done], done);
        }
        return memory;
    };
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

/* Adds an event to `levels`, the accesses to shared memory between two barriers, by epochs:
 * { epoch, lines, ld, st } with the conflicts of loads and of stores. */
function addToLevels(levels, event) {
    if (!isShared(event)) return;
    const level = levels[event.epoch] ||
        (levels[event.epoch] = { epoch: event.epoch, lines: new Set(), ld: 0, st: 0 });
    level.lines.add(event.line);
    if (event.operation in level) level[event.operation] += conflictsOf(event);
}

module.exports = { readTrace, linesOf, eventOf, isShared, isBarrier, isShuffle, isVote, conflictsOf,
                   eventAt, instructionOf, findInstruction, lanesOf, exchangeOf, banksOf,
                   wordsByBank, endOf, makeHistory, sumsOf, addToLevels, WORD };
