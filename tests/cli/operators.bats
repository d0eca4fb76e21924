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

# expect_rows: standard input has rows of options, input and result; … stands for any more
expect_rows() {
    local options input want got
    while IFS='|' read -r options input want; do
        # shellcheck disable=SC2086 # options are words
        got=$(printf %s "$input" | scanned ${options//DIR/$dir})
        [[ $got == "$want " || ($want == *… && $got == "${want%…}"*) ]] && continue
        echo "$options of $input: $got and not $want"
        return 1
    done
}

# bats test_tags=slow
@test "each operator on a few numbers" {
    echo 5 6 7 8 >"$dir/b"
    echo 0 2 1 8 >"$dir/far"
    expect_rows <<'END'
--op sum --type i64 --inclusive|3 1 4 1 5|3 4 8 9 14
--op min --type i32 --inclusive|3 1 4 1 5|3 1 1 1 1
--op product --type i64 --initial -2|3 1 4 1 5|-2 -6 -6 -24 -24
--op xor --inclusive|3 1 4 1 5|3 2 6 7 2
--op logsumexp --type f64 --inclusive|0 0 0 0|0 0.69314718055994529 1.0986…
--op ema --keep 0.5 --inclusive|8 0 0 4|4 2 1 2.5
--op discount --keep 0.5 --inclusive --reverse|8 0 0 4|8.5 1 2 4
--op affine --second DIR/b --inclusive|2 1 0 -1|5 11 7 1
--op line-of-sight|0 1 1 6 3|0 1 0 1 0
--op line-of-sight --reverse|0 1 1 6 3|0 0 0 1 0
--op line-of-sight --second DIR/far|0 2 1.5 4|0 1 1 0
--op line-of-sight --shape 3x2 --along 0|0 0 3 1 2 2|0 0 1 1 0 0
--op sum --type f64|3e38 3e38 -3e38|0 3…
--op sum|1 inf 2|0 1 inf
--op product --type f64|1e20 1e20 1e-30 1e-30|1 1…
END
}

@test "rows, columns and directions" {
    expect_rows <<'END'
--op sum --type i32|3 1 4 1 5|0 3 4 8 9
--inclusive|3 1 4 1 5|3 3 4 4 5
--op max --reverse|3 1 4 1 5|5 5 5 5 -inf
--op brackets --inclusive|(a[b])|1 1 2 2 1 0
--op sum --type i32 --shape 2x3|1 2 3 4 5 6|0 1 3 0 4 9
--op sum --type i32 --shape 2x3 --along 1 --reverse|1 2 3 4 5 6|5 3 0 11 6 0
--op sum --type i32 --shape 2x3 --along 0|1 2 3 4 5 6|0 0 0 1 2 3
END
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
    while read -r kib options; do
        # shellcheck disable=SC2086 # options are words
        run step16 --n 4096 $options
        says "traffic     $kib KiB read and written, 1.00 times the least possible, $kib KiB"
    done <<'END'
64 --op sum --type f64
48 --op affine
36 --op segmented-max
48 --op max --heads keys
20 --op brackets
END
}

@test "brackets of a text" {
    printf 'f(x) {\n  y[0] = (1;\n' >"$dir/open"
    run -0 step16 --op brackets --input "$dir/open"
    says "result      greatest depth 2; 2 brackets left open at the end"
    says "input       20 characters from $dir/open"
    printf '(\n \303\244))\n(' >"$dir/wrong"
    run -0 step16 --op brackets --input "$dir/wrong"
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
    # Each of the sequences has one element, so this copies.
    made() {
        step16 "${@:2}" --inclusive --every 1 --heads bits --input - --output "$dir/$1" >/dev/null
    }
    echo 5 -3 1099511627776 1 | made i8.npy --op sum --type i64
    echo 0.5 0.25 -1 | made a.npy --op sum --type f64
    echo 1 2 3 | made b.npy --op sum --type f64
    echo 1 2 4 | made u4.npy --op xor
    step16 --op max --inclusive --input "$dir/i8.npy" --output "$dir/out.npy" >"$dir/report"
    tail -c 32 "$dir/out.npy" | od -An -td8 -w32 | tr -s ' ' |
        grep -qx " 5 5 1099511627776 1099511627776"
    grep -q "max of 64-bit integers" "$dir/report"
    [ "$(step16 --op affine --inclusive --input "$dir/a.npy" --second "$dir/b.npy" --output - \
        2>"$dir/report" | tr '\n' ' ')" = "1 2.25 0.75 " ]
    grep -q "3 doubles from $dir/a.npy and $dir/b.npy" "$dir/report"
    [ "$(step16 --op xor --input "$dir/u4.npy" --output - 2>/dev/null | tr '\n' ' ')" = "0 1 3 " ]
    run -2 step16 --op sum --input "$dir/u4.npy"
    says "step16: $dir/u4.npy has elements of u32, and --op sum has f32, f64, i32 or i64; add"
}

# bats test_tags=slow
@test "the checkers find nothing in any kernel" {
    no_findings ./step16 <<'END'
|1 2|--op max --n 7000|256 threads
|1 2|--op affine --reverse --type f64 --n 7000|
|1 2|--op brackets --heads bits --n 7000|
|1 2|--op segmented-sum --heads keys --reverse --n 7000|
|1 2|--op sum --heads offsets --offset 3 --n 7000|
|1 2|--op segmented-max --every 3 --n 7000|
|1 2|--op logsumexp --heads bits --inclusive --n 7000|
|1|--op brackets --partners --n 7000|every element, exactly
|1|--op brackets --partners --n 70000|
--gpu t4|1|--op brackets --partners --n 7000|every element, exactly
|1 2|--shape 100x70|
|1 2|--shape 100x70 --along 0 --op affine|
|1 2|--shape 9000x3 --along 0 --op ema --reverse|
|1 2|--shape 3x3000 --along 0 --op min|
|1|--op max --type f64 --n 526000|448 threads
|1|--op affine --type f64 --heads bits --n 526000|448 threads
|1|--op segmented-sum --heads keys --type i64 --reverse --n 526000|448 threads
--gpu a100|1|--op segmented-sum --n 5000|
--gpu t4|1|--op segmented-sum --n 5000|
END
}

# bats test_tags=slow
@test "older GPUs have no bulk copies" {
    for gpu in a100 t4; do
        run -0 build/emu/emu --gpu $gpu ./step16 --op affine --type f64 --n 526000 --reps 0
        says "256 threads"
    done
}

# bats test_tags=slow
@test "the examples of scan.h" {
    example() { build/emu/emu --tool memcheck --error-exitcode 9 --log-file /dev/null \
        "build/example16$1" "${@:2}"; }
    printf 'date,price\n2026-01-01,10\n2026-01-02,14\n2026-01-03,6\n2026-01-04,8\n' >"$dir/csv"
    run -0 example "" "$dir/csv"
    [ "$output" = "10 10
14 11
6 9.75
8 9.3125" ]
    run -0 example -backward
    [ "${#lines[@]}" -eq 7 ]
    says "2     2.60000     2.60000"
    awk 'NR > 1 && ($2 - $3) ^ 2 > 1e-9 { exit 1 }' <<<"$output"
    printf '{"a": [1, {"b(": "]\\"", "c\\\\": []}]}\n' >"$dir/json"
    run -0 example -json "$dir/json"
    [ "$output" = "greatest depth: 4" ]
    printf '[\n 1]]\n' >"$dir/json"
    run -1 example -json "$dir/json"
    [ "$output" = "greatest depth: 1
line 2, column 4: this bracket closes nothing" ]
    printf '[\n 1, {' >"$dir/json"
    run -1 example -json "$dir/json"
    [ "$output" = "greatest depth: 2
open at the end: 2" ]
    for name in "" -json; do
        run -2 example "$name" "$dir/none"
        [ "$output" = "usage: example16$name FILE.${name:+json}${name:-csv}" ] ||
            [ "$output" = "usage: example16-json FILE.json" ]
    done
}

# bats test_tags=slow
@test "n and the type fix every bit, and not the schedule" {
    awk 'BEGIN { for (i = 0; i < 70000; i++) print sin(i) }' >"$dir/x"
    for op in sum logsumexp "ema --reverse"; do
        for seed in 1 2 3; do
            # shellcheck disable=SC2086 # options are words
            build/emu/emu --schedule $seed ./step16 --op $op --type f32 --reps 0 --input "$dir/x" \
                --output "$dir/$seed.npy"
            cmp "$dir/1.npy" "$dir/$seed.npy"
        done
    done
}
