#!/bin/bash
# setup.sh: Gradescope runs it once, as root, when it makes the image. The programs need a shell
# and python3; labs that are compiled by nvcc need that.
set -eu
cd "$(dirname "$0")"
chmod +x run_autograder grade.sh
. ./settings
[ "$COMPILER" = own ] || sh ./nvcc.sh
command -v python3 >/dev/null || { apt-get update -qq && apt-get install -y -qq python3; }
