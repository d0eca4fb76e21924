/* texts.js -- values, numbers and events as texts, and texts of a reader as numbers. */
"use strict";
const trace = require("./trace.js");

/* ---- values ---------------------------------------------------------------------------------- */
/* The words of shared memory and of registers, and lines of source, as texts. */

const DIGITS = 5, MOST_SUBNORMAL = 0x007fffff;
const view = new DataView(new ArrayBuffer(4));

/* 32 bits as a number. As f32, bits that would be a number below 10^-37 are shown as an integer,
 * because small integers have such bits. */
function textOfBits(bits, type) {
    view.setUint32(0, bits);
    if (type === "u32") return String(bits >>> 0);
    const isInteger = type === "s32" || (bits !== 0 && bits >>> 0 <= MOST_SUBNORMAL);
    if (isInteger) return String(view.getInt32(0));
    return String(Number(valueOfBits(bits).toPrecision(DIGITS)));
}

/* 32 bits as the number that an f32 has. */
function valueOfBits(bits) {
    view.setUint32(0, bits);
    return view.getFloat32(0);
}

/* The value of the last store to a word; "·": nothing was stored. */
function storedText(store, type) {
    if (!store) return "·";
    return store.bits === null ? "•" : textOfBits(store.bits, type);
}

/* A run of numbers, with the same distance between neighbours. */
function runText(run) {
    const [first, second] = run, last = run[run.length - 1];
    if (run.length < 4) return run.join(", ");
    return second === first + 1 ? `${first}–${last}` : `${first}, ${second}, …, ${last}`;
}

/* Numbers in short: "1, 3, 5–9; 65, 67, …, 511". */
function runsText(numbers) {
    const sorted = [...numbers].sort((a, b) => a - b), runs = [];
    let run = [];
    for (const number of sorted) {
        const size = run.length;
        if (size > 1 && number - run[size - 1] !== run[1] - run[0]) {
            runs.push(run);
            run = [];
        }
        run.push(number);
    }
    return [...runs, run].map(runText).join("; ");
}

/* A line of source. A part's name at the right margin, "// … (part B)", moves to its comment. */
const codeText = (line) => line.replace(/(\/\/.*?)\s{2,}(\(part \w\))$/, "$1 $2");

/* ---- numbers of a reader --------------------------------------------------------------------- */
/* The numbers that a reader writes for a kernel: the emulator's text of them, or an
 * Error with a sentence. */

const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:e([+-]?\d+))?$/i;
const HEX = /^([+-]?)(0x[0-9a-f]+)$/i;
const MOST_EXPONENT = 400; // no type holds 10 to this power
const MOST_SHOWN = 40;

const quoted = (text) => `"${text.slice(0, MOST_SHOWN)}${text.length > MOST_SHOWN ? "…" : ""}"`;

function rangeOf(type) {
    const bits = BigInt(type.slice(1));
    return type[0] === "u" ? [0n, 2n ** bits - 1n] : [-(2n ** (bits - 1n)), 2n ** (bits - 1n) - 1n];
}

/* The value of a decimal number as a BigInt; null: it is not whole. One that is beyond all types
 * stays so. */
function wholeOf([, sign, digits, fraction = "", exponent = "0"]) {
    const shift = Number(exponent) - fraction.length, value = BigInt(digits + fraction);
    const power = 10n ** BigInt(Math.min(Math.abs(shift), MOST_EXPONENT + fraction.length));
    if (shift < 0 && value % power) return null;
    const whole = shift < 0 ? value / power : value * power;
    return sign === "-" ? -whole : whole;
}

function integerText(text, type, name, hex, decimal) {
    const value = hex ? BigInt(hex[2]) * (hex[1] === "-" ? -1n : 1n) : wholeOf(decimal);
    if (value === null)
        throw new Error(`${name} is ${quoted(text)}, and ${type} holds whole numbers.`);
    const [least, most] = rangeOf(type);
    if (value < least || value > most)
        throw new Error(`${name} is ${quoted(text)}, and ${type} holds ${least} to ${most}.`);
    return String(value);
}

function floatText(text, type, name, hex, decimal) {
    const magnitude = Number(hex ? hex[2] : decimal[0].replace(/^[+-]/, ""));
    const value = type === "f32" ? Math.fround(magnitude) : magnitude;
    const isZero = hex ? !magnitude : !/[1-9]/.test(decimal[2] + (decimal[3] || ""));
    if (!Number.isFinite(value))
        throw new Error(`${name} is ${quoted(text)}, which is too large for ${type}.`);
    if (!value && !isZero)
        throw new Error(`${name} is ${quoted(text)}, which ${type} rounds to 0.`);
    return `${(hex || decimal)[1] === "-" ? "-" : ""}${magnitude}`;
}

/* A number as the emulator reads it. `name` begins the sentence of an Error. Leading zeros have no
 * meaning; 0x begins a hexadecimal number. */
function numberText(written, type, name) {
    const text = written.trim().replace(/^\u2212/, "-"), hex = HEX.exec(text);
    const decimal = hex ? null : DECIMAL.exec(text);
    if (!hex && !(decimal && (decimal[2] || decimal[3])))
        throw new Error(text ? `${name} is ${quoted(text)}, which is not a number.`
            : `${name} is empty. Write a number.`);
    return (type[0] === "f" ? floatText : integerText)(text, type, name, hex, decimal);
}

/* The whole number of a field of a form, from `least` to `most`. */
function wholeIn(value, least, most, name) {
    const number = value === "" ? NaN : Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new Error(`${name} must be a whole number from ${least} to ${most}.`);
}

/* ---- sentences ------------------------------------------------------------------------------- */
/* What an event does, what has run, and whether the result is right, in words; and
 * where a reader stops next. */

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

/* "thread 36 of block 1, scan.cu:16, stored 292". `size`: the threads of a block in x, y and z. */
function storeText({ thread, block, file, line, operation, value }, [x, y, z], type) {
    const place = y * z === 1 ? thread
        : `(${thread % x},${Math.floor(thread / x) % y},${Math.floor(thread / x / y)})`;
    const bits = parseInt(value, 16), text = value === "-" ? "a copied value"
        : value.length === 8 ? textOfBits(bits, type) : `0x${value}`;
    return `thread ${place} of block ${block}, ${file}:${line}, ` +
        `${operation === "st" ? "stored" : "executed an atomic operation on"} ${text}`;
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

module.exports = { codeText, textOfBits, storedText, valueOfBits, runsText, numberText, wholeIn,
                   counted,
                   ranText, resultText, eventText, storeText, nextPosition };
