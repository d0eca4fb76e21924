/* linked_text.js -- a text that a reader has written, in the address and in the browser. In the
 * address it is NAME.TEXT, deflated and in base64 with - and _ in place of + and /. */
"use strict";

const MOST_LINKED = 30000; // characters in the address
const MOST_READ = 1 << 20; // of a text from an address

/* Where the browser keeps nothing, as some do for files, a text lasts as long as the page. */
const store = {
    isKept: () => {
        store.set("upsweep", "kept");
        return store.get("upsweep") === "kept";
    },
    get: (key) => { try { return localStorage.getItem(key); } catch (error) { return null; } },
    set: (key, text) => {
        try {
            if (text === null) localStorage.removeItem(key);
            else localStorage.setItem(key, text);
        } catch (error) { /* the text stays in the box */ }
    },
};

/* All bytes that a stream gives, at most MOST_READ. */
async function bytesOf(stream) {
    const parts = [], reader = stream.getReader();
    let length = 0;
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
        parts.push(part.value);
        length += part.value.length;
        if (length > MOST_READ) throw new Error("too long");
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
}
const through = (bytes, stream) => bytesOf(new Blob([bytes]).stream().pipeThrough(stream));

/* The address's part; "": the text is too long for it, or the browser cannot deflate. */
async function encoded(name, text) {
    if (typeof CompressionStream === "undefined" || text.length > MOST_READ) return "";
    const bytes = await through(new TextEncoder().encode(text),
                                new CompressionStream("deflate-raw"));
    const letters = btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join(""))
        .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
    return letters.length > MOST_LINKED ? "" : `${name}.${letters}`;
}

/* { name, text } of such a part; null: it cannot be read. */
async function decoded(part) {
    const [, name, letters] = /^([\w-]+)\.([\w-]*)$/.exec(part) || [];
    if (name === undefined) return null;
    try {
        const bytes = Uint8Array.from(atob(letters.replace(/-/g, "+").replace(/_/g, "/")),
                                      (one) => one.charCodeAt(0));
        const text = await through(bytes, new DecompressionStream("deflate-raw"));
        return { name, text: new TextDecoder("utf-8", { fatal: true }).decode(text) };
    } catch (error) {
        return null;
    }
}

/* The texts of all boxes. The one that was changed last is in the address: write(part). A box has
 * take(text) for a text of a link, and linked(isHeld), which says whether the address holds it. */
function makeTexts(write) {
    const boxes = new Map();
    let waiting = null, turn = 0; // a link's text whose box is not there yet; of writing
    function give(name) {
        if (!waiting || waiting.name !== name) return;
        const { text } = waiting;
        waiting = null;
        boxes.get(name).take(text);
    }
    return {
        /* The box of a name is there. */
        join: (name, box) => {
            boxes.set(name, box);
            give(name);
        },
        /* A link's part. Promises whether it can be read. */
        take: async (part) => {
            const found = await decoded(part);
            waiting = found;
            if (found && boxes.has(found.name)) give(found.name);
            return Boolean(found);
        },
        /* null: it is the book's text again. */
        changed: async (name, text) => {
            const mine = ++turn;
            const part = text === null ? "" : await encoded(name, text);
            if (mine !== turn) return;
            write(part);
            boxes.get(name).linked(text === null || part !== "");
        },
    };
}

module.exports = { MOST_LINKED, decoded, makeTexts, store };
