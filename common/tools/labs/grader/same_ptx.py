"""same_ptx.py -- compares PTX texts without regard to their names. A text may have 8 MiB of
anything, so no expression may go over a part of it more than once."""
import hashlib
import re

# Comments, and lines about source files.
SKIPPED = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\.(?:loc|file)\b[^\n]*|\.section\b[^}]*\}?", re.S)
BLANK = re.compile(rb" (?![\w$%])|(?<![\w$%]) ")  # is not between two words
# A kernel or a function, from its name, before which its result may stand in parentheses, to its
# body or to the end of its declaration.
HEAD = re.compile(rb"\.(entry|func)(?![\w$%])\s*(?:\([^)]{0,1000}\))?[^\w$%]*([\w$%]+)[^{;]*"
                  rb"([{;]|\Z)")
# Names of the program: registers and labels, and mangled or generated names. Other words are
# opcodes, types and numbers. Special registers keep their names.
NAME = re.compile(rb"(?<![\w$%])[%$_][\w$%]*")
SPECIAL = re.compile(rb"%(n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|clock(64)?|envreg"
                     rb"|globaltimer|lanemask_.+)\Z")
MOST = 256  # functions
DEEPEST = 32  # functions that call each other
LONGEST = 4096  # letters of a mangled name whose parts are looked at


def functions_of(ptx):
    """A function's name, whether it is a kernel, and its text from the parameters to the brace that
    closes its body."""
    at = count = 0
    while count < MOST and (head := HEAD.search(ptx, at)):
        at, depth = head.end(), 1
        if head[3] != b"{":
            continue  # a declaration
        for brace in re.compile(rb"[{}]").finditer(ptx, at):
            depth += 1 if brace[0] == b"{" else -1
            at = brace.end()
            if depth == 0:
                break
        else:
            at = len(ptx)
        count += 1
        yield head[2], head[1] == b"entry", ptx[head.end(2):at]


def base_name(mangled):
    """The name of a kernel in its source."""
    match = len(mangled) <= LONGEST and re.match(rb"_Z(N?)(?:St)?L?", mangled)
    base, rest = mangled, mangled[match.end():] if match else b""
    while match and (number := re.match(rb"\d+", rest)):
        length = int(number[0][:9])
        if length > len(rest) - number.end():
            break
        base = rest[number.end():number.end() + length]
        rest = rest[number.end() + length:] if match[1] else b""
    return base.decode("utf-8", "replace")


def digest(ptx, kernels=None):
    """Bits of the kernels that a lab launches (None: of all), and of the functions that they call.
    The order of kernels, other kernels and functions, and variables outside of them do not matter.
    Two texts give the same bits if their kernels differ only in blanks, comments, line numbers,
    names of files, and names of registers, labels, kernels, parameters and variables: names are
    numbered in the order in which they occur. Without a kernel the bits are ""."""
    functions, known, is_open, launched = {}, {}, set(), []
    ptx = BLANK.sub(b"", re.sub(rb"\s+", b" ", SKIPPED.sub(b" ", ptx)))
    for name, is_kernel, text in functions_of(ptx):
        functions.setdefault(name, text)
        if is_kernel and (kernels is None or base_name(name) in kernels):
            launched.append(name)

    class Names(dict):
        """What stands for each name in a function."""

        def __missing__(self, word):
            self[word] = b"\1%d" % len(self)
            if SPECIAL.match(word):
                self[word] = word
            # A function that is called stands for its body. One that calls itself is a name, as is
            # one that is called too deep.
            elif word in functions and word not in is_open and len(is_open) < DEEPEST:
                self[word] = b"\0" + bits_of(word)
            return self[word]

    def bits_of(name):
        if name not in known:
            is_open.add(name)
            names = Names()
            text = NAME.sub(lambda match: names[match[0]], functions[name])
            known[name] = hashlib.sha256(text).digest()
            is_open.remove(name)
        return known[name]

    all_bits = sorted(map(bits_of, launched))
    return hashlib.sha256(b"".join(all_bits)).hexdigest()[:32] if all_bits else ""
