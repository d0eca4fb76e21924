#!/bin/sh
# nvcc.sh: the set-up of a container for labs that need nvcc. Installs gcc, and the parts of CUDA
# that toolkit.txt lists, in /opt/upsweep/cuda, without the libraries that would do a lab's work.
# Needs Debian or Ubuntu, root and a network.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
apt-get update -qq
apt-get install -y -qq --no-install-recommends gcc g++ ca-certificates curl unzip >/dev/null
mkdir -p /opt/upsweep/fetched
cd /opt/upsweep/fetched
grep -v '^#' "$here/toolkit.txt" | while read -r _ sha256 address; do
    curl -fsSL --retry 3 -o part.whl "https://files.pythonhosted.org/packages/$address"
    echo "$sha256  part.whl" | sha256sum -c --quiet
    unzip -q -o part.whl
done
rm -rf ../cuda
mv nvidia/cu13 ../cuda
cd ../cuda
rm -rf ../fetched include/cccl/cub include/cccl/thrust include/cub include/thrust
find include/cooperative_groups -name '*scan.h' -exec rm {} + -o -name '*reduce.h' -exec rm {} +
[ -e include/nv ] || ln -s cccl/nv include/nv
chmod -R a+rX .
bin/nvcc --version
