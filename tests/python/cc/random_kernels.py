#!/usr/bin/env python3
"""random_kernels.py -- random kernels in the compiler's subset, without races, a seed each file.

    random_kernels.py --seed 1 [--count 100] [--only 17]

prints CUDA C. Kernel k is called `kernelK`, and a comment before it says how it is launched:

    // launch kernelK BLOCKS THREADS DYNAMIC_BYTES N

Every kernel has the parameters (int *ints, float *floats, const int *given, const float *reals,
int n). A thread writes OWN words of its own in `ints` and in `floats`, and reads any of the TABLE
words of `given` and `reals`; integers in memory are 0 to TABLE - 1.

There is no race: between two barriers, a shared array is either "open", and any thread reads any
word of it, or each thread reads and writes only words of its own, by a map that takes no word
twice. Barriers stand only where all threads of a block come. No integer overflows: the range of
each expression is known, and one that grows too large is cut.

Two in five kernels repeat accesses on purpose."""
import argparse
import random
import re

OWN, TABLE = 4, 1024
LARGE = 1 << 28  # no integer expression goes beyond this

# How a thread finds its words of a shared array of 2 T words (T threads, a power of two): the
# indices, the first word it may use only, or both. No two threads have a word in common.
MAPS = [("t", "t + {T}"), ("2 * t", "2 * t + 1"), ("{T} - 1 - t", "{T2} - 1 - t"),
        ("t ^ {c}", "(t ^ {c}) + {T}"), ("(t + {c}) & ({T} - 1)",), ("t * {odd} & ({T2} - 1)",),
        ("t + (t >> 4)",), ("t + (t >> 5)",), ("2 * t + 1",)]


class Int:
    """An expression and its range."""

    def __init__(self, text, low, high):
        self.text, self.low, self.high = text, low, high

    def __str__(self):
        return self.text

    def within(self, low, high):
        """The expression, cut to the range 0 to high or -high to high."""
        if low <= self.low and self.high <= high:
            return self
        if low < 0:
            return Int(f"{self} % {high + 1}", low, high)
        mask = (1 << (high + 1).bit_length() - 1) - 1  # the largest one that fits
        return Int(f"({self} & {mask})", 0, mask)


def up_to_power(value):
    return (1 << value.bit_length()) - 1


class Shared:
    """A shared array of `size` words, and what may be done with it now."""

    def __init__(self, name, kind, size):
        self.name, self.kind, self.size = name, kind, size
        self.is_open, self.own = False, []


class Kernel:
    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.name, self.number = f"kernel{number}", number
        self.blocks, self.threads = self.pick((1, 2, 3)), self.pick((32, 64, 128))
        self.n = self.random.randint(1, 8)
        self.repeats = self.random.random() < 0.4
        self.template = self.pick((0, 0, 0, self.random.randint(1, 8)))
        self.lines, self.functions, self.indent = [], [], 1
        self.ints = []       # (name, low, high)
        self.fixed = []      # (name, low, high), which are not assigned to
        self.uniform = [("n", 1, 8)]
        self.unsigned, self.floats, self.shared = [], [], []
        self.accesses = []   # what the text has accessed so far: arrays and indices, as texts
        self.dynamic, self.next = 0, 0

    # ---- choices

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def fresh(self, letter):
        self.next += 1
        return f"{letter}{self.next}"

    def line(self, text):
        self.lines.append("    " * self.indent + text)

    # ---- accesses

    def access(self, array, index):
        self.accesses.append((array, index))
        return f"{array}[{index}]"

    def load(self, kind):
        """A load of an int in the table's range or of a float, as (array, index)."""
        same = [a for a in self.accesses if self.may_load(a[0], kind) and self.is_visible(a[1])]
        if self.repeats and same and self.chance(0.6):
            return self.access(*self.pick(same))
        return self.access(*self.new_load(kind))

    def new_load(self, kind):
        table = "given" if kind == "int" else "reals"
        places = [(table, TABLE)] * 2
        places += [(s.name, s.size) for s in self.shared if s.is_open and s.kind == kind] * 2
        own = [(s.name, i) for s in self.shared if not s.is_open and s.kind == kind for i in s.own]
        if own and self.chance(0.4):
            return self.pick(own)
        array, size = self.pick(places)
        return array, str(self.index(size))

    def may_load(self, array, kind):
        if array == ("given" if kind == "int" else "reals"):
            return True
        return any(s.name == array and s.is_open and s.kind == kind for s in self.shared)

    def is_visible(self, index):
        names = set(re.findall(r"\b[a-z]\d+\b", index))
        known = {v[0] for v in self.ints + self.fixed + self.uniform} | set(self.unsigned)
        return names <= known

    def index(self, size):
        index = self.simple(self.random.randint(0, 2))
        if self.chance(0.3):
            return Int(f"({index.within(0, size - 1)} + {self.pick((1, 3, 8))}) & {size - 1}",
                       0, size - 1)
        return index.within(0, size - 1)

    # ---- expressions

    def leaf(self, loads=True):
        kinds = ["t", "constant", "variable", "variable", "fixed", "uniform"]
        kind = self.pick(kinds + ["load", "load"] * loads)
        if kind == "load":
            return Int(self.load("int"), 0, TABLE - 1)
        if kind == "variable" and self.ints:
            return Int(*self.pick(self.ints))
        if kind == "fixed" and self.fixed:
            return Int(*self.pick(self.fixed))
        if kind == "uniform":
            return Int(*self.pick(self.uniform))
        if kind == "constant":
            value = self.pick((0, 1, 2, 3, 5, 7, 16, 31, 32, 100, 255))
            return Int(str(value), value, value)
        return Int("t", 0, self.threads - 1)

    def simple(self, depth):
        """An index: it has no loads."""
        if depth <= 0:
            return self.leaf(loads=False)
        a, b = self.simple(depth - 1), self.leaf(loads=False)
        return self.binary(self.pick("++-*&^"), a, b)

    def int_expression(self, depth):
        if depth <= 0:
            return self.leaf()
        kind = self.pick(["binary"] * 6 + ["shift", "divide", "choose", "compare", "call", "from",
                                           "negate"])
        if kind == "call":
            return self.call_int(depth)
        if kind == "from" and self.unsigned:
            mask = self.pick((15, 255, 1023))
            return Int(f"(int)({self.unsigned_expression(1)} & {mask}u)", 0, mask)
        a = self.int_expression(depth - 1)
        if kind == "negate":
            return Int(f"-({a})", -a.high, -a.low)
        if kind == "shift":
            return self.shift(a)
        if kind == "divide":
            by, sign = self.pick((2, 3, 5, 7, 8, 32)), self.pick("/%")
            if sign == "/":
                return Int(f"({a}) / {by}", -(-min(a.low, 0) // by), max(a.high, 0) // by)
            return Int(f"({a}) % {by}", 0 if a.low >= 0 else 1 - by, by - 1 if a.high > 0 else 0)
        if kind == "choose":
            b, c = self.int_expression(depth - 1), self.condition(depth - 1)
            return Int(f"({c} ? {a} : {b})", min(a.low, b.low), max(a.high, b.high))
        if kind == "compare":
            return Int(f"({self.condition(depth - 1)})", 0, 1)
        return self.binary(self.pick("+++---**&|^"), a, self.int_expression(depth - 1))

    def shift(self, a):
        by = self.random.randint(1, 5)
        if self.chance(0.5) or a.low < 0:
            return Int(f"(({a}) >> {by})", a.low >> by, a.high >> by)
        a = a.within(0, (1 << 20) - 1)
        return Int(f"(({a}) << {by})", a.low << by, a.high << by)

    def binary(self, sign, a, b):
        if sign in "&|^":
            a, b = a.within(0, LARGE - 1), b.within(0, LARGE - 1)
            high = min(a.high, b.high) if sign == "&" else up_to_power(max(a.high, b.high))
            return Int(f"({a} {sign} {b})", 0, high)
        ends = [{"+": x + y, "-": x - y, "*": x * y}[sign]
                for x, y in ((a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high))]
        if max(map(abs, ends)) >= LARGE:
            return self.binary(sign, a.within(0, 1023), b.within(0, 1023))
        if sign == "+":
            ends = [a.low + b.low, a.high + b.high]
        if sign == "-":
            ends = [a.low - b.high, a.high - b.low]
        return Int(f"({a} {sign} {b})", min(ends), max(ends))

    def unsigned_expression(self, depth):
        if depth <= 0 or not self.unsigned:
            return self.pick(self.unsigned or ["7u"])
        a = self.unsigned_expression(depth - 1)
        return self.pick((f"({a} * 2654435761u)", f"({a} ^ {a} >> {self.random.randint(1, 15)})",
                          f"({a} + (unsigned)({self.int_expression(1)}))",
                          f"({a} << 3 | {a} >> 29)",
                          f"{a} / {self.pick((3, 4, 10))}u", f"(~{a} - 5u)"))

    def condition(self, depth, is_uniform=False):
        if is_uniform:
            a = self.pick([Int(*v) for v in self.uniform] + [Int("blockIdx.x", 0, 2)])
            return f"{a} {self.pick(('<', '>', '==', '!=', '>='))} {self.pick((0, 1, 2, 3))}"
        kind = self.pick(("int", "int", "int", "float", "both", "not"))
        if kind == "float" and self.floats:
            return f"{self.float_expression(depth)} {self.pick('<>')} {self.float_constant()}"
        if kind == "both" and depth > 0:
            sign = self.pick(("&&", "||"))
            return f"({self.condition(depth - 1)} {sign} {self.condition(depth - 1)})"
        if kind == "not":
            return f"!({self.int_expression(depth)})"
        a = self.int_expression(depth)
        return f"({a}) {self.pick(('<', '>', '==', '!=', '<=', '>='))} {self.leaf(False)}"

    def float_constant(self):
        return self.pick(("0.5f", "1.25f", "-0.75f", "3.0f", "0.1f", "1.0f", "2.0f", "0.0f"))

    def float_expression(self, depth):
        if depth <= 0:
            kind = self.pick(("constant", "variable", "variable", "load", "load"))
            if kind == "load":
                return self.load("float")
            if kind == "variable" and self.floats:
                return self.pick(self.floats)
            return self.float_constant()
        kind = self.pick(("add", "add", "subtract", "product", "fused", "fused", "choose", "call",
                          "from", "divide", "negate"))
        a = self.float_expression(depth - 1)
        if kind == "from":
            return f"(float)({self.int_expression(depth - 1)})"
        if kind == "negate":
            return f"-({a})"
        if kind == "divide":
            return f"({a} / {self.pick(('2.0f', '4.0f', '3.0f'))})"
        b = self.float_expression(depth - 1)
        if kind == "choose":
            return f"({self.condition(depth - 1)} ? {a} : {b})"
        if kind == "call":
            return self.call_float(a, b)
        if kind == "fused":
            return f"({a} * {b} {self.pick('+-')} {self.float_expression(depth - 1)})"
        return f"({a} {dict(add='+', subtract='-', product='*')[kind]} {b})"

    # ---- functions

    def call_int(self, depth):
        """A template on an int, or a function that loads."""
        a = self.int_expression(depth - 1)
        name = f"number{self.number}_{self.fresh('f')}"
        if self.chance(0.5):
            by = self.random.randint(1, 9)
            self.functions.append(f"template <int BY> static __device__ int {name}(int a)\n{{\n"
                                  f"    return BY > 4 ? a + BY : a - BY * 2;\n}}\n")
            return Int(f"{name}<{by}>({a})", a.low - 8, a.high + 9)
        index = self.index(TABLE)
        self.functions.append(f"static __device__ int {name}(const int *table, int at, int a)\n"
                              f"{{\n    if (a < 0) return table[at];\n    return a / 2;\n}}\n")
        return Int(f"{name}(given, {index}, {a})", 0, max(TABLE - 1, a.high // 2))

    def call_float(self, a, b):
        name = f"number{self.number}_{self.fresh('f')}"
        body = self.pick(("a * b + a", "a > b ? a : b", "(a - b) * 0.5f", "a * a - b * b"))
        self.functions.append(f"static __device__ float {name}(float a, float b)\n{{\n"
                              f"    return {body};\n}}\n")
        return f"{name}({a}, {b})"

    # ---- statements

    def declare(self):
        kind = self.pick(("int", "int", "float", "float", "unsigned", "fixed"))
        name = self.fresh("v")
        if kind == "float":
            self.line(f"float {name} = {self.float_expression(2)};")
            self.floats.append(name)
        elif kind == "unsigned":
            self.line(f"unsigned {name} = (unsigned)({self.int_expression(1)}) * 40503u;")
            self.unsigned.append(name)
        elif kind == "fixed":
            value = self.int_expression(1)
            self.line(f"const int {name} = {value};")
            self.fixed.append((name, value.low, value.high))
        else:
            low = self.pick((0, -2047))
            high = 1023 if low == 0 else 2047
            self.line(f"int {name} = {self.int_expression(2).within(low, high)};")
            self.ints.append((name, low, high))

    def assign(self):
        if self.floats and self.chance(0.5):
            name = self.pick(self.floats)
            value = self.float_expression(2)
            sign = self.pick(("=", "=", "+=", "-=", "*="))
            if sign == "*=":
                value = self.pick(("0.5f", "-0.75f", "1.25f"))
            self.line(f"{name} {sign} {value};")
        elif self.unsigned and self.chance(0.3):
            name = self.pick(self.unsigned)
            self.line(f"{name} {self.pick(('=', '^=', '+='))} {self.unsigned_expression(2)};")
        elif self.ints:
            name, low, high = self.pick(self.ints)
            self.line(f"{name} = {self.int_expression(2).within(low, high)};")

    def store(self):
        array, index = self.new_store()
        kind = next((s.kind for s in self.shared if s.name == array), array[:-1])
        if kind == "int":
            value = self.int_expression(2).within(0, TABLE - 1)
        else:
            value = self.float_expression(2)
        sign = "+=" if kind == "float" and array != "floats" and self.chance(0.3) else "="
        self.line(f"{self.access(array, index)} {sign} {value};")

    def new_store(self):
        places = [(s.name, i) for s in self.shared if not s.is_open for i in s.own]
        if places and self.chance(0.7):
            return self.pick(places)
        return self.pick(("ints", "floats")), self.own_words % self.random.randrange(1, OWN)

    def block(self, count, barriers):
        """Statements in braces; what is declared there is forgotten after it."""
        kept = [list(v) for v in (self.ints, self.fixed, self.uniform, self.unsigned, self.floats)]
        self.indent += 1
        for _ in range(count):
            self.statement(barriers)
        self.use_all(self.ints, kept[0])
        self.use_all(self.floats, kept[4])
        self.indent -= 1
        self.ints, self.fixed, self.uniform, self.unsigned, self.floats = kept

    def use_all(self, variables, outer):
        """Adds what a block has declared to a variable from outside, so that it is needed."""
        inner = variables[len(outer):]
        if not inner or not outer:
            return
        to = self.pick(outer)
        if variables is self.floats:
            self.line(f"{to} += {' * '.join(inner)};")
        else:
            value = self.binary("+", Int(*to), Int(*self.pick(inner)))
            self.line(f"{to[0]} = {value.within(*to[1:])};")

    def opened(self):
        """A barrier, after which each array is open, or has other owners."""
        if self.lines[-1].strip() != "__syncthreads();":
            self.line("__syncthreads();")
        for shared in self.shared:
            shared.is_open = self.chance(0.5)
            shared.own = self.map()

    def map(self):
        odd, c = self.pick((3, 5, 7, 9)), self.random.randrange(1, self.threads)
        return [m.format(T=self.threads, T2=2 * self.threads, c=c, odd=odd)
                for m in self.pick(MAPS)]

    def if_statement(self, barriers):
        is_uniform = barriers and self.chance(0.4)
        self.line(f"if ({self.condition(1, is_uniform)}) {{")
        self.arm(is_uniform)
        if self.chance(0.5):
            self.line("} else {")
            self.arm(is_uniform)
        self.line("}")
        if is_uniform and self.shared:
            self.opened()

    def arm(self, is_uniform):
        """Of a uniform if: barriers in it change who owns what, and it begins with one."""
        state = [(s.is_open, s.own) for s in self.shared]
        if is_uniform and self.shared:
            self.indent += 1
            self.opened()
            self.indent -= 1
        self.block(self.random.randint(1, 3), is_uniform)
        for shared, (is_open, own) in zip(self.shared, state):
            shared.is_open, shared.own = is_open, own

    def size(self, name, value):
        """A loop's bound: known at run time, as in the steps, or seldom to the compiler."""
        return name if self.chance(0.75) else str(value)

    def loop(self, barriers):
        name, is_uniform = self.fresh("i"), barriers and self.chance(0.5)
        with_barriers = is_uniform and bool(self.shared) and self.chance(0.6)
        bound = self.pick(("n", "n", "n", "3")) if is_uniform else self.pick(
            ("n", "n", "4", "(t & 3) + 1", "t % 5", "(n + t) / 16"))
        high = {"n": 7, "3": 2, "4": 3}.get(bound, 7 if bound[0] == "(" else 3)
        if bound == "(n + t) / 16":
            high = 8
        if self.chance(0.2):
            threads = self.size("blockDim.x", self.threads)
            self.line(f"for (int {name} = {threads} >> 1; {name} > 0; {name} >>= 1) {{")
            high = self.threads >> 1
        else:
            self.line(f"for (int {name} = 0; {name} < {bound}; {name}++) {{")
        (self.uniform if is_uniform else self.fixed).append((name, 0, high))
        self.arm(with_barriers)
        (self.uniform if is_uniform else self.fixed).pop()
        if not with_barriers and self.chance(0.2):
            self.line(f"    if ({self.condition(1)}) {self.pick(('break', 'continue'))};")
        self.line("}")
        if with_barriers:
            self.opened()

    def sweep(self):
        """A tree's up-sweep over a shared array, as in step 3, with some other operation."""
        shared, pairs = self.pick(self.shared), self.size("blockDim.x", self.threads)
        offset, d = self.fresh("offset"), self.fresh("d")
        self.line(f"int {offset} = 1;")
        self.line(f"for (int {d} = {pairs}; {d} > 0; {d} >>= 1) {{")
        self.line("    __syncthreads();")
        self.line(f"    if (t < {d}) {{")
        self.line(f"        int ai = {offset} * (2 * t + 1) - 1;")
        self.line(f"        int bi = {offset} * (2 * t + 2) - 1;")
        a, b = f"{shared.name}[ai]", f"{shared.name}[bi]"
        if shared.kind == "int":
            body = self.pick((f"{b} = ({b} + {a}) & 1023;", f"{b} ^= {a};",
                              f"if ({a} > {b}) {b} = {a};"))
        else:
            body = self.pick((f"{b} += {a};", f"{b} = {a} * 0.5f + {b};",
                              f"{b} = {a} > {b} ? {a} : {b};"))
        self.line(f"        {body}")
        self.line("    }")
        self.line(f"    {offset} *= 2;")
        self.line("}")
        self.opened()

    def statement(self, barriers):
        kinds = ["declare", "assign", "assign", "store"]
        if self.indent < 4:
            kinds += ["if", "loop"]
        if barriers and self.shared:
            kinds += ["barrier", "barrier"] + ["sweep"] * (self.indent == 1)
        kind = self.pick(kinds)
        if kind == "barrier":
            self.opened()
        elif kind == "if":
            self.if_statement(barriers)
        elif kind == "loop":
            self.loop(barriers)
        else:
            getattr(self, kind)()

    # ---- the whole

    def declare_shared(self):
        for _ in range(self.random.randint(0, 2)):
            kind, size = self.pick(("int", "float")), 2 * self.threads
            if self.dynamic == 0 and self.chance(0.5):
                name, self.dynamic = f"{kind}_words", size * 4
                self.line(f"extern __shared__ {kind} {name}[];")
            else:
                name = self.fresh("s")
                self.line(f"__shared__ {kind} {name}[{size}];")
            self.shared.append(Shared(name, kind, size))
        for shared in self.shared:
            cast = "(float)" if shared.kind == "float" else ""
            table = "given" if shared.kind == "int" else "reals"
            for own in ("t", f"t + {self.threads}"):
                value = f"{cast}({own})"
                if self.chance(0.7):
                    value = f"{table}[{self.random.randint(1, 9)} * g & {TABLE - 1}]"
                self.line(f"{shared.name}[{own}] = {value};")
        if self.shared:
            self.opened()

    def declare_thread(self):
        self.line("int t = threadIdx.x;")
        self.line("int g = blockIdx.x * blockDim.x + threadIdx.x;")
        self.fixed.append(("g", 0, self.blocks * self.threads - 1))
        if self.template:
            self.fixed.append(("CONSTANT", self.template, self.template))
        total = self.blocks * self.threads
        self.own_words = self.pick((f"g * {OWN} + %d", f"g + {total} * %d",
                                    "(size_t)blockIdx.x * blockDim.x * 4 + t * 4 + %d"))
        if self.chance(0.4):
            self.line(f"float *mine = floats + g * {OWN}; // this thread's part")
            self.own_words = f"g * {OWN} + %d"
            self.line(f"*(mine + {self.random.randrange(OWN)}) = {self.float_constant()};")

    def finish(self):
        """All variables become part of the result, and two words of each shared array."""
        if self.shared:
            self.opened()
        for shared in self.shared:
            shared.is_open = True
            for _ in range(2):
                name = self.fresh("v")
                self.line(f"{shared.kind} {name} = {shared.name}[{self.index(shared.size)}];")
                if shared.kind == "float":
                    self.floats.append(name)
                else:
                    self.ints.append((name, 0, TABLE - 1))
        ints = [v[0] for v in self.ints] + [f"(int)({u} & 1023u)" for u in self.unsigned]
        self.line(f"ints[{self.own_words % 0}] = ({' + '.join(ints) or 't'}) & 1023;")
        self.line(f"floats[{self.own_words % 0}] = {' + '.join(self.floats) or '1.0f'};")

    def text(self):
        self.declare_thread()
        self.declare_shared()
        for _ in range(3):
            self.declare()
        for _ in range(self.random.randint(3, 7)):
            self.statement(True)
        self.finish()
        parameters = "int *ints, float *floats, const int *given, const float *reals, int n"
        template = "template <int CONSTANT> " if self.template else ""
        body = [f"// launch {self.name} {self.blocks} {self.threads} {self.dynamic} {self.n}",
                f"{template}__global__ void {self.name}({parameters})", "{", *self.lines, "}"]
        if self.template:
            body.append(f"template __global__ void {self.name}<{self.template}>({parameters});")
        return "\n".join(self.functions + body) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--only", type=int, help="print this kernel alone")
    options = parser.parse_args()
    numbers = range(options.count) if options.only is None else [options.only]
    for number in numbers:
        print(Kernel(options.seed, number).text())


if __name__ == "__main__":
    main()
