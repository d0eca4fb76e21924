#!/bin/bash
# setup.sh: Gradescope runs it once, as root, when it makes the image. The programs need nothing but
# a shell; labs that are compiled by nvcc need that.
set -eu
cd "$(dirname "$0")"
chmod +x run_autograder grade.sh
. ./settings
[ "$COMPILER" = own ] || sh ./nvcc.sh
