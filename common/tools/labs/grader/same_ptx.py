"""same_ptx.py -- compares PTX texts without regard to their names."""
import hashlib
import re

TOKEN = re.compile(rb"/\*.*?(?:\*/|\Z)|//[^\n]*|\.(?:loc|file)\b[^\n]*|\.section\b[^}]*\}?"
                   rb"|\.(?:entry|func)(?![\w$%])|[\w$%]+|[^\s]", re.S)
SKIPPED = re.compile(rb"/[*/]|\.(?:loc|file|section)")
# Names of the program: registers and labels, and mangled or generated names. Other words are
# opcodes, types and numbers. Special registers keep their names.
BEGIN_NAMES = b"%", b"$", b"_"
SPECIAL = re.compile(rb"%(n?tid|n?ctaid|laneid|n?warpid|n?smid|gridid|clock(64)?|envreg"
                     rb"|globaltimer|lanemask_.+)\Z")
MOST = 256  # functions


def functions_of(tokens):
    """A function's name, whether it is a kernel, and its tokens from the parameters to the brace
    that closes its body."""
    at, found = 0, 0
    while at < len(tokens) and found < MOST:
        kind = tokens[at]
        at += 1
        if kind not in (b".entry", b".func"):
            continue
        if tokens[at:at + 1] == [b"("]:  # a function's result stands before its name
            while at < len(tokens) and tokens[at] != b")":
                at += 1
        while at < len(tokens) and not re.match(rb"[\w$%]", tokens[at]):
            at += 1
        start = at = at + 1
        while at < len(tokens) and tokens[at] not in (b"{", b";"):
            at += 1
        if tokens[at:at + 1] != [b"{"]:
            continue  # a declaration
        depth = 0
        while at < len(tokens):
            depth += (tokens[at] == b"{") - (tokens[at] == b"}")
            at += 1
            if depth == 0:
                break
        found += 1
        yield tokens[start - 1], kind == b".entry", tokens[start:at]


def base_name(mangled):
    """The name of a kernel in its source."""
    match = re.match(rb"_Z(N?)(?:St)?L?", mangled)
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
    tokens = [match[0] for match in TOKEN.finditer(ptx) if not SKIPPED.match(match[0])]
    functions, known, is_open = {}, {}, set()
    launched = []
    for name, is_kernel, body in functions_of(tokens):
        functions.setdefault(name, body)
        if is_kernel and (kernels is None or base_name(name) in kernels):
            launched.append(name)

    def bits_of(name):
        if name in known:
            return known[name]
        numbers, bits = {}, hashlib.sha256()
        is_open.add(name)
        for token in functions[name]:
            if token[:1] in BEGIN_NAMES and not SPECIAL.match(token):
                # A function that is called stands for its body. One that calls itself is a name.
                if token in functions and token not in is_open:
                    token = b"\0" + bits_of(token)
                else:
                    token = b"\1%d" % numbers.setdefault(token, len(numbers))
            bits.update(b"%d:%s" % (len(token), token))
        is_open.remove(name)
        known[name] = bits.digest()
        return known[name]

    all_bits = sorted(map(bits_of, launched))
    return hashlib.sha256(b"".join(all_bits)).hexdigest()[:32] if all_bits else ""
