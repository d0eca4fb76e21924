# install.mk — installs the emulator and the library, and makes what is released.

.PHONY: install install-emu uninstall dist release

PREFIX    = /usr/local
DESTDIR   =
INSTALLED = $(DESTDIR)$(PREFIX)
PLACES    = bin lib/upsweep include share/man/man1 share/bash-completion/completions

EMU_VERSION = $(shell sed -n 's/^.define EMU_VERSION "\(.*\)"/\1/p' common/emu/command/command.h)
EMU_MACHINE = $(shell uname -m)-$(shell uname -s | tr A-Z a-z)
DIST      = upsweep-emu-$(EMU_VERSION)-$(EMU_MACHINE)

# What is no single file for `install -m`: everybody can read it, whatever the umask was.
FOR_ALL   = u=rwX,go=rX

# The emulator's libraries, and the link that the linker looks for.
INSTALLED_LIBRARIES = $(addprefix build/emu/,libcudart.so $(filter-out emu,$(IN_EMU)))

install: install-emu install-library ## use: install the emulator and the library, PREFIX=/usr/local
	@:

install-emu: emu build/emu/emu.1 ## use: install the emulator, PREFIX=/usr/local DESTDIR=
	$(Q)install -d $(PLACES:%='$(INSTALLED)/%')
	$(Q)install -m 755 build/emu/emu '$(INSTALLED)/bin/'
	$(Q)cp -P --remove-destination $(INSTALLED_LIBRARIES) '$(INSTALLED)/lib/upsweep/'
	$(Q)cp -RP --remove-destination $(PRIVATE) '$(INSTALLED)/lib/upsweep/'
	$(Q)chmod -R $(FOR_ALL) '$(INSTALLED)/lib/upsweep'
	$(Q)install -m 644 common/emu/emu.h '$(INSTALLED)/include/'
	$(Q)install -m 644 build/emu/emu.1 '$(INSTALLED)/share/man/man1/'
	$(Q)install -m 644 common/emu/emu.bash '$(INSTALLED)/share/bash-completion/completions/emu'

uninstall: ## use: remove what they installed with the same PREFIX and DESTDIR
	$(Q)rm -f '$(INSTALLED)/bin/emu' '$(INSTALLED)/include/emu.h' \
	    '$(INSTALLED)/share/man/man1/emu.1' \
	    '$(INSTALLED)/share/bash-completion/completions/emu'
	$(Q)rm -rf '$(INSTALLED)/lib/upsweep' '$(INSTALLED)/include/upsweep' \
	    '$(INSTALLED)/lib/cmake/upsweep'
	$(Q)rm -f $(UPSWEEP_INSTALLED:%='$(INSTALLED)/%')

build/emu/emu.1: build/emu/emu common/emu/manual.awk
	$(call say,awk,$@)
	$(Q)build/emu/emu --help | awk -v version='$(EMU_VERSION)' -f common/emu/manual.awk >$(NEW) $(PUT)

# The tarball runs on systems with glibc 2.34 or later: common/build/portable.sh stops if a file
# needs more. Debugging information stays here.
dist: ## use: make a tarball of the emulator for other machines, build/upsweep-emu-*.tar.gz
	$(Q)rm -rf build/dist
	$(Q)$(MAKE) --no-print-directory install-emu PREFIX=/$(DIST) DESTDIR=build/dist
	$(Q)strip --strip-unneeded build/dist/$(DIST)/bin/emu build/dist/$(DIST)/lib/upsweep/*.so* \
	    build/dist/$(DIST)/lib/upsweep/libraries/lib/*.so.*
	$(Q)strip --strip-debug build/dist/$(DIST)/lib/upsweep/*.a
	$(Q)common/build/portable.sh build/dist/$(DIST)/bin/emu build/dist/$(DIST)/lib/upsweep/*.so* \
	    build/dist/$(DIST)/lib/upsweep/libraries/lib/*.so.*
	$(Q)install -m 644 LICENSE common/emu/zstd-licence.txt build/dist/$(DIST)/
	$(Q)install -m 644 common/emu/tarball.md build/dist/$(DIST)/README.md
	$(Q)tar -C build/dist --sort=name --owner=0 --group=0 --numeric-owner \
	    --mtime="@$$(git log -1 --format=%ct 2>/dev/null || echo 0)" -cf - $(DIST) | \
	    gzip -9n >build/$(DIST).tar.gz.new && mv -f build/$(DIST).tar.gz.new build/$(DIST).tar.gz
	@echo build/$(DIST).tar.gz

# The wheel has what the tarball has, and the library beside it, as `make install` lays them out.
release: ## use: make all that is released, dist/ (after make setup-page); ALL_GPUS=1
release: build/page/upsweep.html $(WHEEL)/lib/libupsweep.so
	$(Q)$(MAKE) --no-print-directory dist
	$(Q)common/build/portable.sh $(WHEEL)/lib/libupsweep.so
	$(Q)rm -rf $(WHEEL)/lib/upsweep $(WHEEL)/bin dist.new && mkdir dist.new
	$(Q)cp -a build/dist/$(DIST)/bin $(WHEEL)/ && cp -a build/dist/$(DIST)/lib/upsweep $(WHEEL)/lib/
	$(Q)cd common/python && UPSWEEP_LIBRARY='$(abspath $(WHEEL)/lib/libupsweep.so)' \
	    python3 -B -c 'import backend; backend.build_wheel("../../dist.new", \
	    {"platform": "manylinux_2_34_$(shell uname -m)"})'
	$(Q)cp build/page/upsweep.html build/$(DIST).tar.gz dist.new/
	$(Q)cd dist.new && sha256sum -- * >SHA256SUMS
	$(Q)rm -rf dist && mv dist.new dist && ls dist/*
