"""mutations.py -- the small changes that can be made to a C file, each of one token, one condition,
one argument or one statement.

They lie in function bodies, initializers and enums: not in comments, strings, assertions,
preprocessor lines, declarations of types, and sizes of arrays.
"""
import re

from c_source import CONDITIONS, KEYWORDS, NOT_RUN, Source

OPERATORS = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="],
             "!=": ["=="],
             "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["/"], "&": ["|"], "|": ["&"],
             "^": ["|"],
             "&&": ["||"], "||": ["&&"], "<<": [">>"], ">>": ["<<"],
             "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="],
             "^=": ["|="],
             "<<=": [">>="], ">>=": ["<<="], "++": ["--"], "--": ["++"]}
WORDS = {"true": ["false"], "false": ["true"], "break": ["continue"], "continue": ["break"]}
UNARY = {"!", "~", "-"}  # dropped where they have one operand
EITHER = {"-", "+", "*", "&"}  # these may have one operand, too
EQUAL = {"strcmp", "strncmp", "memcmp"}  # say the same of a and b as of b and a, if compared with 0
TYPES = set("bool char const double float int long restrict short signed size_t unsigned void "
            "volatile".split())
INTEGER = re.compile(r"((?i:0x)(?=[0-9A-Fa-f])|)((?<=[xX])[0-9A-Fa-f]+|[0-9]+)([uUlL]*)$")
FLOATING = re.compile(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)([fFlL]?)$")
ASSIGNS = {"=", ".", "->", "[", "(", "++", "--"} | {sign for sign in OPERATORS
                                                    if sign.endswith("=")}


class Mutation:
    """text[start:end] becomes `new`."""

    def __init__(self, source, path, kind, first, last, new):
        self.path, self.kind = path, kind
        self.place = source.tokens[first].place
        self.start, self.end = source.tokens[first].start, source.tokens[last].end
        self.new = new + "\n" * (source.text.count("\n", self.start, self.end) - new.count("\n"))
        self.line = source.line(self.start)
        self.before, self.after = self._lines(source.text)

    def applied(self, text):
        return text[:self.start] + self.new + text[self.end:]

    def _lines(self, text):
        """The lines that change, before and after, with single spaces."""
        first, last = text.rfind("\n", 0, self.start) + 1, text.find("\n", self.end)
        one_line = lambda code: " ".join(code.split())
        return one_line(text[first:last]), one_line(text[first:self.start] + self.new
                                                    + text[self.end:last])


def mutations(path, text):
    """All of a file's, in the order of its lines."""
    source = Source(text)
    found = []
    for i, token in enumerate(source.tokens):
        if token.place is None:
            continue
        for kind, last, new in changes_at(source, i):
            found.append(Mutation(source, path, kind, i, last, new))
    return found


def changes_at(source, i):
    """Yields (kind, index of the last token that is replaced, what replaces them)."""
    token = source.tokens[i]
    if token.kind == "sign":
        yield from operator_changes(source, i)
    elif token.kind == "number":
        yield from (("constant", i, new) for new in other_numbers(token.text))
    elif token.kind == "word":
        yield from (("word", i, new) for new in WORDS.get(token.text, []))
        yield from condition_changes(source, i)
        yield from argument_changes(source, i)
    if token.statement:
        yield from statement_changes(source, i)


def operator_changes(source, i):
    sign = source.word(i)
    if has_one_operand(source, i):
        if sign in UNARY:
            yield "unary operator", i, ""
    elif sign not in UNARY - EITHER and not is_pointer_of_type(source, i):
        yield from (("operator", i, new) for new in OPERATORS.get(sign, []))


def has_one_operand(source, i):
    if source.word(i) in UNARY - EITHER:
        return True
    if source.word(i) not in EITHER:
        return False
    if source.kind(i - 1) in ("number", "string", "character"):
        return False
    if source.kind(i - 1) == "word":
        return source.word(i - 1) in KEYWORDS - {"sizeof"} or source.word(i - 1) == "sizeof"
    return source.word(i - 1) not in (")", "]")


def is_pointer_of_type(source, i):
    """The star of `const char *`, `struct fault *` or `uint64_t *`."""
    before = source.word(i - 1)
    return source.word(i) == "*" and (before in TYPES or before.endswith("_t") or before == "*"
                                      or source.word(i - 2) in ("struct", "union", "enum"))


def other_numbers(text):
    whole, real = INTEGER.match(text), FLOATING.match(text)
    if whole:
        prefix, digits, suffix = whole.groups()
        base = 16 if prefix else 8 if digits.startswith("0") and len(digits) > 1 else 10
        write = {16: "{}{:x}{}", 10: "{}{}{}", 8: "{}0{:o}{}"}[base]
        value = int(digits, base)
        return [write.format(prefix, other, suffix) for other in (value + 1, value - 1)
                if other >= 0]
    value = float(real[1]) if real else 0
    return [repr(other) + real[2] for other in (2 * value, value + 1) if real and other != value]


def condition_changes(source, i):
    last = source.tokens[i + 1].partner if source.word(i + 1) == "(" else None
    if source.word(i) in CONDITIONS and last is not None:
        yield "condition", last, "%s (!%s)" % (source.word(i), source.between(i + 1, last))


def argument_changes(source, i):
    """A call with two neighbouring arguments exchanged; not those of a format."""
    if (source.word(i) in KEYWORDS | NOT_RUN or source.word(i + 1) != "("
            or source.tokens[i + 1].partner is None):
        return
    arguments = split_arguments(source, i + 1)
    last = source.tokens[i + 1].partner
    if source.word(i) in EQUAL and (source.word(i - 1) == "!"
                                    or source.word(last + 1) in ("==", "!=")):
        arguments = arguments[1:]
    for a, b in zip(arguments, arguments[1:]):
        texts = [source.between(*a), source.between(*b)]
        if texts[0] != texts[1] and not any(source.kind(k) == "string"
                                            for k in range(a[0], b[1] + 1)):
            head = source.text[source.tokens[i].start:source.tokens[a[0]].start]
            tail = source.text[source.tokens[b[1]].end:source.tokens[last].end]
            yield "arguments", last, "%s%s, %s%s" % (head, texts[1], texts[0], tail)


def split_arguments(source, opening):
    """[(first token, last token)] of each argument."""
    found, first, i = [], opening + 1, opening + 1
    while i <= source.tokens[opening].partner:
        if i == source.tokens[opening].partner or source.word(i) == ",":
            if i > first:
                found.append((first, i - 1))
            first = i + 1
        elif source.tokens[i].partner is not None:
            i = source.tokens[i].partner
        i += 1
    return found


def statement_changes(source, i):
    end = source.end_of_statement(i)
    if end is None:
        return
    word = source.word(i)
    if word == "return" and end > i + 1:
        if source.between(i + 1, end - 1) not in ("0", "NULL", "false"):
            yield "return", end, "return 0;"
    elif word in ("break", "continue", "return") or is_action(source, i):
        yield "statement", end, "{}"
        if source.tokens[i].place in source.void and word not in ("break", "continue", "return"):
            yield "return", end, "return;"


def is_action(source, i):
    """A call or an assignment, and no declaration."""
    if source.word(i) in ("*", "++", "--"):
        return True
    return (source.kind(i) == "word" and source.word(i) not in KEYWORDS
            and source.word(i + 1) in ASSIGNS)
