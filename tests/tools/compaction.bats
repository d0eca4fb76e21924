#!/usr/bin/env bats
# compaction.bats — ./step13 on files: numbers that an expression keeps, and the lines that grep
# would find.
load common

setup() {
    cd "$BATS_TEST_TMPDIR" || return
    step13=$BATS_TEST_DIRNAME/../../step13
    [ -x "$step13" ] || step13=$OLDPWD/step13
}

kept() { "$step13" --device emu --reps 0 "$@" --output - 2>/dev/null; }

# bats test_tags=slow
@test "lines are those that grep finds" {
    printf 'Alpha beta\n\nbeta\r\ngamma BETA gamma\n\tbet\nbetabeta beta\nlast without newline' \
        >text
    kept --input text --grep beta --offset 3 >got
    kept --input text --grep beta >want
    cmp want got
    grep -F -iv beta text >want
    kept --input text --grep beta -iv >got
    cmp want got
    head -c 3000 /dev/urandom | LC_ALL=C tr '\0' 'x' >bytes
    seq 1 3000 >numbers
    variant=fast
    for file in text bytes numbers; do
        for search in beta BETA 'a b' 1 17 xx "" gammma 'last without newline'; do
            for options in "" -i -v "-i -v" ""; do # five: the variants alternate
                # shellcheck disable=SC2086
                LC_ALL=C grep -aF $options -- "$search" "$file" >want || true
                # shellcheck disable=SC2086
                kept --input "$file" --grep "$search" $options --variant "$variant" >got
                cmp want got || { echo "$file: '$search' $options $variant"; return 1; }
                [ $variant = fast ] && variant=document || variant=fast
            done
        done
    done
}

@test "numbers that are kept, as text and as .npy" {
    printf '1 -2.5 nan 0.5 inf -inf 0 1e10\n' >numbers
    run kept --input numbers --keep 'x > 0.5'
    [ "$output" = $'1\ninf\n1e+10' ]
    run kept --input numbers --keep 'isnan(x) or x < -1'
    [ "$output" = $'-2.5\nnan\n-inf' ]
    "$step13" --device emu --reps 0 --input numbers --keep 'x' --output kept.npy >/dev/null
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

refused() {
    run "$step13" --device emu --reps 0 "$@"
    [ "$status" -eq 2 ] || { echo "exit code $status: $output"; return 1; }
}

@test "what cannot be done is refused in one sentence" {
    printf '1 2 3\n' >numbers && : >empty
    refused --type f64 --n 2^40 # before any number is generated
    says "step13: 1099511627776 elements need 16.0 TiB of device memory, but "
    refused --variant document --n 2^32
    says "4294967296 elements are more than variant document takes; use --variant fast."
    refused --keep 'x >> 1'
    says '  x >> 1
     ^'
    says 'step13: --keep "x >> 1": a number is expected at character 4.'
    refused --grep a
    says "--grep searches a file; name it with --input."
    refused --input numbers --grep a --keep x
    says "--grep and --keep exclude each other."
    refused --input numbers --grep 1 --variant atomic
    says "variant atomic does not keep the order of bytes; use fast or document."
    refused --input numbers --invert
    says "--invert is about lines; add --grep TEXT."
    refused --input numbers --grep 1 -ivx
    says '"-ivx" is no option of this step; --help lists them.'
    refused --input numbers --grep 1 -v=1
    says '--invert takes no value, but was given "=1".'
    refused --input empty --grep a
    says "empty is empty; there are no lines."
    refused --input none --grep a
    says "cannot open none: No such file or directory."
    refused --input . --grep a
    says "cannot read .: Is a directory."
    refused --input numbers --grep $'a\nb'
    says "the text must not contain a newline; lines are searched one by one."
    refused --input numbers --grep "$(printf '%257s' x)"
    says "--grep: the text has more than 256 bytes; search for a part of it."
    refused --input numbers --type i32 --seed 3
    says "--input and --seed exclude each other; leave one out."
    echo "1 nan" >some
    refused --input some --type i32
    says "some: number 2 is nan, which type int32 does not have; remove it, or take a real type"
    refused --type f16
    says "the type must be f32, f64, i32 or i64."
    refused --in-place
    says "--in-place: step 13 (compaction) has no use for it; leave it out."
    refused --type i32 --real
    says "--real: --type i32 is a type of integers."
}
