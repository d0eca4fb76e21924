#!/bin/sh
# archive.sh PLATFORM LAB COMPILER OUT: packs what a platform for courses needs to judge a lab: the
# grader for Python 3, programs that are linked statically, the solution's PTX, weights, the seed,
# and what the platform expects beside them. SEED, HIDE, WEIGHTS and IMAGE of the environment may be
# empty; SKELETON is the file that students begin with. `make autograder-PLATFORM` calls it in the
# top folder.
set -eu
platform=$1 lab=$2 compiler=$3 out=$4
from=common/tools/labs/autograder
weights=${WEIGHTS:-common/tools/labs/weights.txt}
seed=${SEED:-$(od -An -N7 -tu8 /dev/urandom | tr -d ' ')}
own=
[ "$compiler" = nvcc ] || own=.own

fail() {
    echo "archive.sh: $*" >&2
    exit 2
}

case $seed in '' | *[!0-9]*) fail "SEED=$seed is not a number." ;; esac
[ ! -e "$out" ] || [ "$platform" = gradescope ] ||
    fail "$out is there already: remove it, or give another OUT."
solution=build/labs/reference$lab$own.ptx
# The solution gets all points with these weights, or nothing is packed.
said=$(build/labs/check-lab "$lab" "$solution" --compiler "$compiler" --weights "$weights" \
    --no-gpu --seed "$seed" --drawn) || fail "the solution does not get all points: $said"
title=$(echo "$said" | head -n 1)
most=$(echo "$said" | sed -n 's/^[0-9.]* of \([0-9.]*\) points:.*/\1/p')
[ -z "${HIDE:-}" ] || build/labs/grade-labs --hide "$HIDE" --help >/dev/null || exit
# A size that this seed does not draw would hide nothing.
for size in $(echo "${HIDE:-}" | tr -cs 0-9 ' '); do
    echo "$said" | grep -q "^ *$size  *[0-9]" ||
        fail "HIDE=$HIDE: with seed $seed, lab $lab has no size $size. Its sizes:" \
            "$(echo "$said" | awk '/findings/ { on = 1; next } on && !NF { exit } on { print $1 }' |
                paste -sd ' ')"
done

new=$(mktemp -d) && trap 'rm -rf "$new"' EXIT
chmod 755 "$new"

# programs FOLDER: what every platform runs.
programs() {
    mkdir -p "$1/labs" "$1/cc"
    cp build/autograder/labs/check-lab build/autograder/labs/run-lab build/autograder/labs/confine \
        build/labs/grade-labs "$solution" "$1/labs/"
    cp build/autograder/cc/upcc "$1/cc/"
    cp "$from/grade.sh" LICENSE "$1/"
    chmod 755 "$1/grade.sh"
    [ -n "$own" ] || cp "$from/nvcc.sh" common/build/toolkit.txt "$1/"
}

# settings FOLDER: what an instructor may change later.
settings() {
    mkdir -p "$1"
    printf '%s\n' "# Quoted, as a shell reads it." "LAB=$lab" "COMPILER=$compiler" \
        "HIDE='${HIDE:-}'" >"$1/settings"
    echo "$seed" >"$1/seed"
    cp "$weights" "$1/weights.txt"
}

task() { sed -n "/^== $lab\$/,/^==/{/^==/!p}" common/tools/labs/tasks.txt; }

# GitHub's steps give whole points.
whole=$(echo "$most" | awk '{ whole = int($1 + 0.5); print whole < 2 ? 2 : whole }')
half=$(echo "$most" | awk '{ print $1 / 2 }')

case $platform in
gradescope)
    programs "$new"
    settings "$new"
    cp "$from/setup.sh" "$new/"
    printf '%s\n' '#!/bin/sh' 'exec sh /autograder/source/grade.sh' >"$new/run_autograder"
    chmod 755 "$new/setup.sh" "$new/run_autograder"
    ;;
prairielearn)
    programs "$new/serverFilesCourse/upsweep"
    [ -n "$own" ] || cp "$from/Dockerfile" "$new/serverFilesCourse/upsweep/"
    question=$new/questions/upsweep-lab$lab
    settings "$question/tests"
    uuid=$(python3 -c 'import sys, uuid; print(uuid.uuid5(uuid.NAMESPACE_URL, sys.argv[1]))' \
        "upsweep-lab$lab")
    timeout=$([ -n "$own" ] && echo 30 || echo 120)
    cat >"$question/info.json" <<EOF
{
    "uuid": "$uuid",
    "title": "$title",
    "topic": "Parallel prefix sum",
    "tags": ["code"],
    "type": "v3",
    "singleVariant": true,
    "gradingMethod": "External",
    "externalGradingOptions": {
        "enabled": true,
        "image": "${IMAGE:-python:3.12-slim}",
        "entrypoint": "/grade/serverFilesCourse/upsweep/grade.sh",
        "serverFilesCourse": ["upsweep/"],
        "timeout": $timeout,
        "enableNetworking": false
    }
}
EOF
    cat >"$question/question.html" <<EOF
<pl-question-panel>
<markdown>
$(task)
</markdown>
<pl-file-editor file-name="lab$lab.cu" source-file-name="lab$lab.cu" ace-mode="ace/mode/c_cpp">
</pl-file-editor>
</pl-question-panel>
<pl-submission-panel>
<pl-external-grader-results></pl-external-grader-results>
<pl-file-preview></pl-file-preview>
</pl-submission-panel>
EOF
    cp "$SKELETON" "$question/lab$lab.cu"
    ;;
classroom)
    programs "$new/.github/upsweep"
    settings "$new/.github/upsweep"
    mkdir "$new/.github/workflows"
    nvcc="      - name: Install nvcc
        run: sudo sh .github/upsweep/nvcc.sh
"
    [ -z "$own" ] || nvcc=
    cat >"$new/.github/workflows/lab.yml" <<EOF
name: Lab $lab
on: [push, workflow_dispatch]
permissions:
  actions: read
  checks: write
  contents: read
jobs:
  judge:
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    steps:
      - uses: actions/checkout@v4
$nvcc      - name: Judge lab $lab
        run: sh .github/upsweep/grade.sh
      - name: Half of the points
        id: half
        uses: classroom-resources/autograding-command-grader@v1
        with:
          test-name: Half of the points
          command: env PASS=$half sh .github/upsweep/grade.sh
          timeout: 2
          max-score: $((whole / 2))
      - name: All points
        id: all
        uses: classroom-resources/autograding-command-grader@v1
        with:
          test-name: All points
          command: env PASS=$most sh .github/upsweep/grade.sh
          timeout: 2
          max-score: $((whole - whole / 2))
      - name: Report to GitHub Classroom
        uses: classroom-resources/autograding-grading-reporter@v1
        env:
          HALF_RESULTS: \${{steps.half.outputs.result}}
          ALL_RESULTS: \${{steps.all.outputs.result}}
        with:
          runners: half,all
EOF
    cp "$SKELETON" "$new/lab$lab.cu"
    task >"$new/README.md"
    ;;
esac

# Complete, and then in its place.
mkdir -p "$(dirname "$out")"
beside=$(mktemp -u "$out.XXXXXX")
if [ "$platform" = gradescope ]; then
    python3 -c 'import shutil, sys; shutil.make_archive(sys.argv[1], "zip", sys.argv[2])' \
        "$beside" "$new"
    mv "$beside.zip" "$out"
else
    cp -r "$new" "$beside"
    mv "$beside" "$out"
fi
echo "$out: lab $lab, compiler $compiler, seed $seed"
