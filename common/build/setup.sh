#!/bin/sh
# shellcheck disable=SC2086 # lists of packages are split into words on purpose
# make setup: lists what is missing with its size, then installs that and nothing else: Debian
# packages with apt-get, and CUDA 13.0, if there is no CUDA 13 toolkit, in build/cuda (toolkit.txt).
# `setup.sh labs` (make setup-labs) adds what only the labs' grader needs, `setup.sh page` (make
# setup-page) what only the book's page needs, `setup.sh page-tests` its browsers, too, `setup.sh
# mpi` (make setup-mpi) what only step 17 needs, and `setup.sh python` (make setup-python) what the
# tests of common/tools/library/python need.
set -eu
. common/build/tools.sh

fetched_mb=105  # what toolkit.txt names,
unpacked_mb=270 # and what build/cuda takes; measured
without_nvcc="Without nvcc, COMPILER=own judges the first puzzles and the labs:\
 make check-first1 COMPILER=own, make check3 COMPILER=own."

fail() {
    echo "setup: $*" >&2
    exit 1
}

# Runs a command as root; sudo may ask for the password.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    else
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    fi
}

# Does apt-get know all the packages?
known() {
    for package in $packages; do
        apt-cache show "$package" >/dev/null 2>&1 || return
    done
}

update() {
    echo "Fetching the list of packages (apt-get update)"
    as_root apt-get update -qq
}

# On a terminal apt-get shows its progress; elsewhere its output is shown only if it fails.
install_packages() {
    if [ -t 1 ]; then
        as_root $install -o Dpkg::Progress-Fancy=1
    else
        echo "Installing Debian packages"
        log=$(as_root $install 2>&1) || {
            echo "$log" >&2
            return 1
        }
    fi
}

# ---- what is missing ---------------------------------------------------------------------------

fetch_toolkit=
toolkit >/dev/null || fetch_toolkit=yes
packages=$({
    missing_packages
    missing_packages_of "${1:-}"
    [ -z "$fetch_toolkit" ] || missing_downloaders
} | paste -sd ' ' -)

if [ -z "$packages$fetch_toolkit" ]; then
    echo "Nothing is missing (make doctor lists what was found)."
    exit 0
fi

[ "$(uname -s)" = Linux ] || fail "this is $(uname -s), and the build needs Linux: use a" \
    "container (.devcontainer makes one) or a virtual machine. $without_nvcc"
if [ "$(uname -m)" != x86_64 ]; then
    fail "this is $(uname -s) on $(uname -m), and setup knows only Linux on x86-64;" \
        "install gcc, g++, zstd, Criterion, bats and a CUDA 13 toolkit yourself;" \
        "make will then use them. $without_nvcc"
fi

if [ -n "$packages" ]; then
    have apt-get || fail "this is neither Debian nor Ubuntu: install what Debian calls $packages" \
        "with your own package manager, then run make setup again."
    install="apt-get install -y --no-install-recommends $packages"
    command="apt-get update && $install"
    administrator="ask an administrator to run '$command', then run make setup again."
    if [ "$(id -u)" != 0 ] && ! have sudo; then
        case " $packages " in
        *" ${cc%% *} "* | *" ${cxx%% *} "* | *" libzstd-dev "* | *" python3-pip "* | *" unzip "*)
            fail "you are not root and there is no sudo: $administrator The compilers," \
                "libzstd-dev, python3-pip and unzip are enough to learn; tests need the others." ;;
        esac
        echo "You are not root and there is no sudo, so these packages stay missing. You can" \
            "learn without them; tests and pictures need them: $packages"
        packages=
    # A fresh machine has no list of packages yet.
    elif ! known && ! update; then
        fail "apt-get update failed, for the reason above; fix that, or $administrator"
    fi
    [ -n "$packages$fetch_toolkit" ] || exit 0
fi

# ---- the list ----------------------------------------------------------------------------------

echo "Missing, and to be installed:"
for package in $packages; do
    size=$(apt-cache show --no-all-versions "$package" | sed -n 's/^Size: //p' | head -n 1)
    printf '  %-28s %4d kB\n' "$package" "$((${size:-0} / 1000))"
done
if [ -n "$packages" ]; then
    # apt-get prints 'address' file bytes checksum for these packages and those that they need.
    $install --print-uris -qq | awk '{ bytes += $3 } END {
        printf "  %-28s %4d MB to fetch\n", "with what they need: " NR, bytes / 1e6 }'
fi
if [ -n "$fetch_toolkit" ]; then
    printf '  %-28s %4d MB to fetch, %d MB in build/cuda, under %s\n' "CUDA 13.0 (nvcc, runtime)" \
        "$fetched_mb" "$unpacked_mb" "NVIDIA's licence (License.txt there)"
fi

# ---- Debian packages ---------------------------------------------------------------------------

if [ -n "$packages" ]; then
    # If the list of packages is old, its files may no longer exist: hence the second attempt.
    install_packages || { update && install_packages; } ||
        fail "apt-get failed, for the reason above; fix that, or $administrator"
fi
[ -n "$fetch_toolkit" ] || exit 0

# ---- the toolkit -------------------------------------------------------------------------------

# The last step renames it to build/cuda, so an interrupted setup leaves no half toolkit. Until then
# fetched files stay in build/download, one by one, and pip does not fetch them again.
mkdir -p build/download
free_mb=$(($(df -Pk build | awk 'END { print $4 }') / 1024))
need_mb=$((unpacked_mb + fetched_mb))
[ "$free_mb" -ge "$need_mb" ] ||
    fail "build/ has $free_mb MB free and the toolkit needs $need_mb MB: make room" \
        "and run make setup again."

quiet=-q
[ ! -t 1 ] || quiet=
python=$(python_with_pip)
grep -v '^#' "$here/toolkit.txt" | while read -r requirement; do
    echo "Fetching ${requirement%% *}"
    echo "$requirement" >build/download/requirement.txt
    "$python" -m pip download $quiet --disable-pip-version-check --no-deps \
        --require-hashes -d build/download -r build/download/requirement.txt ||
        fail "pip could not fetch ${requirement%% *}, for the reason above; check the network" \
            "(pip takes a proxy from https_proxy, a mirror from PIP_INDEX_URL) and run make" \
            "setup again: it goes on where this stopped. $without_nvcc"
done

rm -rf build/download/cuda
for wheel in build/download/*.whl; do
    unzip -q -o "$wheel" -d build/download/cuda || fail "$wheel could not be unpacked."
done
toolkit=build/download/cuda/nvidia/cu13
cp build/download/cuda/nvidia_cuda_nvcc-*.dist-info/licenses/License.txt "$toolkit/"
# The wheels contain no links, and only the owner may run their programs.
ln -s lib "$toolkit/lib64"
ln -s libcudart.so.13 "$toolkit/lib/libcudart.so"
[ -e "$toolkit/include/nv" ] || ln -s cccl/nv "$toolkit/include/nv"
chmod -R a+rX "$toolkit"
rm -rf build/cuda
mv "$toolkit" build/cuda
rm -rf build/download
toolkit >/dev/null || fail "build/cuda/bin/nvcc does not run: try build/cuda/bin/nvcc --version."
echo "CUDA 13.0 is in build/cuda."
