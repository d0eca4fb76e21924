"""test_views.py -- what the page shows of shared memory, of shuffles and of barriers, and what the
chapters have to play with: compared with what the kernels must do, computed here, and with the
emulator's counts."""
import json
import subprocess
import unittest
from urllib.parse import urlencode

from browser import BUILT, PAGE, Page, need, node

EXCHANGES = """trace
launch k 1,1,1 32,1,1 0
ptx
.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
.reg .b32 %r<4>;
.reg .pred %p<2>;
mov.u32 %r0, %tid.x;
mul.lo.u32 %r0, %r0, 3;
shfl.sync.up.b32 %r1, %r0, 2, 0, -1;
shfl.sync.down.b32 %r1, %r0, 3, 6151, -1;
shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1;
shfl.sync.idx.b32 %r1, %r0, 40, 31, -1;
setp.gt.u32 %p0, %r0, 88;
vote.sync.ballot.b32 %r2, %p0, -1;
vote.sync.any.pred %p1, !%p0, -1;
ret;
}
"""
# Shuffles of EXCHANGES: the lane from which each lane takes. 6151 is 0x1807: segments of 8 lanes.
SOURCES = [lambda lane: lane - 2 if lane >= 2 else lane,
           lambda lane: lane + 3 if lane % 8 < 5 else lane, lambda lane: lane ^ 5, lambda lane: 8]


# Two warps write a word for each thread, and after a __syncwarp each reads its neighbour's.
NEIGHBOURS = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k() {
.shared .b32 s[64];
.reg .b32 %r<4>;
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 2;
mov.u32 %r2, s;
add.u32 %r1, %r1, %r2;
st.shared.u32 [%r1], %r0;
bar.warp.sync -1;
xor.b32 %r1, %r1, 4;
ld.shared.u32 %r3, [%r1];
ret;
}
"""


def native(request):
    return json.loads(subprocess.run([str(BUILT / "native")], input=request, capture_output=True,
                                     text=True, check=True).stdout)


class Flow(unittest.TestCase):
    def test_lines_begin_at_the_words_of_which_the_stored_one_is_the_sum(self):
        """In steps 2 to 7 a thread stores a sum of words that it has loaded, or one of them."""
        need("emcc", "pandoc", "node")
        cases = [case for case in json.loads(node("--requests", str(BUILT / "ptx")))
                 if case["step"] <= 7 and case["n"] in (16, 512, 1000)]
        given = [{"ptx": case["request"].split("\nptx\n", 1)[1],
                  "trace": native(case["request"])["trace"]} for case in cases]
        answers = json.loads(node("--flow", given=json.dumps(given)))
        for case, found in zip(cases, answers, strict=True):
            with self.subTest(step=case["step"], variant=case["variant"], n=case["n"]):
                self.assertEqual(found["wrong"], 0, found)
                self.assertGreaterEqual(found["sums"], case["n"] - 1, found)


class Trace(unittest.TestCase):
    def test_shuffles_and_votes_are_traced_with_both_values(self):
        need("emcc", "pandoc")
        lines = [line.split("\t") for line in native(EXCHANGES)["trace"].splitlines()[1:]]
        self.assertEqual([line[6] for line in lines], ["shfl.up", "shfl.down", "shfl.bfly",
                                                       "shfl.idx", "vote.ballot", "vote.any"])
        for line, source in zip(lines, SOURCES):
            sources = [source(lane) for lane in range(32)]
            self.assertEqual([int(text, 16) for text in line[13].split()], sources)
            self.assertEqual(line[14].split(),
                             ["%08x,%08x" % (3 * lane, 3 * sources[lane]) for lane in range(32)])
        yes = [3 * lane > 88 for lane in range(32)]
        ballot = sum(1 << lane for lane in range(32) if yes[lane])
        self.assertEqual(lines[4][13:], ["-", " ".join("%08x,%08x" % (one, ballot) for one in yes)])
        self.assertEqual(lines[5][13:], ["-", " ".join("%08x,00000001" % (not one) for one in yes)])


class Views(Page):
    def step_to(self, wanted, most=400):
        found = self.js(
            "const article = document.querySelector('article:not([hidden])');"
            "const step = [...article.querySelectorAll('button')].find("
            "    (one) => one.textContent === 'Step');"
            "for (let k = 0; k < arguments[1]; k++) {"
            "    step.click();"
            "    const text = article.querySelector('.event').textContent;"
            "    if (text.includes(arguments[0])) return true;"
            "}", wanted, most)
        self.assertTrue(found, "no event has " + wanted)

    def rows(self):
        """The table of shared memory from barrier to barrier: name, values by word, stores."""
        self.js("shown('.tree-panel details').open = true")
        self.wait_for(lambda: self.all(".tree-panel tbody tr"))
        heads, rows = self.js(
            "const t = shown('.tree-panel table');"
            "const texts = (row) => [...row.cells].map((cell) => cell.textContent);"
            "return [texts(t.tHead.rows[0]), [...t.tBodies[0].rows].map(texts)]")
        words = [int(head.split()[1]) for head in heads[1:-1]]
        return [(row[0], dict(zip(words, row[1:-1])), row[-1]) for row in rows]

    def lines(self):
        return len(self.all(".tree-panel line"))


class Tree(Views):
    def test_the_sums_grow_along_the_tree(self):
        self.open("#chapter=03-work-efficient&n=16")
        self.choose("show", "all")
        self.press("End")
        rows = {name: (values, stores) for name, values, stores in self.rows()}
        values = {name: [float(row[word]) for word in range(16)] for name, (row, _) in rows.items()}
        expected = values["before barrier 1"]
        for level, stride in enumerate((1, 2, 4, 8), 1):
            for right in range(2 * stride - 1, 16, 2 * stride):
                expected = expected[:right] + [expected[right] + expected[right - stride]] + \
                    expected[right + 1:]
            self.assertEqual(values["after barrier %d" % level][:15], expected[:15])
        for level, stride in enumerate((8, 4, 2, 1), 5):
            expected[15] = 0 if stride == 8 else expected[15]
            for right in range(2 * stride - 1, 16, 2 * stride):
                left = right - stride
                expected[left], expected[right] = expected[right], expected[right] + expected[left]
            self.assertEqual(values["after barrier %d" % level], expected)
        self.assertEqual(rows["before barrier 1"][1].count("from"), 0)
        self.assertEqual(rows["after barrier 2"][1],
                         "3 from 1 and 3; 7 from 5 and 7; 11 from 9 and 11; 15 from 13 and 15")
        self.assertEqual(rows["after barrier 5"][1], "7 from 15; 15 from 7 and 15")

    def test_lines_lead_from_loads_to_stores_and_the_latest_are_marked(self):
        self.open("#chapter=03-work-efficient&n=16")
        self.step_to("scan.cu:43: 8 lanes store")
        self.assertEqual(self.lines(), 16)
        self.assertEqual(len(self.all(".tree-panel line.now")), 16)
        self.assertEqual(len(self.all(".tree-panel rect.now")), 8)
        self.press("Step")
        self.assertEqual(len(self.all(".tree-panel line.now")), 0)
        label = self.all(".tree-panel svg")[0].get_attribute("aria-label")
        self.assertRegex(label, r'Row "after barrier 1": 8 words were stored.*15 from 14 and 15\.$')

    def test_two_buffers_are_drawn_one_above_the_other(self):
        self.open("#chapter=02-naive&n=16")
        self.press("End")
        rows = self.rows()
        first = [float(rows[0][1][word]) for word in range(16)]
        for (_, values, _), offset in zip(rows[1:], (1, 2, 4, 8)):
            first = [value + (first[k - offset] if k >= offset else 0)
                     for k, value in enumerate(first)]
            self.assertEqual([float(values[word]) for word in range(16)], first)
        self.assertIn("17 from 0 and 1", rows[1][2])

    def test_a_window_shows_some_of_many_words(self):
        self.open("#chapter=03-work-efficient&n=512")
        self.step_to("warp 3 at scan.cu:43: 32 lanes store")
        self.assertGreater(len(self.all(".tree-panel rect.now")), 4)
        self.assertLessEqual(len(self.all(".tree-panel rect")), 2 * 32)
        before = self.text(".tree-panel .head")
        self.slide(".tree-panel input", 0)
        self.assertNotEqual(before, "0")
        self.assertEqual(self.text(".tree-panel .head"), "0")


class Exchanges(Views):
    def test_shuffles_show_what_lanes_give_and_receive(self):
        for chapter in ("09-warp-shuffle", "10-cooperative", "11-single-pass"):
            with self.subTest(chapter=chapter):
                self.open("#chapter=" + chapter)
                self.step_to("shfl")
                self.check_exchange()

    def check_exchange(self):
        rows = self.js(
            "return [...shown('.lanes').tBodies[0].rows]"
            ".map((row) => [...row.cells].slice(1).map((cell) => cell.textContent))")
        sources = [lane if text == "own" else int(text[2:]) for lane, text in enumerate(rows[0])]
        self.assertNotEqual(sources, list(range(32)))
        self.assertEqual([rows[1][source] for source in sources], rows[2])
        self.assertEqual(len(self.all(".lanes-panel line")), 32)

    def test_votes_show_what_each_lane_says(self):
        self.open("#chapter=11-single-pass&n=9000&block=2")
        self.step_to("vote.ballot", 600)
        cells = [cell.text for cell in self.all(".lanes tbody tr:first-child td")]
        mask = sum(1 << lane for lane, text in enumerate(cells) if text == "true")
        self.assertEqual(self.all(".lanes tbody tr:last-child td")[0].text, "0x%08x" % mask)


class Barriers(Views):
    def held(self):
        return [item.text for item in self.all(".held-panel li")]

    def test_a_barrier_shows_what_it_holds_back(self):
        """Step 3's second barrier: thread i has written word 2i + 1, and thread j < 128 reads words
        4j + 1 and 4j + 3."""
        self.open("#chapter=03-work-efficient&n=512&at=60&view=memory")
        warps, lanes = set(), set()
        for j in range(128):
            for i in (2 * j, 2 * j + 1):
                if i // 32 != j // 32:
                    warps.add(2 * i + 1)
                elif i != j:
                    lanes.add(2 * i + 1)
        found = self.held()
        self.assertEqual(found[0], "%d words stored before this barrier are loaded after it by "
                         "other warps: %d, %d, …, %d"
                         % (len(warps), *sorted(warps)[:2], max(warps)))
        self.assertTrue(found[1].startswith("%d words" % len(lanes)))
        self.assertEqual(len(self.all(".banks td.held")), len(warps))
        self.press("End")
        self.assertEqual(self.held(), [])

    def test_a_warps_barrier_holds_back_what_other_lanes_read(self):
        form = {"kernel": 0, "hasRun": True, "launch": {"block": [64, 1, 1]}, "parameters": []}
        self.driver.get("about:blank")
        self.driver.get(PAGE.as_uri() + "#" + urlencode({
            "chapter": "own", "own": NEIGHBOURS, "form": json.dumps(form)}))
        self.wait_for(lambda: self.text(".findings"))
        self.step_to("warp 1 at own.ptx:12: 32 lanes execute bar.warp")
        self.assertEqual(self.held(), ["32 words stored before this barrier are loaded after it by "
                                       "other lanes of the same warp: 32–63"])

    def test_the_source_is_not_wrapped_and_shows_the_line_that_runs(self):
        for width in (360, 1280, 2560):
            self.size(width)
            self.open("#chapter=03-work-efficient&n=64&at=60&code=1")
            heights, inside = self.js(
                "const panel = shown('.code');"
                "const box = panel.getBoundingClientRect();"
                "const row = panel.querySelector('tr.runs').getBoundingClientRect();"
                "const rows = [...panel.querySelectorAll('tr')].filter((r) => !r.querySelector("
                "'button'));"
                "const height = (r) => Math.round(r.getBoundingClientRect().height);"
                "return [new Set(rows.map(height)).size,"
                " row.top >= box.top && row.bottom <= box.bottom]")
            self.assertLessEqual(heights, 2)  # rounded
            self.assertTrue(inside)


class Choices(Views):
    def test_step_5_has_its_other_block_scans(self):
        self.open("#chapter=05-arbitrary-size")
        for variant in ("work-efficient", "naive", "conflict-free-remainder", "conflict-free"):
            for n in ("100", "5000", "1024"):
                self.choose("n", n)
                self.choose("variant", variant)
                self.assertEqual(self.text(".result"), "The result is right: all %s elements." % n)
            self.assertNotEqual(self.counter("wavefronts of loads")[2], "")
        self.choose("variant", "naive")
        self.assertEqual(self.text(".shape"), "scan_block_naive: 2 blocks of 512 threads.")

    def source(self):
        """The file that is shown, and the texts of the lines that have a button."""
        return self.js(
            "const panel = shown('.source');"
            "return [panel.caption.textContent, [...panel.querySelectorAll('button')].map("
            "    (one) => one.closest('tr').querySelector('code').textContent.trim())]")

    def test_source_and_barriers_are_those_of_the_kernel_that_runs(self):
        """Step 5's other block scans stand in one PTX text with scan.cu's."""
        self.open("#chapter=05-arbitrary-size")
        files = {"work-efficient": "variants.cu", "naive": "naive.cuh",
                 "conflict-free-remainder": "variants.cu", "conflict-free": "scan.cu"}
        for variant, file in files.items():
            self.choose("variant", variant)
            barriers = 2 if variant == "naive" else 3
            self.assertEqual(self.source(), ["Source: " + file, ["__syncthreads();"] * barriers])
        self.choose("variant", "work-efficient")
        self.choose("launch", "2")
        self.assertEqual(self.source(), ["Source: scan.cu", []])  # of uniform_add
        self.choose("launch", "1")
        self.assertEqual(self.source()[0], "Source: variants.cu")
        self.choose("variant", "naive")
        self.assertIsNone(self.js(
            "return allShown('label.control')"
            ".find((one) => one.textContent.startsWith('source '))"))
        for chapter, barriers in (("06-vectorized", 3), ("07-unrolled", 3), ("09-warp-shuffle", 2)):
            self.open("#chapter=" + chapter)
            self.assertEqual(self.source(),
                             ["Source: scan.cu", ["__syncthreads();"] * barriers], chapter)

    def test_a_part_s_name_stands_beside_its_comment(self):
        for chapter in ("03-work-efficient", "04-conflict-free", "05-arbitrary-size",
                        "06-vectorized", "07-unrolled"):
            self.open("#chapter=%s&n=512&file=scan.cu" % chapter)
            parts = [one for one in self.texts(".source code", False) if "(part " in one]
            self.assertEqual(len(parts), 5, chapter)
            for text in parts:
                self.assertRegex(text, r"// (.*\S )?\(part [A-E]\)$")

    def test_a_link_does_not_remove_a_barrier_of_a_kernel_that_does_not_run(self):
        self.open("#chapter=05-arbitrary-size&variant=naive&off=scan.cu:50")
        self.assertNotIn("without", self.text(".status"))
        self.assertNotIn("off", self.driver.current_url)

    def test_padding_changes_by_a_click(self):
        self.open("#chapter=04-conflict-free&n=512&at=49")
        conflicts = {}
        for padding in ("none", "pad16", "pad32", "pad32x2"):
            self.click("[data-padding=%s]" % padding)
            self.assertEqual(self.control("variant").get_attribute("value"), padding)
            pressed = self.all("[data-padding][aria-pressed=true]")
            self.assertEqual([one.get_attribute("data-padding") for one in pressed], [padding])
            self.assertRegex(self.text(".event"), "Block 0, warp 1 .*: 32 lanes load from shared ")
            conflicts[padding] = int(self.counter("bank conflicts of loads")[1])
        self.assertEqual((conflicts["none"], conflicts["pad32"]), (375, 0))
        self.assertGreater(conflicts["pad16"], 0)

    def test_a_warps_barrier_can_be_removed(self):
        self.open("#chapter=10-cooperative&n=5000")
        self.choose("source", "tile.cuh")
        button = [one for one in self.all("button.barrier") if "__syncwarp" in one.accessible_name]
        self.assertEqual(len(button), 1)
        place = "tile.cuh:" + button[0].get_attribute("data-line")
        self.js("arguments[0].click()", button[0])
        self.wait_for(lambda: "runs" not in self.text(".status"))
        self.assertIn(place, self.text(".status"))
        self.assertIn("tile.cuh", self.text(".source caption"))
        self.assertIn("racecheck", self.text(".findings"))

    def test_another_schedule_gives_another_wrong_result(self):
        results = set()
        for seed in (1, 2, 3):
            results.add(self.open("#chapter=03-work-efficient&n=512&off=scan.cu:37&seed=%d" % seed))
        self.assertGreater(len(results), 1)
        self.assertTrue(all("wrong" in one for one in results), results)


OFFSETS, EVERY = (1, 2, 4, 8, 16, 32), (0, 64, 32, 16, 8)
# Each lane loads the word of its left child, with a word unused after every `every` ones.
KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u32 offset, .param .u32 every) {
.shared .b32 s[2304];
.reg .b32 %r<6>;
.reg .pred %p;
ld.param.u32 %r0, [offset];
ld.param.u32 %r1, [every];
mov.u32 %r2, %tid.x;
shl.b32 %r2, %r2, 1;
add.u32 %r2, %r2, 1;
mul.lo.u32 %r2, %r2, %r0;
sub.u32 %r2, %r2, 1;
setp.eq.u32 %p, %r1, 0;
@%p bra LOAD;
div.u32 %r3, %r2, %r1;
add.u32 %r2, %r2, %r3;
LOAD:
shl.b32 %r2, %r2, 2;
mov.u32 %r4, s;
add.u32 %r2, %r2, %r4;
ld.shared.u32 %r5, [%r2];
ret;
}
"""
SET = """const toy = shown(".toy");
const bars = toy.querySelectorAll("input[type=range]");
arguments[0].forEach((value, k) => { bars[k].value = value; });
bars[0].dispatchEvent(new Event("input"));
bars[1].dispatchEvent(new Event("input"));
return [Number(toy.querySelector(".many").textContent), toy.querySelectorAll("rect").length,
        toy.querySelectorAll("rect.excess").length];"""


def counted():
    """The emulator's wavefronts for each offset and padding."""
    pairs = [(offset, every) for offset in OFFSETS for every in EVERY]
    launches = "".join("launch k 1,1,1 32,1,1 0 u32:%d u32:%d\n" % pair for pair in pairs)
    trace = native("trace\n%sptx\n%s" % (launches, KERNEL))["trace"]
    rows = [line.split("\t") for line in trace.splitlines()[1:]]
    return dict(zip(pairs, (int(row[10]) for row in rows if row[6] == "ld")))


class Toy(Page):
    def test_every_offset_and_padding_is_as_in_the_emulator(self):
        need("emcc", "pandoc")
        wavefronts = counted()
        self.assertEqual(len(wavefronts), len(OFFSETS) * len(EVERY))
        self.assertEqual((wavefronts[8, 0], wavefronts[8, 32]), (16, 1))
        for chapter in ("03-work-efficient", "04-conflict-free"):
            self.open("#chapter=" + chapter)
            for k, offset in enumerate(OFFSETS):
                for j, every in enumerate(EVERY):
                    with self.subTest(chapter=chapter, offset=offset, every=every):
                        many, boxes, _ = self.js(SET, [k, j])
                        self.assertEqual(many, wavefronts[offset, every])
                        self.assertEqual(boxes, 32)

    def test_it_begins_with_16_wavefronts_which_padding_removes(self):
        self.open("#chapter=04-conflict-free")
        self.assertEqual(self.texts(".toy .many"), ["16"])
        self.assertEqual(self.text(".toy [aria-live]"), "32 lanes use 2 banks. The load takes 16 "
                         "wavefronts, and 15 of them are bank conflicts.")
        self.assertEqual(self.js(SET, [3, 2]), [1, 32, 0])
        self.assertEqual(self.text(".toy [aria-live]"),
                         "32 lanes use 32 banks: one wavefront serves them all.")
        padding = self.all(".toy input")[1]
        padding.send_keys("\ue012\ue012")  # twice the left arrow: no padding
        self.assertEqual(self.texts(".toy .many"), ["16"])
        self.assertEqual(padding.get_attribute("aria-valuetext"), "none")

    def test_a_load_drains_one_wavefront_at_a_time(self):
        self.open("#chapter=04-conflict-free")
        self.js(SET, [1, 0])
        self.press("Load")
        seen = set()

        def ended():
            seen.add((self.texts(".toy .many")[0], len(self.all(".toy rect"))))
            return ("4 of 4", 0) in seen
        self.wait_for(ended)
        self.assertTrue(seen & {("1 of 4", 24), ("2 of 4", 16), ("3 of 4", 8)}, seen)


class SideBySide(Page):
    def cells(self):
        return [[int(cell) for cell in row] for row in self.js(
            "return [...document.querySelectorAll('.side-by-side tbody tr')].map("
            "    (row) => [...row.cells].slice(2).map((cell) => cell.textContent))")]

    def test_three_steps_end_at_their_counts(self):
        self.open("#chapter=04-conflict-free")
        self.assertEqual(self.cells(), [[0, 0]] * 3)
        self.click(".side-by-side button")
        self.wait_for(lambda: self.cells()[2] == [1022, 193])
        middle = self.cells()
        self.assertLess(middle[1][1], 793)  # step 3 is not done yet
        self.slide(".side-by-side .bar", 700)
        self.click(".side-by-side button")
        self.wait_for(lambda: self.cells() == [[4097, 449], [1022, 793], [1022, 193]])
        self.slide(".side-by-side .bar", 100)
        self.assertEqual([row[1] for row in self.cells()], [100] * 3)


if __name__ == "__main__":
    unittest.main()
