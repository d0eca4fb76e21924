#!/usr/bin/env bats
# autograder.bats — the archives for platforms for courses, run as the platforms run them: unpacked
# into their folders in a container without this repository and without a network.
# bats file_tags=slow
load common

platforms="gradescope prairielearn classroom"

setup_file() {
    [ -z "${SANITIZED:-}" ] || return 0
    unset MAKEFLAGS MAKELEVEL
    work=$BATS_FILE_TMPDIR
    export work
    for platform in $platforms; do
        make "autograder-$platform" LAB=3 SEED=7 OUT="$work/$platform.out" COMPILER=own
        unpack $platform "$work/$platform"
    done
    submissions "$work/handed"
}

setup() { [ -z "${SANITIZED:-}" ] || skip "archives hold no sanitizers"; }

# container ROOT COMMAND...: runs a command as a platform for courses does: as root of a container
# that has ROOT's folders, the system's programs, no network, and nothing of this repository. As
# another user than root it takes a user namespace, in which there is one uid only. Exit code 126:
# no container can be made here.
container() {
    local user=
    [ "$(id -u)" = 0 ] || user=--map-root-user
    # shellcheck disable=SC2016,SC2086
    unshare $user --mount --net --pid --fork --kill-child sh -c '
        root=$1
        shift
        mkdir -p "$root/proc" "$root/tmp" && chmod 1777 "$root/tmp" && chmod 755 "$root" || exit 126
        for folder in bin lib lib64 usr dev etc; do
            if [ -L /$folder ]; then
                cp -Pf /$folder "$root/"
            elif [ -d /$folder ]; then
                mkdir -p "$root/$folder" && mount --rbind /$folder "$root/$folder"
            fi || exit 126
        done
        mount -t proc proc "$root/proc" || exit 126
        [ $# -gt 0 ] || exit 0
        exec env -i PATH=/usr/sbin:/usr/bin:/bin chroot "$root" "$@"' sh "$@"
}

# need_container: skips the test where no container can be made.
need_container() {
    has_container || skip "neither chroot with mounts nor a user namespace can be had here"
}
has_container() { mkdir -p "$work/none" && container "$work/none" 2>/dev/null; }

# An archive's grade-labs, outside of a container.
platform_lab() {
    "$work/classroom/repository/.github/upsweep/labs/grade-labs" 3 "$@" \
        --weights common/tools/labs/weights.txt
}

# unpack PLATFORM ROOT: puts the archive where the platform does.
unpack() {
    case $1 in
    gradescope)
        mkdir -p "$2/autograder/source" "$2/autograder/submission" "$2/autograder/results"
        # Modes are lost, but for these two.
        python3 -m zipfile -e "$work/$1.out" "$2/autograder/source"
        chmod +x "$2/autograder/source/setup.sh" "$2/autograder/source/run_autograder"
        ! has_container || container "$2" /autograder/source/setup.sh
        cp "$2/autograder/source/run_autograder" "$2/autograder/"
        echo '{"assignment": "secret"}' >"$2/autograder/submission_metadata.json"
        ;;
    prairielearn)
        mkdir -p "$2/grade/student" "$2/grade/data"
        cp -r "$work/$1.out/serverFilesCourse" "$2/grade/"
        cp -r "$work/$1.out/questions/upsweep-lab3/tests" "$2/grade/"
        echo '{"correct_answers": "secret"}' >"$2/grade/data/data.json"
        ;;
    classroom) mkdir "$2" && cp -r "$work/$1.out" "$2/repository" ;;
    esac
}

# What each platform runs: names in the container, and the command.
folder_of() {
    case $1 in
    gradescope) echo autograder/submission ;;
    prairielearn) echo grade/student ;;
    classroom) echo repository ;;
    esac
}
result_of() {
    case $1 in
    gradescope) echo autograder/results/results.json ;;
    prairielearn) echo grade/results/results.json ;;
    classroom) echo summary.md ;;
    esac
}
command_of() {
    case $1 in
    gradescope) echo 'cd /autograder && ./run_autograder' ;;
    prairielearn) sed -n 's/.*"entrypoint": "\(.*\)",/\1/p' \
        "$work/$1.out/questions/upsweep-lab3/info.json" ;;
    classroom) echo "cd /repository && export GITHUB_STEP_SUMMARY=/summary.md &&" \
        "$(sed -n 's/^ *run: //p' "$work/$1.out/.github/workflows/lab.yml")" ;;
    esac
}

# judge PLATFORM SUBMISSION: hands a folder in, and prints the points.
judge() {
    local root=$work/$1 format=$1
    [ "$1" != classroom ] || format=summary
    rm -rf "$root/$(result_of "$1")"
    find "$root/$(folder_of "$1")" -mindepth 1 -maxdepth 1 ! -name .github -exec rm -rf {} +
    cp -a "$2/." "$root/$(folder_of "$1")/"
    container "$root" sh -c "$(command_of "$1")" >"$work/said" 2>&1 || return
    tests/cli/platform_result.py "$format" "$root/$(result_of "$1")"
}

submissions() {
    local small='int thid = threadIdx.x;'
    mkdir -p "$1"/{right,carla,partly,empty,broken,link,large,endless,many,racy}
    mkdir -p "$1"/{notext,fifo,folder/lab3.cu,linked,other}
    cp build/labs/reference3.cu "$1/right/my 'scan' \$(exit).cu"
    cp common/tools/labs/example/class/carla.cu "$1/carla/lab3.cu"
    echo other >"$1/carla/notes on lab 3.txt"
    sed "s/$small/$small if (n == 64) return;/" build/labs/reference3.cu >"$1/partly/lab3.cu"
    printf 'int <b>x</b>\n```\n' >"$1/broken/lab3.cu"
    ln -s /etc/passwd "$1/link/lab3.cu"
    truncate -s 100M "$1/large/lab3.cu"
    sed "s/$small/$small while (n > 0) g_odata[thid] = g_idata[thid];/" build/labs/reference3.cu \
        >"$1/endless/lab3.cu"
    truncate -s 3000 "$1/notext/lab3.cu"
    mkfifo "$1/fifo/lab3.cu"
    ln -s /etc "$1/linked/lab3.cu"
    touch "$1/other/notes.txt"
    sed '0,/__syncthreads();/s///' build/labs/reference3.cu >"$1/racy/lab3.cu"
    cp "$1/right/"* "$1/many/a.cu"
    cp "$1/right/"* "$1/many/b.cu"
}

@test "a submission gets the same points everywhere" {
    need_container
    local name points
    mkdir "$BATS_TEST_TMPDIR/class"
    for name in right carla partly; do
        cp "$work/handed/$name/"*.cu "$BATS_TEST_TMPDIR/class/$name.cu"
    done
    run -0 build/labs/grade-labs 3 "$BATS_TEST_TMPDIR/class" --out "$BATS_TEST_TMPDIR/out" \
        --compiler own --seed 7 --no-sandbox
    for name in right carla partly; do
        points=$(sed -n "s/^\"$name\",.*,judged,\([0-9.]*\),.*/\1/p" \
            "$BATS_TEST_TMPDIR/out/grades.csv")
        echo "$name: $points"
        case $name in right) [ "$points" = 100.00 ] ;; *) [ "${points%.*}" -lt 96 ] ;; esac
        for platform in $platforms; do
            [ "$(judge "$platform" "$work/handed/$name")" = "$points" ]
        done
        run build/labs/check-lab 3 "$BATS_TEST_TMPDIR/class/$name.cu" --compiler own --no-gpu \
            --seed 7 --drawn
        says $'\n'"$points of 100 points: "
    done
    # The last one was PARTLY, whose wrong size is named.
    grep -q '^\*\*n = 64: wrong\*\*' "$work/classroom/summary.md"
    grep -q '"name": "n = 64: wrong"' "$work/prairielearn/grade/results/results.json"
}

@test "what cannot be graded has 0 points and a reason" {
    need_container
    local of name why
    for of in 'empty:no file that ends in .cu' 'link:is a link' 'large:more than 256 KiB' \
        'broken:It does not compile.' 'many:2 files that end in .cu' 'notext:holds zero bytes' \
        'fifo:not a regular file' 'folder:not a regular file' 'linked:is a link' \
        'other:but other files'; do
        name=${of%%:*} why=${of#*:}
        for platform in $platforms; do
            [ "$(judge "$platform" "$work/handed/$name")" = 0.00 ]
            grep -q "$why" "$work/$platform/$(result_of "$platform")"
        done
        grep -q '"gradable": false' "$work/prairielearn/grade/results/results.json"
        # There is no report, and only some of them have been given to a compiler.
        run -1 grep -E 'in the report|Compiled without' "$work/classroom/summary.md"
    done
    # What a compiler says of a hostile file is neither HTML nor Markdown.
    [ "$(judge prairielearn "$work/handed/broken")" = 0.00 ]
    run -1 grep '<' "$work/prairielearn/grade/results/results.json"
    [ "$(judge classroom "$work/handed/broken")" = 0.00 ]
    [ -z "$(sed '1d; /^    /d; /^$/d' "$work/classroom/summary.md")" ]
}

# Those that our compiler compiles get no more than from nvcc; the rest of them have 0 points.
# include-mounts is right: its header, /proc/self/mountinfo, is there in a container, and empty.
@test "no cheat gets more points than it deserves" {
    need_container
    local file most points over=
    mkdir -p "$work/gradescope/cheats"
    tests/cases/cheats/cheats.py "$work/gradescope/cheats"
    container "$work/gradescope" sh -c 'cd /autograder && for file in /cheats/*.cu; do
        rm -rf submission/* && cp $file submission/ && ./run_autograder &&
        mv results/results.json $file.json || exit; done' 2>/dev/null
    for file in "$work/gradescope/cheats/"*.cu; do
        most=$(sed -n 's|^// expect: [^ ]* \([^ ]*\).*|\1|p' "$file")
        [ "${file##*/}" != include-mounts.cu ] || most=100
        points=$(tests/cli/platform_result.py gradescope "$file.json")
        over+=$(awk -v p="$points" -v m="$most" -v f="${file##*/}" 'p > m { print f, p, m }')
    done
    echo "$over"
    [ -z "$over" ]
    [ "$(ls "$work/gradescope/cheats/"*.json | wc -l)" -ge 30 ]
    [ "$(grep -l '"score": [1-9]' "$work/gradescope/cheats/"*.json | wc -l)" -ge 10 ]
}

# A submission that has taken the emulator over: run-lab is a script here, which does what it likes
# and then gives the submission's own results.
@test "a submission that takes the emulator over writes no result and reads no seed" {
    need_container
    [ "$(id -u)" = 0 ] || skip "only root can run a submission under another uid"
    local root=$BATS_TEST_TMPDIR/root
    unpack gradescope "$root"
    cp "$work/handed/carla/lab3.cu" "$root/autograder/submission/"
    mv "$root/autograder/source/labs/run-lab" "$root/autograder/source/labs/real-lab"
    cat >"$root/autograder/source/labs/run-lab" <<'END'
#!/bin/sh
here=/autograder/source
case $2 in *reference*) exec $here/labs/real-lab "$@" ;; esac
evil='{"score": 100, "tests": []}'
echo "$evil" >/autograder/results/results.json
echo "$evil" >$here/settings
echo LAB=2 >lab.cu
rm -f /autograder/results/results.json lab.ptx
cat $here/seed /autograder/submission_metadata.json >/tmp/read
kill -9 $PPID 1
setsid sh -c 'exec 3>&-; touch /tmp/left; while :; do
    echo "$0" >/autograder/results/results.json
    echo "$0" >/autograder/results.json; done' "$evil" &
while [ ! -e /tmp/left ]; do :; done
exec $here/labs/real-lab "$@"
END
    chmod 755 "$root/autograder/source/labs/run-lab"
    run -0 container "$root" sh -c 'cd /autograder && ./run_autograder
        cat /proc/[0-9]*/cmdline | tr "\0" " " && echo; ls -l results'
    says_not "setsid"
    says_not "touch /tmp/left"
    says " root root "
    [ -e "$root/tmp/left" ] && [ ! -s "$root/tmp/read" ]
    [ ! -e "$root/autograder/results.json" ]
    grep -q '^LAB=3$' "$root/autograder/source/settings"
    [ "$(tests/cli/platform_result.py gradescope "$root/autograder/results/results.json")" = \
        "$(judge gradescope "$work/handed/carla")" ]
    [ -z "$(ls -d "$root"/tmp/check-lab-* 2>/dev/null)" ]
}

@test "a failing machine gives no points and takes none" {
    need_container
    local root=$BATS_TEST_TMPDIR/root
    for platform in gradescope prairielearn; do
        rm -rf "$root"
        unpack $platform "$root"
        cp "$work/handed/carla/lab3.cu" "$root/$(folder_of $platform)/"
        lab=$(dirname "$(find "$root" -name run-lab)")
        mv "$lab/run-lab" "$lab/real-lab"
        printf '%s\n' '#!/bin/sh' 'case $2 in *reference*) exec "${0%/*}/real-lab" "$@" ;; esac' \
            'kill -9 $$' >"$lab/run-lab"
        chmod 755 "$lab/run-lab"
        run -3 container "$root" sh -c "$(command_of $platform)"
        says "Not judged: run-lab was ended by signal 9"
    done
    [ ! -e "$root/autograder/results/results.json" ]
    grep -q '"gradable": false' "$root/grade/results/results.json"
    ! grep '"score"' "$root/grade/results/results.json"
}

@test "what is hidden is not shown" {
    local hidden='"visibility": "hidden"'
    check() {
        platform_lab "$work/handed/partly" --seed 7 --compiler own "$@" 2>/dev/null
    }
    run -1 check --format gradescope --hide hazards,64
    [ "$(grep -c "$hidden" <<<"$output")" = 2 ]
    grep -A5 '"name": "hazards"' <<<"$output" | grep -q "$hidden"
    grep -A5 '"name": "n = 64: wrong"' <<<"$output" | grep -q "$hidden"
    for format in prairielearn summary; do
        run -1 check --format $format --hide hazards,64
        says_not "n = 64"
        says "n = 128: right"
        says_not hazards
        says "A reason at a hidden size is not shown."
        says "Tests that are not shown: 2."
        run -1 check --format $format --hide sizes
        says_not "n = "
    done
    # Nor is what has been counted for a hidden criterion, at any size.
    findings() {
        platform_lab "$work/handed/racy" --seed 7 --compiler own --format summary "$@" \
            2>/dev/null
    }
    run -1 findings --hide hazards
    says "n = 128 (similarly 4 more sizes): element 0 is "
    says_not "checkers"
    says_not ":52:"
    run -1 findings --hide work,sectors,conflicts,correctness
    says_not "Yours"
    says_not "runs right"
    run -2 check --format summary --hide everything
    run -2 platform_lab "$work/handed/partly" --format moodle
    says "give gradescope, prairielearn or summary"
    run -2 platform_lab /no/where --compiler own --format summary
    says "/no/where cannot be read"
}

@test "GitHub's steps pass from their points on" {
    need_container
    local step
    mkdir -p "$BATS_TEST_TMPDIR/steps"
    judge classroom "$work/handed/partly"
    sed -n 's/^ *command: //p' "$work/classroom.out/.github/workflows/lab.yml" \
        >"$BATS_TEST_TMPDIR/commands"
    [ "$(wc -l <"$BATS_TEST_TMPDIR/commands")" = 2 ]
    { read -r half; read -r all; } <"$BATS_TEST_TMPDIR/commands"
    run -0 container "$work/classroom" sh -c "cd /repository && $half 2>/dev/null"
    [ -z "$output" ]
    run -1 container "$work/classroom" sh -c "cd /repository && $all 2>/dev/null"
    # GitHub cuts a fraction of a point off.
    printf '%s\n' 'work 25.4' 'conflicts 0' 'sectors 0' 'hazards 0' >"$BATS_TEST_TMPDIR/weights"
    make autograder-classroom LAB=3 SEED=7 COMPILER=own WEIGHTS="$BATS_TEST_TMPDIR/weights" \
        OUT="$BATS_TEST_TMPDIR/out"
    run sed -n 's/^ *max-score: //p; s/^ *command: env \(PASS=[^ ]*\) .*/\1/p' \
        "$BATS_TEST_TMPDIR/out/.github/workflows/lab.yml"
    [ "$output" = $'PASS=12.7\n12\nPASS=25.4\n13' ]
}

@test "an archive that cannot be right is not made" {
    unset MAKEFLAGS MAKELEVEL
    run make autograder-gradescope LAB=3 SEED=7 HIDE=work,65 OUT="$BATS_TEST_TMPDIR/out.zip"
    says "with seed 7, lab 3 has no size 65. Its sizes: 2 4 8 16 32 64 128 256 512 1024 2048"
    for wrong in 'LAB=8' 'LAB=' 'LAB=3 HIDE=everything' 'LAB=3 HIDE=6' 'LAB=3 SEED=x' \
        'LAB=3 WEIGHTS=/no/weights'; do
        # shellcheck disable=SC2086
        run make autograder-gradescope $wrong OUT="$BATS_TEST_TMPDIR/out.zip"
        echo "$wrong: $output"
        [ "$status" = 2 ] && [ ! -e "$BATS_TEST_TMPDIR/out.zip" ]
    done
    mkdir "$BATS_TEST_TMPDIR/out"
    run make autograder-classroom LAB=3 OUT="$BATS_TEST_TMPDIR/out"
    says "is there already: remove it, or give another OUT"
    [ -z "$(ls "$BATS_TEST_TMPDIR/out")" ]
}

@test "an archive for nvcc says how to get it" {
    unset MAKEFLAGS MAKELEVEL
    local out="$BATS_TEST_TMPDIR/out"
    for platform in $platforms; do
        make "autograder-$platform" LAB=3 COMPILER=nvcc OUT="$out/$platform"
    done
    run python3 -m zipfile -l "$out/gradescope"
    for file in nvcc.sh toolkit.txt labs/reference3.ptx; do says "$file "; done
    [ -e "$out/prairielearn/serverFilesCourse/upsweep/Dockerfile" ]
    run cat "$out/prairielearn/questions/upsweep-lab3/info.json"
    says '"timeout": 120,'
    python3 -m json.tool <<<"$output"
    run grep -A2 'uses: actions/checkout' "$out/classroom/.github/workflows/lab.yml"
    says $'      - name: Install nvcc\n        run: sudo sh .github/upsweep/nvcc.sh\n'
    # Each file that it names is there.
    for file in nvcc.sh grade.sh toolkit.txt; do [ -e "$out/classroom/.github/upsweep/$file" ]; done
    grep -q '^COMPILER=nvcc$' "$out/classroom/.github/upsweep/settings"
}

@test "Moodle's table has the roster's identifiers" {
    local none='"Nothing was handed in."'
    mkdir -p "$BATS_TEST_TMPDIR/class"/{anna,eva}_1_assignsubmission_file
    cp "$work/handed/carla/lab3.cu" "$BATS_TEST_TMPDIR/class/anna_1_assignsubmission_file/x.cu"
    cp "$work/handed/right/"*.cu "$BATS_TEST_TMPDIR/class/bob.cu"
    cp "$work/handed/right/"*.cu "$BATS_TEST_TMPDIR/class/eva.cu"
    cp "$work/handed/right/"*.cu "$BATS_TEST_TMPDIR/class/eva_1_assignsubmission_file"
    printf '%s\n' $'anna\tanna@example.org' $'bob\t=4711' $'dora\t3' eva \
        >"$BATS_TEST_TMPDIR/roster"
    run -0 build/labs/grade-labs 3 "$BATS_TEST_TMPDIR/class" --out "$BATS_TEST_TMPDIR/out" \
        --compiler own --seed 7 --no-sandbox --roster "$BATS_TEST_TMPDIR/roster"
    says "moodle.csv leaves out 1 that are not judged or handed in twice"
    run cat "$BATS_TEST_TMPDIR/out/moodle.csv"
    [ "${lines[0]}" = identifier,points,feedback ]
    [[ "$output" == *$'\n"anna@example.org",1'*' of 100.00 points. n = 2048: 2048 warp instruct'* ]]
    says $'\n"\'=4711",100.00,"100.00 of 100.00 points."\n'
    says $'\n"3",0.00,'"$none"$'\n'
    [ "${#lines[@]}" = 4 ]
}

@test "notes/instructor/gradescope.md shows what a student sees" {
    local shown="$BATS_TEST_TMPDIR/shown"
    awk '/^```/ { lab = 0 } /^Lab 3: / { lab = 1 } lab && $0 != "…"' \
        notes/instructor/gradescope.md >"$shown"
    [ "$(wc -l <"$shown")" -gt 12 ]
    run -1 platform_lab common/tools/labs/example/class/carla.cu --format gradescope --seed 7 \
        --compiler own --hide hazards --out "$BATS_TEST_TMPDIR/result"
    tests/cli/platform_result.py --show "$BATS_TEST_TMPDIR/result" >"$BATS_TEST_TMPDIR/seen"
    # Other numbers may come from another version of our compiler.
    numberless() { sed -E 's/[0-9][0-9.]*/N/g; s/^ +/  /' "$@"; }
    diff <(numberless "$shown") \
        <(head -n "$(wc -l <"$shown")" "$BATS_TEST_TMPDIR/seen" | numberless)
}

# Other names of CUDA's than those two would be an error.
@test "the labs' programs are built without a toolkit" {
    run make -n CUDA= COMPILER=own -W common/tools/labs/score_sizes.c \
        build/common/tools/labs/score_sizes.o
    says "-isystem common/build/no-cuda/include"
    "${CC:-gcc}" -std=c11 -pthread -fsyntax-only -I. -isystem common/build/no-cuda/include \
        common/tools/labs/*.c common/tools/labs/gpu/*.c common/harness/verify/*.c
}
