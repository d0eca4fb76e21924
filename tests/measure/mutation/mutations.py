"""mutations.py -- the small changes that can be made to a C file: at each token at most one, of an
operator, a number, a condition, two arguments or a statement.

They lie in function bodies, initializers and enums: not in comments, strings, assertions,
preprocessor lines, declarations of types, and sizes of arrays.

A C file is read as tokens; this is no parser: which brackets belong together, whether a token is in
a function or an initializer, and where statements begin. The compiler refuses what it gets wrong.
"""
import re

TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<preprocessor>^[ \t]*\#(?:\\\n|/\*.*?\*/|[^\n])*)
      | (?P<string>"(?:\\.|[^"\\])*")
      | (?P<character>'(?:\\.|[^'\\])*')
      | (?P<number>\.?[0-9](?:[eEpP][+-]|[0-9A-Za-z_.])*)
      | (?P<word>[A-Za-z_]\w*)
      | (?P<sign><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
                   re.X | re.S | re.M)
KEYWORDS = set("break case continue default do else for goto if return sizeof switch while".split())
HEADS = {"if", "for", "while", "switch"}
NOT_RUN = {"assert", "static_assert", "_Static_assert", "__attribute__", "_Alignas"}
OPENING, CLOSING = {"(", "[", "{"}, {")", "]", "}"}
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
             "*": "/", "/": "*", "%": "/", "&": "|", "|": "&", "^": "|", "&&": "||", "||": "&&",
             "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+=", "*=": "/=", "/=": "*=", "|=": "&=",
             "&=": "|=", "^=": "|=", "<<=": ">>=", ">>=": "<<=", "++": "--", "--": "++"}
WORDS = {"true": "false", "false": "true", "break": "continue", "continue": "break"}
UNARY = {"!", "~", "-"}  # dropped where they have one operand
EITHER = {"-", "+", "*", "&"}  # these may have one operand, too
TYPES = set("bool char const double float int long short signed size_t unsigned void".split())
INTEGER = re.compile(r"(0[xX]|)([0-9A-Fa-f]+)([uUlL]*)$")
FLOATING = re.compile(r"([0-9.]+(?:[eE][-+]?[0-9]+)?)([fFlL]?)$")
ASSIGNS = {"=", ".", "->", "[", "(", "++", "--"} | {sign for sign in OPERATORS
                                                    if sign.endswith("=")}


class Token:
    def __init__(self, match):
        self.kind, self.text, (self.start, self.end) = match.lastgroup, match[0], match.span()
        self.partner = None  # the index of the bracket that belongs to this one
        self.runs = False  # it is in a function, an initializer or an enum
        self.statement = False  # a statement begins here


class Source:
    def __init__(self, text):
        self.text = text
        self.tokens = [Token(match) for match in TOKEN.finditer(text)
                       if match.lastgroup not in ("skip", "preprocessor")]
        self._match_brackets()
        self._find_what_is_run()
        self._find_statements()

    def word(self, i):
        """The text of token i; "" before the first and after the last."""
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def kind(self, i):
        return self.tokens[i].kind if 0 <= i < len(self.tokens) else ""

    def between(self, first, last):
        """The text of tokens first … last."""
        return self.text[self.tokens[first].start:self.tokens[last].end]

    def _match_brackets(self):
        open_ones = []
        for i, token in enumerate(self.tokens):
            if token.text in OPENING:
                open_ones.append(i)
            elif token.text in CLOSING and open_ones:
                token.partner = open_ones.pop()
                self.tokens[token.partner].partner = i

    def _find_what_is_run(self):
        """What is in a file's braces, but for types, assertions, and the sizes of arrays."""
        last = -1
        for i, token in enumerate(self.tokens):
            if token.text == "{" and i > last:
                last = token.partner
                self._mark(i, self.word(i - 1) in (")", "=")
                           or "enum" in (self.word(i - 1), self.word(i - 2)))
        for i, token in enumerate(self.tokens):
            if token.text in NOT_RUN and self.word(i + 1) == "(":
                self._mark(i + 1, False)
            if token.text == "[" and self._is_declared(i - 1):
                self._mark(i, False)

    def _mark(self, bracket, runs):
        for token in self.tokens[bracket:self.tokens[bracket].partner + 1]:
            token.runs = runs

    def _is_declared(self, i):
        before = i - 1
        while self.word(before) == "*":
            before -= 1
        return (self.kind(i) == "word" and self.kind(before) == "word"
                and self.word(before) not in KEYWORDS)

    def _find_statements(self):
        depth = 0  # of ( and [, and of braces that hold no statements
        data = []  # whether each open brace holds none
        for i, token in enumerate(self.tokens):
            if token.text in ("(", "["):
                depth += 1
            elif token.text in (")", "]"):
                depth -= 1
            elif token.text == "{":
                data.append(not self._is_block(i))
                depth += data[-1]
            elif token.text == "}" and data:
                depth -= data.pop()
            if depth == 0 and i + 1 < len(self.tokens) and self._ends_statement(i):
                self.tokens[i + 1].statement = self.tokens[i + 1].runs

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
        if text == ")":
            return self.word(self.tokens[i].partner - 1) in HEADS
        return text in (";", "{", "}", "else", "do") or text == ":" and (
            self.word(i - 2) == "case" or self.word(i - 1) == "default")

    def end_of_statement(self, i):
        """The index of the semicolon that ends the simple statement at i; None if it is not
        simple."""
        while i < len(self.tokens) and self.word(i) != ";":
            if self.word(i) in OPENING:
                i = self.tokens[i].partner
            elif self.word(i) in CLOSING:
                return None
            i += 1
        return i if i < len(self.tokens) else None


class Mutation:
    """Tokens first … last become `new`. `before` and `after` are the lines that change, with single
    spaces."""

    def __init__(self, source, first, last, new):
        text = source.text
        self.start, self.end = source.tokens[first].start, source.tokens[last].end
        self.new = new + "\n" * (text.count("\n", self.start, self.end) - new.count("\n"))
        begin, end = text.rfind("\n", 0, self.start) + 1, text.find("\n", self.end)
        self.before = " ".join(text[begin:end].split())
        self.after = " ".join((text[begin:self.start] + self.new + text[self.end:end]).split())

    def applied(self, text):
        return text[:self.start] + self.new + text[self.end:]


def mutations(text):
    """All of a file's, in the order of its lines."""
    source = Source(text)
    for i, token in enumerate(source.tokens):
        change = token.runs and change_at(source, i)
        if change:
            yield Mutation(source, i, *change)


def change_at(source, i):
    """The index of the last token that is replaced, and what replaces them; or None."""
    token, new = source.tokens[i], None
    if token.kind == "sign":
        new = other_operator(source, i)
    elif token.kind == "number":
        new = other_number(token.text)
    elif token.kind == "word":
        new = WORDS.get(token.text)
    if new is not None:
        return i, new
    if token.text in ("if", "while"):
        last = source.tokens[i + 1].partner
        return last, "%s (!%s)" % (token.text, source.between(i + 1, last))
    return (exchanged_arguments(source, i) if token.kind == "word" else None) or (
        statement_change(source, i) if token.statement else None)


def other_operator(source, i):
    sign = source.word(i)
    if has_one_operand(source, i):
        return "" if sign in UNARY else None
    return None if is_pointer_of_type(source, i) else OPERATORS.get(sign)


def has_one_operand(source, i):
    if source.word(i) not in UNARY | EITHER:
        return False
    if source.word(i) not in EITHER or source.word(i - 1) in KEYWORDS:
        return True
    return (source.kind(i - 1) not in ("number", "string", "character", "word")
            and source.word(i - 1) not in (")", "]"))


def is_pointer_of_type(source, i):
    """The star of `const char *`, `struct fault *` or `uint64_t *`."""
    before = source.word(i - 1)
    return source.word(i) == "*" and (before in TYPES or before.endswith("_t") or before == "*"
                                      or source.word(i - 2) in ("struct", "union", "enum"))


def other_number(text):
    whole, real = INTEGER.match(text), FLOATING.match(text)
    if whole:
        prefix, digits, suffix = whole.groups()
        return ("%s%x%s" if prefix else "%s%d%s") % (
            prefix, int(digits, 16 if prefix else 10) + 1, suffix)
    return real and repr(2 * float(real[1]) or 1.0) + real[2]


def exchanged_arguments(source, i):
    """A call with its first two arguments that differ exchanged; not those of a format."""
    if source.word(i) in KEYWORDS | NOT_RUN or source.word(i + 1) != "(":
        return None
    last, arguments = source.tokens[i + 1].partner, split_arguments(source, i + 1)
    for a, b in zip(arguments, arguments[1:]):
        texts = [source.between(*a), source.between(*b)]
        if texts[0] != texts[1] and not any(source.kind(k) == "string"
                                            for k in range(a[0], b[1] + 1)):
            head = source.text[source.tokens[i].start:source.tokens[a[0]].start]
            tail = source.text[source.tokens[b[1]].end:source.tokens[last].end]
            return last, "%s%s, %s%s" % (head, texts[1], texts[0], tail)
    return None


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


def statement_change(source, i):
    """A statement is left out, or returns nothing."""
    end, word = source.end_of_statement(i), source.word(i)
    if end is None:
        return None
    if word == "return" and end > i + 1:
        is_nothing = source.between(i + 1, end - 1) in ("0", "NULL", "false")
        return None if is_nothing else (end, "return 0;")
    return (end, "{}") if word == "return" or is_action(source, i) else None


def is_action(source, i):
    """A call or an assignment, and no declaration."""
    if source.word(i) in ("*", "++", "--"):
        return True
    return (source.kind(i) == "word" and source.word(i) not in KEYWORDS
            and source.word(i + 1) in ASSIGNS)
