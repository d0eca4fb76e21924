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
