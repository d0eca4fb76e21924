# book.bash — follows the commands of chapters: for book.bats and tests/cli/book.

# commands PAGE: the commands in its blocks, without `$ ` and comments.
commands() {
    awk '/^```/ { inside = !inside; next } inside' "$1" |
        sed -nE 's/^\$ //; s/ +# .*//; /^(make|\.\/step|(common\/)?build\/|printf|echo|EMU_)/p' |
        grep -v '^make setup'
}

# A folder like the repository, with a labs/ of its own.
clone() {
    [ -z "${SANITIZED:-}" ] || skip "nvcc would have to link the sanitized emulator"
    unset MAKEFLAGS MAKELEVEL MFLAGS
    export EMU_PROGRESS=0 NO_COLOR=1
    local top=$PWD
    cd "$BATS_TEST_TMPDIR" || return
    ln -s "$top"/{Makefile,README.md,common,profiles,tests,notes,steps,build} .
    ln -s "$top"/step[0-9]* .
}
