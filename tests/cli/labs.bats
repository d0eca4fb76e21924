#!/usr/bin/env bats
# labs.bats — the labs as a student sees them: skeletons, `make checkN`, points and reasons.
load common

LABS=$(awk -F, '$3 == "yes" { printf sep $1; sep = " " }' steps/steps.csv)

nvcc() { "$(common/build/toolkit.sh)/bin/nvcc" "$@"; }

# step_of LAB: what its skeleton is made of: a file of its own, or the step's scan.cu.
step_of() {
    local number
    number=$(printf %02d "$1")
    ls common/tools/labs/sources/"$number"-*.cu 2>/dev/null || ls steps/"$number"-*/scan.cu
}

# check [-STATUS] LAB FILE [OPTION…]: runs the check, which has to end with this exit code.
check() {
    local code=()
    [[ $1 != -* ]] || { code=("$1") && shift; }
    run "${code[@]}" build/labs/check-lab "$@" --nvcc "$(common/build/toolkit.sh)/bin/nvcc"
}

# field NAME: a number of the verdict, of `check … --json`.
field() { sed -n "s/^ *\"$1\": \([0-9.]*\),*$/\1/p" <<<"$output" | head -n 1; }

# Two jobs at a time, as there may be no more processors.
in_pairs() {
    local job=$1 lab
    shift
    for lab in "$@"; do
        "$job" "$lab" &
        [ "$(jobs -rp | wc -l)" -lt 2 ] || wait -n || return
    done
    wait
}

# compile_skeleton LAB: a skeleton's PTX, or the compiler's message.
compile_skeleton() {
    common/tools/labs/skeleton.sh "$1" "$(step_of "$1")" >"$BATS_FILE_TMPDIR/lab$1.cu" &&
        build/labs/check-lab --compile "$BATS_FILE_TMPDIR/lab$1.cu" "$BATS_FILE_TMPDIR/lab$1.ptx" \
            --nvcc "$(common/build/toolkit.sh)/bin/nvcc" >"$BATS_FILE_TMPDIR/said$1" 2>&1
}

setup_file() {
    unset MAKEFLAGS MAKELEVEL
    in_pairs compile_skeleton $LABS
}

# In a copy of the skeleton, each gap gets the lines that the step has there.
fill_gaps() {
    local lab=$1 folder
    folder=$(dirname "$(step_of "$lab")")
    awk -v solution="$2" '
        function number() { match($0, /gap [0-9]+/); return substr($0, RSTART + 4, RLENGTH - 4) }
        FILENAME == solution {
            if (/\/\/ ---- gap [0-9]+:/) { gap = number(); text[gap] = "" }
            else if (/\/\/ ---- end of gap/) gap = 0
            else if (gap && !/\/\/ ---- \(about/) text[gap] = text[gap] $0 "\n"
            next
        }
        /\/\/ ---- gap [0-9]+:/ { gap = number() }
        /\/\/ ---- end of gap/ { printf "%s", text[gap]; gap = 0 }
        !(gap && /^$/) { print }' "$2" "$3"
}

@test "each skeleton compiles without a word, and has none of the lines of its gaps" {
    for lab in $LABS; do
        [ -s "$BATS_FILE_TMPDIR/lab$lab.ptx" ]
        run cat "$BATS_FILE_TMPDIR/said$lab"
        [ -z "$output" ] || { echo "lab $lab: $output"; return 1; }
        run cat "$BATS_FILE_TMPDIR/lab$lab.cu"
        says "---- gap 1: "
        says " line"
        says_not "extern \"C\""
        says_not "// lab:"
    done
    run grep -c "temp\[bi\] += t" "$BATS_FILE_TMPDIR/lab3.cu"
    [ "$output" = 0 ]
}

@test "a skeleton whose gaps are filled from the step is the solution" {
    for lab in $LABS; do
        common/tools/labs/skeleton.sh --solution "$lab" "$(step_of "$lab")" \
            >"$BATS_TEST_TMPDIR/solution.cu"
        fill_gaps "$lab" "$BATS_TEST_TMPDIR/solution.cu" "$BATS_FILE_TMPDIR/lab$lab.cu" \
            >"$BATS_TEST_TMPDIR/filled.cu"
        diff "$BATS_TEST_TMPDIR/filled.cu" "$BATS_TEST_TMPDIR/solution.cu"
        ! diff -q "$BATS_FILE_TMPDIR/lab$lab.cu" "$BATS_TEST_TMPDIR/solution.cu" >/dev/null
    done
}

# no_points LAB: of its skeleton.
no_points() {
    check "$1" "$BATS_FILE_TMPDIR/lab$1.ptx" --json
    [ "$status" -eq 1 ] && [ "$(field points)" = 0 ] ||
        echo "lab $1: $output" >>"$BATS_TEST_TMPDIR/wrong"
}

# in_all CHECK LAB...: runs the check for each lab; fails if one is wrong.
in_all() {
    in_pairs "$@"
    [ ! -e "$BATS_TEST_TMPDIR/wrong" ] || { cat "$BATS_TEST_TMPDIR/wrong"; return 1; }
}

@test "the unsolved skeletons of labs 2 to 5 have no points" { in_all no_points 2 3 4 5; }

@test "the unsolved skeletons of labs 6 to 13 have no points" { in_all no_points 6 7 9 13; }

# bats test_tags=slow
@test "the unsolved skeleton of lab 11 has no points" { in_all no_points 11; }

@test "an unsolved skeleton's gaps are named" {
    check -1 3 "$BATS_FILE_TMPDIR/lab3.cu"
    says "0.00 of 100 points"
    says "every wrong element is its own input"
    says "gap 3 is still empty"
    # Nothing but the lab's name stands before the first gap.
    [ "$(grep -n "gap 1 is still empty" <<<"$output")" = "$(sed -n '3{s/^/3:/;p;}' <<<"$output")" ]
}

# full_points LAB [OPTION...]: its solution gets all points, with these options.
full_points() {
    local lab=$1
    check "$lab" "build/labs/reference$lab.ptx" --json "${@:2}"
    [ "$status" -eq 0 ] && [ "$(field points)" = "$(field most)" ] &&
        [ "$(field right_runs)" = "$(field runs)" ] ||
        echo "lab $lab ${*:2}: $output" >>"$BATS_TEST_TMPDIR/wrong"
}

@test "the solutions of labs 2 to 5 have all points" { in_all full_points 2 3 4 5; }

@test "the solutions of labs 6 to 13 have all points" { in_all full_points 6 7 9 13; }

@test "the solution of lab 11 has all points" { in_all full_points 11; }

drawn() { full_points "$1" --drawn --seed 18446744073709551615; }

# bats test_tags=slow
@test "each solution has all points at sizes that are drawn" { in_all drawn $LABS; }

# way_to_fill NAME: the lines below this name in gaps.txt.
way_to_fill() {
    awk -v name="$1" '/^== / { wanted = $2 == name; next } wanted && NF' tests/cli/gaps.txt
}

# fill_by_name NAME: the lab with its gaps filled in this way.
fill_by_name() {
    local name=$1 lab=${1%%-*} t=$BATS_TEST_TMPDIR
    way_to_fill "$name" >"$t/$name.way"
    cat "build/labs/reference$lab.cu" "$t/$name.way" >"$t/$name.gaps"
    sed -n 's,^// sed: ,,p' "$t/$name.way" >"$t/$name.sed"
    fill_gaps "$lab" "$t/$name.gaps" "$BATS_FILE_TMPDIR/lab$lab.cu" | sed -f "$t/$name.sed"
}

# fill_and_check NAME: a solution with the gaps of this way to fill them, and with the commands of
# its lines that begin with `// sed: `. Its second line says the points that it gets (from, to) and
# words of the reason. Its name begins with the lab's number.
fill_and_check() {
    local name=$1 lab=${1%%-*} low high words points t=$BATS_TEST_TMPDIR
    fill_by_name "$name" >"$t/$name.cu"
    read -r low high words < <(sed -n 's,^// expect: ,,p' "$t/$name.way")
    check "$lab" "$t/$name.cu" --no-gpu --drawn --seed 5
    points=$(sed -n 's/^\([0-9.]*\) of 100 points: .*/\1/p' <<<"$output")
    awk -v points="$points" -v low="$low" -v high="$high" \
        'BEGIN { exit points == "" || points < low || points > high }' &&
        grep -qF -e "$words" <<<"$output" ||
        echo "$name: $points, not $low to $high ($words): $output" >>"$t/unexpected"
}

# bats test_tags=slow
@test "each way to fill a lab's gaps gets the points that it deserves, and the reason" {
    [ "$(grep -c '^== ' tests/cli/gaps.txt)" -ge 6 ]
    # shellcheck disable=SC2046
    in_pairs fill_and_check $(sed -n 's/^== //p' tests/cli/gaps.txt)
    [ ! -e "$BATS_TEST_TMPDIR/unexpected" ] || { cat "$BATS_TEST_TMPDIR/unexpected"; return 1; }
}

# shown_try CHAPTER: what a chapter shows of a first try, a regular expression a line.
shown_try() {
    awk '/^## / { mine = $0 == "## Your turn" } mine && /^```/ { inside = !inside; next }
         mine && inside && !/^make / && $0 != "…"' "$1" |
        sed 's/[][\\.*^$+?(){}|]/\\&/g; s/…/.*/g'
}

# bats test_tags=slow
@test "the chapters show what the check prints for a first try" {
    local top=$PWD nvcc lab line
    nvcc=$(common/build/toolkit.sh)/bin/nvcc
    mkdir "$BATS_TEST_TMPDIR/labs"
    for name in 2-no-barrier 3-left-sum-overwritten 4-root-without-padding 5-sum-after-clearing \
        6-inclusive 7-loops 9-shuffle-in-a-branch 11-window-of-32 13-inclusive; do
        lab=${name%%-*}
        fill_by_name "$name" >"$BATS_TEST_TMPDIR/labs/lab$lab.cu"
        (cd "$BATS_TEST_TMPDIR" && "$top/build/labs/check-lab" "$lab" "labs/lab$lab.cu" --no-gpu \
            --nvcc "$nvcc") >"$BATS_TEST_TMPDIR/printed" || true
        shown_try notes/"$(printf %02d "$lab")"-*.md >"$BATS_TEST_TMPDIR/shown"
        [ "$(wc -l <"$BATS_TEST_TMPDIR/shown")" -ge 2 ]
        while IFS= read -r line; do
            grep -qxE -e "$line *" "$BATS_TEST_TMPDIR/printed" ||
                { echo "lab $lab: nothing printed is $line"; cat "$BATS_TEST_TMPDIR/printed"
                  return 1; }
        done <"$BATS_TEST_TMPDIR/shown"
    done
}

# In a copy, since labs/ may hold somebody's work.
# bats test_tags=slow
@test "make labN, firstN and exerciseN write a file once, and leave it alone after that" {
    unset MAKEFLAGS MAKELEVEL MFLAGS
    mkdir "$BATS_TEST_TMPDIR/copy"
    ln -s "$PWD"/{Makefile,common,profiles,tests,notes,steps,build} "$BATS_TEST_TMPDIR/copy"
    cd "$BATS_TEST_TMPDIR/copy"
    while IFS='|' read -r name written each_time; do
        run -0 make --no-print-directory "$name"
        says "labs/$name.cu is written. $written; then: make check"
        says "$each_time"
        echo mine >"labs/$name.cu"
        run -0 make --no-print-directory "$name"
        says "stays as it is"
        says "$each_time"
        [ "$(cat "labs/$name.cu")" = mine ]
    done <<END
lab3|Fill in its gaps|$(sed -n '/^== 3$/{n;p;}' common/tools/labs/tasks.txt)
first1|Write the line that is missing|
exercise3|What to do is below|What did the threads without work do?
END
}

# without_barrier LAB NUMBER: writes the solution without its barrier of this number to $source.
without_barrier() {
    source=$BATS_TEST_TMPDIR/lab$1.cu
    awk -v k="$2" '/^ *__syncthreads\(\);/ && ++n == k { sub(/__syncthreads\(\)/, "") } { print }' \
        "build/labs/reference$1.cu" >"$source"
}

# line_of CODE: the number of its line in $source.
line_of() { grep -nF -e "$1" "$source" | sed -n '1s/:.*//p'; }

# hint_of LAB LEVEL: of $source, as one line.
hint_of() {
    check "$1" "$source" --hint "$2"
    output=${output//$'\n'/ }
}

# bats test_tags=slow
@test "a missing barrier is blamed on its two accesses, in verdict and hint" {
    local source swap add loads
    without_barrier 3 2
    swap=$(line_of "temp[ai] = temp[bi];") add=$(line_of "temp[bi] += t;")
    check 3 "$source" --no-gpu
    [ "$(grep -c '  correctness  ' <<<"$output")" -eq 1 ]
    says "  correctness  $source:$swap: n = "
    says "the error that the checkers report between lines $swap and $add may be the cause"
    says "hazards      $source:$swap: n = 4: "
    says "(read-after-write) in shared memory between this line and line $add;"
    hint_of 3 2
    says "The accesses are at $source:$swap and line $add."
    hint_of 3 3
    says "The two accesses: $source:$swap and line $add."
    says "a __syncthreads() is missing between the two"
    without_barrier 3 1
    add=$(line_of "temp[bi] += temp[ai];")
    check 3 "$source" --no-gpu
    says "the error that the checkers report between threads at line $add may be the cause"
    hint_of 3 2
    says "The accesses are at $source:$add, in different threads."
    without_barrier 2 1
    check 2 "$source" --no-gpu
    loads=$(line_of 'g_idata[thid - 1]') add=$(line_of 'thid - offset];')
    says "between lines $loads and $add may be the cause"
    says_not "-431602080"
    without_barrier 11 2
    hint_of 11 2
    says "In shared memory, a barrier is missing between them."
}

# What notes/labs.md shows is what the check prints for the example, but for lines left out at …
# bats test_tags=slow
@test "one thread that does all earns little, as notes/labs.md shows" {
    local top=$PWD points
    mkdir "$BATS_TEST_TMPDIR/labs"
    cp common/tools/labs/example/class/carla.cu "$BATS_TEST_TMPDIR/labs/lab3.cu"
    cd "$BATS_TEST_TMPDIR"
    run -1 "$top/build/labs/check-lab" 3 labs/lab3.cu --no-gpu \
        --nvcc "$("$top/common/build/toolkit.sh")/bin/nvcc"
    says $'\n20 of 20 runs are right.\n'
    says "too few lanes add at a time"
    says "without shared memory there is no merit in having no conflicts"
    says "where nothing runs in parallel, there is no merit in having no hazards"
    points=$(sed -n 's/^\([0-9]*\)\..* of 100 points: .*/\1/p' <<<"$output")
    [ "$points" -lt 25 ]
    sed 's/ *$//' <<<"$output" >printed
    awk '/^```/ { inside = !inside; lab = 0; next } inside && /^Lab 3: / { lab = 1 }
         lab && $0 != "…"' "$top/notes/labs.md" >shown
    [ "$(wc -l <shown)" -gt 8 ]
    run grep -vxFf printed shown
    [ -z "$output" ] || { echo "notes/labs.md shows what is not printed: $output"; return 1; }
    echo "hazards 1" >"$BATS_TEST_TMPDIR/weights"
    cd "$top"
    check 3 "$BATS_TEST_TMPDIR/labs/lab3.cu" --weights "$BATS_TEST_TMPDIR/weights" --hint 3
    says "let many lanes add at a time"
}

# bats test_tags=slow
@test "what cannot be run has no points and a reason" {
    local t=$BATS_TEST_TMPDIR
    echo 'a syntax error' >"$t/error.cu"
    check -1 3 "$t/error.cu"
    says 'error.cu(1): error'
    says_not "points:"
    says "It does not compile; the compiler says where, above. Nothing has run, so no points are "
    tests/cases/cheats/cheats.py "$t" malformed-ptx large-shared
    check -1 3 "$t/malformed-ptx.cu"
    says 'ptxas fatal'
    says "It does not compile; the compiler says where, above."
    check -1 3 "$t/large-shared.cu"
    says "kernel scan_block uses too much shared data (0x13880 bytes, 0xc000 max)"
    sed s/10scan_block/10scan_black/ build/labs/reference3.ptx >"$t/name.ptx"
    check -1 3 "$t/name.ptx"
    says "There is no kernel called scan_block; keep the names of the lab's kernels."
    check -1 5 build/labs/reference6.ptx
    says "has other parameters than the lab passes"
    echo "not PTX" >"$t/not.ptx"
    check -1 3 "$t/not.ptx"
    says "0.00 of 100 points"
}

# The same limits as in a grading.
# bats test_tags=slow
@test "a compiler that needs too much or says too much is ended" {
    local t=$BATS_TEST_TMPDIR
    echo '#include "/dev/zero"' >"$t/zero.cu"
    check -1 3 "$t/zero.cu"
    says "It does not compile: the compiler needs too much time or memory."
    seq -f '#warning a long text, for the %.0fth time' 3000 >"$t/warnings.cu"
    check -1 3 "$t/warnings.cu"
    says "a long text, for the 1th time"
    says "(The compiler's other messages are left out.)"
    says "With this file, the compiler prints too many messages."
    [ "${#output}" -lt 20000 ]
    echo 'a syntax error' >"$t/error.cu"
    check -1 3 "$t/error.cu" --json --seed 5 --drawn
    says '"seed": 5,'
    says '"handed_out": false,'
    run -3 build/labs/check-lab 3 "$t/error.cu" --nvcc /bin/true
    says "/bin/true left no PTX; is it nvcc?"
}

# bats test_tags=slow
@test "an endless kernel is stopped after a number of instructions" {
    cat >"$BATS_TEST_TMPDIR/endless.cu" <<'END'
__global__ void scan_block(volatile float *out, const float *in, int n) { for (;;) out[0] = 1; }
END
    check -1 3 "$BATS_TEST_TMPDIR/endless.cu"
    says "was stopped; the reason is below"
    # On a busy machine some sizes are given up before that, as a loop that waits for nothing.
    [[ $output == *"kernel scan_block has executed more than 5000"*" warp instructions"* ]]
    says "0.00 of 100 points"
    says_not "hazards      "
}

@test "what kernels print is shown, and a flood of it ends the run" {
    cat >"$BATS_TEST_TMPDIR/printf.cu" <<'END'
#include <stdio.h>
__global__ void scan_block(float *out, const float *in, int n)
{
    for (int i = 0; i < (n > 100 ? 1000000 : 1); i++) printf("n is %d\033[2J\n", n);
}
END
    check -1 3 "$BATS_TEST_TMPDIR/printf.cu"
    says "n is 2\\x1b[2J"$'\n'
    says "n = 128 (similarly 4 more sizes): the kernels have printed more than 4 MiB"
    says "0.00 of 100 points"
}

@test "the temporary folder is removed" {
    mkdir "$BATS_TEST_TMPDIR/tmp"
    TMPDIR=$BATS_TEST_TMPDIR/tmp check -1 3 "$BATS_FILE_TMPDIR/lab3.cu"
    [ -z "$(ls -A "$BATS_TEST_TMPDIR/tmp")" ]
}

@test "wrong command lines are one sentence and exit with 2" {
    local ptx=build/labs/reference3.ptx
    for options in "" "3" "8 $ptx" "3 nowhere.cu" "3 $ptx --seed -1" "3 $ptx --seed 1x" \
        "3 $ptx --weights nowhere" "3 $ptx --fast" "3 $ptx more" "3 common" \
        "3 $ptx --json --hint 1"; do
        # shellcheck disable=SC2086
        run build/labs/check-lab $options
        [ "$status" -eq 2 ] || { echo "$options: $status $output"; return 1; }
        [ "${#lines[@]}" -eq 1 ]
        says "check-lab: "
    done
    run build/labs/check-lab 3 nowhere.cu
    says '`make lab3` writes a skeleton'
    run build/labs/check-lab 3 labs/bug99.cu
    says 'labs/bug99.cu cannot be read: No such file or directory; `make bug99` writes it.'
    run build/labs/check-lab 3 common
    says "common is a folder; give a file, such as common/lab3.cu."
    run -0 build/labs/check-lab --help
    says "--weights FILE"
    run ! build/labs/check-lab 3 labs.cu --nvcc /nowhere/nvcc
}

# bats test_tags=slow
@test "make checkN does not fail for fewer points, as check-lab does" {
    [ -z "${SANITIZED:-}" ] || skip "make would build this tree in the ordinary way"
    unset MAKEFLAGS MAKELEVEL
    local recipe
    recipe=$(make --no-print-directory -n check3 | tail -n 2)
    run -0 sh -c "${recipe/labs\/lab3.cu/$BATS_FILE_TMPDIR/lab3.ptx}"
    says "0.00 of 100 points"
    run -2 sh -c "${recipe/labs\/lab3.cu/nowhere.cu}"
    says "nowhere.cu cannot be read"
    check -1 3 "$BATS_FILE_TMPDIR/lab3.ptx"
    recipe=$(make --no-print-directory -n check-predict | tail -n 1)
    build/labs/bank-lab predict write "$BATS_TEST_TMPDIR/predict.txt" build/labs/banks.ptx
    run -0 sh -c "${recipe/labs\/predict.txt/$BATS_TEST_TMPDIR/predict.txt}"
    says "0 of 20 right"
}

# debug_lab3 COMMAND…: the session of `make debug3` with labs/lab3.cu in the test's folder.
debug_lab3() {
    local recipe
    recipe=$(make --no-print-directory -n debug3 | tail -n 6 |
        sed "s,\(build/\)*\(labs/lab3\),$BATS_TEST_TMPDIR/\2,g")
    run -0 sh -c "$recipe" < <(printf '%s\n' "$@")
}

# bats test_tags=slow
@test "make debug3 leads from a wrong run to the line that made it so" {
    [ -z "${SANITIZED:-}" ] || skip "make would build this tree in the ordinary way"
    unset MAKEFLAGS MAKELEVEL
    local top=$PWD file=$BATS_TEST_TMPDIR/labs/lab3.cu
    mkdir "$BATS_TEST_TMPDIR/labs"
    cp build/labs/reference3.cu "$file"
    debug_lab3 run
    says "The output of all 20 runs is right with nvcc -G. Run 1, with n = 2, begins."
    says "The program has ended"
    sed '/(part D)/,$s/thid + 2) - 1/thid + 1) - 1/' build/labs/reference3.cu >"$file"
    debug_lab3 run 'goto 1' 'who temp[2 * thid]' 'goto 1' 'print bi' continue continue rc
    says "Run 1, with n = 2, is wrong: element 0 is 3, and should be 0."
    says "thread (0,0,0), at lab3.cu:$(grep -n 'temp\[bi\] += t;' "$file" | cut -d : -f 1)"
    says "bi = 0"
    says "This is as far back as the history goes"
    [ "$(grep -c '^element 0 is 3, and should be 0$' <<<"$output")" -eq 2 ]
    run -1 env -C "$BATS_TEST_TMPDIR" "$top/build/labs/check-lab" 3 labs/lab3.cu --no-gpu \
        --nvcc "$(common/build/toolkit.sh)/bin/nvcc"
    says '`make debug3` opens the first wrong run in the debugger'
    sed '/gap 3/,/(part D)/{/__syncthreads/d}' build/labs/reference3.cu >"$file"
    debug_lab3 run other
    says "Race ("
    says "lab3.cu:$(grep -n 'temp\[bi\] += t;' "$file" | cut -d : -f 1) (PTX"
    sed '/g_odata\[2 \* thid + 1\] =/d' build/labs/reference3.cu >"$file"
    debug_lab3 run back
    says "element 1 was never written; it should be "
    says "No thread has stored in this element"
    says "thread (0,0,0), at lab3.cu:"
}

@test "a right solution is told which barrier it does not need, and loses nothing" {
    local line
    line=$(grep -n '__syncthreads();' build/labs/reference3.cu | sed -n '3s/:.*//p')
    check -0 3 build/labs/reference3.ptx
    says "    0.00  hazards      reference3.cu:$line: n = 2048: a barrier that this run does not "
    [ "$(grep -c "does not need" <<<"$output")" = 1 ]
    check -0 3 build/labs/reference3.ptx --json
    says '"text": "n = 2048: a barrier that this run does not need'
    check -1 3 build/labs/reference5.ptx
    says_not "does not need"
}

@test "weights of one's own" {
    printf 'work 1\nhazards 2\n' >"$BATS_TEST_TMPDIR/weights"
    check -0 3 build/labs/reference3.ptx --weights "$BATS_TEST_TMPDIR/weights"
    says "3.00 of 3 points"
}

# bats test_tags=slow
@test "the JSON is valid" {
    need python3
    for file in "$BATS_FILE_TMPDIR/lab3.cu" build/labs/reference5.ptx; do
        check 3 "$file" --json
        python3 -c 'import json, sys; v = json.loads(sys.argv[1]); assert v["lab"] == 3' "$output"
    done
}

@test "every topic of the hints has three levels, and every gap has a topic" {
    awk '/^\[/ { if (topic && levels != "123") { print topic, levels; wrong = 1 }
                 topic = $0; levels = "" }
         /^[0-9] / { levels = levels substr($0, 1, 1) }
         END { exit wrong || levels != "123" }' common/tools/labs/hints.txt
    for lab in $LABS; do
        for gap in $(sed -n 's,.*// ---- gap \([0-9]*\):.*,\1,p' "$BATS_FILE_TMPDIR/lab$lab.cu"); do
            grep -qF "[lab$lab gap $gap]" common/tools/labs/hints.txt || {
                echo "$lab $gap"
                return 1
            }
        done
    done
    grep -oE '", "[a-z0-9 ]+"}|(return|cause :|\?|:|detail =) "[a-z][a-z ]*"' \
        common/tools/labs/hint.c |
        sed 's/"[^"]*$//; s/.*"//' | sort -u >"$BATS_TEST_TMPDIR/topics"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/topics")" -ge 20 ]
    while IFS= read -r topic; do
        grep -qE "^\[([a-z0-9]* )*$topic\]" common/tools/labs/hints.txt || {
            echo "$topic"
            return 1
        }
    done <"$BATS_TEST_TMPDIR/topics"
    # No chapter before 8 has told what a trace is, and not each has a table of levels.
    run -1 grep -nE "emu --trace|table of levels|n = 8" common/tools/labs/hints.txt
}

# hint -STATUS LEVEL FILE: the hint for lab 3.
hint() { check "$1" 3 "$3" --hint "$2"; }

# bats test_tags=slow
@test "hints follow what the check has found" {
    hint -0 3 "$BATS_FILE_TMPDIR/lab3.cu"
    says "ai = offset * (2 * thid + 1) - 1"
    hint -0 1 build/labs/reference3.ptx
    says "Full points"
    hint -0 2 build/labs/reference6.ptx
    says "The lab launches kernels by the names and with the parameters of the skeleton."
    hint -2 4 build/labs/reference3.ptx
    says '"4" is not a level of hints'
}

# hints LAB: all levels for $source.
hints() {
    local level said=
    for level in 1 2 3; do
        check "$1" "$source" --hint $level
        [ "$status" -eq 0 ] || return
        says_not "{"
        [ -z "$(grep -E '^.{100}[^ ]* ' <<<"$output")" ] || fail_wide || return
        said+=${output//$'\n'/ }$'\n'
    done
    output=$said
}

# A line of a hint has more than 100 columns, and could have been broken.
fail_wide() {
    printf 'too wide: %s\n' "$output"
    return 1
}

# wrong_solution NUMBER NAME: $source becomes the row of hints.txt, which is a way to fill gaps or a
# changed solution; $rows becomes what is said of it.
wrong_solution() {
    local script=$BATS_TEST_TMPDIR/$1.sed row
    source=$BATS_TEST_TMPDIR/$1/lab${2%%-*}.cu
    mkdir "$BATS_TEST_TMPDIR/$1"
    row=$(awk -v number="$1" '/^== / { n++; next } n == number && NF && !/^#/' tests/cli/hints.txt)
    rows=$(grep '^[-+?] ' <<<"$row")
    grep -v '^[-+?] ' <<<"$row" >"$script" || true
    case $2 in *-*) fill_by_name "$2" ;; *) sed -f "$script" "build/labs/reference$2.cu" ;; esac \
        >"$source"
    ! cmp -s "$source" "build/labs/reference$2.cu"
}

# hints_are NUMBER:NAME: the hints of this row say what stands there.
hints_are() {
    local lab=${1#*:} source rows kind text code verdict
    wrong_solution "${1%%:*}" "$lab" || echo "$1 changes nothing" >>"$BATS_TEST_TMPDIR/wrong"
    lab=${lab%%-*}
    check "$lab" "$source" --no-gpu
    verdict=$output
    hints "$lab" || echo "$1: $output" >>"$BATS_TEST_TMPDIR/wrong"
    while read -r kind text; do
        if [[ $text == *@{* ]]; then
            code=${text#*@\{} code=${code%%\}*}
            text=${text/"@{$code}"/"$source:$(line_of "$code")"}
        fi
        case $kind in
        +) [[ $output == *"$text"* ]] ;;
        -) [[ $output != *"$text"* ]] ;;
        *) [[ $verdict == *"$text"* ]] ;;
        esac || echo "$1: $kind $text in: $output" >>"$BATS_TEST_TMPDIR/wrong"
    done <<<"$rows"
}

# bats test_tags=slow
@test "hints are about the cause, name the smallest wrong size, and ask for no barrier in vain" {
    # shellcheck disable=SC2046
    in_all hints_are $(sed -n 's/^== //p' tests/cli/hints.txt | cat -n | awk '{ print $1 ":" $2 }')
}

@test "a GPU checks a second time, and is left out by name without one" {
    [ -z "${SANITIZED:-}" ] || skip "a library for the sanitized program would have to be sanitized"
    local t=$BATS_TEST_TMPDIR
    gcc -std=c11 -Wall -Wextra -Werror -shared -fPIC tests/unit/labs/driver/fake.c \
        -o "$t/libcuda.so.1"
    export LD_LIBRARY_PATH=$t
    check -0 3 build/labs/reference3.ptx
    says "GPU: fake 0: 20 of 20 runs right; n = 2048 takes 5.0 µs, the step's solution 5.0 µs"
    FAKE=wrong check -1 3 build/labs/reference3.ptx
    says "GPU: fake 0: 0 of 20 runs right; n = 2: element 1 is "
    says_not "only the last element is wrong"
    FAKE=fault check -0 3 build/labs/reference3.ptx
    says "GPU: fake 0: running the kernels failed: an illegal address"
    FAKE=none check -0 3 build/labs/reference3.ptx
    says "GPU: skipped, there is no GPU."
    says "Compare with steps/03-work-efficient/scan.cu, and read on in notes/03-work-efficient.md."
    says " Next: make lab4"
    LD_LIBRARY_PATH='' check 13 build/labs/reference13.ptx
    says_not "Next"
    check 3 build/labs/reference3.ptx --no-gpu
    says_not "GPU"
    check 3 "$BATS_FILE_TMPDIR/lab3.ptx" --json
    says_not "GPU"
}

# puzzle -STATUS N SED: the N-th first puzzle, changed, and what its check says, with $compiler.
puzzle() {
    sed "$3" "steps/first-kernel/first$2.cu" >"$BATS_TEST_TMPDIR/first$2.cu"
    run "$1" common/tools/labs/check_first.sh "$BATS_TEST_TMPDIR/first$2.cu" "$compiler"
}

# bats test_tags=slow
@test "the first puzzles: solved, unsolved, and with a usual mistake" {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    export NO_COLOR=1
    local number wrong compiler
    for compiler in nvcc own; do
        while IFS='|' read -r number wrong; do
            puzzle -0 "$number" ""
            says "first$number.cu is right."
            [ "$compiler" = nvcc ] || says "Compiled without nvcc"
            [ "$number" = 5 ] || says "Next: make first$((number + 1))"
            puzzle -1 "$number" "s|[^ ].*// lab: |// |" # the line is left out, as in labs/
            says_not "is right"
            says "$wrong"
        done <<'END'
1|out[0] is 0, and should be 250000
2|thread (232,0,0) in block (3,0,0)
3|out[1] is 4, and should be 5
4|out[1] is 0, and should be 40
5|out[256] is 0, and should be 59536
END
        puzzle -1 3 "/__syncthreads/d"
        says "all 256 numbers are right"
        says "Race reported"
    done
    compiler=nvcc
    puzzle -1 2 "/lab: /d"
    [ "$(grep -c Invalid <<<"$output")" -eq 1 ] # one finding, not 24
    puzzle -1 1 "s/ *out.*lab: /for (;;) atomicAdd(out, 1); \/\/ /"
    says "kernel square has executed more than 16777216 warp instructions"
    puzzle -2 1 "s/int i/int i i/"
    run -2 common/tools/labs/check_first.sh labs/none.cu
    says "there is no labs/none.cu; make none writes it."
}

# bats test_tags=slow
@test "learn.sh goes on when a puzzle is right, and checks it again when it is saved" {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    local t=$BATS_TEST_TMPDIR
    cp steps/first-kernel/first4.cu "$t"
    sed '/lab: /d' steps/first-kernel/first5.cu >"$t/first5.cu"
    common/tools/labs/learn.sh "$t/first4.cu" "$t/first5.cu" >"$t/said" 2>&1 3>&- &
    timeout 120 sh -c "until grep -q '^Change $t/first5.cu' $t/said; do sleep 0.1; done"
    cp steps/first-kernel/first5.cu "$t"
    wait $!
    run cat "$t/said"
    [[ $output == *first4.cu\ is\ right.*out\[256\]\ is\ 0*first5.cu\ is\ right.*last\ puzzle* ]]
    says_not "Next: make"
}

# bug_is_found NUMBER: its check has fewer points, and the words that its section promises.
bug_is_found() {
    local head lab words
    head=$(sed -n "/^== $1\$/{n;p;}" common/tools/labs/exercises/bugs.txt)
    lab=$(sed -n 's/^# lab \([0-9]*\).*/\1/p' <<<"$head")
    words=$(sed -n 's/.*(\(.*\))$/\1/p' <<<"$head")
    [ -n "$lab" ] && [ -n "$words" ] ||
        echo "bug $1 has no head: $head" >>"$BATS_TEST_TMPDIR/not_found"
    common/tools/labs/exercises/exercise.sh --bug "$1" >"$BATS_TEST_TMPDIR/bug$1.cu"
    check "$lab" "$BATS_TEST_TMPDIR/bug$1.cu" --no-gpu
    [ "$status" -eq 1 ] && grep -qF -e "$words" <<<"$output" ||
        echo "bug $1, $words: $output" >>"$BATS_TEST_TMPDIR/not_found"
}

# bats test_tags=slow
@test "each broken kernel compiles, and is found as its section says" {
    [ "$(sed -n 's/^== //p' common/tools/labs/exercises/bugs.txt | tr '\n' ' ')" = \
        "1 2 3 4 5 6 7 8 9 10 " ]
    in_pairs bug_is_found 1 2 3 4 5 6 7 8 9 10
    [ ! -e "$BATS_TEST_TMPDIR/not_found" ] || { cat "$BATS_TEST_TMPDIR/not_found"; return 1; }
    # It does not say where the fault is.
    run cat "$BATS_TEST_TMPDIR/bug1.cu"
    says "Bug 1: the work-efficient scan"
    says_not "gap"
    run -2 common/tools/labs/exercises/exercise.sh --bug 11
    says 'there is no bug "11"; there are 1 to 10.'
}

# exercise_is_fair CHAPTER: what its exercise begins with compiles and has fewer points, and the
# solution that is under test has all: a lab's, or one of its own.
exercise_is_fair() {
    local judge start=$BATS_TEST_TMPDIR/exercise$1.cu
    judge=$(common/tools/labs/exercises/exercise.sh --judge "$1")
    common/tools/labs/exercises/exercise.sh "$1" >"$start"
    check "$judge" "$start" --json
    [ "$status" -eq 1 ] && ! grep -q "does not compile" <<<"$output" ||
        echo "exercise $1: $output" >>"$BATS_TEST_TMPDIR/unfair"
    check "$judge" "build/labs/reference${judge/exercise/-exercise}.ptx" --json
    [ "$status" -eq 0 ] && [ "$(field points)" = 100 ] ||
        echo "solution of exercise $1: $output" >>"$BATS_TEST_TMPDIR/unfair"
}

# bats test_tags=slow
@test "each exercise has fewer points than its solution, and a text in its chapter" {
    local chapter
    # shellcheck disable=SC2086
    in_pairs exercise_is_fair $LABS
    [ ! -e "$BATS_TEST_TMPDIR/unfair" ] || { cat "$BATS_TEST_TMPDIR/unfair"; return 1; }
    for chapter in $LABS; do
        run common/tools/labs/exercises/exercise.sh --task "$chapter"
        says "labs/exercise$chapter.cu"
        says_not "*Write.*"
        says_not "## "
    done
    run head -n 5 "$BATS_TEST_TMPDIR/exercise3.cu"
    says " * Exercise 3: the work-efficient scan"
    says "make check-exercise3"
    run -2 common/tools/labs/exercises/exercise.sh 8
    says 'chapter "8" has no exercise.'
    run build/labs/check-lab exercise4 labs/exercise99.cu
    says 'labs/exercise99.cu cannot be read: No such file or directory; `make exercise99` writes'
}

@test "exercise 4 has no room for an unused word" {
    check -1 exercise4 build/labs/reference4.ptx --no-gpu
    says "Exercise 4: no bank conflicts, and no unused word"
    says "is out of bounds (256 bytes of shared memory a block)"
    check -0 exercise4 build/labs/reference-exercise4.ptx --no-gpu
    says "  2048      4094     4094         0        0 "
}

# bats test_tags=slow
@test "make says which labs there are, and races only where there is a GPU" {
    [ -z "${SANITIZED:-}" ] || skip "make would build this tree in the ordinary way"
    unset MAKEFLAGS MAKELEVEL
    run -2 make --no-print-directory lab8
    says "There is no lab8; there are labs 2 to 7, 9, 11 and 13, broken kernels 1 to 10, and"
    run -2 make --no-print-directory check8
    says "There is no check8; "
    run -2 make --no-print-directory check-bug11
    says "There is no check-bug11; "
    run -2 make --no-print-directory exercise8
    says "exercises of the chapters 2 3 4 5 6 7 9 11 13."
    mkdir "$BATS_TEST_TMPDIR/driver"
    gcc -shared -fPIC tests/unit/labs/driver/fake.c -o "$BATS_TEST_TMPDIR/driver/libcuda.so.1"
    FAKE=none LD_LIBRARY_PATH=$BATS_TEST_TMPDIR/driver \
        run -0 make --no-print-directory race RACE=build/labs/reference11.ptx
    says "GPU: skipped, there is no GPU."
    says_not "time"
}
