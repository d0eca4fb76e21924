/* step_widget.js -- the widget of a step's kernel, with its choices. */
"use strict";
const { make, replace, labelled, choice } = require("./dom.js");
const { makeCodeBox, compileRequest, refusedText } = require("./editor.js");
const { ALL_CHECKERS, MOST_SEED, RULES, kernelsOf, requestOf, sourceOf, variantOf, verdictOf } =
    require("./kernels.js");
const { barriersOf, filesOf, keyOf, withoutBarriers, editOf, isEdit, withEdit } =
    require("./ptx.js");
const { ranText } = require("./texts.js");
const { conflictsText } = require("./view_counters.js");
const { NONE, makeWidget } = require("./widget.js");

/* ncu's counters of a launch: values by metric, and why(counter), which says why the emulator's
 * differs. null: none is recorded for this scan by these rules. */
function recordedOf(data, step, state) {
    const number = state.variant === "none" ? 3 : step.step;
    const name = state.variant === "none" ? "-" : state.variant;
    const rows = data.recorded[`${number},${name},${state.n}`];
    const why = (counter) => (data.differences.find((one) => one.steps.includes(number) &&
        (one.variants.includes(name) || one.variants.includes("*")) &&
        one.counters.includes(counter)) || { why: "" }).why;
    return (launch) => {
        const mine = (rows || []).filter((row) => row[0] === launch);
        if (!mine.length || state.rules !== "hopper") return null;
        return { values: new Map(mine.map((row) => [row[2], row[3]])), why };
    };
}

function completeState(step, given) {
    const variant = variantOf(step, given.variant);
    const n = step.sizes.includes(given.n) ? given.n : step.first || step.sizes[0];
    const rules = RULES.some(([key]) => key === given.rules) ? given.rules : "hopper";
    return { chapter: step.chapter, n, variant: variant.name, rules, seed: given.seed || 0,
             off: given.off || "", at: given.at || 0, launch: given.launch || 0,
             block: given.block || 0, words: given.words || "", first: given.first || 0,
             file: given.file || "", edit: given.edit || "", view: given.view || "",
             code: given.code || "", to: given.to || "" };
}

/* What a link asks for and the page does not have, in words; "": nothing. */
function replacedText(step, given, state, original) {
    const isReplaced = (name) => given.damaged.includes(name) ||
        (given[name] !== undefined && given[name] !== state[name]);
    const names = ["n", "variant", "rules", "seed", "at", "launch", "block", "first"]
        .filter(isReplaced);
    if (given.off && given.off !== state.off) names.push("removed barriers");
    return (names.length ? `The page does not have what the link says of: ${names.join(", ")}. `
        : "") + (given.edit && !isEdit(original, given.edit)
        ? "The link's change of the PTX cannot be read and is left out. " : "");
}

/* A kernel that the page launches, and a text does not have. */
function missingText(mangled) {
    const name = /^_Z(?:L)?\d+([a-z_]+)/.exec(mangled)[1];
    return `The page launches ${name}, and the text has no kernel of this name with the book's ` +
        "parameters. Nothing has run.";
}

function makeStepWidget(host, step, data, runner, { remember, texts }) {
    let state = completeState(step, {}), runs = 0;
    let typed = null; // a text that has not been run
    /* The reader's kernel that has been compiled: { path, text, ptx, warnings }; with isChanged its
     * PTX has been changed since. */
    let own = null;
    let verdict = ""; // on the barrier that is removed
    let keep = null; // the instruction at which the next run is shown
    /* Where the reader is to write the kernel, the book's is shown when they ask for it. */
    const article = host.closest("article"), folded = article.querySelector("details.kernel");
    const isFirst = !article.querySelector("h2[id$=':your-turn']");
    const widget = makeWidget(host, `Step ${step.step}: run it here`,
                              { view: step.view, code: isFirst }, (moved) => {
        Object.assign(state, moved);
        remember(state);
    });
    if (folded)
        folded.addEventListener("toggle", () => { if (folded.open) widget.showCode(true); });
    const places = make("span"), editor = make("textarea", { rows: 12, spellcheck: "false",
                                                             "aria-label": "PTX of this kernel",
        oninput: () => { typed = editor.value; } });
    const off = () => new Set(state.off ? state.off.split(",") : []);
    const isOriginal = () => !state.edit && !state.off && !own; // what ncu has seen
    const original = () => data.ptx[variantOf(step, state.variant).ptx];

    /* `keepsText`: the PTX stays, and what has been typed of another one. */
    function set(change, keepsText) {
        if (!keepsText) offerBack();
        state = completeState(step, { ...state, at: 0, launch: 0, block: 0,
                                      edit: keepsText ? state.edit : "", ...change });
        run(null);
    }
    function toggle(key) {
        const keys = off();
        if (!keys.delete(key)) keys.add(key);
        const { at, launch, block } = state;
        set({ off: [...keys].join(","), at, launch, block }, true);
    }

    /* A text that has not been run gives way to another kernel's, and can be brought back. */
    const back = make("button", { type: "button", hidden: true, onclick: () => {
        editor.value = typed = back.dataset.text;
        back.hidden = true;
    } }, "Bring back what I typed");
    function offerBack() {
        if (typed === null) return;
        back.dataset.text = typed;
        back.hidden = false;
        typed = null;
    }
    addEventListener("beforeunload", (event) => { if (typed !== null) event.preventDefault(); });

    /* The controls are made once: what is made anew has lost the keyboard's focus. */
    const names = step.variants.map((one) => [one.name, one.name]);
    const sizes = step.sizes.slice().sort((a, b) => a - b).map((n) => [n, n]);
    const controls = {
        n: choice(sizes, state.n, (value) => set({ n: Number(value) }, true)),
        variant: choice(names, state.variant,
                        (value) => set({ variant: value, off: "", file: "" })),
        rules: choice(RULES, state.rules, (value) => set({ rules: value }, true)),
        seed: make("input", { type: "number", min: 0, max: MOST_SEED, onchange: () =>
            set({ seed: Math.trunc(Math.max(0, Math.min(MOST_SEED, Number(controls.seed.value)))) },
                true) }),
    };
    const paddings = (step.paddings || []).map(([value, name]) => make("button", {
        type: "button", "aria-label": `Padding: ${name}`, "data-padding": value,
        onclick: () => {
            keep = widget.instruction();
            set({ variant: value, off: "", file: "", at: state.at });
        } }, name));
    replace(widget.parts.choices, labelled("n", controls.n),
        names.length > 1 ? labelled("variant", controls.variant) : null,
        paddings.length ? make("div", { class: "buttons", role: "group", "aria-label": "Padding" },
                               "padding", paddings) : null,
        places, make("button", { type: "button", onclick: () => runner.stop() }, "Stop"),
        make("button", { type: "button", onclick: () => {
            forgetOwn();
            set({ off: "", seed: 0 });
        } },
             "Restore the kernel"));
    replace(widget.parts.more, labelled("count bank conflicts as on", controls.rules),
            labelled("schedule seed", controls.seed));

    function showChoices() {
        for (const [name, control] of Object.entries(controls)) control.value = state[name];
        for (const one of paddings)
            one.setAttribute("aria-pressed", String(one.dataset.padding === state.variant));
    }

    /* Other steps have files of the same names. */
    const sources = () => Object.fromEntries([...Object.entries(data.sources)
        .filter(([name]) => original().includes(`"${name}"`)),
        ...(own ? [[own.path, own.text]] : [])]);

    const kernels = () => kernelsOf(variantOf(step, state.variant).plan(state.n));

    /* Files and barriers are those of the kernel of the launch that is shown. */
    function show(answer, ptx, beside) {
        const kernel = kernels()[state.launch] || kernels()[0];
        return widget.show({ answer, state, sources: sources(), kernel, ptx, none: NONE,
                      files: filesOf(ptx, [kernel]),
                      barriers: barriersOf(ptx, [kernel]),
                      keep, fold: step.fold && step.fold(state.n, state.variant),
                      recorded: isOriginal() ? recordedOf(data, step, state) : null,
                      beside: (launch) => (beside[launch] ? beside[launch].counters : null),
                      off: off(), toggle, verdict,
                      placeHost: places, select: (change) => {
                          Object.assign(state, { at: 0 }, change);
                          show(answer, ptx, beside);
                      } });
    }

    /* A link may name a barrier by its number: "barrier-1" is the kernels' first one. */
    const named = (ptx, keys) => keys.replace(/\bbarrier-(\d+)/g, (text, number) => {
        const barrier = barriersOf(ptx, kernels())[number - 1];
        return barrier ? keyOf(barrier) : text;
    });

    /* A link may name barriers that the kernels do not have. */
    function keepExisting(ptx) {
        const keys = new Set(barriersOf(ptx, kernels()).map(keyOf));
        state.off = [...off()].filter((key) => keys.has(key)).join(",");
    }

    /* ---- the reader's CUDA C */

    const sourceNow = () => sourceOf(step, variantOf(step, state.variant), data.sources);
    const box = makeCodeBox({ name: "Compile and run", texts, run: () => compile(),
                              taken: () => openBox(true), restored: () => {
                                  forgetOwn();
                                  set({ off: "" });
                              } });
    function forgetOwn() {
        own = null;
        box.say("", []);
    }
    const kernelAt = () => Math.max(0, box.area.value.search(/.*__global__/));
    const editButton = make("button", { type: "button", "aria-expanded": "false", onclick: () => {
        const opens = !box.element.isConnected;
        openBox(opens);
        if (!opens) return;
        box.element.scrollIntoView();
        box.editor.reveal(kernelAt(), kernelAt());
    } }, "Edit");
    function openBox(opens) {
        if (opens) widget.section.querySelector(".deck").before(box.element);
        else box.element.remove();
        editButton.setAttribute("aria-expanded", String(opens));
        if (opens) box.editor.scrollTo(kernelAt());
    }
    if (sourceNow()) widget.parts.edit.append(editButton);

    /* The launches of the book's kernel, as nvcc has compiled it. */
    async function besideOf(plan, { rules, seed }) {
        const answer = await runner.run(requestOf(plan, original(), { check: 0, rules, seed }));
        return JSON.parse(answer.document).launches;
    }

    /* The kernel of the plan that a PTX text lacks, as its PTX has it. */
    const missingIn = (ptx) => kernels().find((name) => !ptx.includes(` ${name}(`));

    async function compile() {
        const { path, after } = sourceNow(), text = box.area.value, mine = ++runs;
        box.say("The page compiles …", []);
        try {
            const answer = await runner.run(
                compileRequest(path, after ? `${text}\n${after}` : text, data.headers));
            if (mine !== runs) return;
            if (answer.error) throw new Error(answer.message);
            const { ptx, diagnostics } = answer, missing = ptx && missingIn(ptx);
            if (!ptx) box.say(refusedText(diagnostics), diagnostics);
            else if (missing) box.say(missingText(missing), diagnostics);
            if (!ptx || missing) return;
            own = { path, text, ptx, warnings: diagnostics };
            set({ off: "", edit: "" });
        } catch (error) {
            if (mine === runs) box.say(error.message, []);
        }
    }

    /* `given`: the link that asks for the run; null: a choice. */
    async function run(given) {
        const source = sourceNow();
        if (own && !(source && own.path === source.path)) forgetOwn(); // another variant's
        if (source) box.show(source);
        if (!isEdit(original(), state.edit)) state.edit = "";
        const ptx = own ? own.ptx : withEdit(original(), state.edit);
        state.off = named(ptx, state.off);
        keepExisting(ptx);
        if (state.launch >= kernels().length) state.launch = state.block = 0;
        const replaced = given ? replacedText(
            step, { ...given, off: named(ptx, given.off || "") }, state, original()) : "";
        showChoices();
        remember(state);
        if (given) offerBack();
        if (typed === null && editor.value !== ptx) editor.value = ptx;
        const mine = ++runs;
        widget.status("The emulator runs …");
        const plan = variantOf(step, state.variant).plan(state.n);
        const options = { check: ALL_CHECKERS, rules: state.rules, seed: state.seed, trace: true };
        try {
            const isBeside = own && !own.isChanged;
            const beside = isBeside ? await besideOf(plan, options) : [];
            const answer = await runner.run(requestOf(
                plan, withoutBarriers(ptx, kernels(), off()), options));
            verdict = await verdictOf(off(), (unordered) => runner.run(requestOf(
                plan, ptx, { ...options, trace: false, unordered }))).catch(() => "");
            await show(answer, ptx, beside);
            if (isBeside && mine === runs)
                box.say(answer.error ? answer.message
                    : conflictsText(JSON.parse(answer.document).launches, beside), own.warnings);
            keep = null;
            if (mine === runs) widget.status(replaced + ranText(answer, off()));
        } catch (error) {
            if (mine !== runs) return; // a later run has ended this one
            widget.fail(error.message);
            widget.status("");
        }
    }
    widget.more.append(make("details", { class: "ptx" },
        make("summary", {}, "The PTX of this kernel: change it, and run it"), editor,
        make("button", { type: "button", onclick: () => {
            typed = null;
            if (own) own = { ...own, ptx: editor.value, isChanged: true };
            if (own) box.say("", []);
            set({ edit: own ? "" : editOf(original(), editor.value) }, true);
        } }, "Run this text"), " ", back));
    return { keyOf, open: (given) => {
        state = completeState(step, given);
        forgetOwn();
        return run(given);
    } };
}

module.exports = { makeStepWidget };
