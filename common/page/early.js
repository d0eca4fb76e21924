/* early.js -- runs before the text is read: of the first screen and the chapter that stand in the
 * page it hides what the address does not name, until main.js has opened what it names. */
(() => {
    const page = document.documentElement;
    const chapter = new URLSearchParams(location.hash.slice(1)).get("chapter") || "start";
    const names = { start: "at-start", [page.dataset.first]: "at-first" };
    page.className = names[chapter] || "elsewhere";
})();
