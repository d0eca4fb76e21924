/* values.js -- the words of shared memory and of registers, and lines of source, as texts. */
"use strict";

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

module.exports = { codeText, textOfBits, valueOfBits, runsText };
