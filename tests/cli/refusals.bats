#!/usr/bin/env bats
# refusals.bats — each row of refusals.txt is refused with exit code 2, in one sentence, and leaves
# no file.
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
    done < <(sed ':a; / |$/ { N; s/\n */ /; ba; }' tests/cli/refusals.txt)
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
