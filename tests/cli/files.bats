#!/usr/bin/env bats
# files.bats — steps 13 and 15 on files: numbers that an expression keeps, and the lines that grep
# would find; numbers in the order of `sort` and Python, and lines in the order of `LC_ALL=C sort`.
load common

setup() {
    export DEVICE=emu LC_ALL=C
    dir=$BATS_TEST_TMPDIR
}

# ---- step 13 -------------------------------------------------------------------------------------

kept() { "$OLDPWD/step13" --reps 0 "$@" --output - 2>/dev/null; }

# bats test_tags=slow
@test "lines are those that grep finds" {
    cd "$dir"
    printf 'Alpha beta\n\nbeta\r\ngamma BETA gamma\n\tbet\nbetabeta beta\nlast without newline' \
        >text
    kept --input text --grep beta --offset 3 >got
    kept --input text --grep beta >want
    cmp want got
    grep -F -iv beta text >want
    kept --input text --grep beta -iv >got
    cmp want got
    awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%c", 1 + i * (i + 7919) % 255 }' >bytes
    seq 1 3000 >numbers
    variant=fast
    for file in text bytes numbers; do
        for search in beta BETA 'a b' 1 17 xx "" gammma 'last without newline'; do
            for options in "" -i -v "-i -v" ""; do # five: the variants alternate
                # shellcheck disable=SC2086
                grep -aF $options -- "$search" "$file" >want || true
                # shellcheck disable=SC2086
                kept --input "$file" --grep "$search" $options --variant "$variant" >got
                cmp want got || { echo "$file: '$search' $options $variant"; return 1; }
                [ $variant = fast ] && variant=document || variant=fast
            done
        done
    done
}

@test "numbers that are kept, as text and as .npy" {
    cd "$dir"
    printf '1 -2.5 nan 0.5 inf -inf 0 1e10\n' >numbers
    run kept --input numbers --keep 'x > 0.5'
    [ "$output" = $'1\ninf\n1e+10' ]
    run kept --input numbers --keep 'isnan(x) or x < -1'
    [ "$output" = $'-2.5\nnan\n-inf' ]
    "$OLDPWD/step13" --reps 0 --input numbers --keep 'x' --output kept.npy >/dev/null
    run kept --input kept.npy --keep 'not isnan(x)'
    [ "$output" = $'1\n-2.5\n0.5\ninf\n-inf\n1e+10' ]
    printf '0.1 0.25 -0\n' >decimals
    run kept --input decimals --type f64 --keep 'x == 0.1'
    [ "$output" = 0.10000000000000001 ]
    run kept --input decimals --keep 'x <= 0.1'
    [ "$output" = $'0.100000001\n-0' ]
    echo '9223372036854775807 5 -9223372036854775808' >integers
    run kept --input integers --type i64 --keep 'x > 5 or x < 5'
    [ "$output" = $'9223372036854775807\n-9223372036854775808' ]
}

# ---- step 15 -------------------------------------------------------------------------------------

@test "lines are in the order of LC_ALL=C sort" {
    printf 'pear\napplesauce\nappl\n\napple\nfig\napplesauce green\napplesauce blue\nfig\nzz' \
        >"$dir/lines"
    printf 'ab\0c\nab\nab\0\nabcdefgh\nabcdefg\nabcdefghi\n\377x\n\303\244\n' >>"$dir/lines"
    for order in "" --descending; do
        ./step15 --lines --input "$dir/lines" $order --reps 0 --output "$dir/sorted" >"$dir/report"
        sort ${order:+-r} "$dir/lines" | cmp - "$dir/sorted"
    done
    ./step15 --lines --input - --reps 0 --output - <"$dir/lines" 2>/dev/null |
        cmp - <(sort "$dir/lines")
}

@test "text numbers, in both directions" {
    awk 'BEGIN { for (i = 0; i < 3000; i++) print (i * 7919 + 13) % 4001 - 2000 }' >"$dir/numbers"
    for type in i32 i64 f32 f64; do
        ./step15 --type $type --input "$dir/numbers" --reps 0 --output - 2>/dev/null |
            cmp - <(sort -n "$dir/numbers")
    done
    ./step15 --type i32 --descending --input "$dir/numbers" --reps 0 --output - 2>/dev/null |
        cmp - <(sort -nr "$dir/numbers")
    printf '18446744073709551615 0 9223372036854775808 7\n' >"$dir/large"
    ./step15 --type u64 --input "$dir/large" --reps 0 --output - 2>/dev/null |
        cmp - <(printf '0\n7\n9223372036854775808\n18446744073709551615\n')
}

# bats test_tags=slow
@test "a GPU with too little shared memory for a wave, and for whole tiles" {
    EMU_GPU=t4 ./step15 --n 100000 --pairs --reps 0 >"$dir/report"
    grep "blocks of 512 threads and 58.0 KiB" "$dir/report"
    grep "verified    right: every element, exactly" "$dir/report"
}

# A .npy file of n numbers i * 7919 % 1000, of the type and the code of Python's struct.
npy() {
    python3 - "$@" <<'END'
import struct, sys
path, descr, code, n = sys.argv[1:4] + [int(sys.argv[4])]
header = "{'descr': '%s', 'fortran_order': False, 'shape': (%d,), }" % (descr, n)
header = header.ljust(117) + "\n"
with open(path, "wb") as f:
    f.write(b"\x93NUMPY\x01\0" + struct.pack("<H", len(header)) + header.encode())
    f.write(struct.pack(descr[0] + str(n) + code, *(i * 7919 % 1000 for i in range(n))))
END
}

# bats test_tags=slow
@test ".npy files, with the permutation" {
    need python3
    while read -r descr code; do
        npy "$dir/in.npy" "$descr" "$code" 2500
        ./step15 --pairs --input "$dir/in.npy" --reps 0 --output "$dir/out.npy" \
            --values "$dir/values.npy" >"$dir/report"
        python3 - "$dir" "$descr" "$code" <<'END'
import struct, sys
folder, descr, code = sys.argv[1:]
def read(name, expected, letter):
    data = open(folder + "/" + name, "rb").read()
    size = struct.unpack("<H", data[8:10])[0]
    assert "'descr': '%s'" % expected in data[10:10 + size].decode(), data[:80]
    body = data[10 + size:]
    return struct.unpack("<%d%s" % (len(body) // struct.calcsize("<" + letter), letter), body)
keys = [i * 7919 % 1000 for i in range(2500)]
order = sorted(range(2500), key=lambda i: keys[i])
assert list(read("out.npy", "<" + descr[1:], code)) == [keys[i] for i in order]
assert list(read("values.npy", "<u4", "I")) == order
END
    done <<<'<u4 I
<u8 Q
>u4 I
<i4 i
<i8 q
<f4 f
<f8 d'
}

# bats test_tags=slow
@test "each variant sorts each type" {
    for variant in fast document bitonic; do
        for type in u32 i32 f32 u64 i64 f64; do
            run -0 ./step15 --variant $variant --type $type --n 4200 --reps 1
            says "right: every element, exactly, in each timed run, too"
        done
    done
    run -0 ./step15 --pairs --descending --n 3000 --reps 1
}

# bats test_tags=slow
@test "the checkers find nothing, whatever the schedule, and without clusters" {
    no_findings ./step15 <<'END'
|1 2|--n 1500 --pairs
|1 2|--n 4000
|1 2|--variant document --n 5000
|1 2|--variant bitonic --n 1100 --type u64
--gpu a100|1|--pairs --n 5000
--gpu a100 --blocks descending|5|--n 30000
--gpu a100|1|--type f64 --pairs --n 3000
--gpu t4|1|--pairs --n 5000
--gpu t4 --blocks descending|5|--n 30000
--gpu t4|1|--type f64 --pairs --n 3000
END
}

# bats test_tags=slow
@test "the checkers find nothing in many small tiles" {
    for seed in "3:tiles*" "4:@(digits*|arrays*)"; do
        run -0 build/emu/emu --tool all --schedule ${seed%%:*} build/tests/run -j1 \
            --filter "sort/${seed#*:}"
        says "Failing: 0"
        says_not "Tested: 0"
        [[ "$output" != *"ERROR SUMMARY: "[1-9]* ]]
    done
}

# bats test_tags=slow
@test "the example of sort.h" {
    run -0 build/emu/emu --log-file /dev/null build/example15
    [ "$output" = "Cho 9.25
Ada 7.5
Dee 7.5
Ben -1" ]
    CUDA_VISIBLE_DEVICES="" run -1 build/example15
    says "cudaMalloc((void **)&in, sizeof points): "
}

# bats test_tags=slow
@test "examples in the form of figures 39-13 to 39-15" {
    run -0 build/experiments/15-figures --device emu --csv
    values() { printf '%s\n' "$output" | grep ",$1,$2.*,$3," | cut -d, -f6 | tr '\n' ' '; }
    # 39-13: the keys after each bit
    [ "$(values split bit=0 key_after)" = "4 2 6 0 7 3 5 1 " ]
    [ "$(values split bit=1 key_after)" = "4 0 5 1 2 6 7 3 " ]
    [ "$(values split bit=2 key_after)" = "0 1 2 3 4 5 6 7 " ]
    # 39-14: the first split; four keys are false
    [ "$(values split bit=0 key)" = "4 7 2 6 3 5 1 0 " ]
    [ "$(values split bit=0 e)" = "1 0 1 1 0 0 0 1 " ]
    [ "$(values split bit=0 f)" = "0 1 1 2 3 3 3 3 " ]
    [ "$(values split bit=0 t)" = "4 4 5 5 5 6 7 8 " ]
    [ "$(values split bit=0 d)" = "0 4 1 2 5 6 7 3 " ]
    # 39-15: the smaller of 0 3 6 … and … 11 6 1; up, then down
    [ "$(values merge i= smaller | cut -d' ' -f1-4)" = "0 3 6 9" ]
    [ "$(values merge i= smaller | cut -d' ' -f30-32)" = "11 6 1" ]
    [ "$(values merge i= sorted | cut -d' ' -f1-8)" = "0 1 3 6 6 9 11 12" ]
}

@test "keys and values are written into files" {
    run -2 ./step15 --reps 0 --n 10 --pairs --output "$dir/out" --values /dev/full
    says "step15: cannot write /dev/full: No space left on device."
    ./step15 --reps 0 --n 10 --pairs --output "$dir/out" --values "$dir/values" >"$dir/report"
    [ "$(wc -l <"$dir/out")" -eq 10 ] && [ "$(wc -l <"$dir/values")" -eq 10 ]
}
