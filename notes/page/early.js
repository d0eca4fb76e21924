/* early.js -- runs before the text is read: hides the chapter that stands in the page where the address
 * names another one, until main.js has opened that one. */
if (!/^$|^#(.*&)?chapter=03-work-efficient(&|$)/.test(location.hash))
    document.documentElement.className = "elsewhere";
