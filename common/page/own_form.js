/*
 * own_form.js -- the form for a launch of the reader's own kernel: its shape, and a buffer or a
 * number for each parameter. Fields are read and written as one object, so that a link holds them.
 */
"use strict";
const { make, replace, labelled, choice } = require("./dom.js");
const { MOST_SEED } = require("./kernels.js");
const { numberText, wholeIn } = require("./numbers.js");
const { SECONDS } = require("./runner.js");

const TYPES = { 8: ["u64", "s64", "f64"], 4: ["f32", "u32", "s32"], 2: ["u16", "s16"],
                1: ["u8", "s8"] };
const ELEMENTS = ["f32", "s32", "u32", "f64", "u64", "s64", "u16", "s16", "u8", "s8"];
const FILLS = [["digits", "random digits, 0 to 9"], ["ramp", "0, 1, 2, …"], ["zero", "zeros"],
               ["one", "ones"], ["values", "numbers that I paste"],
               ["none", "leave it uninitialised"]];
const TIME = "The time until the kernel is stopped, in seconds,";
const MOST = 2 ** 32 - 1, MOST_SECONDS = 3600;

const named = (names) => names.map((name) => [name, name]);
const number = (value, name, min, max = MOST) =>
    make("input", { type: "number", min, max, value, "aria-label": name, required: true });

/* ---- the launch ------------------------------------------------------------------------------ */

/* Three numbers: of blocks, or of threads. */
function dimensions(label, name, values) {
    const fields = ["x", "y", "z"].map((axis, k) =>
        number(values[k], k ? `${name} in ${axis}` : name, 1));
    return { element: make("span", { class: "dimensions" }, labelled(label, fields[0]), " × ",
                           fields[1], " × ", fields[2]),
             read: () => fields.map((field) => Number(field.value)),
             checked: () => fields.map((field) =>
                 wholeIn(field.value, 1, MOST, field.getAttribute("aria-label"))) };
}

/* Fields of the launch, or of a program, which launches kernels itself. `given` has those of an
 * earlier one. */
function makeLaunch(given, rules, isProgram) {
    const old = { grid: [1, 1, 1], block: [256, 1, 1], shared: 2048, seconds: SECONDS, seed: 0,
                  rules: "hopper", cooperative: false, ...given };
    const grid = dimensions("blocks", "Blocks", old.grid);
    const block = dimensions("threads of a block", "Threads of a block", old.block);
    const shared = number(old.shared, "Dynamic shared memory in bytes", 0);
    const seconds = number(old.seconds, "Stop the kernel after (seconds)", 1, MOST_SECONDS);
    const seed = number(old.seed, "Schedule seed", 0, MOST_SEED);
    const chosen = choice(rules, old.rules, () => {});
    const cooperative = make("input", { type: "checkbox" });
    cooperative.checked = old.cooperative;
    const ofOne = (...elements) => (isProgram ? [] : elements);
    const element = make("fieldset", {}, make("legend", {}, isProgram ? "The program" : "Launch"),
        ofOne(grid.element, block.element, labelled("dynamic shared memory, bytes", shared)),
        labelled(`stop the ${isProgram ? "program" : "kernel"} after (seconds)`, seconds),
        labelled("count bank conflicts as on", chosen), labelled("schedule seed", seed),
        ofOne(labelled("cooperative", cooperative)));
    const choices = () => ({ rules: chosen.value, cooperative: cooperative.checked });
    return { element,
             read: () => ({ grid: grid.read(), block: block.read(), shared: Number(shared.value),
                            seconds: Number(seconds.value), seed: Number(seed.value),
                            ...choices() }),
             /* The same, or an Error where a field is wrong. */
             checked: () => ({ grid: grid.checked(), block: block.checked(),
                               shared: wholeIn(shared.value, 0, MOST, "Dynamic shared memory"),
                               seconds: wholeIn(seconds.value, 1, MOST_SECONDS, TIME),
                               seed: wholeIn(seed.value, 0, MOST_SEED, "The schedule seed"),
                               ...choices() }) };
}

/* ---- parameters ------------------------------------------------------------------------------ */

const bufferName = (index) => `parameter${index}`;

function startOf(parameter, index) {
    const type = parameter.type.replace("b", "u"), types = TYPES[parameter.bytes] || [];
    return { kind: parameter.bytes === 8 && !/^f/.test(type) ? "buffer" : "value", element: "f32",
             type: types.includes(type) ? type : types[0], count: 512, value: "512", values: "",
             fill: index ? "digits" : "none" };
}

/* The pasted numbers as the emulator reads them, or an Error. */
function pasted(text, type, name) {
    const words = text.split(/[\s,;]+/).filter((word) => word);
    if (!words.length) throw new Error(`Paste at least one number for ${name}.`);
    return words.map((word, k) => numberText(word, type, `Number ${k + 1} for ${name}`));
}

/* A link's fields are not trusted: what the form does not offer becomes what it offers first. */
function repaired(state, parameter) {
    const types = TYPES[parameter.bytes] || [], fills = FILLS.map(([key]) => key);
    const isBuffer = state.kind === "buffer" && parameter.bytes === 8;
    return { kind: isBuffer ? "buffer" : "value", count: Number(state.count) || 0,
             element: ELEMENTS.includes(state.element) ? state.element : ELEMENTS[0],
             type: types.includes(state.type) ? state.type : types[0],
             fill: fills.includes(state.fill) ? state.fill : fills[0],
             value: String(state.value), values: String(state.values) };
}

/* One parameter: a buffer, or a number. */
function makeParameter(parameter, index, given) {
    const state = repaired({ ...startOf(parameter, index), ...given }, parameter);
    const name = `parameter ${index}`, shown = make("span", { class: "choices" });
    const field = (key, attributes) => make("input", { value: state[key], ...attributes,
        oninput: (event) => { state[key] = event.target.value; } });
    const select = (key, options) => choice(options, state[key], (value) => {
        state[key] = value;
        update();
    });
    const buffer = () => [labelled("type", select("element", named(ELEMENTS))),
        labelled("filled with", select("fill", FILLS)), state.fill === "values"
            ? make("textarea", { rows: 3, "aria-label": `Numbers of ${name}`,
                                 oninput: (event) => { state.values = event.target.value; } },
                   state.values)
            : labelled("elements", field("count", { type: "number", min: 1,
                                                     "aria-label": `Elements of ${name}` }))];
    const value = () => [labelled("type", select("type", named(TYPES[parameter.bytes] || []))),
        labelled("value", field("value", { "aria-label": `Value of ${name}` }))];
    const update = () => replace(shown, ...(state.kind === "buffer" ? buffer() : value()));
    update();
    const kinds = parameter.bytes === 8 ? [["buffer", "a buffer"], ["value", "a number"]]
        : [["value", "a number"]];
    const row = make("fieldset", {}, make("legend", {}, `Parameter ${index}: ${parameter.type}`),
        parameter.bytes > 8 ? `It has ${parameter.bytes} bytes. This page gives at most 8.`
            : [labelled("is", select("kind", kinds)), shown]);

    function line() {
        if (state.kind !== "buffer") return null;
        const start = `buffer ${bufferName(index)} ${state.element}`;
        if (state.fill !== "values")
            return `${start} ${wholeIn(state.count, 1, MOST, `Elements of ${name}`)} ${state.fill}`;
        const words = pasted(state.values, state.element, name);
        return `${start} ${words.length} values ${words.join(" ")}`;
    }
    function argument() {
        if (state.kind === "buffer") return `@${bufferName(index)}`;
        if (parameter.bytes > 8)
            throw new Error(`Parameter ${index} has ${parameter.bytes} bytes, and this page gives ` +
                            "at most 8 bytes.");
        return `${state.type}:${numberText(state.value, state.type, `The value of ${name}`)}`;
    }
    return { row, line, argument, read: () => state };
}

/* The form of a kernel, or of a program: { elements, read(), request(kernel) }. `given` is what an
 * earlier read() has returned. launch() has the fields of the launch. request() has the request's lines
 * (face/face.h). Both throw an Error with a sentence where a field is wrong. */
function makeForm(kernel, rules, given, isProgram) {
    const old = given || {}, launch = makeLaunch(old.launch, rules, isProgram);
    const rows = kernel.parameters.map((one, k) =>
        makeParameter(one, k, (old.parameters || [])[k]));

    function request() {
        const { grid, block, shared, cooperative, seed, rules: by } = launch.checked();
        const buffers = rows.map((one) => one.line()).filter((line) => line);
        if (isProgram) return [`schedule ${seed}`, `rules ${by}`, "program"];
        return [`schedule ${seed}`, `rules ${by}`, ...buffers,
                `launch ${cooperative ? "+" : ""}${kernel.name} ${grid.join()} ${block.join()} ` +
                `${shared} ${rows.map((one) => one.argument()).join(" ")}`];
    }
    return { elements: [launch.element, ...rows.map((one) => one.row)], request,
             launch: launch.checked,
             read: () => ({ launch: launch.read(), parameters: rows.map((one) => one.read()) }) };
}

module.exports = { makeForm };
