/* view_counters.js -- a launch's counters beside ncu's, the conflicts between barriers with the
 * reader's predictions, the findings, and the result. */
"use strict";
const { make, replace, table } = require("./dom.js");
const { isNear, numbersIn } = require("./questions.js");
const { counted: count, resultText } = require("./texts.js");

/* Name, ncu's metric, what the document counts, what the trace has counted so far, and the name in
 * profiles/counters_differences.csv. */
const excess = (part) => part.wavefronts - part.ideal_wavefronts;
const COUNTERS = [
    ["bank conflicts of loads", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
     (c) => excess(c.shared_load), (s) => s.ld.conflicts, "conflicts ld"],
    ["bank conflicts of stores", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
     (c) => excess(c.shared_store), (s) => s.st.conflicts, "conflicts st"],
    ["wavefronts of loads", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
     (c) => c.shared_load.wavefronts, (s) => s.ld.wavefronts, "wavefronts ld"],
    ["wavefronts of stores", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
     (c) => c.shared_store.wavefronts, (s) => s.st.wavefronts, "wavefronts st"],
    ["instructions that load shared memory", "smsp__sass_inst_executed_op_shared_ld.sum",
     (c) => c.shared_load.instructions, (s) => s.ld.instructions, "wavefronts ld"],
    ["instructions that store shared memory", "smsp__sass_inst_executed_op_shared_st.sum",
     (c) => c.shared_store.instructions, (s) => s.st.instructions, "wavefronts st"],
    ["requests to load global memory", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
     (c) => c.global_load.requests, (s) => s.ld.requests, "global ld"],
    ["requests to store global memory", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
     (c) => c.global_store.requests, (s) => s.st.requests, "global st"],
    ["sectors loaded", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
     (c) => c.global_load.sectors, (s) => s.ld.sectors, "sectors ld"],
    ["sectors stored", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
     (c) => c.global_store.sectors, (s) => s.st.sectors, "sectors st"],
    ["additions of floats, counted once per lane",
     "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
     (c) => c.adds.f32, null, "additions"],
    ["barriers, counted once per warp", null, (c) => c.barriers, null],
];

const BY_PAGE = "compiled by this page", BY_NVCC = "compiled by nvcc";
const ARBITRATION = "the hardware also counts arbitration, when one access waits for another";

/* ncu's value as a text, and where it differs, why. */
function recordedText(recorded, metric, key, counted) {
    if (!recorded || !recorded.values.has(metric)) return "";
    const value = recorded.values.get(metric);
    const isMore = value > counted && /^(conflicts|wavefronts)/.test(key);
    const why = value === counted ? "" : recorded.why(key) || (isMore ? ARBITRATION : "");
    return why ? make("span", {}, `${value} `, make("small", {}, `(${why})`)) : String(value);
}

/* `recorded`: ncu's values by metric, and why(counter) says why one differs; null: none is recorded
 * for this launch. `beside`: of a kernel that this page has compiled. */
function countersTable(counters, sums, recorded, beside) {
    const rows = COUNTERS.map(([name, metric, whole, part, key]) => [
        name, part && sums ? String(part(sums)) : "", String(whole(counters)), beside
            ? String(whole(beside)) : recordedText(recorded, metric, key, whole(counters))]);
    const heads = beside ? [BY_PAGE, BY_NVCC] : ["whole launch", "ncu on an H200"];
    const note = beside ? " of your kernel and of the book's"
        : recorded ? "" : " (there is no recording by ncu for these choices)";
    return table(`Counters${note}`, ["counter", "up to here", ...heads], rows);
}

/* ---- conflicts between barriers, predicted first ------------------------------------------- */

function answerText(guess, answer) {
    const numbers = numbersIn(guess);
    if (!numbers.length) return "Write a number.";
    return isNear(numbers, answer, 0) ? "right" : `not ${numbers.join(" + ")}`;
}

const MOST_LEVELS = 200;

function levelRow(level, isShown) {
    const when = level.epoch ? `after barrier ${level.epoch}` : "before the first barrier";
    const counted = make("td", { class: "counted", "data-epoch": level.epoch },
                         isShown ? `${level.ld} + ${level.st}` : "?");
    const verdict = make("td", { "aria-live": "polite" });
    const guess = make("input", { size: 7, inputmode: "numeric", "aria-label":
        `Your prediction of the conflicts ${when}`,
    onchange: () => {
        if (numbersIn(guess.value).length) counted.textContent = `${level.ld} + ${level.st}`;
        verdict.textContent = answerText(guess.value, [level.ld, level.st]);
    } });
    const lines = [...level.lines].sort((a, b) => a - b).join(", ");
    return make("tr", {}, make("th", { scope: "row" }, when), make("td", {}, lines),
                make("td", {}, guess), counted, verdict);
}

function levelsTable(levels, isShown, showAll) {
    const sum = (name) => levels.reduce((total, level) => total + level[name], 0);
    const heads = ["when", "lines", "your prediction", "conflicts, loads + stores", ""];
    const more = levels.length - MOST_LEVELS;
    return [make("table", { class: "levels" },
        make("caption", {}, "Bank conflicts between barriers: predict, then see what was counted"),
        make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))),
        make("tbody", {}, levels.slice(0, MOST_LEVELS).map((level) => levelRow(level, isShown)),
             more > 0 ? make("tr", {}, make("td", { colspan: heads.length },
                                            `and ${count(more, "more interval")}`)) : null,
             make("tr", {}, make("th", { scope: "row" }, "all"), make("td"), make("td"),
                  make("td", { class: "total" }, isShown ? `${sum("ld")} + ${sum("st")}` : "?"),
                  make("td")))),
    isShown ? null : make("button", { class: "show-levels", type: "button", onclick: showAll },
                          "Show all counts")];
}

/* ---- findings and results ------------------------------------------------------------------ */

function placeNodes(place, toLine) {
    if (!place) return "";
    const file = place.file ? place.file.split("/").pop() : "PTX";
    const thread = place.thread ? `, thread ${place.thread[0]} of block ${place.block[0]}` : "";
    const line = place.line || place.ptx_line, show = toLine && toLine(file, line);
    return [place.access ? `${place.access} at ` : "", show
        ? make("button", { type: "button", class: "to", onclick: show }, `${file}:${line}`)
        : `${file}:${line}`, thread];
}

/* `link(finding)`: a button that leads to the finding's place in the trace; null: it has none. */
function findingItem(finding, link, toLine) {
    const places = [finding.place, finding.other_place].filter((one) => one)
        .map((one, k) => [k ? " and " : "", placeNodes(one, toLine)]);
    return make("li", { class: finding.severity }, make("strong", {}, `${finding.tool}: `),
                `${finding.title}. `, places, " ", link(finding),
                make("details", {}, make("summary", {}, "the whole report"),
                     make("pre", {}, [finding.text, finding.detail].filter((t) => t).join("\n"))));
}

/* `isWhole`: all launches have run to their end. */
function findingsList(document, isWhole, link, toLine) {
    const found = document.findings;
    if (!found.length && !isWhole)
        return make("p", {}, "The checkers have no verdict, because the kernel has not run to " +
            "its end. The message above says why.");
    if (!found.length)
        return make("p", {}, "memcheck, racecheck, initcheck and synccheck have found nothing.");
    const most = 20, order = ["racecheck", "synccheck", "memcheck", "initcheck"];
    found.sort((a, b) => order.indexOf(a.tool) - order.indexOf(b.tool));
    const shown = found.length > most ? `; the first ${most}` : "";
    return make("div", {}, make("p", {}, `${count(document.errors, "error")} and ` +
        `${count(document.warnings, "warning")}${shown}:`),
    make("ol", {}, found.slice(0, most).map((one) => findingItem(one, link, toLine))));
}

const DOUBT = " But the kernel is not: in another schedule the result may be wrong. " +
    "See the findings.", CHANGED = " The kernel has changed its input.";

/* A right result is no proof that the kernel is right: a hazard may do no harm in this schedule. */
function showResult(host, answer, document) {
    const text = answer.error ? answer.message : resultText(answer);
    const isWrong = answer.error || text.startsWith("The result is wrong");
    const hasChanged = !answer.error && text &&
        answer.buffers.some((one) => one.name === "in" && one.given);
    const isInDoubt = text && !isWrong && document && document.errors;
    const doubt = (isInDoubt ? DOUBT : "") + (hasChanged ? CHANGED : "");
    replace(host, text + doubt
        ? make("p", { class: isWrong || doubt ? "wrong" : "right" }, text + doubt) : "");
}

/* All buffers after the run; the text of a long one is cut. asked("out[5]") is called by a click on
 * that value. */
function buffersView(buffers, asked) {
    const most = 20000, clicked = (name) => () => {
        const { anchorNode: node, anchorOffset: end } = getSelection();
        if (node) asked(`${name}[${node.textContent.slice(0, end).split(" ").length - 1}]`);
    };
    return make("details", { class: "buffers" }, make("summary", {}, "The buffers after the run"),
        buffers.map(({ name, type, values }) => [make("h3", {}, `${name} (${type})`),
            make("pre", { tabindex: 0, title: "Click on a value to see the stores to it",
                          onclick: clicked(name) },
                 values.slice(0, most) + (values.length > most ? " …" : ""))]));
}

function printedView(lines) {
    return lines.length ? [make("p", {}, "What is printed (at most 20 lines are shown):"),
                           make("pre", {}, lines.join("\n"))] : [];
}

/* "Bank conflicts of loads + stores: 375 + 225 compiled by this page, …": of all launches. */
function conflictsText(launches, beside) {
    const sum = (all, name) => all.reduce((total, one) => total + excess(one.counters[name]), 0);
    const text = (all) => `${sum(all, "shared_load")} + ${sum(all, "shared_store")}`;
    return `Bank conflicts of loads + stores: ${text(launches)} ${BY_PAGE}, ` +
        `${text(beside)} ${BY_NVCC} from the book's kernel.`;
}

module.exports = { buffersView, conflictsText, countersTable, levelsTable, findingsList,
                   printedView, showResult };
