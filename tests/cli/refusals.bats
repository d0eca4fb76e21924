#!/usr/bin/env bats
# refusals.bats — what steps and the quiz refuse: each row of the table below, with exit code 2, in
# one sentence, and leaving no file.
load common

setup() {
    export DEVICE=emu LC_ALL=C
    t=$BATS_TEST_TMPDIR
    need python3
    : >"$t/empty"
    echo 1 2 3 >"$t/three"
    echo 1 2 3 4 5 6 >"$t/six"
    echo 1 -1 >"$t/negative"
    echo 1 nan >"$t/nan"
    for picture in "a.pgm 30 20 255" "a.ppm 30 20 255" "wide.pgm 31 20 255" \
        "deep.pgm 300 300 65535"; do
        # shellcheck disable=SC2086 # a name and numbers
        python3 -B tests/cli/pictures.py make "$t"/$picture 1
    done
    python3 -B tests/cli/pictures.py floats "$t/a.pfm" 40 30 1 "<"
    head -c 300 "$t/a.pgm" >"$t/short.pgm"
    ./step1 --n 10 --output "$t/a.npy" && head -c 140 "$t/a.npy" >"$t/short.npy"
    printf 'P5 99999999 99999999 255\n' >"$t/huge.pgm"
}

# refused PART: the rows of a part. Every row that is taken, or refused otherwise, is printed.
refused() {
    local here= command= prefix= row options sentence files wrong=0
    files=$(ls "$t")
    while IFS= read -r row; do
        case $row in
        "== "*) IFS='|' read -r here command prefix <<<"${row#== }" ;;
        "" | "#"*) ;;
        *)
            [ "${here% }" = "$1" ] || continue
            options=${row%% | *} sentence=${row#* | }
            eval "run $command $options"
            sentence=${sentence//'$t'/"$t"}
            [[ $status -eq 2 && $output == "${prefix# } $sentence"* && ${#lines[@]} -eq 1 &&
                $(ls "$t") = "$files" ]] && continue
            printf '%s: exit code %d:\n%s\nand not: %s\n' "$options" "$status" "$output" "$sentence"
            wrong=1
            ;;
        esac
    done < <(table | sed ':a; / |$/ { N; s/\n */ /; ba; }')
    [ $wrong -eq 0 ]
}

@test "scans refuse in one sentence" { refused scans; }

@test "step 13 refuses in one sentence" { refused step13; }

@test "step 14 refuses in one sentence" { refused step14; }

# bats test_tags=slow
@test "step 15 refuses in one sentence" { refused step15; }

# bats test_tags=slow
@test "step 16 refuses in one sentence" { refused step16; }

@test "quiz and levels refuse in one sentence" { refused quiz; }

# Rows of OPTIONS | SENTENCE, of which the beginning may be enough. `== NAME | COMMAND | PREFIX`
# begins a part. $t has the files that setup makes.
table() {
    cat <<'END'
== scans | ./step1 | step1:
--n 2^62 | 4611686018427387904 elements are more than any memory holds.
--n 1000T | 1000000000000000 elements need 17.8 PiB of host memory, but
--input $t/none | cannot open $t/none: No such file or directory.
--input $t | cannot read $t: Is a directory.
--input $t/empty | $t/empty is empty; there is nothing to scan.
--input $t/short.npy | $t/short.npy is truncated: its header promises 10 elements, but the file has
--n 1Mi --output /dev/full | cannot write /dev/full: No space left on device.
--n 10 --output $t/none/x.npy | cannot write $t/none/x.npy: No such file or directory.
--n 10 --output $t | cannot write $t: Is a directory.
--n 10 --output $t/ | cannot write $t/: Is a directory.

== scans | ./step3 | step3:
--n 500 | n = 500 is not a power of two, as step 3 (work-efficient) needs it; step 5 takes any n.
--n 4096 | n = 4096 is more than the 2048 elements that step 3 (work-efficient) takes; step 5 takes
--input $t/three | the length of $t/three is not a power of two, as step 3
--output /dev/full | cannot write /dev/full: No space left on device.
--trace $t/none/trace | cannot write $t/none/trace: No such file or directory.

== scans | env EMU_MEMORY=1M ./step5 | step5:
--n 1000T | 1000000000000000 elements need 7.1 PiB of device memory, but
--n 1 | 1 element needs 6.0 MiB of device memory, but 1 MiB are free; take fewer.

== step13 | ./step13 --reps 0 --input $t/three | step13:
--grep a --keep x | --grep and --keep exclude each other.
--grep 1 --variant atomic |
    --grep: variant atomic does not keep the order of bytes; use fast or document.
--invert | --invert is about lines; add --grep TEXT.
--grep 1 -ivx | "-ivx" is no option of this step; --help lists them.
--grep 1 -v=1 | --invert takes no value, but was given "=1".
--input $t/empty --grep a | $t/empty is empty; there are no lines.
--input $t/none --grep a | cannot open $t/none: No such file or directory.
--input . --grep a | cannot read .: Is a directory.
--grep $'a\nb' | --grep: the text must not contain a newline; lines are searched one by one.
--grep "$(printf %257s x)" | --grep: the text has more than 256 bytes; search for a part of it.
--type i32 --seed 3 | --input and --seed exclude each other; leave one out.
--input $t/nan --type i32 | $t/nan: number 2 is nan, which type int32 does not have; remove it, or
--type f16 | --type: the type must be f32, f64, i32 or i64.

== step13 | ./step13 --reps 0 | step13:
--type f64 --n 2^40 | 1099511627776 elements need 16.0 TiB of device memory, but
--variant document --n 2^32 |
    4294967296 elements are more than variant document takes; use --variant fast.
--grep a | --grep searches a file; name it with --input.
--in-place | --in-place: step 13 (compaction) has no use for it; leave it out.
--type i32 --real | --real: --type i32 is a type of integers.

== step14 | ./step14 --reps 0 --output $t/out.pgm | step14:
--input $t/three --box 3 |
    $t/three is not a picture; PNG, PGM, PPM, PFM and .npy can be read.
--input $t/empty --box 3 | $t/empty is empty; it should be a picture.
--input $t/short.pgm --box 3 | $t/short.pgm ends before its last pixel
--input $t/huge.pgm --box 3 | $t/huge.pgm: 99999999 x 99999999 pixels do not fit into memory.
--input $t/none --box 3 | cannot open $t/none: No such file
--input $t/a.pgm --depth $t/wide.pgm | $t/wide.pgm: a depth map is grey, of 8 or 16 bits, and as
--input $t/a.pgm --depth $t/a.ppm | $t/a.ppm: a depth map is grey
--input $t/deep.pgm --box 257 |
    --box 257: the sum of a window may reach 2^32 there; with 16 bits a sample the width is at
--input $t/a.ppm --box 3 | cannot write $t/out.pgm: its name has to end in .png or .ppm.
--input $t/a.pgm --depth $t/a.pfm | $t/a.pfm: a depth map is grey
--input $t/a.pfm --box 3 |
    --box: $t/a.pfm has floats; filters take 8 or 16 bits, and --sum writes its table.
--input $t/a.pgm --box 3 --depth $t/a.pgm | --box and --depth are two filters
--depth $t/a.pgm | --depth needs the picture that it belongs to
--input $t/a.pgm --box 3 --focus 0.5 | --focus and --max-width need --depth FILE.
--input $t/a.pgm | --output takes a filtered picture: add --box W
--input $t/a.pgm --box 0 | --box: give the window's width in pixels, from 1 on.
--input $t/a.pgm --depth $t/a.pgm --max-width 4 | --max-width: give an odd number of pixels
--input $t/a.pgm --depth $t/a.pgm --focus 1.5 | --focus: give a number from 0
--size 640 --box 3 | --size: give width and height, such as 640x480.
--channels 2 --box 3 | --channels: a picture has 1 channel
--bits 12 --box 3 | --bits: samples have 8 or 16 bits.
--box 3 --n 2^40 | 1099511627776 elements need 6.1 TiB of device memory
--size 9999999999x9999999999 --box 3 |
    9999999999 x 9999999999 pixels are more than any memory holds; take a smaller
--n 100 --size 3x4 --box 3 | --n and --size exclude each other
--input $t/a.pgm --seed 2 --box 3 | --input and --seed exclude each other; leave one out.
--real --box 3 | --real: a table of floats takes no --bits, --box and --depth.
--input $t/a.pgm --box 3 --sum $t/a.txt | --sum: the table is written as .npy

== step15 | ./step15 --reps 0 | step15:
--lines | --lines sorts a text file; add --input FILE.
--variant bitonic --n 2^40 | 1099511627776 elements need 12.0 TiB of device memory, but
--pairs --n 2^32 | --pairs takes at most 2^32 - 1 keys; these are 4294967296.
--lines --type u32 --input README.md | --lines and --type exclude each other.
--variant document --pairs | --pairs: variant document sorts keys alone; variant fast has it.
--variant bitonic --lines | --lines: variant bitonic sorts keys alone; variant fast has it.
--pairs --values $t/v | --values goes with the sorted keys; add --output FILE.
--values $t/v --output $t/o | --values: keys alone have no values; add --pairs, without --lines.
--values '' | --values: the file name is empty.
--type f32 --real | --real: step 15 (radix-sort) has no use for it; leave it out.
--type i128 | --type: this type is unknown; choose u32, i32, f32, u64, i64 or f64.
--lines --input /dev/null | /dev/null is empty; there is nothing to sort.
--lines --input $t/none | cannot open $t/none: No such file or directory.
--input $t/negative | $t/negative: number 2, -1, is beyond the range of uint32.
--n 10 --output $t/none/x | cannot write $t/none/x: No such file or directory.
--n 10 --pairs --output $t/o --values $t/none/v |
    cannot write $t/none/v: No such file or directory.
--n 10 --pairs --output $t/o --values $t//o |
    --output and --values both go to $t//o; write one of them to another file.
--lines --input /dev/zero | /dev/zero has more than 1073741824 bytes; --lines takes no more.

== step16 | ./step16 --reps 0 | step16:
--op mean | --op: this operator is unknown; choose sum, product, max, min, xor, logsumexp,
--type i8 | --type i8: --op max does not have it; choose f32, f64, i32 or i64.
--op xor --type f32 | --type f32: --op xor does not have it; choose u32 or u64.
--op line-of-sight --type f64 | --type f64: --op line-of-sight does not have it; it has f32.
--op brackets --type i32 | --type: --op brackets takes characters; leave it out.
--op ema --keep 1.5 | --keep: give a number from 0 to 1.
--keep 0.5 | --keep goes with --op ema and --op discount.
--op line-of-sight --inclusive |
    --inclusive: --op line-of-sight is always exclusive; leave it out.
--op line-of-sight --initial 0 |
    --initial: --op line-of-sight has no initial value; leave it out.
--initial '' | --initial "" is no number of type f32.
--initial 0x1p1 | --initial "0x1p1" is no number of type f32.
--type i32 --initial 1.5 | --initial "1.5" is no number of type i32.
--type i32 --initial 4294967296 | --initial "4294967296" is no number of type i32.
--op xor --type u64 --initial -1 | --initial "-1" is no number of type u64.
--op xor --type u64 --initial ' 1' | --initial " 1" is no number of type u64.
--op max --type i64 --initial -9223372036854775809 |
    --initial "-9223372036854775809" is no number of type i64.
--op brackets --initial -1 | --initial -1: a depth is 0 or more.
--partners | --partners goes with --op brackets.
--op brackets --partners --reverse | --reverse: --partners takes a whole text; leave it out.
--op brackets --partners --shape 2x3 | --shape: --partners takes a whole text; leave it out.
--op brackets --partners --n 3G |
    --partners takes at most 2^31 - 1 characters; these are 3000000000.
--shape 0x5 | --shape: give the numbers of rows and columns, such as 1000x64.
--shape 4Gx16G | --shape: give the numbers of rows and columns, such as 1000x64.
--shape 2x2 --along 2 | --along: choose 0, down the columns, or 1, along the rows.
--along 1 | --along goes with --shape RxC.
--n 4 --shape 2x2 | --n and --shape exclude each other; both say how many.
--shape 2x2 --heads bits |
    --shape and --heads exclude each other; both say where sequences begin.
--shape 2x2 --op segmented-sum | --shape and a segmented operator exclude each other; both say
--heads words | --heads: this kind is unknown; choose bytes, bits, keys or offsets.
--op min --heads keys | --heads: bytes and keys are for sums and maxima; this operator takes
--heads bits --every 0 | --every: give a number of elements, from 1 on.
--every 5 | --every goes with --heads or a segmented operator.
--second $t/six | --second goes with --op affine and --op line-of-sight.
--op affine --second $t/six | --second goes with the first input; add --input FILE.
--second '' | --second: the file name is empty.
--op affine --input - --second - | --input and --second cannot both be stdin.
--op affine --input $t/six |
    --op affine has two inputs: --input has a; add --second FILE, which has b.
--op affine --input $t/six --second $t/three |
    $t/three has 3 elements, and --input 6; they have to agree.
--shape 2x4 --input $t/six | $t/six has 6 elements, and --shape 8; they have to agree.

# Results that may leave the range of their type.
--op sum --input - <<<"3e38 3e38 -3e38" |
    stdin: sums of its elements may leave the range of floats; scale them.
--op ema --input - <<<"3e38 3e38" | stdin: sums of its elements may leave the range of floats;
--op product --input - <<<"1e20 1e20 1e-30 1e-30" |
    stdin: products of its elements may leave the range of floats; scale them.
--op product --shape 4x2 --along 0 --input - <<<"1e20 1e-20 1e20 1e-20 1 1 1 1" |
    stdin: products of its elements may leave the range of floats; scale them.
--op discount --input - <<<"1 inf 2" | stdin: element 1 is inf; --op discount needs finite ones.
--op affine --second $t/nan --input - <<<"1 2" |
    $t/nan: element 1 is nan; --op affine needs finite ones.
--op affine --second $t/three --input - <<<"1e15 1e15 1e15" |
    stdin: results of its elements may leave the range of floats; scale them.
--op brackets --input . | cannot read .: Is a directory.
--op brackets --input /dev/null | /dev/null is empty; there is nothing to scan.
--in-place | --in-place: step 16 (operators) has no use for it; leave it out.
--variant fast | --variant: step 16 (operators) has no variants.
--op sum --type f64 --shape 1Mix1Mi | 1099511627776 elements need 16.0 TiB of device memory, but
--op line-of-sight --shape 1Mix1Mi --along 0 | 1099511627776 elements need 12.1 TiB of device
--op max --heads offsets --every 1 --n 2^40 | 1099511627776 elements need 16.1 TiB of device
--op brackets --n 2^60 | 1152921504606846976 elements are more than any memory holds.
--op brackets --initial 2147483647 | --initial 2147483647: depths may leave the range of 32-bit
--op affine --initial inf | --initial inf: --op affine needs a finite one.
--op product --initial 1e38 --n 1000 | --initial 1e38: products may leave the range of floats.

== quiz | ./step3 | step3:
--quiz anna --n 8 | --quiz and --n exclude each other; leave one out.
--solve | --solve answers the questions of --quiz; add --quiz WORD.
--quiz '' | --quiz has an empty word.
--levels --csv | --levels and --csv exclude each other; leave one out.
--levels --trace $t/trace | --levels and --trace exclude each other; leave one out.
--quiz anna --device cuda | --quiz and --device cuda exclude each other; leave one out.
--levels --input $t/nothing | cannot open $t/nothing: No such file or directory.

== quiz | ./step1 | step1:
--quiz anna | --quiz: step 1 (sequential) has no use for it; leave it out.
END
}
