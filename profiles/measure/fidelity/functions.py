#!/usr/bin/env python3
"""functions.py -- writes functions over all that CUDA computes with: what its headers declare, PTX
arithmetic with all modifiers, casts, operators, and random functions.

    functions.py SHARE       prints share SHARE (0 to SHARES - 1) as a program in CUDA C++
    functions.py --shares quick|slow    which shares `make test` and `make test-all` compare: one,
                                        which the commit's name chooses, and all

A program runs each of its functions on 512 lanes and prints a digest of the results
(functions.cuh). The digests of an H200 are profiles/h200/functions.csv.

Random functions have at least TEN operations, nearly all of them products, sums and differences of
floats, doubles, halves and integers, so that ptxas has products to fuse. random_kernels.py
of tests/python/cc writes other ones: few products, and no type but int and float."""
import csv
import itertools
import random
import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parents[3]
SHARES = 24
RANDOM, TEN = {1: 1500, 2: 500, 3: 500}, 10  # by seed: how many

# ---- what the headers declare

HEADERS = ["cuda_fp16.h", "cuda_bf16.h", "cuda_fp8.h", "cuda_fp6.h", "cuda_fp4.h"]
KINDS = [(r"crt/math_functions\.", "math"), (r"cuda_fp16\.", "half"), (r"cuda_bf16\.", "bf16"),
         (r"cuda_fp[864]\.h$", "fp8"),
         (r"crt/device_(double_)?functions\.|sm_\d+_intrinsics\.h$", "intrinsic")]
# They compute nothing, need other lanes or memory, are no functions of device code, or, as jn and
# yn, take as many iterations as an operand says.
LEFT_OUT = re.compile(
    r"__?(sync|thread|trap|brkpt|prof|pm\d|clock|globaltimer|nanosleep|assert|shfl|vote|uni_|all|"
    r"any|ballot|active|match|reduce|barrier|is\w*(Shared|Global|Local|Constant)|cvta|ld|st|"
    r"cp_async)|"
    r"clock|assert|__internal_|[jy]nf?$|nv_\w*print|atomic|_?(fd|ld|d)(sign|class|test|pcomp)$|"
    r"__\w*_helper")
WORDS = "unsigned int long short char signed".split()
SCALARS = {"float", "double", "bool", "size_t", "__half", "__half2", "__nv_bfloat16", "uchar4",
           "__nv_bfloat162", "char2", "char4", "uchar2", "short2", "ushort2", "float2", "double2",
           "__half_raw", "__half2_raw", "__nv_bfloat16_raw", "__nv_bfloat162_raw"}
STORED = re.compile(r"__nv_fp[864](x[24])?_storage_t$")
CHOICES = {"cudaRoundMode": ["cudaRoundNearest", "cudaRoundZero", "cudaRoundPosInf",
                             "cudaRoundMinInf"],
           "__nv_saturation_t": ["__NV_NOSAT", "__NV_SATFINITE"],
           "__nv_fp8_interpretation_t": ["__NV_E4M3", "__NV_E5M2"],
           "__nv_fp6_interpretation_t": ["__NV_E2M3", "__NV_E3M2"],
           "__nv_fp4_interpretation_t": ["__NV_E2M1"]}
# Roundings that these headers assert against.
ASSERTED = re.compile(r".*(fp[64].* cudaRound(Pos|Min)Inf|e8m0.* cudaRound(Nearest|MinInf))")
PROTOTYPE = re.compile(r"([\w@\s]*?)\b(\w+)\s*\(([^(){};]*)\)[\w\s()]*[;{]")


def is_known(kind):
    return (kind in SCALARS or bool(STORED.match(kind)) or kind in CHOICES
            or bool(kind) and all(word in WORDS for word in kind.split()))


def type_of(text):
    """The type of a parameter, without its name."""
    words = re.sub(r"([*&])", r" \1 ", text.split("=")[0]).split()
    words = [word for word in words if word not in ("const", "enum", "struct")]
    if len(words) > 1 and words[-1] not in WORDS + ["float", "double", "*", "&"]:
        words.pop()
    return " ".join(words)


def toolkit():
    return subprocess.run([TOP / "common/build/toolkit.sh"], check=True, text=True, cwd=TOP,
                          capture_output=True).stdout.strip()


def prototypes():
    """(kind, result, name, types) of each function for device code, without repetition."""
    source = "".join(f"#include <{name}>\n" for name in HEADERS)
    text = subprocess.run([toolkit() + "/bin/nvcc", "-E", "-arch=compute_90", "-x", "cu", "-"],
                          input=source, check=True, capture_output=True, text=True).stdout
    found, kind, parts = set(), None, {}
    for line in text.splitlines():
        match = re.match(r'# \d+ ".*/include/([^"]+)"', line)
        if match:
            kind = next((kind for file, kind in KINDS if re.match(file, match[1])), None)
        elif line[:1] != "#" and kind:
            parts.setdefault(kind, []).append(line)
    for kind, lines in parts.items():
        text = re.sub(r"__attribute__\s*\(\(\s*(\w+)\s*\)\)", r" @\1 ", "\n".join(lines))
        for before, name, parameters in PROTOTYPE.findall(text):
            result = " ".join(word for word in before.split() if word[0] != "@" and word not in (
                "extern", "static", "inline", "__inline__", "constexpr", "const"))
            types = tuple(type_of(parameter) for parameter in parameters.split(","))
            types = () if types in (("void",), ("",)) else types
            plain = [re.sub(r" [*&]$", "", kind) for kind in types]
            if ("@device" in before and (result == "void" or is_known(result)) and types
                    and all(map(is_known, plain)) and not LEFT_OUT.match(name)
                    and "*" not in re.findall(r"const\s*\w*\s*(\*)", parameters)):
                found.add((kind, result, name, types))
    return sorted(found)


def nan_of(kind):
    return "d" if kind.startswith("double") else "-"


def headers():
    for kind, result, name, types in prototypes():
        for chosen in itertools.product(*(CHOICES.get(kind, [kind]) for kind in types)):
            lines, arguments, nans, outs = [], [], "", []
            for k, (of, choice) in enumerate(zip(types, chosen)):
                if of in CHOICES:
                    arguments.append(choice)
                elif of[-1] in "*&":
                    lines.append(f"{of[:-2]} r{k} = 0;")
                    arguments.append(("&" if of[-1] == "*" else "") + f"r{k}")
                    outs.append((of[:-2], f"r{k}"))
                else:
                    arguments.append(f"get<{of}>(in, {k})")
            call = f"{name}({', '.join(arguments)})"
            if result == "void":
                lines.append(call + ";")
            else:
                lines.append(f"{result} r = {call};")
                outs.insert(0, (result, "r"))
            for k, (of, variable) in enumerate(outs):
                lines.append(f"put(out, {k}, {variable});")
                nans += nan_of(of)
            name_and_types = " ".join([name, *(c.replace(" ", "-") for c in chosen)])
            if outs and not ASSERTED.match(name_and_types):
                yield kind, name_and_types, lines, nans


# ---- PTX

# A carrier's letter, its type, asm's constraint, and what it is filled with.
CARRIERS = {"f": ("float", "f", "FLOATS"), "d": ("double", "d", "DOUBLES"),
            "h": ("unsigned short", "h", "HALVES"), "b": ("unsigned short", "h", "BRAINS"),
            "H": ("unsigned", "r", "HALVES"), "B": ("unsigned", "r", "BRAINS"),
            "s": ("unsigned short", "h", "WORDS"), "i": ("unsigned", "r", "WORDS"),
            "l": ("unsigned long long", "l", "LONGS")}
PTX = list(csv.DictReader(
    (Path(__file__).parent / "functions_ptx.csv").read_text(encoding="utf-8").splitlines()[1:]))


def expand(text):
    """What the alternatives in braces give."""
    match = re.search(r"\{([^{}]*)\}", text)
    if not match:
        return [text]
    return [whole for part in match[1].split(",")
            for whole in expand(text[:match.start()] + part + text[match.end():])]


def saturates_nothing(text):
    """PTX has no cvt.sat between integers if each one fits."""
    match = re.match(r"cvt\.sat\.([us])(\d+)\.([us])(\d+)$", text)
    return match and (match[1] == match[3] and int(match[2]) >= int(match[4])
                      or match[1] == "s" and int(match[2]) > int(match[4]))


def ptx():
    for row in PTX:
        letters, texts = row["carriers"], dict.fromkeys(expand(row["instruction"]))
        for text in itertools.filterfalse(saturates_nothing, texts):
            operands = ", ".join(f"%{k}" for k in range(len(letters)))
            whole = text if "%" in text else f"{text} {operands}"
            of, constraint, _ = CARRIERS[letters[0]]
            carriers = [CARRIERS[letter] for letter in letters[1:]]
            inputs = ", ".join(f'"{c}"(get<{kind}, {filled}>(in, {k}))'
                               for k, (kind, c, filled) in enumerate(carriers))
            yield "ptx", f"{text.replace(',', '')} {letters}", [
                f"{of} r;", f'asm("{whole};" : "={constraint}"(r) : {inputs});',
                "put(out, 0, r);"], nan_of(of)


# ---- casts and operators

NUMBERS = ["char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned",
           "long long", "unsigned long long", "float", "double", "__half", "__nv_bfloat16"]
SMALL = ["bool", "__nv_fp8_e4m3", "__nv_fp8_e5m2", "__nv_fp6_e2m3", "__nv_fp6_e3m2",
         "__nv_fp4_e2m1"]


def casts():
    for to, of in itertools.product(NUMBERS + SMALL, NUMBERS + SMALL[:3]):
        if (to in SMALL) + (of in SMALL) < 2 and to != of:
            yield "cast", f"({to}) {of}", [f"put(out, 0, ({to})get<{of}>(in, 1));"], nan_of(to)


def operators():
    for of in NUMBERS[5:] + ["__half2", "__nv_bfloat162"]:
        is_integer = of in NUMBERS[5:9]
        signs = ["+", "-", "*", "/"] + ["%", "&", "|", "^", "<<", ">>"] * is_integer
        for sign in signs + ["<", "<=", "==", "!="]:
            lines = [f"{of} a = get<{of}>(in, 0), b = get<{of}>(in, 1);"]
            lines += [f"put(out, 0, a {sign} b);"]
            yield "operator", f"{of} {sign}", lines, nan_of(of) if sign in "+-*/" else "-"


# ---- random functions

class Function:
    """Statements on variables of four types."""
    TYPES = {"f": "float", "d": "double", "h": "__half", "u": "unsigned"}
    CONSTANTS = {"f": ("0.5f", "1.0f", "2.0f", "-0.75f", "0.1f", "3.0f"),
                 "d": ("0.5", "1.0", "2.0", "-0.75", "0.1", "3.0"),
                 "h": ("__half(0.5f)", "__half(1.0f)", "__half(-0.75f)", "__half(3.0f)"),
                 "u": ("1u", "3u", "7u", "40503u", "0x80000000u")}

    def __init__(self, seed, number):
        self.random = random.Random(f"{seed}/{number}")
        self.variables = {letter: [] for letter in self.TYPES}
        self.lines, self.operations, self.next = [], 0, 0

    def pick(self, choices):
        return self.random.choice(choices)

    def leaf(self, of):
        known, chance = self.variables[of], self.random.random()
        if chance < 0.08:
            return self.pick(self.CONSTANTS[of])
        if chance < 0.13:
            other = self.pick([letter for letter in self.TYPES if letter != of])
            return f"({self.TYPES[of]}){self.pick(self.variables[other])}"
        return self.pick(known[-5:] if chance < 0.6 else known)

    def expression(self, of, depth):
        if depth == 0:
            return self.leaf(of)
        self.operations += 1
        a, b = self.expression(of, depth - 1), self.expression(of, self.random.randrange(depth))
        if of == "u":
            sign = self.pick(("+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%", "+", "-", "*"))
            return f"({a} {sign} {f'({b} & 31u)' if sign in ('<<', '>>') else b})"
        kind = self.pick(["sum"] * 5 + ["product"] * 3 + ["fused"] * 3 + ["negate", "choose"])
        if kind == "negate":
            return f"(-({a}))"
        if kind == "choose":
            return f"({self.condition()} ? {a} : {b})"
        if kind == "fused":
            self.operations += 1
            return f"({a} * {b} {self.pick('+-')} {self.leaf(of)})"
        return f"({a} {self.pick('+-') if kind == 'sum' else '*'} {b})"

    def condition(self):
        of = self.pick("fdhu")
        return f"{self.leaf(of)} {self.pick(('<', '>', '==', '!=', '<='))} {self.leaf(of)}"

    def library(self, of):
        a, b, c = (self.leaf(of) for _ in range(3))
        self.operations += 1
        return self.pick({"f": (f"fmaf({a}, {b}, {c})", f"fminf({a}, {b})", f"fabsf({a})",
                                f"{a} / {b}", f"sqrtf({a})", f"rintf({a})"),
                          "d": (f"fma({a}, {b}, {c})", f"fmax({a}, {b})", f"fabs({a})",
                                f"{a} / {b}", f"sqrt({a})", f"floor({a})"),
                          "h": (f"__hfma({a}, {b}, {c})", f"__hmin({a}, {b})", f"__habs({a})",
                                f"__hadd_sat({a}, {b})", f"__hmul_sat({a}, {b})"),
                          "u": (f"__umulhi({a}, {b})", f"min({a}, {b})", f"__popc({a})")}[of])

    def value(self, of):
        return self.library(of) if self.random.random() < 0.1 else self.expression(
            of, self.pick((1, 2, 2, 3)))

    def declare(self):
        of, name = self.pick("fffddhhu"), f"v{self.next}"
        self.next += 1
        self.lines.append(f"{self.TYPES[of]} {name} = {self.value(of)};")
        self.variables[of].append(name)

    def change(self):
        of = self.pick("fffddhhu")
        return f"{self.pick(self.variables[of])} = {self.value(of)};"

    def statement(self):
        chance = self.random.random()
        if chance < 0.65:
            self.declare()
        elif chance < 0.8:
            self.lines.append(self.change())
        elif chance < 0.93:
            self.lines.append(f"if ({self.condition()}) {{ {self.change()} {self.change()} }}" + (
                f" else {{ {self.change()} }}" if chance < 0.87 else ""))
        else:
            bound = self.pick(("3u", f"({self.pick(self.variables['u'])} & 3u)"))
            self.lines.append(f"for (unsigned k = 0; k < {bound}; k++) {{ {self.change()} }}")

    def text(self):
        for letter, of in self.TYPES.items():
            for k in range(3):
                self.lines.append(f"{of} {letter}{k} = get<{of}>(in, {self.random.randrange(6)});")
                self.variables[letter].append(f"{letter}{k}")
        while self.operations < TEN or self.random.random() < 0.8:
            self.statement()
        for k, letter in enumerate(self.TYPES):
            names = self.variables[letter][3:] or self.variables[letter]
            total = "".join(f" {self.pick('+-')} {name}" for name in names[1:])
            self.lines.append(f"put(out, {k}, {names[0]}{total});")
        return self.lines


def random_functions():
    for seed, count in RANDOM.items():
        for number in range(count):
            yield "random", f"{seed}/{number}", Function(seed, number).text(), "fdh-"


# ---- programs

def functions():
    return itertools.chain(headers(), ptx(), casts(), operators(), random_functions())


def program(share):
    print('#include "functions.cuh"\n')
    table = []
    for k, (kind, name, lines, nans) in enumerate(functions()):
        if k % SHARES == share:
            print(f"static __global__ void f{k}(operands in, cell *out)\n{{")
            print(*("    " + line for line in lines), "}\n", sep="\n")
            table.append(f'    {{"{kind},{name}", f{k}, "{nans}"}},')
    print("int main()\n{\n    static const function functions[] = {", *table, "    };",
          "    return run_all(functions, sizeof functions / sizeof *functions);\n}", sep="\n")


def shares(which):
    if which == "slow":
        return list(range(SHARES))
    named = subprocess.run(["git", "rev-parse", "HEAD"], cwd=TOP, text=True, check=False,
                           capture_output=True).stdout.strip() or "0"
    return [int(named, 16) % SHARES]


if __name__ == "__main__":
    if sys.argv[1] == "--shares":
        print(*shares(sys.argv[2]))
    else:
        program(int(sys.argv[1]))
