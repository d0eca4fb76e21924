/*
 * own.js -- the reader's own PTX: a text, a launch and its arguments. Everything in it is data that
 * reaches the page as text.
 */
"use strict";
const { make, replace, labelled, choice } = require("./dom.js");
const { barriersOf, withoutBarriers, withLines } = require("./ptx.js");
const { makeWidget } = require("./widget.js");
const { buffersView } = require("./view_counters.js");

const MOST_BYTES = 8 << 20, ALL_CHECKERS = 15, SECONDS = 10, MEMORY = 64 << 20;
const FILE = "own.ptx";
const TYPES = ["f32", "s32", "u32", "f64", "u64", "s64", "u8", "u16"].map((name) => [name, name]);
const FILLS = [["digits", "digits 0 to 9"], ["ramp", "0, 1, 2, …"], ["zero", "zeros"],
               ["one", "ones"], ["none", "nothing"]];
const HELP = "nvcc -ptx -lineinfo makes PTX, and so does Compiler Explorer (CUDA C++, with the " +
    "option -ptx). With -lineinfo the page counts by the lines of your source; without it, by " +
    "the lines of the PTX.";

const number = (value, name) => make("input", { type: "number", min: 0, value, "aria-label": name });

/* One parameter: a buffer, or a number. */
function argumentRow(parameter, index) {
    const isPointer = parameter.bytes === 8;
    const row = make("fieldset", {}, make("legend", {}, `Parameter ${index}: ${parameter.type}`));
    let kind = isPointer ? "buffer" : "value";
    const type = choice(TYPES, isPointer ? "f32" : parameter.type.replace("b", "u"), () => {});
    const count = number(512, `Elements of parameter ${index}`);
    const fillOf = choice(FILLS, index ? "digits" : "none", () => {});
    const value = make("input", { value: "512", "aria-label": `Value of parameter ${index}` });
    const shown = make("span");
    const update = () => replace(shown, labelled("type", type), kind === "buffer"
        ? [labelled("elements", count), labelled("filled with", fillOf)]
        : labelled("value", value));
    row.append(labelled("is", choice([["buffer", "a buffer"], ["value", "a number"]], kind,
                                     (chosen) => { kind = chosen; update(); })), shown);
    update();
    const name = index === 0 ? "out" : index === 1 ? "in" : `buffer${index}`;
    return { row, line: () => (kind === "buffer"
        ? `buffer ${name} ${type.value} ${Math.trunc(count.value)} ${fillOf.value}` : null),
    argument: () => (kind === "buffer" ? `@${name}` : `${type.value}:${value.value.trim()}`) };
}

function launchFields() {
    const fields = { grid: number(1, "Blocks"), block: number(256, "Threads of a block"),
                     shared: number(2048, "Dynamic shared memory in bytes"),
                     seconds: number(SECONDS, "Seconds until it is stopped"),
                     cooperative: make("input", { type: "checkbox" }) };
    const element = make("fieldset", {}, make("legend", {}, "Launch"),
        labelled("blocks", fields.grid), labelled("threads of a block", fields.block),
        labelled("dynamic shared memory, bytes", fields.shared),
        labelled("stop after seconds", fields.seconds),
        labelled("cooperative", fields.cooperative));
    return { fields, element };
}

function makeOwn(host, runner, remember) {
    const editor = make("textarea", { rows: 14, spellcheck: "false", "aria-label": "Your PTX",
                                      onchange: () => read() });
    const file = make("input", { type: "file", accept: ".ptx,text/plain",
                                 onchange: () => take(file.files[0]) });
    const sources = {}; // texts that the line information names
    const source = make("input", { type: "file", onchange: async () => {
        const given = source.files[0];
        if (given && given.size <= MOST_BYTES) sources[given.name] = await given.text();
    } });
    const form = make("form", { class: "own", onsubmit: (event) => { event.preventDefault(); run(); } });
    const launch = launchFields(), places = make("span"), buffers = make("div");
    let kernels = [], chosen = 0, rows = [], off = new Set(), latest = null;
    let turn = 0; // of reading: an answer to an older one is not shown
    const widget = makeWidget(host, "Your own PTX", () => {});
    widget.section.insertBefore(make("div", { class: "drop" }, make("p", {}, HELP),
        labelled("A file", file), labelled("Its source, to be shown", source), editor, form), widget.parts.choices.nextSibling);
    widget.section.append(buffers);
    host.addEventListener("dragover", (event) => event.preventDefault());
    host.addEventListener("drop", (event) => {
        event.preventDefault();
        take(event.dataTransfer.files[0]);
    });

    async function take(given) {
        if (!given) return;
        if (given.size > MOST_BYTES) {
            turn++;
            widget.fail(`The file has ${Math.ceil(given.size / (1 << 20))} MB, and the page reads ` +
                        `at most ${MOST_BYTES >> 20} MB.`);
            return;
        }
        editor.value = await given.text();
        read();
    }

    /* Asks the emulator which kernels the text has. */
    async function read() {
        const mine = ++turn;
        off = new Set();
        replace(form);
        try {
            const answer = await runner.run(`ptx\n${editor.value}`);
            if (mine !== turn) return;
            kernels = answer.kernels;
            chosen = 0;
            if (answer.error) widget.fail(answer.message);
            else if (!kernels.length) widget.fail("The text has no kernel (.entry).");
            else showForm();
        } catch (error) {
            if (mine === turn) widget.fail(error.message);
        }
        remember({ chapter: "own", own: editor.value.length < 2000 ? editor.value : "" });
    }

    function showForm() {
        rows = kernels[chosen].parameters.map(argumentRow);
        replace(form, labelled("Kernel", choice(kernels.map((one, k) => [k, one.function]), chosen,
                                                (value) => { chosen = Number(value); showForm(); })),
            launch.element, rows.map((one) => one.row),
            make("button", { type: "submit" }, "Run"),
            make("button", { type: "button", onclick: () => runner.stop() }, "Stop"), places);
    }

    function request(ptx) {
        const { grid, block, shared, cooperative } = launch.fields;
        const buffers = rows.map((one) => one.line()).filter((line) => line);
        const plus = cooperative.checked ? "+" : "";
        return [`check ${ALL_CHECKERS}`, `memory ${MEMORY}`, "trace", ...buffers,
                `launch ${plus}${kernels[chosen].name} ${grid.value},1,1 ${block.value},1,1 ` +
                `${shared.value} ${rows.map((one) => one.argument()).join(" ")}`,
                "ptx", ptx].join("\n");
    }

    async function run() {
        const ptx = withLines(editor.value, FILE);
        widget.status("The emulator runs …");
        try {
            latest = await runner.run(request(withoutBarriers(ptx, off)),
                                      Number(launch.fields.seconds.value) || SECONDS);
            show(ptx, {});
        } catch (error) {
            widget.fail(error.message);
        }
        widget.status("");
    }

    function show(ptx, state) {
        replace(buffers, latest.buffers.length ? buffersView(latest.buffers) : "");
        widget.show({ answer: latest, state, sources: { ...sources, [FILE]: editor.value }, file: FILE,
                      barriers: barriersOf(ptx), ptx, off, placeHost: places,
                      toggle: (key) => { if (!off.delete(key)) off.add(key); run(); },
                      select: (change) => show(ptx, { ...state, ...change }) });
    }
    return { open: (state) => {
        if (!state.own || editor.value) return;
        editor.value = state.own;
        read();
    } };
}

module.exports = { makeOwn };
