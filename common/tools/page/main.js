/* main.js -- opens the chapter that the address's fragment names, with its widget. */
"use strict";
const { make } = require("./dom.js");
const { STEPS, requestOf, stepOf: stepNumbered, variantOf } = require("./kernels.js");
const { makeSideBySide } = require("./side_by_side.js");
const { makeRunner } = require("./runner.js");
const { makeStepWidget } = require("./step_widget.js");
const { makePredictions, makeAnswers, makeLabs } = require("./questions.js");
const { makeOwn } = require("./own_kernel.js");
const { makeCodeLabs } = require("./code_lab.js");
const { makeTexts, store } = require("./linked_text.js");
const { makeSearch } = require("./search.js");
const { makeStart } = require("./start.js");
const { PTX, SOURCE, requestFor, stagesOf } = require("./sweep.js");
const { makeToys } = require("./banks.js");

/* ---- the state as an address ----------------------------------------------------------------- */
/* What the page shows, as the fragment of its address: "#chapter=…&n=…". */

const TEXTS = ["chapter", "place", "variant", "rules", "off", "own", "form", "words", "file",
               "edit", "numbers", "view", "code", "to", "answers",
               "text"];
const NUMBERS = ["n", "seed", "at", "launch", "block", "first"];

/* `damaged` has the names of the fields that should be numbers. */
function readState(fragment) {
    const state = { damaged: [] };
    for (const [name, value] of new URLSearchParams(fragment.replace(/^#/, ""))) {
        if (TEXTS.includes(name)) state[name] = value;
        if (!NUMBERS.includes(name)) continue;
        if (/^\d{1,9}$/.test(value)) state[name] = Number(value);
        else state.damaged.push(name);
    }
    return state;
}

function writeState(state) {
    const fields = new URLSearchParams();
    for (const name of [...TEXTS, ...NUMBERS])
        if (state[name] !== undefined && state[name] !== "" && state[name] !== 0)
            fields.set(name, state[name]);
    return `#${fields}`;
}

/* ---- the page -------------------------------------------------------------------------------- */

const FIRST = document.documentElement.dataset.first; // named by build_page.py
const START = "start";
const byId = (id) => document.getElementById(id);
const textOf = (id) => JSON.parse(byId(id).textContent);
const filled = new Set();
const widgets = {};
const answers = makeAnswers(), texts = makeTexts(writeText);
let runner = null, data = null, labRunner = null;

/* Browsers refuse or leave out changes of the address when there are too many. */
const MOST_WRITES = 40, WRITES_MS = 10000, RETRY_MS = 500, SCROLLED_MS = 150;
const NARROW = 800; // pixels, below which the list of chapters stands above the text
let writes = [], latest = null, later = null, scrolled = null;

const isShown = (chapter) => !byId(`chapter-${chapter}`).hidden;
const replaceAddress = (fragment) => history.replaceState(history.state, "", fragment);

function write() {
    clearTimeout(later);
    later = null;
    if (!isShown(latest.chapter)) return;
    replaceAddress(writeState(latest));
    byId("address").value = location.href;
}

/* The address keeps the state, without an entry in the history for each step, and the place in the
 * chapter. A run may end when another chapter has been opened. */
function remember(state) {
    if (!isShown(state.chapter)) return;
    const { place, answers: linked, text } = readState(location.hash);
    latest = { ...state, place, answers: linked, text };
    if (later) return;
    const now = performance.now();
    writes = [...writes.filter((time) => now - time < WRITES_MS), now];
    if (writes.length <= MOST_WRITES) write();
    else later = setTimeout(write, RETRY_MS);
}

/* Puts what a reader has written into the address. The entry of the history says that it is this
 * reader's: where the browser keeps texts, that one is newer. */
function writeText(text) {
    if (latest) latest = { ...latest, text };
    history.replaceState({ ...history.state, isOwn: true }, "",
                         writeState({ ...readState(location.hash), text }));
    byId("address").value = location.href;
}
async function takeText(text, article) {
    if (history.state && history.state.isOwn && store.isKept()) return;
    if (!await texts.take(text)) article.prepend(make("p", { class: "wrong", role: "status" },
        "The text of this link cannot be read, and is left out."));
}

/* Each entry of the history keeps how far the reader has scrolled. */
function keepScroll() {
    clearTimeout(scrolled);
    history.replaceState({ ...history.state, scroll: scrollY }, "");
}

/* Data and the emulator are read when something is to be run. */
function prepare() {
    runner = runner || makeRunner(textOf("worker"));
    data = data || textOf("data");
}

/* The first screen's stages for other numbers. */
async function film(numbers) {
    prepare();
    const ptx = data.ptx[PTX], answer = await runner.run(requestFor(numbers, ptx));
    if (answer.error) throw new Error(answer.message);
    return stagesOf(answer.trace, ptx, data.sources[SOURCE]);
}

/* A step's trace of n elements, and its PTX. */
async function runStep(number, name, n) {
    prepare();
    const variant = variantOf(stepNumbered(number), name), ptx = data.ptx[variant.ptx];
    const options = { check: 0, trace: true };
    const answer = await runner.run(requestOf(variant.plan(n), ptx, options));
    if (answer.error) throw new Error(answer.message);
    return { trace: answer.trace, ptx };
}

/* What the labs run with: a worker of their own, as a run ends the one before. */
function bench() {
    prepare();
    labRunner = labRunner || makeRunner(textOf("worker"));
    return { ptx: (name) => data.ptx[name], labs: data.labs, run: labRunner.run,
             source: (path) => data.sources[path] || data.headers[path], stop: labRunner.stop };
}

const stepOf = (article) => STEPS.find((one) => one.chapter === article.dataset.chapter);

function widgetOf(article) {
    const name = article.dataset.chapter, step = stepOf(article);
    if (widgets[name] || (!step && name !== "own")) return widgets[name];
    prepare();
    const host = article.querySelector(".host");
    widgets[name] = step ? makeStepWidget(host, step, data, runner, { remember, texts })
        : makeOwn(host, runner, remember, data.ptx[PTX], data.headers);
    return widgets[name];
}

/* A widget stands above Your turn, or after the chapter's first part. Its room is kept for it. */
function addHost(article) {
    const host = make("div", { class: stepOf(article) ? "host reserved" : "host" });
    const turn = byId(`${article.dataset.chapter}:your-turn`);
    const heading = turn || article.querySelector("h2");
    if (heading) heading.before(host);
    else article.append(host);
}

/* Links to the chapters before and after. */
function addNeighbours(article) {
    const links = [...document.querySelectorAll(".entries a")];
    const at = links.findIndex((one) => one.hash === `#chapter=${article.dataset.chapter}`);
    const link = (one, name) =>
        (one ? make("a", { href: one.hash }, `${name}: ${one.textContent}`) : "");
    if (at >= 0) article.append(make("p", { class: "neighbours" }, link(links[at - 1], "Before"),
                                     link(links[at + 1], "Next")));
}

function addHeadingLinks(article) {
    for (const heading of article.querySelectorAll("h2[id], h3[id]")) {
        const [chapter, place] = heading.id.split(":");
        heading.append(make("a", { class: "here", href: `#chapter=${chapter}&place=${place}`,
                                   "aria-label": "Link to this section" }, "#"));
    }
}

/* The text of a chapter becomes elements when it is first opened. false: the browser has not read
 * it yet. */
function fillArticle(article) {
    const id = `text-${article.dataset.chapter}`, isEmpty = !article.firstElementChild;
    if (isEmpty && !byId(id) && document.readyState === "loading") return false;
    if (isEmpty) article.innerHTML = textOf(id);
    if (filled.has(article)) return true;
    makePredictions(article);
    makeToys(article);
    makeSideBySide(article, runStep);
    makeLabs(article, { answers, bench, copy });
    makeCodeLabs(article, { bench, texts });
    if (stepOf(article) || article.dataset.chapter === "own") addHost(article);
    addNeighbours(article);
    addHeadingLinks(article);
    filled.add(article);
    return true;
}

/* What scrolls sideways can be reached by the keyboard. */
function nameScrollers(article) {
    for (const one of article.querySelectorAll("pre, article > table"))
        if (one.scrollWidth > one.clientWidth) {
            one.tabIndex = 0;
            one.setAttribute("aria-label", one.tagName === "TABLE" ? "Table" : "Code");
            if (one.tagName === "PRE") one.setAttribute("role", "region");
        }
}

function showPlace(chapter, place) {
    const heading = byId(`${chapter}:${place}`);
    if (!heading) return;
    const folded = heading.closest("details"); /* the book's kernel */
    if (folded) folded.open = true;
    heading.scrollIntoView();
    heading.tabIndex = -1; /* so that the tabulator key goes on from here */
    heading.focus({ preventScroll: true });
}

function markInContents(name) {
    const isStart = name === START, contents = byId("contents");
    for (const link of document.querySelectorAll("nav a"))
        if (link.hash === `#chapter=${name}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    if (isStart || !contents.dataset.chapter) contents.open = !isStart && innerWidth >= NARROW;
    contents.dataset.chapter = isStart ? "" : name;
}

/* Before the page is read, only what stands in it can be shown. A widget, and every
 * other chapter, come when all is read. */
function open(fragment) {
    const state = readState(fragment), name = state.chapter || START;
    if (state.answers) answers.take(state.answers);
    const article = byId(`chapter-${name}`) || byId(`chapter-${FIRST}`);
    if (!fillArticle(article)) return;
    document.documentElement.className = name === START ? "at-start" : "";
    for (const one of document.querySelectorAll("article")) one.hidden = one !== article;
    if (name === START) widgets[START] ||= makeStart(byId("sweep"), textOf("film"), film, remember);
    markInContents(article.dataset.chapter);
    const title = article.querySelector("h1").textContent;
    document.title = name === START ? "Upsweep" : `${title} – Upsweep`;
    if (document.readyState === "loading") return;
    if (state.text) takeText(state.text, article);
    /* The text is shown first; then the emulator starts. */
    requestAnimationFrame(() => setTimeout(async () => {
        if (article.hidden) return;
        nameScrollers(article);
        const widget = widgetOf(article), { scroll } = history.state || {};
        const run = widget && widget.open(state);
        byId("skip").hidden = !article.querySelector(".play");
        if (state.to) showPlayer(state.chapter);
        if (!state.place || scroll) return;
        showPlace(state.chapter, state.place);
        await run; /* which makes what stands before the place longer */
        if (document.activeElement === byId(`${state.chapter}:${state.place}`))
            showPlace(state.chapter, state.place);
    }));
}

/* A link to a place in the chapter that is shown: the widget keeps its state. */
function followPlace(event, link) {
    const { chapter, place } = readState(link.hash);
    if (!place || !isShown(chapter)) return;
    event.preventDefault();
    const state = latest && latest.chapter === chapter ? latest : { chapter };
    history.pushState(null, "", writeState({ ...state, place }));
    showPlace(chapter, place);
}
/* A link to a term of the glossary opens its sentence below the paragraph, or closes it. */
function followTerm(event, link) {
    const { chapter, place } = readState(link.hash), block = link.closest("p, li, dd, table");
    if (chapter !== "glossary" || !place || isShown(chapter) || !block) return false;
    fillArticle(byId("chapter-glossary"));
    const heading = byId(`glossary:${place}`);
    if (!heading || link.closest(".term")) return false;
    event.preventDefault();
    const old = block.nextElementSibling;
    if (old && old.dataset.term === place) old.remove();
    else block.after(make("aside", { class: "term", "data-term": place, role: "note" },
                          heading.nextElementSibling.cloneNode(true),
                          make("a", { href: link.hash }, "in the glossary")));
    link.setAttribute("aria-expanded", String(!(old && old.dataset.term === place)));
    return true;
}

/* A link that sets the player of the chapter that is shown. */
function followPlay(event, link) {
    const state = readState(link.hash);
    if (!isShown(state.chapter) || !widgets[state.chapter]) return;
    event.preventDefault();
    history.pushState(null, "", link.hash);
    widgets[state.chapter].open(state);
    showPlayer(state.chapter);
}
function showPlayer(chapter) {
    const widget = byId(`chapter-${chapter}`).querySelector(".host > .widget");
    widget.scrollIntoView();
    widget.focus({ preventScroll: true });
}
function skip(event, link) {
    const article = document.querySelector("article:not([hidden])");
    const target = article.querySelector(link.id === "skip" ? ".play" : "h1");
    event.preventDefault();
    if (!target) return;
    if (target.tagName === "H1") target.tabIndex = -1;
    target.focus();
}
document.addEventListener("click", (event) => {
    const button = event.target.closest && event.target.closest(".one-file");
    if (button) copyFile(button);
    const link = event.target.closest && event.target.closest("a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    keepScroll();
    if (link.className === "skip") skip(event, link);
    else if (followTerm(event, link)) return;
    else if (link.className === "play-link") followPlay(event, link);
    else followPlace(event, link);
    if (link.closest("nav") && innerWidth < NARROW) byId("contents").open = false;
});
/* Where a page may not write into the clipboard, the text is selected in a field. */
async function copy(text, field = byId("address")) {
    field.hidden = false;
    field.value = text;
    field.select();
    try {
        await navigator.clipboard.writeText(text);
    } catch (error) {
        document.execCommand("copy");
    }
}
function copyFile(button) {
    prepare();
    const field = make("textarea", { rows: 8, "aria-label": "The step as one file" });
    button.after(field);
    copy(data.alone[button.dataset.step], field);
    button.textContent = "Copied";
    button.disabled = true;
}
byId("copy").addEventListener("click", () => {
    if (later) write();
    copy(location.href);
});
makeSearch(byId("search"), byId("found"), () => [byId(`chapter-${FIRST}`).innerHTML,
    ...[...document.querySelectorAll("script[id^='text-']")].map((one) => textOf(one.id))]);
/* The address may already be another one: a run of the chapter before has ended meanwhile. */
window.addEventListener("hashchange", (event) => {
    const fragment = new URL(event.newURL || location.href).hash;
    if (location.hash !== fragment) replaceAddress(fragment);
    const { scroll } = history.state || {};
    scrollTo(0, 0);
    open(fragment);
    if (scroll) scrollTo(0, scroll);
});
history.scrollRestoration = "manual";
window.addEventListener("scroll", () => {
    clearTimeout(scrolled);
    scrolled = setTimeout(keepScroll, SCROLLED_MS);
});
document.addEventListener("DOMContentLoaded", () => open(location.hash));
open(location.hash);
