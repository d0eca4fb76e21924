#!/bin/sh
# nvcc.sh: the set-up of a container for labs that need nvcc. Installs gcc, and the parts of CUDA
# that toolkit.txt lists, in /opt/upsweep/cuda, without the libraries that would do a lab's work.
# Needs Debian or Ubuntu, root and a network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
apt-get update -qq
apt-get install -y -qq --no-install-recommends gcc g++ python3-pip unzip >/dev/null
mkdir -p /opt/upsweep/fetched
cd /opt/upsweep/fetched
python3 -m pip download -q --disable-pip-version-check --no-cache-dir --no-deps --require-hashes \
    -r "$here/toolkit.txt"
for wheel in *.whl; do unzip -q -o "$wheel"; done
rm -rf ../cuda
mv nvidia/cu13 ../cuda
cd ../cuda
rm -rf ../fetched include/cccl/cub include/cccl/thrust include/cub include/thrust
find include/cooperative_groups -name '*scan.h' -exec rm {} + -o -name '*reduce.h' -exec rm {} +
[ -e include/nv ] || ln -s cccl/nv include/nv
chmod -R a+rX .
bin/nvcc --version
