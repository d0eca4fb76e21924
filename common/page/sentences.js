/* sentences.js -- what an event does, what has run, and whether the result is right, in words; and
 * where a reader stops next. */
"use strict";
const trace = require("./trace.js");

const counted = (count, name) => `${count} ${name}${count === 1 ? "" : "s"}`;

const lanesIn = (event) => (event.mask >>> 0).toString(2).replace(/0/g, "").length;
const lanesText = (event) => counted(lanesIn(event), "lane");

function conflictsText(conflicts) {
    if (!conflicts) return "There is no bank conflict";
    return conflicts === 1 ? "1 of them is a bank conflict"
        : `${conflicts} of them are bank conflicts`;
}

function accessText(event) {
    const verbs = lanesIn(event) === 1
        ? { ld: "loads from", st: "stores to", atom: "executes an atomic operation on" }
        : { ld: "load from", st: "store to", atom: "execute an atomic operation on" };
    const what = `: ${lanesText(event)} ${verbs[event.operation]} ${event.space} memory in `;
    if (!trace.isShared(event)) return what + counted(event.sectors, "sector");
    return `${what}${counted(event.wavefronts, "wavefront")}. ` +
        conflictsText(trace.conflictsOf(event));
}

function operationText(event) {
    const verb = lanesIn(event) === 1 ? "executes" : "execute";
    return `: ${lanesText(event)} ${verb} ${event.operation}`;
}

/* How many warps of the block have arrived at the barrier of the last event. */
function barrierText(events, count) {
    const last = events[count - 1];
    const same = (event) => trace.isBarrier(event) && event.epoch === last.epoch;
    const here = new Set(events.slice(0, count).filter(same).map((event) => event.warp));
    const all = new Set(events.filter(same).map((event) => event.warp));
    return here.size < all.size
        ? ` waits at the barrier, where ${here.size} of ${all.size} warps have arrived`
        : all.size === 1 ? " is the only warp at the barrier, and continues"
            : ` arrives at the barrier as the last of ${all.size} warps, so all warps continue`;
}

/* `race`: what the event races with, as a finding has it (report/document.h). */
const raceText = ({ access, file, line, thread }) => (!(access && file && thread)
    ? " A race: see the findings." : ` A race: no barrier comes after thread ${thread[0]}'s ` +
    `${access.toLowerCase()} at ${file.split("/").pop()}:${line}.`);

function eventText(events, count, race) {
    const event = events[count - 1];
    if (!event) return "Before the first instruction.";
    const what = trace.isBarrier(event) ? barrierText(events, count)
        : event.space === "-" ? operationText(event) : accessText(event);
    return `Event ${count} of ${events.length}. Block ${event.block}, warp ${event.warp} at ` +
        `${event.file}:${event.line}${what}.${race ? raceText(race) : ""}`;
}

/* The position of the next event (direction 1) or previous one at which a reader stops. */
function nextPosition(events, position, direction, unit) {
    let to = position + direction;
    const goesOn = () => to > 0 && to < events.length && events[to].epoch === events[to - 1].epoch;
    while (unit === "barrier" && goesOn()) to += direction;
    return to;
}

/* What the emulator has run, without the barriers of these keys. */
function ranText(answer, off, what = "kernel") {
    const keys = [...off], barriers = keys.length === 1 ? "barrier" : "barriers";
    const without = keys.length ? ` without the ${barriers} in ${keys.join(", ")}` : "";
    return answer.error ? `The emulator has not run the ${what} to its end${without}.`
        : `The emulator in this page has run the ${what}${without}.`;
}

const numbersOf = (text) => text.split(" ").map(Number);

/* Says whether "out" is the exclusive scan of "in", as it was before the run. */
function resultText(answer) {
    const buffer = (name) => answer.buffers.find((one) => one.name === name);
    if (!buffer("in") || !buffer("out")) return "";
    const input = numbersOf(buffer("in").given || buffer("in").values);
    const output = numbersOf(buffer("out").values);
    let sum = 0, wrong = 0, first = "";
    output.forEach((value, k) => {
        if (value !== sum && !wrong++) first = `out[${k}] is ${value}, and should be ${sum}`;
        sum += input[k];
    });
    if (!wrong) return `The result is right: all ${output.length} elements.`;
    return `The result is wrong: ${wrong} of ${output.length} elements. First, ${first}.`;
}

module.exports = { counted, ranText, resultText, eventText, nextPosition };
