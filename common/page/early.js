/* early.js -- runs before the text is read: hides the chapter that stands in the page if the address
 * names another one, until main.js has opened that one. */
(() => {
    const page = document.documentElement, named = new URLSearchParams(location.hash.slice(1));
    if (location.hash && named.get("chapter") !== page.dataset.first) page.className = "elsewhere";
})();
