"""c_source.py -- a C file as tokens, with what mutations.py has to know of them.

This is no parser. It knows comments, strings and preprocessor lines, which brackets belong
together, which function or initializer a token is in, and where statements begin; the compiler
refuses what it gets wrong.
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
