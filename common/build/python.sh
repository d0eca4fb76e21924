#!/bin/sh
# python.sh: makes build/python, a fresh virtual environment with common/tools/library/python,
# for its tests. Needs build/library and no network.
set -eu
. common/build/tools.sh
python=$(python_for_package) || {
    echo "python.sh: no Python with NumPy and venv was found; make setup-python installs them" >&2
    exit 2
}
rm -rf build/python
"$python" -m venv --system-site-packages build/python
build/python/bin/pip install --quiet --no-index --no-cache-dir --disable-pip-version-check \
    ./common/tools/library/python
