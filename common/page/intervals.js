/*
 * intervals.js -- shared memory between barriers: what each interval stores, from which words, and
 * which values stand there at its end. And which words need a barrier.
 */
"use strict";
const trace = require("./trace.js");

const wordOf = (address) => Math.floor(address / trace.WORD);
const bitsOf = (hex) => (hex === "-" ? null : parseInt(hex.slice(-8), 16));
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
        /* The words that feed a store by this thread, by `feeds` (dataflow.js). */
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
 * index), lane, word, bits (its value's lowest 32 bits; null: unknown), sources (words) }. */
function makeIntervals(feeds) {
    const intervals = [], loads = makeLoads();
    let current = null;
    function add(event, at) {
        if (!current || current.epoch !== event.epoch)
            intervals.push(current = { epoch: event.epoch, end: at, stores: [] });
        current.end = at + 1;
        if (!trace.isShared(event)) return;
        for (const { lane, address, values } of trace.lanesOf(event)) {
            const width = event.bytes / values.length;
            values.forEach((hex, k) => {
                const word = wordOf(address + k * width);
                if (event.operation !== "st") loads.add(event, lane, word);
                else current.stores.push({ at, lane, word, bits: bitsOf(hex),
                                           sources: loads.feeding(event, lane, feeds) });
            });
        }
        if (event.operation === "st")
            for (const { lane } of trace.lanesOf(event)) loads.stored(event, lane);
    }
    return { intervals, add };
}

function intervalsOf(events, feeds) {
    const found = makeIntervals(feeds);
    events.forEach(found.add);
    return found.intervals;
}

/* ---- which words need a barrier ------------------------------------------------------------ */

/* The accesses { word, warp, lane } of these events. */
function accessesOf(events, isWanted) {
    const found = [];
    for (const event of events)
        if (trace.isShared(event) && isWanted(event))
            for (const { lane, address } of trace.lanesOf(event))
                for (let word = wordOf(address); word * trace.WORD < address + event.bytes; word++)
                    found.push({ word, warp: event.warp, lane, isStore: event.operation !== "ld" });
    return found;
}

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

module.exports = { intervalsOf, makeIntervals, heldBack };
