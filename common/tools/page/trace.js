/*
 * trace.js -- the events of a launch, from the emulator's trace (common/tools/emu/watch/trace.h), and
 * what shared memory holds after each of them.
 */
"use strict";

const WORD = 4; // bytes
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

const wordOf = (address) => Math.floor(address / WORD);

/* The words of shared memory that the lanes of an event access: { lane, word }. */
function wordsOf(event) {
    const found = [];
    for (const { lane, address } of event && isShared(event) ? lanesOf(event) : [])
        for (let word = wordOf(address); word * WORD < address + event.bytes; word++)
            found.push({ lane, word });
    return found;
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

/* The stores to an address, the last one first: events with { at (the player's position after it),
 * thread, value }. `lines` are those of a trace; shared memory is that of a block of a launch. */
function storesTo(lines, { space, address, launch, block }) {
    const found = [], counts = {};
    for (const event of lines.map(eventOf)) {
        const key = `${event.launch} ${event.block}`, at = counts[key] = (counts[key] || 0) + 1;
        const isHere = space === "global" || (event.launch === launch && event.block === block);
        if (!isHere || event.space !== space || event.operation === "ld") continue;
        for (const one of lanesOf(event)) {
            const width = event.bytes / one.values.length;
            const k = Math.floor((address - one.address) / width);
            if (k >= 0 && k < one.values.length)
                found.unshift({ ...event, at, thread: 32 * event.warp + one.lane,
                                value: one.values[k] });
        }
    }
    return found;
}

/* ---- banks ------------------------------------------------------------------------------- */

const banksOf = (rules) => (rules === "g80" || rules === "gt200" ? 16 : 32);

/* For each bank the words that it has to serve, in the order of their lanes: { word, lanes }. */
function pilesOf(accesses, banks) {
    const piles = Array.from({ length: banks }, () => []);
    for (const { lane, word } of accesses) {
        const pile = piles[word % banks], found = pile.find((one) => one.word === word);
        if (found) found.lanes.push(lane);
        else pile.push({ word, lanes: [lane] });
    }
    return piles;
}

/* ---- sums -------------------------------------------------------------------------------- */

/* What the first `count` events add to the counters. */
function sumsOf(events, count) {
    const sums = { ld: { wavefronts: 0, conflicts: 0, instructions: 0, requests: 0, sectors: 0 },
                   st: { wavefronts: 0, conflicts: 0, instructions: 0, requests: 0, sectors: 0 } };
    for (const event of events.slice(0, count)) {
        const sum = sums[event.operation];
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

/* ---- intervals ------------------------------------------------------------------------------- */
/* Shared memory between barriers: what each interval stores, from which words, and which values
 * stand there at its end. And which words need a barrier. */

/* The bits of a word after a store of some bytes at an address; null: a copy's, which are not in
 * the trace. */
function bitsAfter(old, word, address, width, hex) {
    if (hex === "-") return null;
    if (width === WORD) return parseInt(hex, 16);
    let bits = old;
    for (let byte = 0; byte < width; byte++) {
        const shift = 8 * (address + byte - word * WORD);
        if (shift < 0 || shift >= 8 * WORD) continue;
        const value = parseInt(hex.substr(2 * (width - 1 - byte), 2), 16);
        bits = bits & ~(255 << shift) | value << shift;
    }
    return bits >>> 0;
}
const placeOf = (event) => `${event.file}:${event.line}`;

/* The loads of each thread, by their lines. A load replaces an earlier one of the same line if its
 * thread has stored since. In a loop with branches, a load that has fed this store before does not
 * feed it again where another branch has loaded since. */
function makeLoads() {
    const threads = new Map();
    const threadOf = (event, lane) => {
        const key = `${event.warp}.${lane}`;
        if (!threads.has(key)) threads.set(key, { stores: 0, lines: new Map(), last: new Map() });
        return threads.get(key);
    };
    return {
        add(event, lane, word) {
            const thread = threadOf(event, lane), place = placeOf(event);
            const old = thread.lines.get(place);
            if (old && old.stores === thread.stores) old.words.add(word);
            else thread.lines.set(place, { stores: thread.stores, words: new Set([word]) });
        },
        /* The words that feed a store by this thread, by `feeds` (ptx.js). */
        feeding(event, lane, feeds) {
            const thread = threadOf(event, lane), last = thread.last.get(placeOf(event));
            const found = [...feeds.get(placeOf(event)) || []]
                .map((place) => thread.lines.get(place)).filter((one) => one);
            const fresh = found.filter((one) => last === undefined || one.stores > last);
            const words = (fresh.length ? fresh : found).flatMap((one) => [...one.words]);
            return [...new Set(words)].sort((a, b) => a - b);
        },
        stored(event, lane) {
            const thread = threadOf(event, lane);
            thread.last.set(placeOf(event), thread.stores++);
        },
    };
}

/* Collects intervals between barriers: add(event, at) for each event in order. `intervals` are
 * { epoch, end (the index behind its last event), stores }, in order. A store is { at (the event's
 * index), lane, word, bits (null: unknown), sources (words) }. */
function makeIntervals(feeds) {
    const intervals = [], loads = makeLoads(), bits = []; // of each word
    let current = null;
    function add(event, at) {
        if (!current || current.epoch !== event.epoch)
            intervals.push(current = { epoch: event.epoch, end: at, stores: [] });
        current.end = at + 1;
        if (!isShared(event)) return;
        for (const { lane, address, values } of lanesOf(event)) {
            const width = event.bytes / values.length;
            values.forEach((hex, k) => {
                const begin = address + k * width;
                if (event.operation !== "st") loads.add(event, lane, wordOf(begin));
                else for (let word = wordOf(begin); word * WORD < begin + width; word++) {
                    bits[word] = bitsAfter(bits[word], word, begin, width, hex);
                    current.stores.push({ at, lane, word, bits: bits[word],
                                          sources: loads.feeding(event, lane, feeds) });
                }
            });
        }
        if (event.operation === "st")
            for (const { lane } of lanesOf(event)) loads.stored(event, lane);
    }
    return { intervals, add };
}

function intervalsOf(events, feeds) {
    const found = makeIntervals(feeds);
    events.forEach(found.add);
    return found.intervals;
}

/* The last store to each word among the first `count` events. */
function storedAfter(intervals, count) {
    const words = [];
    for (const { stores } of intervals)
        for (const one of stores) {
            if (one.at >= count) return words;
            words[one.word] = one;
        }
    return words;
}

/* ---- which words need a barrier ------------------------------------------------------------ */

/* The accesses { word, warp, lane, isStore } of these events. */
const accessesOf = (events, isWanted) => events.filter(isWanted).flatMap((event) =>
    wordsOf(event).map((one) => ({ ...one, warp: event.warp, isStore: event.operation !== "ld" })));

/* Compares what comes before a barrier with what comes after it. */
function compare(before, after) {
    const held = { warps: new Set(), lanes: new Set(), overwritten: new Set() };
    const writers = new Map(), readers = new Map(), written = new Set();
    for (const one of before) {
        if (one.isStore) writers.set(one.word, one);
        else readers.set(one.word, (readers.get(one.word) || new Set())
            .add(`${one.warp}.${one.lane}`));
    }
    for (const one of after) {
        const writer = writers.get(one.word), mine = `${one.warp}.${one.lane}`;
        if (!one.isStore && writer && !written.has(one.word)) {
            if (writer.warp !== one.warp) held.warps.add(one.word);
            else if (writer.lane !== one.lane) held.lanes.add(one.word);
        }
        if (one.isStore) {
            written.add(one.word);
            if ([...readers.get(one.word) || []].some((reader) => reader !== mine))
                held.overwritten.add(one.word);
        }
    }
    return held;
}

/* The events of the barrier's own warp from its last barrier before this one up to it, and from it
 * to the next one. */
function aroundWarpBarrier(events, at) {
    const { warp, epoch } = events[at];
    const ends = (k) => events[k].warp === warp && /^bar/.test(events[k].operation);
    let first = at - 1, last = at + 1;
    while (first >= 0 && !ends(first)) first--;
    while (last < events.length && !ends(last)) last++;
    const isMine = (event) => event.warp === warp && event.epoch === epoch;
    return [accessesOf(events.slice(first + 1, at), isMine),
            accessesOf(events.slice(at + 1, last), isMine)];
}

/* The words that need the barrier of event `at`, as sets: stored before it and loaded after it,
 * up to the next barrier, by other warps (`warps`) or by other lanes of the same warp only
 * (`lanes`); and loaded before it and stored after it by another thread (`overwritten`). null: the
 * event is no barrier. */
function heldBack(events, at) {
    const event = events[at];
    if (!event || !/^bar/.test(event.operation)) return null;
    const [before, after] = event.operation === "bar.warp" ? aroundWarpBarrier(events, at)
        : [0, 1].map((more) => accessesOf(events, (one) => one.epoch === event.epoch + more));
    const held = compare(before, after);
    held.warps.forEach((word) => held.lanes.delete(word));
    return held;
}

module.exports = { readTrace, linesOf, eventOf, isShared, isBarrier, isShuffle, isVote,
                   conflictsOf, eventAt, storesTo, instructionOf, findInstruction, lanesOf,
                   exchangeOf, banksOf, pilesOf, wordsOf, storedAfter, sumsOf, addToLevels, WORD,
                   intervalsOf, makeIntervals, heldBack };
