#!/bin/sh
# shellcheck disable=SC2086 # lists are split into words on purpose
# without.sh PART COMMAND…: runs a command as on a machine where `make setup-PART` has not been run.
# PART is labs, mpi, page or python; or nccl, which no setup installs; or
# all. Each folder of PATH that has
# programs of the part is replaced by a folder of links to its other programs.
. common/build/tools.sh

case ${1:-} in
all) parts=$all_parts ;;
*) parts=${1:-none} ;;
esac
programs=$(for part in $parts; do programs_of "$part" || exit; done) && [ $# -gt 1 ] || {
    echo "usage: without.sh PART COMMAND…; PART is one of: $all_parts all" >&2
    exit 2
}
links=$PWD/build/without/$1
shift

has() {
    for program in $programs; do
        [ ! -e "$1/$program" ] || return 0
    done
    return 1
}

# replaced FOLDER: makes the folder of links, and prints its name.
replaced() {
    new=$links/$(echo "$1" | tr / _)
    mkdir -p "$new" && ln -s "$1"/* "$new" && cd "$new" && rm -f $programs && echo "$new"
}

rm -rf "$links"
path=$(echo "$PATH" | tr : '\n' | while read -r folder; do
    ! has "$folder" || folder=$(replaced "$(cd "$folder" && pwd)") || exit
    printf ':%s' "$folder"
done) || exit
export PATH="${path#:}"

# hide MODULE…: modules of Python.
hide() {
    mkdir -p "$links/python"
    for module; do
        echo "raise ImportError('hidden by without.sh')" >"$links/python/$module.py"
    done
    case ":${PYTHONPATH:-}" in
    ":$links/python"*) ;;
    *) export PYTHONPATH="$links/python${PYTHONPATH:+:$PYTHONPATH}" ;;
    esac
}

# What is found in other ways than by PATH.
for part in $parts; do
    case $part in
    labs) unset SANDBOX_REQUIRED ;;
    mpi) unset MPI_REQUIRED ;;
    nccl) export NCCL_HOME=/dev/null ;;
    page)
        unset PAGE_REQUIRED
        hide selenium
        ;;
    python)
        unset PYTHON_REQUIRED
        hide numpy
        ;;
    esac
done
exec "$@"
