/* main.js -- opens the chapter that the address's fragment names, with its widget. */
const { readState, writeState } = require("./state.js");
const { STEPS } = require("./kernels.js");
const { makeRunner } = require("./runner.js");
const { makeStepWidget } = require("./step_widget.js");
const { makePredictions } = require("./predict.js");
const { makeOwn } = require("./own.js");

const FIRST = document.documentElement.dataset.first; // named by build_page.py
const byId = (id) => document.getElementById(id);
const textOf = (id) => JSON.parse(byId(id).textContent);
const filled = new Set();
const widgets = {};
let runner = null, data = null;

/* Browsers refuse or leave out changes of the address when there are too many. */
const MOST_WRITES = 40, WRITES_MS = 10000, RETRY_MS = 500;
let writes = [], latest = null, later = null;

function write() {
    clearTimeout(later);
    later = null;
    if (byId(`chapter-${latest.chapter}`).hidden) return;
    history.replaceState(null, "", writeState(latest));
    byId("address").value = location.href;
}

/* The address keeps the state, without an entry in the history for each step. A run may end when
 * another chapter has been opened. */
function remember(state) {
    if (byId(`chapter-${state.chapter}`).hidden) return;
    latest = state;
    if (later) return;
    const now = performance.now();
    writes = [...writes.filter((time) => now - time < WRITES_MS), now];
    if (writes.length <= MOST_WRITES) write();
    else later = setTimeout(write, RETRY_MS);
}

/* A widget stands behind its chapter's first part. */
function hostIn(article) {
    const host = document.createElement("div");
    const heading = article.querySelectorAll("h2")[0];
    if (heading) heading.before(host);
    else article.append(host);
    return host;
}

function widgetOf(article) {
    const name = article.dataset.chapter;
    const step = STEPS.find((one) => one.chapter === name);
    if (widgets[name] || (!step && name !== "own")) return widgets[name];
    runner = runner || makeRunner(textOf("worker"));
    data = data || textOf("data");
    widgets[name] = step ? makeStepWidget(hostIn(article), step, data, runner, remember)
        : makeOwn(hostIn(article), runner, remember);
    return widgets[name];
}

/* The text of a chapter becomes elements when it is first opened. false: the browser has not read
 * it yet. */
function fillArticle(article) {
    const id = `text-${article.dataset.chapter}`, isEmpty = !article.firstElementChild;
    if (isEmpty && !byId(id) && document.readyState === "loading") return false;
    if (isEmpty) article.innerHTML = textOf(id);
    if (!filled.has(article)) makePredictions(article);
    filled.add(article);
    return true;
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

/* Before the page is read, only the chapter that stands in it can be shown. Its widget, and every
 * other chapter, come when all is read. */
function open(fragment) {
    const state = readState(fragment);
    const article = byId(`chapter-${state.chapter}`) || byId(`chapter-${FIRST}`);
    if (!fillArticle(article)) return;
    document.documentElement.classList.remove("elsewhere");
    for (const one of document.querySelectorAll("article")) one.hidden = one !== article;
    for (const link of document.querySelectorAll("nav a"))
        if (link.hash === `#chapter=${article.dataset.chapter}`) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
    document.title = `${article.querySelector("h1").textContent} – Upsweep`;
    if (document.readyState === "loading") return;
    /* The text is shown first; then the emulator starts. */
    requestAnimationFrame(() => setTimeout(async () => {
        if (article.hidden) return;
        const widget = widgetOf(article);
        const run = widget && widget.open(state);
        if (!state.place) return;
        showPlace(state.chapter, state.place);
        await run; /* which makes what stands before the place longer */
        if (document.activeElement === byId(`${state.chapter}:${state.place}`))
            showPlace(state.chapter, state.place);
    }));
}

/* A place in the chapter that is shown: the widget keeps its state. */
document.addEventListener("click", (event) => {
    const link = event.target.closest && event.target.closest("main a[href^='#']");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { chapter, place } = readState(link.hash);
    if (!place || byId(`chapter-${chapter}`).hidden) return;
    event.preventDefault();
    showPlace(chapter, place);
});
byId("copy").addEventListener("click", async () => {
    const field = byId("address");
    if (later) write();
    field.hidden = false;
    field.value = location.href;
    field.select();
    try {
        await navigator.clipboard.writeText(location.href);
    } catch (error) {
        document.execCommand("copy"); /* where a page may not write: the text is selected */
    }
});
byId("contents").open = innerWidth >= 800; /* beside the text, otherwise above it */
/* The address may already be another one: a run of the chapter before has ended meanwhile. */
window.addEventListener("hashchange", (event) => {
    const fragment = new URL(event.newURL || location.href).hash;
    if (location.hash !== fragment) history.replaceState(null, "", fragment);
    scrollTo(0, 0);
    open(fragment);
});
document.addEventListener("DOMContentLoaded", () => open(location.hash));
open(location.hash);
