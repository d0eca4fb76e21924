# install.mk — installs the emulator and the library, and makes what is released.

.PHONY: install install-emu uninstall dist release

PREFIX    = /usr/local
DESTDIR   =
INSTALLED = $(DESTDIR)$(PREFIX)
PLACES    = bin lib/upsweep include share/man/man1 share/bash-completion/completions

EMU_VERSION = $(shell sed -n 's/^.define EMU_VERSION "\(.*\)"/\1/p' common/emu/command/command.h)
DIST      = upsweep-emu-$(EMU_VERSION)-$(shell uname -m)-$(shell uname -s | tr A-Z a-z)

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
	$(Q)rm -rf $(patsubst %,'$(INSTALLED)/%',bin/emu include/emu.h share/man/man1/emu.1 \
	    share/bash-completion/completions/emu lib/upsweep include/upsweep lib/cmake/upsweep \
	    $(UPSWEEP_INSTALLED))

build/emu/emu.1: build/emu/emu common/emu/manual.awk
	$(call say,awk,$@)
	$(Q)build/emu/emu --help | awk -v version='$(EMU_VERSION)' -f common/emu/manual.awk >$(NEW) $(PUT)

dist: ## use: make a tarball of the emulator for other machines, build/upsweep-emu-*.tar.gz
	$(Q)rm -rf build/dist
	$(Q)$(MAKE) --no-print-directory install-emu PREFIX=/$(DIST) DESTDIR=build/dist
	$(Q)common/build/release.sh dist $(DIST)

release: ## use: make all that is released, dist/ (after make setup-page); ALL_GPUS=1
release: build/page/upsweep.html $(WHEEL)/lib/libupsweep.so
	$(Q)$(MAKE) --no-print-directory dist
	$(Q)common/build/release.sh release $(DIST) $(WHEEL)
