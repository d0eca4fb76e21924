# shellcheck shell=sh The tools that the build needs, and tests for their presence: for setup.sh,
# missing.sh and doctor.sh, which all run in the top folder.

here=common/build

# The compilers, as the Makefile has them, or `make CC=clang CXX=clang++`.
cc=${CC:-gcc}
cxx=${CXX:-g++}

have() { command -v "$1" >/dev/null 2>&1; }

# Is C header $1 installed? Without a compiler, only the usual folder can be searched.
have_header() {
    if have "${cc%% *}"; then
        echo "#include <$1>" | $cc -E -x c - >/dev/null 2>&1
    else
        [ -e "/usr/include/$1" ]
    fi
}

toolkit() { "$here/toolkit.sh"; }

# The missing Debian packages for the build and the tests, one per line.
missing_packages() {
    have "${cc%% *}" || echo "${cc%% *}"
    have "${cxx%% *}" || echo "${cxx%% *}"
    have_header zstd.h || echo libzstd-dev
    have_header criterion/criterion.h || echo libcriterion-dev
    have bats || echo bats
    have python3 || echo python3
    have_header png.h || echo libpng-dev
    have cmake || echo cmake
    have pkg-config || echo pkg-config
}

# A Python that has NumPy and can make virtual environments, for the Python package's tests. Where
# python3 is not Debian's, Debian's may be the one that has them. One in a virtual environment would
# not hand its NumPy on.
python_for_package() {
    for candidate in python3 /usr/bin/python3; do
        if "$candidate" -c 'import numpy, ensurepip, sys
sys.exit(sys.prefix != sys.base_prefix)' 2>/dev/null; then
            echo "$candidate"
            return
        fi
    done
    return 1
}

# A Python that has pip. Where python3 is not Debian's, Debian's may be the one.
python_with_pip() {
    for candidate in python3 /usr/bin/python3; do
        "$candidate" -c "import pip" 2>/dev/null && echo "$candidate" && return
    done
    return 1
}

# The missing Debian packages for one part of the repository only, $1; none without a name.
missing_packages_of() {
    case $1 in
    labs) have bwrap || echo bubblewrap ;;
    mpi)
        have mpirun || echo openmpi-bin
        [ -n "$("$here/mpi.sh")" ] || echo libopenmpi-dev
        ;;
    python)
        python_for_package >/dev/null || {
            /usr/bin/python3 -c 'import numpy' 2>/dev/null || echo python3-numpy
            /usr/bin/python3 -c 'import ensurepip' 2>/dev/null || echo python3-venv
        }
        ;;
    page)
        have emcc || echo emscripten
        have pandoc || echo pandoc
        ;;
    page-tests)
        missing_packages_of page
        have chromium || echo chromium
        have chromedriver || echo chromium-driver
        # Where python3 is not Debian's, tests/page also looks into Debian's folder.
        [ -e /usr/lib/python3/dist-packages/selenium ] ||
            python3 -c 'import selenium' 2>/dev/null || echo python3-selenium
        ;;
    esac
}

# What `make test-all` and step 17 can do without: what a setup of its own installs (setup-labs, …),
# and NCCL.
all_parts="labs mpi nccl page python"

# The programs by which part $1 is found.
programs_of() {
    case $1 in
    labs) echo bwrap ;;
    mpi) echo mpirun mpiexec mpicc ompi_info orterun orted ;;
    nccl | python) ;;
    page) echo emcc em++ node nodejs pandoc chromium chromedriver ;;
    *) return 1 ;;
    esac
}

# Starts true in a sandbox like that of the labs' grader, which bubblewrap cannot do everywhere.
try_sandbox() {
    if [ "$(id -u)" = 0 ]; then user=; else user=--unshare-user; fi
    bwrap $user --unshare-pid --unshare-net --unshare-ipc --ro-bind / / --proc /proc \
        --size 65536 --tmpfs /tmp true 2>/dev/null
}

# The missing Debian packages for fetching a toolkit, one per line.
missing_downloaders() {
    python_with_pip >/dev/null || echo python3-pip
    have unzip || echo unzip
}
