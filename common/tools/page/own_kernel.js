/*
 * own_kernel.js -- the reader's own PTX, or CUDA C that the page compiles: a text, a launch and its
 * arguments. Everything in it is data that reaches the page as text.
 */
"use strict";
const { make, replace, labelled, choice } = require("./dom.js");
const { MOST_SEED, ALL_CHECKERS, MOST_EVENTS, RULES, verdictOf } = require("./kernels.js");
const { counted, numberText, wholeIn, ranText } = require("./texts.js");
const { SECONDS } = require("./runner.js");
const { barriersOf, filesOf, keyOf, withoutBarriers, withLines } = require("./ptx.js");
const { compileRequest, isCuda, makeEditor, marksOf, problemsList, refusedText, startOfLine } =
    require("./editor.js");
const { NONE, makeWidget } = require("./widget.js");
const { store } = require("./linked_text.js");
const { buffersView, printedView } = require("./view_counters.js");

/* ---- the form -------------------------------------------------------------------------------- */
/* The form for a launch of the reader's own kernel: its shape, and a buffer or a
 * number for each parameter. Fields are read and written as one object, so that a link holds them. */

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

/* In place of a form: launches as in a run of a lab's check (code_lab.js), { n, why, request }. */
function makePlanned(plan) {
    const one = [1, 1, 1], launch = { grid: one, block: one, seconds: SECONDS, rules: "hopper" };
    return { elements: [make("p", {}, `The launches are those of the check at n = ${plan.n}.`)],
             request: () => [String(plan.request)], launch: () => launch,
             read: () => ({ plan }), plan };
}

/* ---- the kernel ------------------------------------------------------------------------------ */

const MOST_BYTES = 8 << 20, MEMORY = 64 << 20, MOST_TRACED = 1 << 16;
const MOST_LINKED = 30000; // characters of a PTX text in a link
const FILE = "own.ptx", CUDA_FILE = "own.cu", ENTRY = "main"; // of common/tools/cc
const KEY = "upsweep own"; // of the browser's store
const SAMPLE = `#include <stdio.h>

#define N 8

__global__ void twice(int *out, const int *in)
{
    int i = threadIdx.x;

    out[i] = 2 * in[i];
}

int main(void)
{
    int h[N], *in, *out;

    for (int i = 0; i < N; i++) h[i] = i;
    cudaMalloc(&in, sizeof(h));
    cudaMalloc(&out, sizeof(h));
    cudaMemcpy(in, h, sizeof(h),
               cudaMemcpyHostToDevice);
    twice<<<1, N>>>(out, in);
    cudaMemcpy(h, out, sizeof(h),
               cudaMemcpyDeviceToHost);
    for (int i = 0; i < N; i++)
        printf("%d\\n", h[i]);
    return 0;
}
`;
const HELP = "CUDA C is compiled by this page, which knows a subset of it. For all other " +
    "kernels, nvcc -ptx -lineinfo makes PTX, and so does Compiler Explorer (CUDA C++, with the " +
    "option -ptx). With -lineinfo the counters belong to lines of your source. Without it " +
    "they belong to lines of the PTX.";
const LIMITS = [
    `The text has at most ${MOST_BYTES >> 20} MB, and the device ${MEMORY >> 20} MB of memory.`,
    "Without a main, one kernel is launched once. A parameter has at most 8 bytes. In a program, " +
    "times are 0, and main has no arguments.",
    "Clusters have the size for which the kernel was compiled (.reqnctapercluster). A kernel " +
    "whose cluster size is given at the launch is refused.",
    `A launch of more than ${MOST_TRACED} threads is counted and checked, but not played.`,
    `A link holds a text of at most ${MOST_LINKED} characters.`];
const NOT_PLAYED = `A launch of more than ${MOST_TRACED} threads is not played.`;
/* Where an error has ended a launch: its line, if it is one of the reader's. */
const lineOf = ({ message }) => (/\bown\.(?:cu|ptx):(\d+)/.exec(message) || [])[1];
const inLine = (answer) => (lineOf(answer) ? ` in line ${lineOf(answer)}` : "");
const endedText = (answer) => `The launch was ended by the error${inLine(answer)}.`;
const stoppedText = (answer) => `The kernel was stopped${inLine(answer)}; main went on.`;
const NOT_RUN = "This page cannot run main, as said above: use nvcc and emu run for this. Here " +
    "you can launch one kernel.";
const NEEDS_CLUSTER = "The launch has to give this kernel a cluster size " +
    "(.explicitcluster without .reqnctapercluster). This page cannot.";

/* Whether a kernel of the text expects a cluster size with the launch. */
function needsCluster(ptx, name) {
    const at = ptx.search(new RegExp(`\\.entry\\s+${name.replace(/\$/g, "\\$")}\\b`));
    const head = at < 0 ? "" : ptx.slice(at, ptx.indexOf("{", at));
    return /\.explicitcluster/.test(head) && !/\.reqnctapercluster/.test(head);
}

const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
const isTraced = ({ grid, block }) => product(grid) * product(block) <= MOST_TRACED;

/* `example`: a PTX text to begin with; `headers`: what CUDA C may include, by path. */
function makeOwn(host, runner, remember, example, headers) {
    /* A text that is pasted has its form before the tabulator key leaves the editor. */
    const editor = make("textarea", { rows: 14, spellcheck: "false", "aria-label": "Your PTX",
                                      placeholder: "Paste PTX here, or CUDA C, or drop a file on " +
                                          "the page.",
                                      onkeydown: (event) => runAtOnce(event),
                                      oninput: () => { hold(); keep(); },
                                      onpaste: () => setTimeout(() => read({})),
                                      onchange: () => {
                                          if (editor.value !== lastRead) read({ form: old() });
                                      } });
    const box = makeEditor(editor, isCuda);
    const file = make("input", { type: "file", accept: ".ptx,.cu,text/plain",
                                 onchange: () => take(file.files[0]) });
    const sources = {}; // texts that the line information names
    const source = make("input", { type: "file", onchange: async () => {
        const given = source.files[0];
        if (given && given.size <= MOST_BYTES) sources[given.name] = await given.text();
    } });
    const form = make("form", { class: "own",
                                onchange: () => keep(),
                                onsubmit: (event) => { event.preventDefault(); runText(); } });
    const verdict = make("p", { class: "verdict", role: "status" });
    const buttons = [make("button", { type: "submit", class: "run" }, "Run"),
        make("button", { type: "button", onclick: () => runner.stop() }, "Stop"), verdict];
    const places = make("span"), buffers = make("div"), problems = make("div");
    const printed = make("div");
    let ptx = null; // the text, or what the page has compiled it to; null: it has not
    let name = FILE; // of the text, for messages and lines
    let kernels = [], chosen = 0, fields = null, off = new Set(), latest = null, moved = {};
    let isProgram = false; // the text has a main, which launches kernels
    let hasRun = false; // whether the reader has asked for a run of the text
    let lastRead = null; // the text of which the form is
    let formRead = {}; // of the text that is read
    let kept = {}; // what the address holds
    let runs = 0, turn = 0; // of reading: an answer to an older one is not shown
    const widget = makeWidget(host, "Your own kernel", { view: "memory", code: true }, (change) => {
        Object.assign(moved, change);
        keep();
    });
    replace(form, ...buttons);
    widget.section.insertBefore(make("div", { class: "drop" }, box.element,
        make("button", { type: "button", class: "example", onclick: () => {
            editor.value = example;
            hold();
            read({});
        } }, "Try step 3's kernel"), form, problems, printed,
        make("details", {}, make("summary", {}, "Files, PTX and limits"), make("p", {}, HELP),
             make("div", { class: "choices" }, labelled("PTX or CUDA C file", file),
                  labelled("source file (optional)", source)),
             make("ul", {}, LIMITS.map((text) => make("li", {}, text))))),
    widget.parts.choices.nextSibling);
    widget.section.append(buffers);
    host.addEventListener("dragover", (event) => event.preventDefault());
    host.addEventListener("drop", (event) => {
        event.preventDefault();
        take(event.dataTransfer.files[0]);
    });

    /* The address holds the text, the form, and what is shown. */
    function keep() {
        const own = editor.value.length <= MOST_LINKED ? editor.value : "";
        kept = { ...moved, chapter: "own", own, off: [...off].join(",") || undefined, form: fields
            ? JSON.stringify({ kernel: chosen, hasRun, ...fields.read() }) : undefined };
        remember(kept);
    }

    /* The browser holds what the reader has written, and not what a link has brought. */
    const hold = () => store.set(KEY, editor.value);
    const old = () => ({ kernel: chosen, ...(fields ? fields.read() : formRead) });
    function say(text, isRight) {
        verdict.textContent = text;
        verdict.className = `verdict ${isRight ? "right" : "wrong"}`;
    }
    function fail(message) {
        widget.fail(message);
        say(message, false);
    }

    async function take(given) {
        if (!given) return;
        if (given.size > MOST_BYTES) {
            turn++;
            forget();
            fail(`The file has ${Math.ceil(given.size / (1 << 20))} MB, and the page ` +
                 `reads at most ${MOST_BYTES >> 20} MB.`);
            return;
        }
        editor.value = await given.text();
        hold();
        read({});
    }

    /* Shows nothing of an earlier run, and of one that has not ended. */
    function forget() {
        runs++;
        latest = null;
        hasRun = false;
        off = new Set();
        widget.clear();
        widget.status("");
        say("", true);
        replace(buffers);
        replace(printed);
        replace(problems);
    }

    /* The form stays as far as it fits the kernel. */
    function runText() {
        if (fields && editor.value === lastRead) run({});
        else read({ form: { ...old(), hasRun: true } });
    }
    function runAtOnce(event) {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        runText();
    }

    /* The PTX of the text; null: there are errors in it, which are shown. */
    async function ptxOf(text, isWanted) {
        name = isCuda(text) ? CUDA_FILE : FILE;
        if (name === FILE) return text;
        const compiled = (words) => runner.run(compileRequest(name, text, headers, words));
        const answer = await compiled(["program"]);
        if (!isWanted()) return null;
        if (answer.error) throw new Error(answer.message);
        box.mark(marksOf(text, answer.diagnostics, name));
        replace(problems, problemsList(answer.diagnostics, name, editor, box.reveal));
        if (answer.ptx) return answer.ptx;
        const { ptx: kernelsOnly } = await compiled([]);
        if (isWanted()) fail(kernelsOnly ? NOT_RUN : refusedText(answer.diagnostics));
        return kernelsOnly;
    }

    /* Asks the emulator which kernels the text has. `given`: a state to be restored, with its
     * form. */
    async function read(given) {
        const mine = ++turn;
        formRead = given.form || {};
        editor.value = editor.value.replace(/^\ufeff/, ""); // a byte order mark
        box.drawn();
        lastRead = editor.value;
        fields = null;
        moved = {};
        replace(form, ...buttons);
        forget();
        off = new Set(given.off ? given.off.split(",") : []);
        try {
            ptx = await ptxOf(lastRead, () => mine === turn);
            if (mine !== turn) return;
            if (ptx === null) {
                keep();
                return;
            }
            const answer = await runner.run(`ptx\n${ptx}`);
            if (mine !== turn) return;
            kernels = answer.kernels;
            chosen = kernels.findIndex((one) => one.name === ENTRY);
            isProgram = name === CUDA_FILE && chosen >= 0;
            if (!isProgram) chosen = kernels[formRead.kernel] ? formRead.kernel : 0;
            if (answer.error) fail(answer.message);
            else if (!kernels.length) fail("The text has no kernel (.entry, __global__).");
            else showForm(formRead);
        } catch (error) {
            if (mine === turn) fail(error.message);
        }
        if (formRead.hasRun && fields) run(given);
        else keep();
    }

    function showForm(given) {
        try {
            fields = given.plan ? makePlanned(given.plan)
                : makeForm(kernels[chosen], RULES, given, isProgram);
        } catch (error) { // a link's form that does not fit the kernel
            fields = makeForm(kernels[chosen], RULES, {}, isProgram);
        }
        const select = choice(kernels.map((one, k) => [k, one.function]), chosen, (value) => {
            chosen = Number(value);
            forget();
            showForm({ launch: fields.read().launch });
        });
        replace(form, ...buttons, isProgram || fields.plan ? null : labelled("kernel", select),
                ...fields.elements, places);
    }

    function request(text, isPlayed, more = []) {
        if (needsCluster(text, kernels[chosen].name)) throw new Error(NEEDS_CLUSTER);
        const trace = isPlayed ? [`trace ${MOST_EVENTS}`] : [];
        return [`check ${ALL_CHECKERS}`, `memory ${MEMORY}`, ...more, ...trace, ...fields.request(),
                "ptx", text].join("\n");
    }

    async function run(state) {
        const text = withLines(ptx, FILE), mine = ++runs;
        hasRun = true;
        widget.status("The emulator runs …");
        say("The emulator runs …", true);
        try {
            const launch = fields.launch();
            const names = isProgram || fields.plan ? kernels.map((one) => one.name)
                : [kernels[chosen].name];
            const keys = new Set(barriersOf(text, names).map(keyOf));
            off = new Set([...off].filter((key) => keys.has(key))); // of a link
            const ran = (isPlayed) => runner.run(
                request(withoutBarriers(text, names, off), isPlayed), launch.seconds);
            let isPlayed = !isProgram && isTraced(launch);
            latest = await ran(isPlayed);
            if (isProgram) { // what it launches is known now
                const { launches } = JSON.parse(latest.document);
                isPlayed = launches.length && launches.every(isTraced);
                if (isPlayed) latest = await ran(true);
            }
            const verdict = await verdictOf(off, (line) => runner.run(
                request(text, false, [`unordered ${line}`]), launch.seconds)).catch(() => "");
            await show({ text, kernel: kernels[chosen].name, names, isPlayed, verdict },
                       { ...state, rules: launch.rules });
        } catch (error) {
            if (mine !== runs) return; // a later run has ended this one
            latest = null;
            replace(buffers);
            fail(error.message);
        }
        if (mine !== runs) return;
        widget.status(!latest ? "" : latest.went_on ? stoppedText(latest)
            : ranText(latest, off, isProgram ? "program" : "kernel"));
        if (latest) sayFound(latest);
        if (latest && state.to) lookBack(fields.plan);
        keep();
    }

    /* What the check has said, above the player, which stands where a link has set it. */
    function lookBack(plan) {
        if (plan && plan.element !== undefined) widget.status(`At n = ${plan.n}, ${plan.why}.`);
        widget.section.querySelector(".facts").scrollIntoView();
    }

    /* Right under Run: how it has ended. */
    function sayFound({ error, document: text, went_on: goesOn }) {
        const { errors, warnings } = text ? JSON.parse(text) : { errors: 0, warnings: 0 };
        const found = [[errors, "error"], [warnings, "warning"]].filter(([count]) => count)
            .map(([count, one]) => counted(count, one)).join(" and ");
        say(found ? `${found}.${goesOn ? ` ${stoppedText(latest)}` : ""}`
            : error ? latest.message : "No error.", !found && !error);
    }

    /* `ran`: the text, the kernel's name, and whether it was traced. */
    function show(ran, state) {
        const { text, kernel, names } = ran;
        Object.assign(moved, { launch: state.launch, block: state.block });
        replace(buffers, latest.buffers.length
            ? buffersView(latest.buffers, widget.listStores) : "");
        replace(printed, printedView(latest.printed));
        return widget.show({ answer: latest, state, sources: { ...sources, [name]: lastRead },
                      kernel, files: [...new Set([...filesOf(text, names), name])],
                      none: ran.isPlayed ? NONE : latest.error ? endedText(latest) : NOT_PLAYED,
                      toLine: (file, line) => (file !== name ? null
                          : () => box.reveal(...startOfLine(editor.value, line))),
                      barriers: barriersOf(text, names), ptx: text, off, placeHost: places,
                      verdict: ran.verdict,
                      toggle: (key) => { if (!off.delete(key)) off.add(key); run(moved); },
                      select: (change) => show(ran, { ...state, to: "", at: 0, ...change }) });
    }
    return { open: (state) => {
        const isShown = ["own", "form", "off"].every((name) => state[name] === kept[name]);
        if (!state.own && !editor.value) {
            editor.value = store.get(KEY) || SAMPLE;
            read({});
        }
        if (!state.own || isShown) return;
        editor.value = state.own;
        let form = {};
        try {
            form = JSON.parse(state.form || "{}");
        } catch (error) {
            widget.status("The link's form cannot be read, and is left out.");
        }
        read({ ...state, form });
    } };
}

module.exports = { makeOwn };
