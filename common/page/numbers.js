/* numbers.js -- the numbers that a reader writes for a kernel: the emulator's text of them, or an
 * Error with a sentence. */
"use strict";

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

module.exports = { numberText, wholeIn };
