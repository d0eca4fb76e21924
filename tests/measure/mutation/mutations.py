"""mutations.py -- the small changes that can be made to a C file, each of one token, one condition,
one argument or one statement.

They lie in function bodies, initializers and enums: not in comments, strings, assertions,
preprocessor lines, declarations of types, and sizes of arrays.

A C file is read as tokens; this is no parser: which brackets belong together, which function or
initializer a token is in, and where statements begin. The compiler refuses what it gets wrong.
"""
import re

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<preprocessor>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\])*")
      | (?P<character>(?:[uUL])?'(?:\\.|[^'\\])*')
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
                   re.X | re.S | re.M)

KEYWORDS = set("break case continue default do else for goto if return sizeof switch while".split())
CONDITIONS = {"if", "while"}
HEADS = {"if", "for", "while", "switch"}
NOT_RUN = {"assert", "static_assert", "_Static_assert", "__attribute__", "_Alignas"}
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}

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


class Token:
    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.partner = None  # the index of the bracket that belongs to this one
        self.place = None  # the function, initializer or enum that holds it; None: it is not run
        self.statement = False  # a statement begins here


class Source:
    def __init__(self, text):
        self.text = text
        self.tokens = [Token(match.lastgroup, match[0], match.start())
                       for match in TOKEN.finditer(text)
                       if match.lastgroup not in ("skip", "preprocessor")]
        self.void = set()  # the functions that return nothing
        self._match_brackets()
        self._name_places()
        self._leave_out_what_is_not_run()
        self._find_statements()

    def word(self, i):
        """The text of token i; "" before the first and after the last."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def kind(self, i):
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else ""

    def between(self, first, last):
        """The text of tokens first … last."""
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def line(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def _match_brackets(self):
        open_ones = []
        for i, token in enumerate(self.tokens):
            if token.kind != "sign":
                continue
            if token.text in OPENING:
                open_ones.append(i)
            elif token.text in CLOSING and open_ones:
                token.partner = open_ones.pop()
                self.tokens[token.partner].partner = i

    def _name_places(self):
        """A function's body, an initializer and an enum at the file's top have a name; the rest has
        none."""
        i = 0
        while i < len(self.tokens):
            last = self.tokens[i].partner
            if self.word(i) != "{" or last is None:
                i += 1
                continue
            name = self._name_of_braces(i)
            for token in self.tokens[i:last + 1]:
                token.place = name
            i = last + 1

    def _name_of_braces(self, i):
        if self.word(i - 1) == ")":
            opening = self.tokens[i - 1].partner
            name = self.word(opening - 1)
            if self.word(opening - 2) == "void":
                self.void.add(name)
            return name
        if self.word(i - 1) == "=":
            i -= 2
            while self.word(i) == "]":
                i = self.tokens[i].partner - 1
            return self.word(i)
        return "enum" if "enum" in (self.word(i - 1), self.word(i - 2)) else None

    def _leave_out_what_is_not_run(self):
        """Assertions, attributes, and the sizes of arrays where they are declared."""
        for i, token in enumerate(self.tokens):
            if token.text in NOT_RUN and self.word(i + 1) == "(":
                self._leave_out(i, self.tokens[i + 1].partner)
            if token.text == "[" and self._is_declared(i - 1):
                self._leave_out(i, token.partner)

    def _is_declared(self, i):
        before = i - 1
        while self.word(before) == "*":
            before -= 1
        return (self.kind(i) == "word" and self.kind(before) == "word"
                and self.word(before) not in KEYWORDS)

    def _leave_out(self, first, last):
        for token in self.tokens[first:(last or first) + 1]:
            token.place = None

    def _find_statements(self):
        depth = 0  # of ( and [, and of braces that hold no statements
        data = []  # whether each open brace holds none
        for i, token in enumerate(self.tokens):
            if token.kind == "sign" and token.text in "([":
                depth += 1
            elif token.kind == "sign" and token.text in ")]":
                depth -= 1
            elif token.text == "{":
                data.append(not self._is_block(i))
                depth += data[-1]
            elif token.text == "}" and data:
                depth -= data.pop()
            if depth == 0 and i + 1 < len(self.tokens) and self._ends_statement(i):
                self.tokens[i + 1].statement = self.tokens[i + 1].place is not None

    def _is_block(self, i):
        """Not an initializer or a compound literal."""
        before = self.word(i - 1)
        if before == ")":
            opening = self.tokens[i - 1].partner
            return (self.kind(opening - 1) == "word"
                    and self.word(opening - 1) not in ("return", "sizeof"))
        return before in ("", ";", "{", "}", "else", "do", ":")

    def _ends_statement(self, i):
        text = self.word(i)
        if text in (";", "{", "}", "else", "do"):
            return True
        if text == ")" and self.tokens[i].partner is not None:
            return self.word(self.tokens[i].partner - 1) in HEADS
        return text == ":" and (self.word(i - 2) == "case" or self.word(i - 1) == "default")

    def end_of_statement(self, i):
        """The index of the semicolon that ends the simple statement at i; None if it is not
        simple."""
        while i < len(self.tokens) and self.word(i) != ";":
            if self.word(i) in OPENING and self.tokens[i].partner is not None:
                i = self.tokens[i].partner
            elif self.word(i) in CLOSING:
                return None
            i += 1
        return i if i < len(self.tokens) else None


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
