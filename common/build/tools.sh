# shellcheck shell=sh
# What the build needs, and how to tell that it is there: for setup.sh, missing.sh and doctor.sh.
# All run in the top folder.

here=common/build

# The compilers, as the Makefile has them, or `make CC=clang CXX=clang++`.
cc=${CC:-gcc}
cxx=${CXX:-g++}

have() { command -v "$1" >/dev/null 2>&1; }

# Is C header $1 there? Without a compiler only the usual place can be looked at.
have_header() {
    if have "${cc%% *}"; then
        echo "#include <$1>" | $cc -E -x c - >/dev/null 2>&1
    else
        [ -e "/usr/include/$1" ]
    fi
}

# curl cannot trust files.pythonhosted.org without certificates.
have_certificates() { [ -n "${SSL_CERT_FILE:-}" ] || [ -s /etc/ssl/certs/ca-certificates.crt ]; }

toolkit() { "$here/toolkit.sh"; }

# The Debian packages that the build and the tests lack, one a line.
missing_packages() {
    have "${cc%% *}" || echo "${cc%% *}"
    have "${cxx%% *}" || echo "${cxx%% *}"
    have_header zstd.h || echo libzstd-dev
    have_header criterion/criterion.h || echo libcriterion-dev
    have bats || echo bats
    have_header png.h || echo libpng-dev
}

# The Debian packages that fetching a toolkit lacks, one a line.
missing_downloaders() {
    have curl || echo curl
    have_certificates || echo ca-certificates
    have unzip || echo unzip
}
