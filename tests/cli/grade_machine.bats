#!/usr/bin/env bats
# grade_machine.bats — `make grade` on a machine that is not in order: no compiler, processes that
# are killed, programs that crash. It is the machine that fails here, and not a student. The
# programs are replaced by scripts, so these tests run without a sandbox.
# bats file_tags=slow
load common

setup() {
    [ -z "${SANITIZED:-}" ] || skip "a sanitized run-lab needs more addresses than it may have"
    nvcc=$(common/build/toolkit.sh)/bin/nvcc
    t=$BATS_TEST_TMPDIR
    real=$PWD/build/labs
    mkdir -p "$t/cuda/bin" "$t/labs" "$t/class"
    cp build/labs/{grade-labs,check-lab,confine,weights.txt} build/labs/reference3.* \
        "$t/labs/"
    ln -s "$real/run-lab" "$t/labs/run-lab"
    ln -s "$nvcc" "$t/cuda/bin/nvcc"
    cp build/labs/reference3.cu "$t/class/anna.cu"
    cp build/labs/reference3.cu "$t/class/bob.cu"
}

# script FILE: a program that does what standard input says.
script() {
    rm -f "$1"
    { echo '#!/bin/sh'; cat; } >"$1"
    chmod +x "$1"
}

grade() {
    "$t/labs/grade-labs" 3 "$t/class" --out "$t/out" --seed 7 --no-sandbox --nvcc \
        "$t/cuda/bin/nvcc" "$@"
}

@test "a compiler that does not work costs nobody points" {
    for says in 'exit 127' 'exit 126' 'echo "ptxas fatal: no such library" >&2; exit 1' 'exit 0'; do
        echo "$says" | script "$t/cuda/bin/nvcc"
        run -3 grade
        says "the step's own solution cannot be compiled here, so nothing is graded"
        [ ! -e "$t/out/grades.csv" ]
    done
    # It works for the solution, and a part of it is missing after that.
    script "$t/cuda/bin/nvcc" <<EOF
case "\$*" in *reference3.cu*) exec "$nvcc" "\$@";; esac
exit 127
EOF
    run -3 grade
    says "A part of the compiler cannot be started"
    [ "$(grep -c ',not judged,' "$t/out/grades.csv")" = 2 ]
}

@test "a compilation that was killed is tried once more, alone" {
    script "$t/cuda/bin/nvcc" <<EOF
case "\$*" in *bob*) [ -e "$t/killed" ] || { : >"$t/killed"; echo Killed >&2; exit 1; } ;; esac
exec "$nvcc" "\$@"
EOF
    run -0 grade
    says "again, alone: compile 1 submissions"
    grep -q '"bob","bob.cu",judged,100.00,' "$t/out/grades.csv"
    # Killed by a signal each time: then it is the file that needs too much.
    rm -r "$t/out"
    script "$t/cuda/bin/nvcc" <<EOF
case "\$*" in *bob*) kill -9 \$\$ ;; esac
exec "$nvcc" "\$@"
EOF
    run -0 grade
    grep -q '"bob","bob.cu",judged,0.00,.*too much time or memory' "$t/out/grades.csv"
    grep -q '"anna","anna.cu",judged,100.00,' "$t/out/grades.csv"
}

@test "a run that fails twice is for a person to look at, and is not tried again" {
    # anna's file crashes run-lab, bob's does so once.
    script "$t/labs/run-lab" <<EOF
echo "\$2" >>"$t/runs"
case \$2 in
*anna*) kill -SEGV \$\$ ;;
*bob*) [ -e "$t/crashed" ] || { : >"$t/crashed"; kill -SEGV \$\$; } ;;
esac
exec "$real/run-lab" "\$@"
EOF
    run -0 grade
    says "anna.cu: tried twice without a result"
    grep -q '"anna","anna.cu",look at it,,,,,,,,,"run-lab was ended by signal 11' \
        "$t/out/grades.csv"
    grep -q '"bob","bob.cu",judged,100.00,' "$t/out/grades.csv"
    grep -q "Not judged: run-lab was ended by signal 11" "$t/out/reports/anna.txt"
    columns=$(awk -F, '{ print NF }' "$t/out/grades.csv" | uniq | wc -l)
    [ "$columns" = 1 ]
    : >"$t/runs"
    run -0 grade
    ! grep anna "$t/runs"
    grep -q '"anna","anna.cu",look at it,' "$t/out/grades.csv"
    ln -sf "$real/run-lab" "$t/labs/run-lab"
    run -0 grade --again
    grep -q '"anna","anna.cu",judged,100.00,' "$t/out/grades.csv"
}

@test "the solution is run with what grades it" {
    script "$t/labs/run-lab" <<<'exit 3'
    run -3 grade
    says "the step's own solution cannot be run"
    [ ! -e "$t/out/grades.csv" ]
}
