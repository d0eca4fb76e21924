#!/bin/sh
# grade.sh: judges the submission of this container, whichever platform has started it. The table
# says where a platform puts what: its format, a folder that only it has, the submission, the
# result, the settings of the lab, and what a submission must not read.
# With PASS=POINTS in the environment, nothing is shown, and the exit code is 0 from POINTS on.
set -eu
umask 022
here=$(cd "$(dirname "$0")" && pwd)
top=/autograder metadata=submission_metadata.json
while read -r format folder submission result lab secret; do
    [ -d "$folder" ] && break
done <<EOF
prairielearn /grade/student /grade/student /grade/results/results.json /grade/tests /grade/data
gradescope $top/submission $top/submission $top/results/results.json $here $top/$metadata
summary . . stdout $here $here/none
EOF

# LAB, COMPILER and HIDE, and beside them weights.txt and the seed, which only its owner may read.
. "$lab/settings"
chmod 600 "$lab/seed"
[ ! -e "$secret" ] || chmod -R go-rwx "$secret"
chmod -R a+rX "$here/labs" "$here/cc"
chmod +x "$here"/labs/*-lab "$here/labs/confine" "$here/cc/upcc"
[ "$result" = stdout ] || mkdir -p "$(dirname "$result")"

judge() {
    python3 -I "$here/labs/grade-labs" "$LAB" "$submission" --format "$format" \
        --compiler "$COMPILER" --hide "$HIDE" \
        --nvcc "$(command -v nvcc || echo /opt/upsweep/cuda/bin/nvcc)" \
        --seed-file "$lab/seed" --weights "$lab/weights.txt" --out "$result" "$@"
}

if [ -n "${PASS:-}" ]; then
    judge --pass "$PASS" >/dev/null
else
    [ "$format" != summary ] || exec >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
    judge || { code=$? && [ $code -eq 1 ] || exit $code; } # fewer points are no failure
fi
