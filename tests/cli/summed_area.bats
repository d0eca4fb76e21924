#!/usr/bin/env bats
# summed_area.bats — step 14 on files: filters and tables equal those that pictures.py computes
# pixel by pixel.
load common

setup() {
    need python3
    t=$BATS_TEST_TMPDIR
}

step14() { ./step14 --device emu --reps 0 "$@"; }
pictures() { python3 -B tests/cli/pictures.py "$@"; }

# bats test_tags=slow
@test "box filters of grey and RGB, of 8 and 16 bits" {
    for picture in "a.pgm 255" "a.ppm 255" "b.pgm 65535" "b.ppm 1000"; do
        read -r file maximum <<<"$picture"
        pictures make "$t/$file" 37 21 "$maximum" 1
        for width in 1 4 9 100; do
            pictures box "$t/$file" $width >"$t/want"
            step14 --input "$t/$file" --box $width --output "$t/out.pnm" |
                grep -q "right.*: every element, exactly"
            cmp "$t/want" "$t/out.pnm"
        done
    done
}

# bats test_tags=slow
@test "depth of field" {
    pictures make "$t/a.ppm" 40 30 255 1
    pictures make "$t/depth.pgm" 40 30 255 2
    for focus in 0 0.3 1; do
        pictures blur "$t/a.ppm" "$t/depth.pgm" $focus 13 >"$t/want"
        step14 --input "$t/a.ppm" --depth "$t/depth.pgm" --focus $focus --max-width 13 \
            --output "$t/out.ppm"
        cmp "$t/want" "$t/out.ppm"
    done
    # maximum of the picture, and of its depth
    for maxima in "255 1000" "1000 255" "65535 1"; do
        read -r maximum deepest <<<"$maxima"
        pictures make "$t/a.pgm" 20 15 "$maximum" 1
        pictures make "$t/depth.pgm" 20 15 "$deepest" 2
        pictures blur "$t/a.pgm" "$t/depth.pgm" 0.6 13 >"$t/want"
        step14 --input "$t/a.pgm" --depth "$t/depth.pgm" --focus 0.6 --max-width 13 \
            --output "$t/out.pgm"
        cmp "$t/want" "$t/out.pgm"
    done
}

# bats test_tags=slow
@test "tables of 32 and 64 bits, and of floats" {
    pictures make "$t/a.pgm" 300 21 255 1
    pictures make "$t/b.ppm" 37 5 65535 1
    pictures make "$t/white.pgm" 300 260 65535 white # the sum is beyond 2^32
    step14 --input "$t/a.pgm" --sum "$t/a.npy"
    pictures table "$t/a.pgm" "$t/a.npy" "<u4"
    step14 --input "$t/b.ppm" --sum "$t/b.npy"
    pictures table "$t/b.ppm" "$t/b.npy" "<u4"
    step14 --input "$t/white.pgm" --sum "$t/white.npy"
    pictures table "$t/white.pgm" "$t/white.npy" "<u8"
    for variant in document document-shuffle; do
        step14 --input "$t/b.ppm" --variant $variant --sum "$t/b.npy"
        pictures table "$t/b.ppm" "$t/b.npy" "<f4"
    done
}

# bats test_tags=slow
@test "pictures that begin at any address" {
    for variant in fast document document-shuffle; do
        for options in "--bits 8" "--bits 16" "--bits 8 --box 3" "--bits 16 --box 3" --real; do
            for offset in 1 2 3; do
                # shellcheck disable=SC2086 # options are words
                run -0 step14 --channels 3 --size 19x8 --variant $variant $options --offset $offset
                says "displaced by $offset"
            done
        done
    done
}

# bats test_tags=slow
@test "floats, of PFM and .npy, and the error that is stated" {
    for picture in "a.pfm 40 30 1 < fast" "a.pfm 40 30 3 > document" "a.npy 40 30 1 > fast" \
        "a.npy 7 90 4 < fast"; do
        read -r file width height channels order variant <<<"$picture"
        pictures floats "$t/$file" "$width" "$height" "$channels" "$order"
        run -0 step14 --input "$t/$file" --variant "$variant" --sum "$t/sum.npy"
        says "$width x $height pixels, "
        error=$(sed -n "s/.*an entry's error is at most \(.*\) times.*/\1/p" <<<"$output")
        pictures near "$t/sum.npy" "$width" "$height" "$channels" "$error"
    done
    for last in '\200\177\0\0\0\0' '\0\177\0\0\0\177'; do # infinity and 0; 1.7e38 twice
        printf "Pf 2 1 -1\n\0\0$last" >"$t/large.pfm"
        run -2 step14 --input "$t/large.pfm"
        says "large.pfm: a table of floats needs finite pixels, whose magnitudes add up to"
    done
}

@test "a table and a filtered picture at once, from stdin and to stdout" {
    pictures make "$t/a.pgm" 30 20 255 3
    pictures box "$t/a.pgm" 5 >"$t/want"
    step14 --input - --box 5 --sum "$t/a.npy" --output - <"$t/a.pgm" >"$t/out" 2>"$t/report"
    cmp "$t/want" "$t/out"
    grep -q "30 x 20 pixels, grey, 8 bits, from stdin" "$t/report"
    pictures table "$t/a.pgm" "$t/a.npy" "<u4"
}

# bats test_tags=slow
@test "PNG in and out" {
    pictures make "$t/a.ppm" 30 20 255 3
    run step14 --input "$t/a.ppm" --box 1 --output "$t/a.png"
    if [[ "$output" == *"without libpng"* ]]; then
        [ -z "${CI:-}" ] # installed by make setup, so that this is not skipped there
        skip "libpng is not installed: make setup installs it"
    fi
    step14 --input "$t/a.png" --box 1 --output "$t/b.ppm"
    cmp "$t/a.ppm" "$t/b.ppm"
    head -c 500 "$t/a.png" >"$t/short.png"
    run -2 step14 --input "$t/short.png" --box 3
    says "short.png ends before its last pixel; it is truncated."
    run -2 build/tests/step14-no-png --device emu --input "$t/a.png" --box 3
    says "a.png is a PNG, and this program was built without libpng; install libpng-dev"
    run -2 build/tests/step14-no-png --device emu --input "$t/a.ppm" --box 3 --output "$t/c.png"
    says "c.png: this program was built without libpng"
    [ ! -e "$t/c.png" ]
}

# bats test_tags=slow
@test "the checkers find nothing, and any schedule gives the same" {
    no_findings ./step14 <<'END'
|1 2|--size 530x70
|1 2|--channels 3 --size 132x35
|1 2|--size 37x35 --bits 16 --channels 3 --box 6
|1 2|--channels 4 --size 70x33 --real
|1 2|--channels 3 --size 530x12 --variant document --box 5
|1 2|--channels 3 --size 48x8 --variant document-shuffle
--gpu t4|1|--size 530x70
END
}

# bats test_tags=slow
@test "the example" {
    run -0 build/emu/emu --tool memcheck --log-file /dev/null --error-exitcode 9 build/example14
    says "  0   0   0  25  25  25   0   0   0
  0   0   0  25  25  25   0   0   0
  0   0   0  25  25  25   0   0   0"
}
