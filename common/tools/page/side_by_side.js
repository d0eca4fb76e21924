/* side_by_side.js -- the scans of steps 2, 3 and 4 beside each other: the same array, and for each
 * wavefront of shared memory the additions so far. A chapter has it where its text has the comment
 * "side-by-side". */
"use strict";
const { make, replace, table } = require("./dom.js");
const trace = require("./trace.js");
const { feedsOf } = require("./ptx.js");

const N = 512, TICK_MS = 40, PER_TICK = 4; // wavefronts
const RUNNERS = [{ step: 2, name: "naive", variant: "-" },
                 { step: 3, name: "work-efficient", variant: "-" },
                 { step: 4, name: "conflict-free", variant: "pad32" }];

/* The events with shared memory as { wavefronts, additions }, each a sum up to the event's end. An
 * addition is a stored word that is computed from more than one. */
function sumsOf(text, ptx) {
    const events = trace.readTrace(text), additions = new Array(events.length).fill(0);
    for (const { stores } of trace.intervalsOf(events, feedsOf(ptx)))
        for (const { at, sources } of stores) additions[at] += sources.length > 1;
    const sums = [{ wavefronts: 0, additions: 0 }];
    events.forEach((event, k) => {
        if (!trace.isShared(event)) return;
        const before = sums[sums.length - 1];
        sums.push({ wavefronts: before.wavefronts + event.wavefronts,
                    additions: before.additions + additions[k] });
    });
    return sums;
}

/* What has been done after a number of wavefronts. */
function doneAt(sums, wavefronts) {
    const last = sums[sums.length - 1];
    const reached = sums.filter((one) => one.wavefronts <= wavefronts).pop();
    return { wavefronts: Math.min(wavefronts, last.wavefronts), additions: reached.additions,
             part: Math.min(1, wavefronts / last.wavefronts) };
}

/* `run(step, variant, n)` promises { trace, ptx }. */
function makeComparison(place, run) {
    let all = null, now = 0, timer = null;
    const bar = make("input", { type: "range", min: 0, max: 0, value: 0, class: "bar",
                                "aria-label": "Wavefronts", disabled: true,
                                oninput: () => { pause(); go(Number(bar.value)); } });
    const play = make("button", { type: "button", class: "run",
                                  onclick: () => (timer ? pause() : start()) }, "Run");
    const rows = RUNNERS.map(({ step, name }) => ({
        meter: make("progress", { max: 1, value: 0, "aria-label": `${name}, part that is done` }),
        additions: make("span", {}, "0"), wavefronts: make("span", {}, "0"),
        name: `step ${step}, ${name}` }));
    const said = make("p", { role: "status" });

    const most = () => Math.max(...all.map((sums) => sums[sums.length - 1].wavefronts));
    function go(to) {
        now = Math.min(most(), to);
        bar.value = now;
        rows.forEach((row, k) => {
            const done = doneAt(all[k], now);
            row.meter.value = done.part;
            row.additions.textContent = done.additions;
            row.wavefronts.textContent = done.wavefronts;
        });
    }
    function pause() {
        clearTimeout(timer);
        timer = null;
        play.textContent = "Run";
    }
    function tick() {
        go(now + PER_TICK);
        if (now < most() && !place.closest("[hidden]")) timer = setTimeout(tick, TICK_MS);
        else pause();
    }
    /* One after the other, as there is one emulator. */
    async function start() {
        said.textContent = "";
        try {
            const found = [];
            for (const { step, variant } of all ? [] : RUNNERS) {
                const { trace: text, ptx } = await run(step, variant, N);
                found.push(sumsOf(text, ptx));
            }
            all = all || found;
        } catch (error) {
            said.textContent = error.message;
            return;
        }
        bar.disabled = false;
        bar.max = most();
        if (now >= most()) go(0);
        play.textContent = "Pause";
        timer = setTimeout(tick, TICK_MS);
    }
    replace(place, make("section", { class: "widget", "aria-label": "Three steps side by side" },
        make("p", {}, make("b", {}, "Side by side. "),
             `Three kernels scan the same ${N} numbers, and shared memory serves one wavefront of `,
             "each at a time. Which one is done first, and which one adds most?"),
        make("div", { class: "controls" }, play, bar),
        table("Work so far", ["", "done", "additions", "wavefronts"],
              rows.map((row) => [row.name, row.meter, row.additions, row.wavefronts])), said));
}

function makeSideBySide(article, run) {
    article.querySelectorAll(".side-by-side").forEach((place) => makeComparison(place, run));
}

module.exports = { makeSideBySide };
