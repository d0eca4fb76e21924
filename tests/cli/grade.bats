#!/usr/bin/env bats
# grade.bats — `make grade`: what each cheat gets, strange names, interruptions, and the same
# result twice. `make test-class` grades all cheats.
# bats file_tags=slow
load common

# Cheats that are quick: one of each kind.
cheats() {
    printf '%s\n' include-absolute include-cub messages malformed-ptx endless write-outside \
        hidden-integer large-shared one-thread prints-pass class/right-renamed \
        class/wrong-inclusive
}

grade() { build/labs/grade-labs --nvcc "$(common/build/toolkit.sh)/bin/nvcc" "$@"; }

# A sandbox is needed, and CI knows whether one can be started. A sanitized run-lab needs more
# addresses than the sandbox allows.
need_sandbox() {
    [ -z "${SANITIZED:-}" ] || skip "a sanitized run-lab cannot run in the sandbox"
    . common/build/tools.sh
    try_sandbox || [ -n "$SANDBOX_REQUIRED" ] ||
        skip "no sandbox can be started: make setup-labs installs bubblewrap"
}

# Names that a shell, a spreadsheet, a terminal or a browser could obey, and what is no file.
strange() {
    local honest=$1/right-renamed.cu
    cp "$honest" "$1/=cmd|'x'!A1.cu"
    # These do not compile, and so take less time.
    echo '#error' >"$1/-rf.cu"
    echo '#error' >"$1/"$'a\nb\e[31m.cu'
    echo '#error' >"$1/"$'bytes\xff.cu'
    mkdir "$1/<script>alert(1)<&\"'\$(touch cheated)"
    cp "$honest" "$1/<script>alert(1)<&\"'\$(touch cheated)/lab3.cu"
    mkdir "$1/folder.cu" "$1/empty"
    mkfifo "$1/fifo.cu"
    ln -s right-renamed.cu "$1/link.cu"
    mkdir "$1/linked"
    ln -s ../right-renamed.cu "$1/linked/lab3.cu"
    ln -s empty "$1/folder-link"
    head -c 300000 /dev/zero >"$1/large.cu"
    : >"$1/nothing.cu"
    cp build/labs/reference3.cu "$1/copied.cu"
    echo "no submission" >"$1/notes.txt"
    cp "$honest" "$1/.hidden.cu"
}

# grade_class: what most tests look at.
grade_class() {
    grade 3 "$class" --out "$graded" --seed 7 >"$BATS_FILE_TMPDIR/said" 2>&1 ||
        echo "exit code $?" >>"$BATS_FILE_TMPDIR/said"
}

# grade_twins: two small submissions, whose PTX is taken from the class, graded with seed 7. Tests
# work on copies of the results.
grade_twins() {
    local of
    mkdir -p "$twins" "$twins_graded/state"
    cp "$graded/state/solution" "$twins_graded/state/"
    for of in anna:right-renamed bob:one-thread; do
        cp "$class/${of#*:}.cu" "$twins/${of%:*}.cu"
        for kind in cu ptx txt; do
            cp "$graded/state/${of#*:}.$kind" "$twins_graded/state/${of%:*}.$kind"
        done
    done
    grade 3 "$twins" --out "$twins_graded" --seed 7 >>"$BATS_FILE_TMPDIR/said" 2>&1
}

setup_file() {
    . common/build/tools.sh
    class=$BATS_FILE_TMPDIR/class
    graded=$BATS_FILE_TMPDIR/graded
    twins=$BATS_FILE_TMPDIR/twins
    twins_graded=$BATS_FILE_TMPDIR/twins-graded
    export class graded twins twins_graded
    mkdir "$class"
    # shellcheck disable=SC2046
    tests/cases/cheats/cheats.py "$class" $(cheats)
    strange "$class"
    [ -z "${SANITIZED:-}" ] && try_sandbox || return 0
    grade_class
    grade_twins
}

# Two tests need no sandbox. The others have a copy of the twins' results.
setup() {
    case $BATS_TEST_DESCRIPTION in "without a sandbox"* | "the command line"*) return ;; esac
    need_sandbox
    out=$BATS_TEST_TMPDIR/out
    cp -r "$twins_graded" "$out"
}

# row FILE: the row of a submission in grades.csv.
row() { grep -F ",\"$1\"," "$graded/grades.csv"; }

@test "every cheat gets what it deserves" {
    mkdir "$BATS_TEST_TMPDIR/class"
    # shellcheck disable=SC2046
    tests/cases/cheats/cheats.py "$BATS_TEST_TMPDIR/class" $(cheats)
    cat "$BATS_FILE_TMPDIR/said"
    run -0 tests/cases/cheats/cheats.py --compare "$BATS_TEST_TMPDIR/class" "$graded/grades.csv"
    [ -z "$output" ] || { echo "$output"; return 1; }
    [ "$(grep -c ',judged,' "$graded/grades.csv")" = $(($(cheats | wc -l) + 15)) ]
    [ ! -e cheated ]
}

@test "strange names are neutralised" {
    run cat "$graded/grades.csv"
    says "\"'=cmd|'x'!A1\",\"'=cmd|'x'!A1.cu\",judged,100.00,"
    says "\"'-rf\",\"'-rf.cu\",judged,0.00,"
    says '"a\nb\x1b[31m","a\nb\x1b[31m.cu",judged,0.00,'
    says '"bytes\xff",'
    says "\"<script>alert(1)<&\"\"'\$(touch cheated)/lab3.cu\",judged,100.00,"
    ! grep -l '<script>' "$graded"/reports/*.html
    grep -q '&lt;script&gt;alert(1)&lt;&amp;&quot;&#39;\$(touch cheated)' "$graded"/reports/*.html
    # Only bytes that are text, also in the names of the reports.
    ! LC_ALL=C grep -lP '[^\x09\x0a\x20-\x7e\x80-\xff]' "$graded"/reports/* "$graded/grades.csv"
    ! ls "$graded/reports" | LC_ALL=C grep -v '^[A-Za-z0-9~_.-]*$'
    [ ! -e cheated ] && [ ! -e "$class/cheated" ]
}

@test "the same PTX is named, with other names and other lines" {
    run cat "$graded/grades.csv"
    says ",reason,same PTX as,report,note"$'\n'
    run row right-renamed.cu
    says "; '=cmd|'x'!A1.cu\""
    run row copied.cu
    says ',"step 3","reports/copied.html",""'$'\n'
    run row hidden-integer.cu
    says ',"","reports/hidden-integer.html",""'$'\n'
}

@test "a report marks lines and needs no other file" {
    run cat "$graded/reports/one-thread.html"
    says "<strong>"
    says 'class="lost"><i>'
    says "too few lanes add at a time"
    says "default-src 'none'"
    says_not "src="
    run cat "$graded/reports/include-cub.txt"
    says "cub/block/block_scan.cuh: No such file or directory"
    run cat "$graded/reports/include-cub.html"
    says "cub/block/block_scan.cuh: No such file or directory"
}

@test "a fresh seed is drawn and stored, and another one is refused" {
    local seed
    rm "$out/state/seed" "$out"/state/*.row
    run -0 grade 3 "$twins" --out "$out"
    seed=$(sed -n 's/lab 3 seed //p' "$out/state/seed")
    [ "$seed" != 7 ]
    says "seed $seed: $out/grades.csv"
    run -2 grade 3 "$twins" --out "$out" --seed 1
    says "holds grades of seed $seed: remove it, or give another --out"
}

@test "an interrupted grading goes on where it was" {
    cp -r "$twins" "$BATS_TEST_TMPDIR/twins"
    # As if it had been ended before bob was judged.
    rm "$out/state/bob.row" "$out/reports"/bob.* "$out/grades.csv"
    touch -d 2000-01-01 "$out"/state/* "$out"/reports/*
    run -0 grade 3 "$BATS_TEST_TMPDIR/twins" --out "$out"
    cmp "$out/grades.csv" "$twins_graded/grades.csv"
    [ -z "$(find "$out/state" "$out/reports" -newermt 2001-01-01 -type f ! -name 'bob.*')" ]
    [ -n "$(find "$out/reports" -newermt 2001-01-01 -name bob.html)" ]
    says_not "again"
    # Another version of anna's file is graded anew, and bob's row stays.
    echo >>"$BATS_TEST_TMPDIR/twins/anna.cu"
    touch -d 2000-01-01 "$out"/state/*
    run -0 grade 3 "$BATS_TEST_TMPDIR/twins" --out "$out"
    [ -n "$(find "$out/state" -newermt 2001-01-01 -name anna.row)" ]
    [ -z "$(find "$out/state" -newermt 2001-01-01 -name bob.row)" ]
    # A report has shown the sizes and inputs that the second version is graded on.
    says "anna.cu: handed in again after a report that shows the sizes and inputs of this seed"
    [ "$(grep -c ',"handed in again after' "$out/grades.csv")" = 1 ]
    grep -q '^"anna",.*"handed in again after' "$out/grades.csv"
}

@test "what is no longer handed in leaves no report" {
    mkdir "$BATS_TEST_TMPDIR/anna"
    cp "$twins/anna.cu" "$BATS_TEST_TMPDIR/anna"
    run -0 grade 3 "$BATS_TEST_TMPDIR/anna" --out "$out"
    says "1 submissions are no longer in $BATS_TEST_TMPDIR/anna; their reports are removed"
    [ "$(cd "$out/reports" && echo *)" = "anna.html anna.txt" ]
    ! grep -q bob "$out/grades.csv"
    run -0 grade 3 "$twins" --out "$out"
    diff -r "$twins_graded" "$out"
}

@test "everybody on the roster has a row, in its order" {
    local folder=$BATS_TEST_TMPDIR/twins none
    cp -r "$twins" "$folder"
    mkdir "$folder/Zoë_12_assignsubmission_file" "$folder/anna"
    mkfifo "$folder/Zoë_12_assignsubmission_file/lab3 (1).cu" "$folder/anna/x.cu"
    printf 'Zoë\r\ndora\r\nanna\r\n' >"$BATS_TEST_TMPDIR/roster"
    run -0 grade 3 "$folder" --out "$out" --roster "$BATS_TEST_TMPDIR/roster" --bom
    says "anna.cu: anna/x.cu is of the same student"
    says "bob.cu: not on the roster"
    [ "$(head -c 7 "$out/grades.csv")" = $'\ufeffname' ]
    run sh -c "cut -d , -f 1,2,3 '$out/grades.csv' | tail -n +2"
    [ "${lines[0]}" = '"Zoë","Zoë_12_assignsubmission_file/lab3 (1).cu",judged' ]
    [ "${lines[1]}" = '"dora","",nothing handed in' ]
    [ "${lines[2]}" = '"anna","anna.cu",judged' ]
    [ "${lines[3]}" = '"anna","anna/x.cu",judged' ]
    [ "${lines[4]}" = '"bob","bob.cu",judged' ]
    run cat "$out/grades.csv"
    none=0.00,100.00,0,0,0.0000,0.0000,0.0000,0.0000
    says "\"dora\",\"\",nothing handed in,$none,\"Nothing was handed in.\",\"\",\"\",\"\""$'\n'
    says '"reports/Zo~C3~AB_12_assignsubmission_file.html",""'$'\n'
    says '"reports/anna.html","anna/x.cu is of the same student"'$'\n'
    says '"reports/anna~2F.html","anna.cu is of the same student"'$'\n'
    run -0 grade 3 "$folder" --out "$out" --return "$BATS_TEST_TMPDIR/return"
    cmp "$BATS_TEST_TMPDIR/return/Zoë_12_assignsubmission_file/report.html" \
        "$out/reports/Zo~C3~AB_12_assignsubmission_file.html"
    cmp "$BATS_TEST_TMPDIR/return/anna/report.txt" "$out/reports/anna.txt"
    cmp "$BATS_TEST_TMPDIR/return/anna~2F/report.txt" "$out/reports/anna~2F.txt"
    run -2 grade 3 "$folder" --out "$out" --return "$BATS_TEST_TMPDIR/return"
    says "$BATS_TEST_TMPDIR/return is not empty: give a new folder by --return"
    run -2 grade 3 "$folder" --out "$out" --roster /nowhere
    says "/nowhere cannot be opened"
}

@test "the dry run of notes/instructor.md gives the table that it shows" {
    unset MAKEFLAGS MAKELEVEL
    local command
    command=$(grep '^make grade N=3 DIR=common/tools/labs/example/' notes/instructor.md)
    mkdir -p "$BATS_TEST_TMPDIR/dry/state"
    cp "$graded/state/solution" "$BATS_TEST_TMPDIR/dry/state/" # it need not be compiled again
    run -0 sh -c "$command OUT='$BATS_TEST_TMPDIR/dry'"
    awk '/^```/ { inside = 0 } /^name,file,status,/ { inside = 1 } inside' notes/instructor.md |
        diff - "$BATS_TEST_TMPDIR/dry/grades.csv"
}

@test "other weights judge all submissions again" {
    echo "work 1" >"$BATS_TEST_TMPDIR/weights"
    touch -d 2000-01-01 "$out"/state/*
    run -0 grade 3 "$twins" --out "$out" --weights "$BATS_TEST_TMPDIR/weights"
    says "are not those of 2 rows in $out; these submissions are judged again"
    [ "$(grep -c ',judged,[01].[0-9]*,1.00,' "$out/grades.csv")" = 2 ]
    # Nothing is compiled again.
    [ -z "$(find "$out/state" -newermt 2001-01-01 '(' -name '*.ptx' -o -name solution ')')" ]
    run -0 grade 3 "$twins" --out "$out"
    diff -r "$twins_graded" "$out"
}

@test "grades of another lab or of another seed are not mixed" {
    run -2 grade 4 "$twins" --out "$out"
    says "$out holds grades of lab 3: give another --out"
    echo "lab 3 se" >"$out/state/seed"
    run -2 grade 3 "$twins" --out "$out"
    says "their seed in $out/state/seed is lost: give it by --seed, or give another --out"
    rm "$out/state/seed"
    run -2 grade 3 "$twins" --out "$out"
    says "is lost"
    diff "$twins_graded/grades.csv" "$out/grades.csv"
    run -0 grade 3 "$twins" --out "$out" --seed 7
    says_not "judged again"
    diff -r "$twins_graded" "$out"
    rm "$out/state/seed"
    run -0 grade 3 "$twins" --out "$out" --seed 8
    says "2 rows in $out; these submissions are judged again"
}

@test "two graders do not work in one folder at a time" {
    need flock
    run -3 flock "$out/state/lock" build/labs/grade-labs 3 "$twins" --out "$out" \
        --nvcc "$(common/build/toolkit.sh)/bin/nvcc"
    says "another grader works in $out: wait until it has ended, or give another --out"
    diff -r "$twins_graded" "$out"
}

@test "a grader that is killed leaves no half results" {
    rm -r "$out"/state/bob.* "$out/state/anna.row" "$out/reports" "$out/grades.csv"
    # $! is to be the grader, and not a shell that waits for it.
    build/labs/grade-labs 3 "$twins" --out "$out" --seed 7 --jobs 1 \
        --nvcc "$(common/build/toolkit.sh)/bin/nvcc" >/dev/null 2>&1 3>&- &
    for _ in {1..600}; do [ ! -e "$out/state/bob.cu" ] || break; sleep 0.1; done
    kill -9 $!
    wait $! || true
    [ ! -e "$out/state/bob.row" ]
    run -0 grade 3 "$twins" --out "$out" --seed 7
    diff -r "$twins_graded" "$out"
}

@test "a failure of the grader costs no points" {
    rm "$out/state/anna.row" "$out"/state/bob.*
    mkdir -p "$out/state/bob.ptx/in the way"
    run -3 grade 3 "$twins" --out "$out" --seed 7
    says "bob.ptx cannot be written"
    says "2 jobs failed"
    grep -q '"anna","anna.cu",judged,100.00,' "$out/grades.csv"
    grep -q '"bob","bob.cu",not judged,,' "$out/grades.csv"
}

@test "without a sandbox it refuses, unless told so" {
    [ -z "${SANITIZED:-}" ] || skip "a sanitized run-lab needs more addresses than it may have"
    mkdir "$BATS_TEST_TMPDIR/class"
    cp "$class/right-renamed.cu" "$BATS_TEST_TMPDIR/class/anna.cu"
    run -3 grade 3 "$BATS_TEST_TMPDIR/class" --out "$BATS_TEST_TMPDIR/out" --bwrap /no/bwrap
    says "no sandbox can be started (/no/bwrap: No such file or directory)"
    says "make setup-labs"
    [ ! -e "$BATS_TEST_TMPDIR/out" ]
    run -0 grade 3 "$BATS_TEST_TMPDIR/class" --out "$BATS_TEST_TMPDIR/out" --no-sandbox --seed 7
    says "no sandbox: what is handed in may read your files"
    grep -q '"anna","anna.cu",judged,100.00,' "$BATS_TEST_TMPDIR/out/grades.csv"
}

@test "the command line: what is wrong is said in one sentence" {
    run -2 grade 3
    says "LAB and FOLDER are missing"
    run -2 grade 1 "$class"
    says 'there is no lab "1"'
    run -2 grade 3 "$class" --seed x
    says '"x" is not a number from 0 to 18446744073709551615'
    run -0 grade --help
    says "--no-sandbox"
    run make grade
    says "make grade DIR=submissions N=3"
}

# bats test_tags=apart
@test "a whole class gets what it deserves, twice alike" {
    local t=$BATS_TEST_TMPDIR start=$SECONDS
    mkdir "$t/class"
    tests/cases/cheats/cheats.py "$t/class"
    grade 3 "$t/class" --out "$t/first" --seed 7
    echo "# $(ls "$t/class" | wc -l) submissions in $((SECONDS - start)) s" >&3
    run -0 tests/cases/cheats/cheats.py --compare "$t/class" "$t/first/grades.csv"
    [ -z "$output" ] || { echo "$output"; return 1; }
    [ "$(grep -c ',judged,' "$t/first/grades.csv")" = "$(ls "$t/class" | wc -l)" ]
    grade 3 "$t/class" --out "$t/second" --seed 7
    diff "$t/first/grades.csv" "$t/second/grades.csv"
    diff -r "$t/first/reports" "$t/second/reports"
}
