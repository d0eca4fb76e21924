#!/usr/bin/env bats
# operators.bats — step 16's program: results on files beside those of Python, its report, each
# operator, type, shape and direction, and the checkers.
load common

setup() {
    export DEVICE=emu LC_ALL=C
    dir=$BATS_TEST_TMPDIR
}

step16() { ./step16 --reps 0 "$@"; }

# scanned OPTION…: the result as words; standard input is the input
scanned() { step16 "$@" --input - --output - 2>"$dir/report" | tr '\n' ' '; }

# bats test_tags=slow
@test "each operator on a few numbers" {
    is() { [ "$1" = "$2" ] || { printf 'expected: %s\ngot: %s\n' "$2" "$1"; return 1; }; }
    is "$(echo 3 1 4 1 5 | scanned --op sum --type i32)" "0 3 4 8 9 "
    is "$(echo 3 1 4 1 5 | scanned --op sum --type i64 --inclusive)" "3 4 8 9 14 "
    is "$(echo 3 1 4 1 5 | scanned --inclusive)" "3 3 4 4 5 "
    is "$(echo 3 1 4 1 5 | scanned --op max --reverse)" "5 5 5 5 -inf "
    is "$(echo 3 1 4 1 5 | scanned --op min --type i32 --inclusive)" "3 1 1 1 1 "
    is "$(echo 3 1 4 1 5 | scanned --op product --type i64 --initial -2)" "-2 -6 -6 -24 -24 "
    is "$(echo 3 1 4 1 5 | scanned --op xor --inclusive)" "3 2 6 7 2 "
    is "$(echo 0 0 0 0 | scanned --op logsumexp --type f64 --inclusive | cut -c1-28)" \
        "0 0.69314718055994529 1.0986"
    is "$(echo 8 0 0 4 | scanned --op ema --keep 0.5 --inclusive)" "4 2 1 2.5 "
    is "$(echo 8 0 0 4 | scanned --op discount --keep 0.5 --inclusive --reverse)" "8.5 1 2 4 "
    is "$(printf '(a[b])' | scanned --op brackets --inclusive)" "1 1 2 2 1 0 "
    is "$(echo 0 1 1 6 3 | scanned --op line-of-sight)" "0 1 0 1 0 "
    is "$(echo 0 1 1 6 3 | scanned --op line-of-sight --reverse)" "0 0 0 1 0 "
    echo 5 6 7 8 >"$dir/b"
    is "$(echo 2 1 0 -1 | scanned --op affine --second "$dir/b" --inclusive)" "5 11 7 1 "
    echo 0 2 1 8 >"$dir/b"
    is "$(echo 0 2 1.5 4 | scanned --op line-of-sight --second "$dir/b")" "0 1 1 0 "
}

@test "rows and columns" {
    sums() { echo 1 2 3 4 5 6 | scanned --op sum --type i32 --shape 2x3 "$@"; }
    [ "$(sums)" = "0 1 3 0 4 9 " ]
    [ "$(sums --along 1 --reverse)" = "5 3 0 11 6 0 " ]
    [ "$(sums --along 0)" = "0 0 0 1 2 3 " ]
    [ "$(echo 0 0 3 1 2 2 | scanned --op line-of-sight --shape 3x2 --along 0)" = "0 0 1 1 0 0 " ]
}

# bats test_tags=slow
@test "the report names operator, type, shape and direction" {
    run step16 --n 3000
    says "Step 16 · Any associative operator"
    says "  input       3000 floats: a random walk, seed 1
              max of floats, one sequence, forwards, exclusive"
    run step16 --op ema --keep 0.5 --type f64 --shape 20x30 --along 0 --reverse --inclusive
    says "  input       600 doubles: random, from -1 to 1, seed 1
              ema keeping 0.5 of doubles, 30 columns of 20 elements, in reverse, inclusive"
    says_not "made inclusive"
    run step16 --op segmented-sum --n 5000 --type i32
    says "segmented-sum of 32-bit integers, sequences by bytes, about one in 100 elements, forward"
    run step16 --op sum --heads offsets --every 7 --n 5000 --json
    says '"variant_remark": "sum of floats, sequences by offsets, about one in 7 elements, forward'
    says '"launches": 2'
    run step16 --n 1 --type i32
    says "input       1 32-bit integer: a random walk, seed 1"
    run step16 --shape 5x1
    says "max of floats, 5 rows of 1 element, forwards"
    run step16 --shape 5x1 --along 0
    says "max of floats, 1 column of 5 elements, forwards"
    run step16 --op segmented-sum --every 1 --n 9
    says "segmented-sum of floats, sequences by bytes, each of 1 element, forwards"
    run step16 --n 1000 --json --inclusive
    says '"inclusive": true'
}

# bats test_tags=slow
@test "bytes that are moved" {
    run step16 --op sum --n 4096 --type f64
    says "traffic     64 KiB read and written, 1.00 times the least possible, 64 KiB"
    run step16 --op affine --n 4096
    says "traffic     48 KiB read and written"
    run step16 --op segmented-max --n 4096
    says "traffic     36 KiB read and written"
    run step16 --op max --heads keys --n 4096
    says "traffic     48 KiB read and written"
    run step16 --op brackets --n 4096
    says "traffic     20 KiB read and written"
}

@test "brackets of a text" {
    printf 'f(x) {\n  y[0] = (1;\n' >"$dir/open"
    run step16 --op brackets --input "$dir/open"
    [ "$status" -eq 0 ]
    says "result      greatest depth 2; 2 brackets left open at the end"
    says "input       20 characters from $dir/open"
    printf '(\n \303\244))\n(' >"$dir/wrong"
    run step16 --op brackets --input "$dir/wrong"
    [ "$status" -eq 0 ]
    says "result      greatest depth 1; line 2, column 4 closes a bracket that is not open"
    run step16 --op brackets --n 3000
    says "every bracket is closed"
    run step16 --op brackets --input "$dir/open" --initial 5
    says "greatest depth 7; 7 brackets left open"
    run step16 --op brackets --input common/step/options.c
    says "every element, exactly"
    echo abc >"$dir/letters"
    run step16 --op brackets --input "$dir/letters"
    says "result      no brackets"
    run step16 --op brackets --input <(printf ')')
    says "input       1 character from"
    says "result      greatest depth 0; line 1, column 1 closes a bracket that is not open"
}

# bats test_tags=slow
@test "partners of brackets" {
    result() {
        grep -qxF "  result      $1" "$dir/report" || { cat "$dir/report"; return 1; }
    }
    [ "$(printf '(a[]){}(' | scanned --op brackets --partners)" = "4 -1 3 2 0 6 5 -1 " ]
    result "3 pairs of brackets; 1 bracket left open at the end"
    [ "$(printf '()\n ))()' | scanned --op brackets --partners)" = "1 0 -1 -1 -1 -1 -1 -1 " ]
    result "1 pair of brackets; line 2, column 2 closes a bracket that is not open"
    # Of different kinds: the first pair is named, and what closes nothing after it.
    [ "$(printf '(\n[\n \303\244)]{])' | scanned --op brackets --partners)" = \
        "8 -1 7 -1 -1 -1 -1 2 0 10 9 -1 " ]
    result "3 pairs of brackets; line 3, column 3: ) closes [ of line 2, column 1; \
line 3, column 7 closes a bracket that is not open"
    run ./step16 --op brackets --partners --n 5000 --offset 3 --reps 1
    says "depths_to_levels: 20 blocks of 256 threads"
    says "sort_resident: 16 blocks of 512 threads"
    says "partners of brackets; all kinds count as one"
    says "right: every element, exactly, in each timed run, too"
    says "pairs of brackets; every bracket is closed"
    run step16 --op brackets --partners --input common/step/options.c
    says "every element, exactly"
}

# bats test_tags=slow
@test "the checkers find nothing in the partners of brackets" {
    for n in 7000 70000; do
        run build/emu/emu --tool all ./step16 --op brackets --partners --n $n --reps 0
        [ "$status" -eq 0 ]
        says "ERROR SUMMARY: 0 errors"
    done
    run build/emu/emu --gpu t4 --tool all ./step16 --op brackets --partners --n 7000 --reps 0
    [ "$status" -eq 0 ]
    says "every element, exactly"
    says "ERROR SUMMARY: 0 errors"
}

@test "points in the line of sight" {
    run step16 --op line-of-sight --input <(echo 0 1 1 6 3)
    says "2 of 5 points are visible"
    run step16 --op line-of-sight --input <(echo 1 2)
    says "1 of 2 points is visible"
    run step16 --op line-of-sight --n 1
    says "0 of 1 point is visible"
}

# Each operator and type gets two of these in turn.
ways=("" "--reverse --inclusive --initial 2 --offset 1" "--shape 60x70 --along 0"
    "--shape 60x70 --reverse" "--heads bits --every 30" "--heads offsets --reverse" "--offset 3")

# bats test_tags=slow
@test "each operator and type in timed runs" {
    local i=0
    while read -r op types; do
        for type in $types $types; do
            more=${ways[i++ % 7]}
            [[ $op != segmented* ]] || more=${more/--shape 60x70/--every 7}
            [[ $op != segmented* ]] || more=${more/--along 0/--heads keys}
            [ "$op" != line-of-sight ] || more=${more/--inclusive --initial 2/}
            [[ $more == *shape* ]] || more+=" --n 4200"
            [ "$type" = - ] || more+=" --type $type"
            # shellcheck disable=SC2086 # options are words
            run ./step16 --op $op $more --reps 1
            [ "$status" -eq 0 ] || { echo "$op $more: $output"; return 1; }
            says "right: every element, "
        done
    done <<'END'
sum f32 f64 i32 i64
product f32 f64 i64
max f32 f64 i32 i64
min f32 f64 i32 i64
xor u32 u64
logsumexp f32 f64
affine f32 f64
ema f32 f64
discount f32 f64
segmented-sum f32 i64
segmented-max f64 i32
brackets - -
line-of-sight f32
END
}

# bats test_tags=slow
@test ".npy files" {
    need python3
    python3 - "$dir" <<'END'
import struct, sys
def write(name, descr, code, values):
    header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, len(values))
    header = header.ljust(117) + "\n"
    with open(sys.argv[1] + "/" + name, "wb") as f:
        f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack("<%d%s" % (len(values), code), *values))
write("i8.npy", "<i8", "q", [5, -3, 2**40, 1])
write("a.npy", "<f8", "d", [0.5, 0.25, -1])
write("b.npy", "<f8", "d", [1, 2, 3])
write("u4.npy", "<u4", "I", [1, 2, 4])
END
    step16 --op max --inclusive --input "$dir/i8.npy" --output "$dir/out.npy" >"$dir/report"
    tail -c 32 "$dir/out.npy" | od -An -td8 -w32 | tr -s ' ' |
        grep -qx " 5 5 1099511627776 1099511627776"
    grep -q "max of 64-bit integers" "$dir/report"
    [ "$(step16 --op affine --inclusive --input "$dir/a.npy" --second "$dir/b.npy" --output - \
        2>"$dir/report" | tr '\n' ' ')" = "1 2.25 0.75 " ]
    grep -q "3 doubles from $dir/a.npy and $dir/b.npy" "$dir/report"
    [ "$(step16 --op xor --input "$dir/u4.npy" --output - 2>/dev/null | tr '\n' ' ')" = "0 1 3 " ]
    run step16 --op sum --input "$dir/u4.npy"
    [ "$status" -eq 2 ]
    says "step16: $dir/u4.npy has elements of u32, and --op sum has f32, f64, i32 or i64; add"
}

# bats test_tags=slow
@test "floats beside Python" {
    need python3
    python3 -c 'for i in range(3000): print((i * 7919 % 1000) / 1000 - 0.4)' >"$dir/x"
    for op in sum logsumexp ema; do
        step16 --op $op --type f64 --inclusive --input "$dir/x" --output "$dir/out" >"$dir/report"
        python3 - $op "$dir/x" "$dir/out" <<'END'
import math, sys
op, x, out = sys.argv[1], *([float(w) for w in open(f)] for f in sys.argv[2:])
h, want = 0.0, []
for v in x:
    h = h + v if op == "sum" else h + math.exp(v) if op == "logsumexp" else 0.9 * h + (1 - 0.9) * v
    want.append(math.log(h) if op == "logsumexp" else h)
assert len(out) == 3000 and all(abs(a - b) < 1e-9 for a, b in zip(out, want))
END
    done
}

# bats test_tags=slow
@test "the checkers find nothing in the kernel for few tiles" {
    for arguments in "--op max" "--op affine --reverse --type f64" "--op brackets --heads bits" \
        "--op segmented-sum --heads keys --reverse" "--op sum --heads offsets --offset 3" \
        "--op segmented-max --every 3" "--op logsumexp --heads bits --inclusive"; do
        for seed in 1 2; do
            # shellcheck disable=SC2086 # options are words
            run build/emu/emu --tool all --schedule $seed ./step16 $arguments --n 7000 --reps 0
            [ "$status" -eq 0 ]
            says "ERROR SUMMARY: 0 errors"
        done
    done
}

# bats test_tags=slow
@test "the checkers find nothing in rows and columns" {
    for arguments in "--shape 100x70" "--shape 100x70 --along 0 --op affine" \
        "--shape 9000x3 --along 0 --op ema --reverse" "--shape 3x3000 --along 0 --op min"; do
        for seed in 1 2; do
            # shellcheck disable=SC2086
            run build/emu/emu --tool all --schedule $seed ./step16 $arguments --reps 0
            [ "$status" -eq 0 ]
            says "ERROR SUMMARY: 0 errors"
        done
    done
}

# bats test_tags=slow
@test "the checkers find nothing in the pipeline" {
    for arguments in "--op max --type f64" "--op affine --type f64 --heads bits" \
        "--op segmented-sum --heads keys --type i64 --reverse"; do
        # shellcheck disable=SC2086
        run build/emu/emu --tool all ./step16 $arguments --n 526000 --reps 0
        [ "$status" -eq 0 ]
        says "448 threads"
        says "ERROR SUMMARY: 0 errors"
    done
}

# bats test_tags=slow
@test "older GPUs have no bulk copies" {
    for gpu in a100 t4; do
        run build/emu/emu --gpu $gpu ./step16 --op affine --type f64 --n 526000 --reps 0
        [ "$status" -eq 0 ]
        says "256 threads"
        run build/emu/emu --gpu $gpu --tool all ./step16 --op segmented-sum --n 5000 --reps 0
        [ "$status" -eq 0 ]
        says "ERROR SUMMARY: 0 errors"
    done
}

# bats test_tags=slow
@test "files whose results may leave the range of their type" {
    refused() {
        run step16 --op "$2" --type "$3" --input "$dir/x" "${@:4}"
        [ "$status" -eq 2 ]
        says "$1"
        [ "${#lines[@]}" -eq 1 ]
    }
    echo 3e38 3e38 -3e38 >"$dir/x"
    refused "$dir/x: sums of its elements may leave the range of floats; scale them." sum f32
    refused "$dir/x: sums of its elements may leave" ema f32
    run step16 --op sum --type f64 --input "$dir/x"
    [ "$status" -eq 0 ]
    echo 1e20 1e20 1e-30 1e-30 >"$dir/x"
    refused "$dir/x: products of its elements may leave the range of floats; scale them." \
        product f32
    run step16 --op product --type f64 --input "$dir/x"
    [ "$status" -eq 0 ]
    echo 1 inf 2 >"$dir/x"
    refused "$dir/x: element 1 is inf; --op discount needs finite ones." discount f32
    run step16 --op sum --input "$dir/x"
    [ "$status" -eq 0 ]
    echo 1 2 nan >"$dir/b"
    echo 1 2 3 >"$dir/x"
    refused "$dir/b: element 2 is nan; --op affine needs finite ones." affine f32 --second "$dir/b"
    echo 1e15 1e15 1e15 >"$dir/x"
    echo 1 2 3 >"$dir/b"
    refused "$dir/x: results of its elements may leave the range of floats" affine f32 \
        --second "$dir/b"
    run step16 --op sum --input - <<<"3e38 3e38"
    says "step16: stdin: sums of its elements may leave the range of floats; scale them."
}

# bats test_tags=slow
@test "the examples of scan.h" {
    example() { build/emu/emu --tool memcheck --error-exitcode 9 --log-file /dev/null \
        "build/example16$1" "${@:2}"; }
    printf 'date,price\n2026-01-01,10\n2026-01-02,14\n2026-01-03,6\n2026-01-04,8\n' >"$dir/csv"
    run example "" "$dir/csv"
    [ "$status" -eq 0 ]
    [ "$output" = "10 10
14 11
6 9.75
8 9.3125" ]
    run example -backward
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -eq 7 ]
    says "2     2.60000     2.60000"
    awk 'NR > 1 && ($2 - $3) ^ 2 > 1e-9 { exit 1 }' <<<"$output"
    printf '{"a": [1, {"b(": "]\\"", "c\\\\": []}]}\n' >"$dir/json"
    run example -json "$dir/json"
    [ "$status" -eq 0 ]
    [ "$output" = "greatest depth: 4" ]
    printf '[\n 1]]\n' >"$dir/json"
    run example -json "$dir/json"
    [ "$status" -eq 1 ]
    [ "$output" = "greatest depth: 1
line 2, column 4: this bracket closes nothing" ]
    printf '[\n 1, {' >"$dir/json"
    run example -json "$dir/json"
    [ "$status" -eq 1 ]
    [ "$output" = "greatest depth: 2
open at the end: 2" ]
    for name in "" -json; do
        run example "$name" "$dir/none"
        [ "$status" -eq 2 ]
        [ "$output" = "usage: example16$name FILE.${name:+json}${name:-csv}" ] ||
            [ "$output" = "usage: example16-json FILE.json" ]
    done
}
