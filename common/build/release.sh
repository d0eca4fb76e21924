#!/bin/sh
# release.sh dist NAME | release NAME WHEEL — packs what make has built and installed (emu.mk).
# dist: the emulator in build/dist/NAME becomes a tarball, build/NAME.tar.gz, which runs on systems
# with glibc 2.34 or later (portable.sh); debugging information stays here. release: dist/ gets the
# tarball, the page and the wheel, which has what the tarball has, and the library beside it, as
# `make install` lays them out: WHEEL/lib/libupsweep.so.
set -e
name=$2 wheel=$3 tree=build/dist/$2
libraries="$tree/lib/upsweep/*.so* $tree/lib/upsweep/libraries/lib/*.so.*"

if [ "$1" = dist ]; then
    # shellcheck disable=SC2086
    {
        strip --strip-unneeded "$tree/bin/emu" $libraries
        strip --strip-debug "$tree"/lib/upsweep/*.a
        common/build/portable.sh "$tree/bin/emu" $libraries
    }
    install -m 644 LICENSE common/tools/emu/zstd-licence.txt "$tree/"
    install -m 644 common/tools/emu/tarball.md "$tree/README.md"
    tar -C build/dist --sort=name --owner=0 --group=0 --numeric-owner \
        --mtime="@$(git log -1 --format=%ct 2>/dev/null || echo 0)" -cf - "$name" |
        gzip -9n >"build/$name.tar.gz.new"
    mv -f "build/$name.tar.gz.new" "build/$name.tar.gz"
    echo "build/$name.tar.gz"
    exit
fi

common/build/portable.sh "$wheel/lib/libupsweep.so"
rm -rf "$wheel/lib/upsweep" "${wheel:?}/bin" dist.new && mkdir dist.new
cp -a "$tree/bin" "$wheel/"
cp -a "$tree/lib/upsweep" "$wheel/lib/"
UPSWEEP_LIBRARY=$(realpath "$wheel/lib/libupsweep.so") \
    PYTHONPATH=common/tools/library/python python3 -B -c "import backend
backend.build_wheel('dist.new', {'platform': 'manylinux_2_34_$(uname -m)'})"
cp build/page/upsweep.html "build/$name.tar.gz" dist.new/
(cd dist.new && sha256sum -- * >SHA256SUMS)
rm -rf dist && mv dist.new dist && ls dist/*
