#!/bin/sh
# nvcc.sh [labs | learning]: the set-up of a container. Installs gcc, and the parts of CUDA that
# toolkit.txt lists, in /opt/upsweep/cuda. For labs (the default) it is without the libraries that
# would do a lab's work; for learning it is as `make setup` installs it, and git and make are there.
# Needs Debian or Ubuntu, root and a network.
set -eu
[ "$(uname -m)" = x86_64 ] || {
    echo "nvcc.sh: this image needs x86-64; on another processor, build it for linux/amd64." >&2
    exit 1
}
export DEBIAN_FRONTEND=noninteractive
learning=
[ "${1:-labs}" != learning ] || learning="ca-certificates git make"
here=$(cd "$(dirname "$0")" && pwd)
apt-get update -qq
# shellcheck disable=SC2086 # three words or none
apt-get install -y -qq --no-install-recommends gcc g++ python3-pip unzip $learning >/dev/null
mkdir -p /opt/upsweep/fetched
cd /opt/upsweep/fetched
python3 -m pip download -q --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
    -r "$here/toolkit.txt"
for wheel in *.whl; do unzip -q -o "$wheel"; done
rm -rf ../cuda
mv nvidia/cu13 ../cuda
cd ../cuda
rm -rf ../fetched
if [ -n "$learning" ]; then
    ln -s lib lib64
    ln -s libcudart.so.13 lib/libcudart.so
else
    rm -rf include/cccl/cub include/cccl/thrust include/cub include/thrust
    find include/cooperative_groups -name '*scan.h' -exec rm {} + -o -name '*reduce.h' -exec rm {} +
fi
[ -e include/nv ] || ln -s cccl/nv include/nv
chmod -R a+rX .
bin/nvcc --version
