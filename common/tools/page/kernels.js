/*
 * kernels.js -- the kernels of the steps: which PTX holds them, and how a scan of n elements
 * launches them. It follows the host code of steps/NN-name/scan.cu.
 */
"use strict";

/* Keys and names of the rules of counting. */
const RULES = [["hopper", "Hopper"], ["kepler8", "Kepler (8-byte banks)"],
               ["kepler4", "Kepler (4-byte banks)"], ["fermi", "Fermi"], ["gt200", "GT200"],
               ["g80", "G80"]];

/* What every request asks for, and the largest seed that a link holds (main.js). */
const ALL_CHECKERS = 15, MOST_SEED = 999999999;
const MOST_EVENTS = 20000; // of a trace that the page plays

const FLOAT = 4;
const padded = (n, shift) => n + ((n - 1) >> shift);
const blocksOf = (n, size) => Math.ceil(n / size);

/* Step 5's blocks with a launch of its own for the last elements, which takes as many threads as
 * they need. */
function scanWithRest(plan, shape, to, from, sums, n) {
    const { size } = shape, full = Math.floor(n / size), rest = n % size;
    const tree = Math.max(2, 2 ** Math.ceil(Math.log2(rest || 1)));
    const launch = (kernel, blocks, leaves, first, count) => plan.launches.push(
        [kernel, blocks, leaves / 2, padded(leaves, 5) * FLOAT,
         `@${to}+${first * size * FLOAT}`, `@${from}+${first * size * FLOAT}`,
         sums ? `@${sums}+${first * FLOAT}` : "u64:0", `u64:${count}`, `s32:${leaves}`]);
    if (full) launch(shape.full, full, size, 0, n);
    if (rest) launch(shape.rest, 1, tree, full, rest);
}

/* Adds the launches that scan buffer `from` into `to`, by blocks of `size` elements, and then the
 * sums of the blocks in place, as the steps of any size do. */
function scanBlocks(plan, shape, to, from, n, level) {
    const blocks = blocksOf(n, shape.size);
    const sums = `sums${level}`;
    if (blocks > 1) plan.buffers.push([sums, "f32", blocks, "none"]);
    const pointers = [`@${to}`, `@${from}`, blocks > 1 ? `@${sums}` : "u64:0", `u64:${n}`];
    if (shape.isWithRest) scanWithRest(plan, shape, to, from, blocks > 1 ? sums : null, n);
    else plan.launches.push([shape.kernel, blocks, shape.threads, shape.shared,
                             ...pointers, ...(shape.more || [])]);
    if (blocks === 1) return plan;
    scanBlocks(plan, shape, sums, sums, blocks, level + 1);
    plan.launches.push([shape.add, blocks - 1, shape.addThreads || shape.threads, 0,
                        `@${to}`, `@${sums}`, `u64:${n}`]);
    return plan;
}

/* Small arrays hold the numbers of the documents, so that a reader finds those of the text. */
const NUMBERS = [3, 1, 7, 0, 4, 1, 6, 3], MOST_KNOWN = 16;
const known = (n) => Array.from({ length: n }, (_, k) => NUMBERS[k % NUMBERS.length]);

function planOf(n) {
    const fill = n > MOST_KNOWN ? "digits" : `values ${known(n).join(" ")}`;
    return { buffers: [["in", "f32", n, fill], ["out", "f32", n, "none"]], launches: [] };
}

/* One block that scans all elements. */
function oneBlock(kernel, threads, floats) {
    return (n) => {
        const plan = planOf(n);
        plan.launches.push([kernel, 1, threads(n), floats(n) * FLOAT, "@out", "@in", `s32:${n}`]);
        return plan;
    };
}

function anySize(shape) {
    return (n) => scanBlocks(planOf(n), shape, "out", "in", n, 1);
}

const BLOCK = "_Z10scan_blockPfPKfi";
const half = (n) => n / 2;
const padding = (number, floats) =>
    oneBlock(`_Z10scan_blockIL7padding${number}EEvPfPKfi`, half, floats);

const tree = { size: 512, threads: 256, shared: padded(512, 5) * FLOAT, more: ["s32:512"],
               kernel: "_Z10scan_blockPfPKfS_mi", add: "_Z11uniform_addPfPKfm" };
const other = (kernel, change) => anySize({ ...tree, ...change, kernel });
const treeBlock = (isPadded, isChecked) =>
    `_Z10scan_blockILb${isPadded}ELb${isChecked}EEvPfPKfS0_mi`;
const vectors = { size: 2048, threads: 256, shared: padded(512, 5) * FLOAT,
                  kernel: "_Z10scan_blockPfPKfS_m", add: tree.add };
const shuffles = (number) => ({ size: 2048, threads: 256, shared: 0, add: tree.add,
                                kernel: `_Z10scan_blockILi${number}EEvPfPKfS0_m` });

/* Step 10 has one block for each tile, up to what the GPU holds at once. */
function cooperative(isBackward) {
    return (n) => {
        const plan = planOf(n), blocks = blocksOf(n, 2048);
        plan.buffers.push(["sums", "f32", blocks, "none"]);
        plan.launches.push(["+_Z9scan_gridPfPKfS_mb", blocks, 256, 0,
                            "@out", "@in", "@sums", `u64:${n}`, `u8:${isBackward}`]);
        return plan;
    };
}

/* Step 11; the host clears the states of the tiles and the ticket. */
function singlePass(float4s) {
    return (n) => {
        const plan = planOf(n), tiles = blocksOf(n, 4 * 256 * float4s);
        plan.buffers.push(["states", "u64", tiles, "zero"], ["ticket", "u32", 1, "zero"]);
        plan.launches.push([`_Z10scan_tilesILi${float4s}EEvPfPKfPmPjm`, tiles, 256, 0,
                            "@out", "@in", "@states", "@ticket", `u64:${n}`]);
        return plan;
    };
}

/* `variant` is the name that recordings have; "-": the step has only one. */
const variant = (name, ptx, plan) => ({ name, ptx, plan });
const powers = (from, to) => (from > to ? [] : [from, ...powers(2 * from, to)]);

/* fold(n, variant): the words of a buffer, of a kernel that swaps two buffers, which the page draws
 * one above the other; 0: it has one. `paddings` are variants that differ in
 * their padding alone, with its name. `sizes` are those that the page offers; `first` is shown at
 * first (else the first one of them), in the picture `view`. */
const STEPS = [
    { step: 2, chapter: "02-naive", fold: (n) => n, first: 8, view: "tree",
      sizes: [512, 8, 16, 32, 64, 128, 256, 1000, 1024],
      variants: [variant("-", "02-naive/scan", oneBlock(BLOCK, (n) => n, (n) => 2 * n))] },
    { step: 3, chapter: "03-work-efficient", first: 16, view: "tree",
      sizes: [512, ...powers(8, 256), 1024, 2048],
      variants: [variant("-", "03-work-efficient/scan", oneBlock(BLOCK, half, (n) => n))] },
    { step: 4, chapter: "04-conflict-free", first: 64, view: "banks",
      paddings: [["none", "none"], ["pad16", "16"], ["pad32", "32"], ["pad32x2", "32 × 2"]],
      sizes: [512, ...powers(8, 256), 1024, 2048],
      variants: [
          variant("pad32", "04-conflict-free/scan", oneBlock(BLOCK, half, (n) => padded(n, 5))),
          variant("pad16", "04-conflict-free/variants", padding(1, (n) => padded(n, 4))),
          variant("pad32x2", "04-conflict-free/variants",
                  padding(2, (n) => padded(n, 5) + ((n - 1) >> 10))),
          variant("none", "03-work-efficient/scan", oneBlock(BLOCK, half, (n) => n))] },
    { step: 5, chapter: "05-arbitrary-size", view: "tree",
      sizes: [1024, 100, 512, 1000, 2048, 5000],
      fold: (n, name) => (name === "naive" ? 512 : 0),
      variants: [
          variant("conflict-free", "05-arbitrary-size/scan", anySize(tree)),
          variant("work-efficient", "05-arbitrary-size/variants",
                  other(treeBlock(0, 1), { shared: 512 * FLOAT })),
          variant("naive", "05-arbitrary-size/variants",
                  other("_Z16scan_block_naivePfPKfS_mi", { threads: 512, addThreads: 256,
                                                           shared: 1024 * FLOAT })),
          variant("conflict-free-remainder", "05-arbitrary-size/variants",
                  other(null, { isWithRest: true, full: treeBlock(1, 0),
                                rest: treeBlock(1, 1) }))] },
    { step: 6, chapter: "06-vectorized", view: "tree", sizes: [2048, 512, 1024, 1000, 5000],
      variants: [variant("-", "06-vectorized/scan", anySize(vectors))] },
    { step: 7, chapter: "07-unrolled", view: "tree", sizes: [2048, 512, 1024, 1000, 5000],
      variants: [variant("-", "07-unrolled/scan", anySize(vectors))] },
    { step: 9, chapter: "09-warp-shuffle", view: "shuffle", sizes: [2048, 512, 1024, 1000, 5000],
      variants: [variant("shfl", "09-warp-shuffle/scan", anySize(shuffles(0))),
                 variant("predicate", "09-warp-shuffle/scan", anySize(shuffles(1)))] },
    { step: 10, chapter: "10-cooperative", view: "shuffle", sizes: [2048, 512, 1024, 1000, 5000],
      variants: [variant("backward", "10-cooperative/scan", cooperative(1)),
                 variant("forward", "10-cooperative/scan", cooperative(0))] },
    { step: 11, chapter: "11-single-pass", view: "shuffle", sizes: [2048, 512, 1024, 5000, 9000],
      variants: [variant("tile2048", "11-single-pass/scan", singlePass(2)),
                 variant("tile4096", "11-single-pass/scan", singlePass(4)),
                 variant("tile8192", "11-single-pass/scan", singlePass(8))] },
];

/* The request (face/face.h) of a plan: options are `rules`, `seed`, `check` and `trace`. */
function requestOf(plan, ptx, options) {
    const lines = [`check ${options.check}`, `schedule ${options.seed || 0}`];
    if (options.rules) lines.push(`rules ${options.rules}`);
    if (options.unordered) lines.push(`unordered ${options.unordered}`);
    if (options.trace) lines.push(`trace ${MOST_EVENTS}`);
    for (const buffer of plan.buffers) lines.push(`buffer ${buffer.join(" ")}`);
    for (const [kernel, grid, block, ...rest] of plan.launches)
        lines.push(`launch ${kernel} ${grid},1,1 ${block},1,1 ${rest.join(" ")}`);
    return `${lines.join("\n")}\nptx\n${ptx}`;
}

/* What `emu --tool order` says of a barrier, if it alone is removed: does racecheck find a hazard
 * where the barrier is, and orders nothing? run(line) runs the kernel with such a line. */
async function verdictOf(off, run) {
    if (off.size !== 1) return "";
    const found = async (line) => JSON.parse((await run(line)).document).findings
        .filter((one) => one.tool === "racecheck").map((one) => one.text);
    const known = new Set(await found("-")), hazards = await found([...off][0]);
    return hazards.some((text) => !known.has(text)) ? "needed" : "not needed in this run";
}

/* The name of the kernel of each launch, as PTX has it. */
const kernelsOf = (plan) => plan.launches.map(([kernel]) => kernel.replace(/^\+/, ""));

/* The steps whose kernels this page's compiler knows: it has no cooperative groups (step 10). */
const COMPILED = [2, 3, 4, 5, 6, 7, 9, 11];
const UNIFORM_ADD = /^static __global__ void uniform_add[^]*?^}$/m;

/* The CUDA C of a variant: { path, text, after }; `after` is compiled behind the text, as step 5's
 * variants are launched with a kernel of its scan.cu. null: the page does not compile it. */
function sourceOf(step, variant, sources) {
    const path = `steps/${variant.ptx}.cu`;
    if (!COMPILED.includes(step.step) || !sources[path]) return null;
    const isWithAdd = variant.ptx === "05-arbitrary-size/variants";
    return { path, text: sources[path], after: isWithAdd
        ? UNIFORM_ADD.exec(sources["steps/05-arbitrary-size/scan.cu"])[0] : "" };
}

const stepOf = (number) => STEPS.find((step) => step.step === number);
const variantOf = (step, name) =>
    step.variants.find((one) => one.name === name) || step.variants[0];

module.exports = { ALL_CHECKERS, MOST_EVENTS, MOST_SEED, NUMBERS, STEPS, RULES, kernelsOf,
                   requestOf, sourceOf, stepOf, variantOf, verdictOf };
