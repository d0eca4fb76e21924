/*
 * own.js -- the reader's own PTX, or CUDA C that the page compiles: a text, a launch and its
 * arguments. Everything in it is data that reaches the page as text.
 */
"use strict";
const { make, replace, labelled, choice } = require("./dom.js");
const { barriersOf, filesOf, keyOf, withoutBarriers, withLines } = require("./ptx.js");
const { ALL_CHECKERS, MOST_EVENTS, RULES } = require("./kernels.js");
const { compileRequest, isCuda, marksOf, problemsList, refusedText } = require("./compiler.js");
const { makeEditor } = require("./editor.js");
const { makeForm } = require("./own_form.js");
const { ranText } = require("./sentences.js");
const { NONE, makeWidget } = require("./widget.js");
const { buffersView, printedView } = require("./view_counters.js");

const MOST_BYTES = 8 << 20, MEMORY = 64 << 20, MOST_TRACED = 1 << 16;
const MOST_LINKED = 30000; // characters of a PTX text in a link
const FILE = "own.ptx", CUDA_FILE = "own.cu", ENTRY = "main"; // of common/cc
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
                                      onpaste: () => setTimeout(() => read({})),
                                      onchange: () => {
                                          if (editor.value !== lastRead) read({});
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
                                onsubmit: (event) => { event.preventDefault(); run({}); } });
    const places = make("span"), buffers = make("div"), problems = make("div");
    const printed = make("div");
    let ptx = null; // the text, or what the page has compiled it to; null: it has not
    let name = FILE; // of the text, for messages and lines
    let kernels = [], chosen = 0, fields = null, off = new Set(), latest = null, moved = {};
    let isProgram = false; // the text has a main, which launches kernels
    let hasRun = false; // whether the reader has asked for a run of the text
    let lastRead = null; // the text of which the form is
    let kept = {}; // what the address holds
    let runs = 0, turn = 0; // of reading: an answer to an older one is not shown
    const widget = makeWidget(host, "Your own kernel", { view: "memory", code: true }, (change) => {
        Object.assign(moved, change);
        keep();
    });
    widget.section.insertBefore(make("div", { class: "drop" }, make("p", {}, HELP),
        make("details", {}, make("summary", {}, "Limits"),
             make("ul", {}, LIMITS.map((text) => make("li", {}, text)))),
        make("div", { class: "choices" }, labelled("PTX or CUDA C file", file),
             labelled("source file (optional)", source), make("button", { type: "button",
                 class: "example", onclick: () => {
                     editor.value = example;
                     read({});
                 } }, "Try step 3's kernel")), box.element, problems, form, printed),
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

    async function take(given) {
        if (!given) return;
        if (given.size > MOST_BYTES) {
            turn++;
            forget();
            widget.fail(`The file has ${Math.ceil(given.size / (1 << 20))} MB, and the page ` +
                        `reads at most ${MOST_BYTES >> 20} MB.`);
            return;
        }
        editor.value = await given.text();
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
        replace(buffers);
        replace(printed);
        replace(problems);
    }

    /* Ctrl+Enter. The form stays as far as it fits the kernel. */
    function runAtOnce(event) {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        read({ form: { kernel: chosen, hasRun: true, ...(fields ? fields.read() : {}) } });
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
        if (isWanted()) widget.fail(kernelsOnly ? NOT_RUN : refusedText(answer.diagnostics));
        return kernelsOnly;
    }

    /* Asks the emulator which kernels the text has. `given`: a state to be restored, with its
     * form. */
    async function read(given) {
        const mine = ++turn, old = given.form || {};
        editor.value = editor.value.replace(/^\ufeff/, ""); // a byte order mark
        box.drawn();
        lastRead = editor.value;
        fields = null;
        moved = {};
        replace(form);
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
            if (!isProgram) chosen = kernels[old.kernel] ? old.kernel : 0;
            if (answer.error) widget.fail(answer.message);
            else if (!kernels.length) widget.fail("The text has no kernel (.entry, __global__).");
            else showForm(old);
        } catch (error) {
            if (mine === turn) widget.fail(error.message);
        }
        if (old.hasRun && fields) run(given);
        else keep();
    }

    function showForm(old) {
        try {
            fields = makeForm(kernels[chosen], RULES, old, isProgram);
        } catch (error) { // a link's form that does not fit the kernel
            fields = makeForm(kernels[chosen], RULES, {}, isProgram);
        }
        const select = choice(kernels.map((one, k) => [k, one.function]), chosen, (value) => {
            chosen = Number(value);
            forget();
            showForm({ launch: fields.read().launch });
        });
        replace(form, isProgram ? null : labelled("kernel", select), ...fields.elements,
            make("button", { type: "submit" }, "Run"),
            make("button", { type: "button", onclick: () => runner.stop() }, "Stop"), places);
    }

    function request(text, isPlayed) {
        if (needsCluster(text, kernels[chosen].name)) throw new Error(NEEDS_CLUSTER);
        const trace = isPlayed ? [`trace ${MOST_EVENTS}`] : [];
        return [`check ${ALL_CHECKERS}`, `memory ${MEMORY}`, ...trace, ...fields.request(),
                "ptx", text].join("\n");
    }

    async function run(state) {
        const text = withLines(ptx, FILE), mine = ++runs;
        hasRun = true;
        widget.status("The emulator runs …");
        try {
            const launch = fields.launch();
            const names = isProgram ? kernels.map((one) => one.name) : [kernels[chosen].name];
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
            await show({ text, kernel: kernels[chosen].name, names, isPlayed },
                       { ...state, rules: launch.rules });
        } catch (error) {
            if (mine !== runs) return; // a later run has ended this one
            latest = null;
            replace(buffers);
            widget.fail(error.message);
        }
        if (mine !== runs) return;
        widget.status(latest ? ranText(latest, off, isProgram ? "program" : "kernel") : "");
        keep();
    }

    /* `ran`: the text, the kernel's name, and whether it was traced. */
    function show(ran, state) {
        const { text, kernel, names } = ran;
        Object.assign(moved, { launch: state.launch, block: state.block });
        replace(buffers, latest.buffers.length ? buffersView(latest.buffers) : "");
        replace(printed, printedView(latest.printed));
        return widget.show({ answer: latest, state, sources: { ...sources, [name]: lastRead },
                      kernel, files: [...new Set([...filesOf(text, names), name])],
                      none: ran.isPlayed ? NONE : NOT_PLAYED,
                      barriers: barriersOf(text, names), ptx: text, off, placeHost: places,
                      toggle: (key) => { if (!off.delete(key)) off.add(key); run(moved); },
                      select: (change) => show(ran, { ...state, at: 0, ...change }) });
    }
    return { open: (state) => {
        const isShown = ["own", "form", "off"].every((name) => state[name] === kept[name]);
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
