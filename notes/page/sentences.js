/* sentences.js -- what an event does, in words; and where a reader stops next. */
"use strict";
const trace = require("./trace.js");

function lanesText(event) {
    const lanes = (event.mask >>> 0).toString(2).replace(/0/g, "").length;
    return lanes === 1 ? "1 lane" : `${lanes} lanes`;
}

function accessText(event) {
    const verbs = { ld: "loads from", st: "stores to", atom: "changes" };
    const what = `${verbs[event.operation]} ${event.space} memory, ` +
        lanesText(event);
    if (!trace.isShared(event)) return `${what}, ${event.sectors} sectors`;
    const more = trace.conflictsOf(event);
    const wavefronts = `${event.wavefronts} ${event.wavefronts === 1 ? "wavefront" : "wavefronts"}`;
    return `${what}, ${wavefronts}: ${more ? `${more} of them by bank conflicts` : "no conflict"}`;
}

/* How many warps of the block have come to the barrier that the last event came to. */
function barrierText(events, count) {
    const last = events[count - 1];
    const same = (event) => trace.isBarrier(event) && event.epoch === last.epoch;
    const here = new Set(events.slice(0, count).filter(same).map((event) => event.warp));
    const all = new Set(events.filter(same).map((event) => event.warp));
    return here.size < all.size
        ? `waits at the barrier: ${here.size} of ${all.size} warps are here`
        : `comes to the barrier as the last of ${all.size} warps: all go on`;
}

function eventText(events, count) {
    const event = events[count - 1];
    if (!event) return "Nothing has run yet.";
    const what = trace.isBarrier(event) ? barrierText(events, count)
        : event.space === "-" ? `executes ${event.operation}, ${lanesText(event)}`
            : accessText(event);
    return `${count} of ${events.length}: block ${event.block}, warp ${event.warp}, ` +
        `${event.file}:${event.line} ${what}.`;
}

/* The position of the next event (direction 1) or previous one at which a reader stops. */
function nextPosition(events, position, direction, unit) {
    let to = position + direction;
    const goesOn = () => to > 0 && to < events.length && events[to].epoch === events[to - 1].epoch;
    while (unit === "barrier" && goesOn()) to += direction;
    return to;
}

module.exports = { eventText, nextPosition };
