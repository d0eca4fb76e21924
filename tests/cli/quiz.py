"""quiz.py -- judges answers of `./step3 --quiz - --solve --csv`, on standard input, by a step 3 of
its own, for quiz.bats. Prints how many answers were computed here, and fails at the first that
differs."""
import csv
import re
import sys

UP = "temp[bi] += temp[ai];"
DOWN = "float t = temp[ai];", "temp[ai] = temp[bi];", "temp[bi] += t;"


def levels(n):
    """The offset of each level, after 1, 2, … barriers."""
    up = [1 << k for k in range(n.bit_length() - 1)]
    return up, up[::-1]


def pairs(n, offset):
    return [(offset * (2 * k + 1) - 1, offset * (2 * k + 2) - 1) for k in range(n // 2 // offset)]


def words_after(numbers, barriers):
    """Shared memory when all threads have come to this barrier."""
    temp, (up, down) = list(numbers), levels(len(numbers))
    for level, offset in enumerate(up + down, 1):
        if level >= barriers:
            break
        for a, b in pairs(len(temp), offset):
            if level <= len(up):
                temp[b] += temp[a]
            else:
                temp[a], temp[b] = temp[b], temp[a] + temp[b]
        if level == len(up):
            temp[-1] = 0
    return temp


def value(text):
    numbers = [int(digit) for digit in re.search(r"input is ([\d ]+)", text)[1].split()]
    barrier, word = map(int, re.search(r"barrier (\d+),.* word (\d+) ", text).groups())
    return "%d" % words_after(numbers, barrier)[word]


def place(text):
    """n, and how many barriers come before; 0 is the part before the first level."""
    passed = re.search(r"after barrier (\d+)", text)
    return int(re.search(r"n = (\d+)", text)[1]), int(passed[1]) if passed else 0


def level(text):
    n, passed = place(text)
    up, down = levels(n)
    if not 0 < passed <= len(up + down):
        return None
    count = n // 2 // (up + down)[passed - 1]
    warps = (count + 31) // 32
    return "%d" % (warps if "warps" in text else count * (2 if passed <= len(up) else 3))


def banks(text):
    n, passed = place(text)
    warp, code = int(re.search(r"Warp (\d+)", text)[1]), re.search(r"`(.*)`", text)[1]
    up, down = levels(n)
    if not 0 < passed <= len(up + down) or code not in (UP, *DOWN):
        return None
    left = code == DOWN[0] or (code == DOWN[1] and "the store" in text)
    here = pairs(n, (up + down)[passed - 1])[32 * warp:32 * warp + 32]
    words = [a if left else b for a, b in here]
    shared = [[lane for lane, other in enumerate(words) if (other - word) % 32 == 0]
              for word in words]
    if "wavefronts" in text:
        return "%d" % max(map(len, shared))
    lane = int(re.search(r"as lane (\d+)", text)[1])
    return " ".join(str(k) for k in shared[lane] if k != lane) or "none"


def sectors(text):
    offset, warp = (int(re.search(p, text)[1]) for p in (r"--offset (\d+)", r"warp (\d+)"))
    n = int(re.search(r"n = (\d+)", text)[1])
    lanes = range(32 * warp, min(32 * warp + 32, n // 2))
    return "%d" % sum(len({(offset + 2 * k + part) // 8 for k in lanes}) for part in (0, 1))


checked = 0
for row in csv.DictReader(sys.stdin):
    answer = (value, level, banks, sectors)[int(row["number"]) - 1](row["question"])
    if answer is not None:
        checked += 1
        assert row["answer"] == answer, "%s: %s, and here %s" % (row["question"], row["answer"],
                                                                answer)
print(checked)
