# emu.mk — builds the emulator: a library that replaces NVIDIA's runtime, the command build/emu/emu,
# and libraries that take the place of NVIDIA's; installs it, and makes what is released.

.PHONY: emu emu-report install install-emu uninstall dist release

# Operations (ops*.c) must round as PTX says: no contraction to fma. The rounding mode never changes
# inside of an operation, so -frounding-math is not needed. It would keep the compiler from making
# vector instructions of fma, sqrt and rint, and so would errno and the CPU's record of exceptions,
# which nothing reads.
#
# They are compiled for this machine's CPU: as v3 if it has AVX2, FMA and BMI2, or else as base, for
# any CPU. Goals that install or pack the emulator compile both, and the program chooses when it
# starts. So does test-slow, whose tests pack it beside others that take a program's bytes for its
# version. build/emu/isas lists what has been compiled.
HAVE_ISAS := $(shell cat build/emu/isas 2>/dev/null)
ISAS     := $(sort $(filter base v3,$(HAVE_ISAS)) $(if $(shell grep -w avx2 /proc/cpuinfo \
            2>/dev/null | grep -w fma | grep -m 1 -ow bmi2),v3,base) \
            $(if $(filter install install-emu dist release autograder-% test-slow, \
            $(MAKECMDGOALS)),base $(if $(filter x86_64,$(shell uname -m)),v3)))
OPS      := $(wildcard common/tools/emu/ops/ops_*.c)
AUDIT    := common/tools/emu/command/audit.c
EMU_COMMAND := $(filter-out %/audit.c %/settings.c,$(wildcard common/tools/emu/command/*.c))
EMU      := $(call objects,$(filter-out $(OPS) $(AUDIT) $(EMU_COMMAND) common/tools/emu/libs/%, \
                $(wildcard common/tools/emu/*/*.c common/files/*.c))) \
            $(foreach isa,$(ISAS),$(OPS:%.c=build/%.$(isa).o))

# zstd is linked statically, so that the emulator needs no library but those of glibc.
ZSTD      = $(shell $(CC) -print-file-name=libzstd.a)

build/common/tools/emu/% build/common/files/%: C_FLAGS += -fPIC -ffp-contract=off
build/common/tools/emu/ops/ops_%: C_FLAGS += -fno-math-errno -fno-trapping-math
# ops_convert.c, whose many functions are rarely used, stays at -O2: it takes long to compile.
$(foreach isa,base v3,$(patsubst %.c,build/%.$(isa).o,$(filter-out %_convert.c,$(OPS)))): \
    CFLAGS += -O3
build/common/tools/emu/ops/operations.o: C_FLAGS += $(ISAS:%=-DEMU_HAS_%)
build/common/tools/emu/ops/operations.o: build/emu/isas
build/emu/isas: $(if $(filter-out $(HAVE_ISAS),$(ISAS)),FORCE)
	$(call written,echo $(ISAS))
FORCE:

# Keeps the function that the program called on the stack (runtime/place.c).
build/common/tools/emu/runtime/%: C_FLAGS += -fno-optimize-sibling-calls

# Both APIs as the toolkit's headers declare them, some of the driver's as deprecated.
DRIVER_NAMES := $(addprefix build/driver/,functions.inc errors.inc runtime.inc)
build/common/tools/emu/runtime/driver_%: C_FLAGS += -Wno-deprecated-declarations -Ibuild/driver
$(call objects,$(wildcard common/tools/emu/runtime/driver_*.c)): | $(DRIVER_NAMES)
$(DRIVER_NAMES): build/driver/%.inc: common/tools/emu/runtime/driver_names.sh \
        $(TOOLKIT)/include/cuda.h
	$(call written,CC='$(CC)' $< $* $(TOOLKIT)/include)

build/%.base.o: %.c
	$(call compile, for any CPU,-DEMU_ISA=base)
build/%.v3.o: %.c
	$(call compile, for AVX2,-DEMU_ISA=v3 -march=x86-64-v3)

# What runs a program; the rest is for linking others, which a first `make step3` need not wait for.
EMU_RUNS := $(addprefix build/emu/,libcudart.so.13 libemu_audit.so removed.h \
            dap.py emu)
IN_EMU   := $(notdir $(EMU_RUNS)) libcudart_static.a
emu: $(IN_EMU:%=build/emu/%) ## use: build the emulator, build/emu

# A program that is running keeps the old library.
# The link fails if a symbol is missing, but sanitized objects get some symbols from the program.
CUDART_MAP = common/tools/emu/cudart.map
IS_CUDART = -shared -Wl,-soname,libcudart.so.13,-Bsymbolic,--version-script=$(CUDART_MAP) \
            $(if $(SANITIZE),,-Xlinker --no-undefined)
build/emu/libcudart.so.13: $(EMU) $(CUDART_MAP)
	$(call made,link,$(CC) $(IS_CUDART) $(LDFLAGS) $(EMU) $(ZSTD) -lm -ldl -pthread)
	$(Q)ln -s $(@F) $(NEW) && mv -fT $(NEW) build/emu/libcudart.so

# What links a program with it in place of NVIDIA's runtime.
EMULATED  = build/emu/libcudart.so.13 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/$(TO_BUILD)emu'

# For linkers: a library with the names of the driver API. No file is called libcuda.so.1: emu gives
# the programs that it starts libcudart.so.13 in its place (command/audit.c), since NVIDIA's runtime
# must not find it.
PRIVATE  := build/emu/libraries
emu: $(PRIVATE)/lib/libcuda.so
$(PRIVATE)/lib/libcuda.so: common/tools/emu/runtime/driver_names.sh $(TOOLKIT)/include/cuda.h
	$(call made,$(CC),CC='$(CC)' $< stub $(TOOLKIT)/include | \
	    $(CC) -shared -Xlinker -soname=libcuda.so.1 -x c -)

# The functions of the C library that the emulator replaces (runtime/process.c).
REPLACED  = $(shell nm -g build/common/tools/emu/runtime/process.o | grep -o '[^ ]*@.*')

# One object that includes zstd and exports only the names of the runtime, of the driver API and of
# emu.h. Those of the driver are weak: programs that load a driver themselves have such names, too.
build/emu/libcudart_static.a: $(EMU)
	$(call say,ar,$@)
	$(Q)ld -r $(EMU) $(ZSTD) -o $(NEW).o
	$(Q)objcopy --wildcard --rename-section '.text=emu_text' --keep-global-symbol='cuda[A-Z]*' \
	    --keep-global-symbol='cu[A-Z]*' --weaken-symbol='cu[A-Z]*' \
	    --keep-global-symbol='__cuda*' --keep-global-symbol='emu_*' \
	    $(foreach name,$(REPLACED),--redefine-sym $(name)=$(firstword $(subst @, ,$(name))) \
	        --keep-global-symbol=$(firstword $(subst @, ,$(name)))) $(NEW).o
	$(Q)ar rcs $(NEW) $(NEW).o $(PUT) && rm $(NEW).o

# The dynamic linker loads it into every program that emu starts, those of others too: so it has no
# sanitizer, whose objects it cannot share.
AUDITING := $(AUDIT) $(addprefix common/,tools/emu/ptx/program_elf.c tools/emu/ptx/elf.c \
            files/visible.c)
build/emu/libemu_audit.so: $(AUDITING) $(wildcard $(addprefix common/, \
        tools/emu/command/*.h tools/emu/ptx/*.h files/*.h))
	$(call made,$(CC),$(CC) $(NOT_SANITIZED) $(CPPFLAGS) $(CFLAGS) -fPIC -shared $(AUDITING))

# The command looks for them beside the libraries.
build/emu/removed.h: common/tools/emu/removed.h
build/emu/dap.py: common/tools/emu/command/dap.py
build/emu/removed.h build/emu/dap.py:
	$(copied)

# The command runs no kernels, so it is linked only with the objects that it calls: from an archive.
# The other archive lacks the CUDA runtime, whose header comes with nvcc.
build/emu/emu: $(call objects,$(EMU_COMMAND)) build/emu/all.a
	$(call link_with_emulator,-static-libgcc -static-libstdc++)
build/emu/all.a: $(EMU)
build/emu/core.a: $(filter-out build/common/tools/emu/runtime/%,$(EMU))
build/emu/%.a:
	$(call say,ar,$@)
	$(Q)ar rcs $(NEW) $^ $(PUT)

emu-report: emu ## use: say how exact the counters of PROGRAM=./step4 are, kernel by kernel
	$(Q)$(if $(PROGRAM),,echo 'Which program? make emu-report PROGRAM=./step4' >&2; exit 2;) \
	    build/emu/emu --report $(PROGRAM)

# ---- libraries ----------------------------------------------------------------------------------

# They take the place of NVIDIA's cuBLAS and cuRAND in programs that `emu` starts, and are in a
# folder of their own, where no loader looks by itself (PRIVATE).
STAND_INS := $(addprefix $(PRIVATE)/lib/,libcublas.so.13 libcurand.so.10)
emu: $(STAND_INS)

# Options of nvcc for programs that use them.
STAND_IN_LINK = -I$(PRIVATE)/include -L$(PRIVATE)/lib

IN_STAND_IN = $(wildcard common/tools/emu/libs/stand_in.c common/tools/emu/libs/$(1)*.c)
STAND_IN_HEADERS := $(wildcard common/tools/emu/libs/include/*.h)

# Results have the same bits on every CPU: no contraction to fma. Programs of others load them, with
# or without sanitizers: so they have none.
STAND_IN_FLAGS = $(NOT_SANITIZED) $(CPPFLAGS) -Ibuild/stand-ins \
    -I$(PRIVATE)/include -isystem $(TOOLKIT)/include -g -O3 -ffp-contract=off -fno-math-errno \
    -fPIC -shared

# What a stand-in shows, under the version that programs linked with NVIDIA's ask for.
SHOWN     = '$(@F) { global: $(LIBRARY)*; local: *; };'

$(PRIVATE)/include/cublas_names.h: common/tools/emu/libs/library_names.sh $(STAND_IN_HEADERS)
	@mkdir -p $(@D)
	$(Q)cp $(STAND_IN_HEADERS) $(@D)/
	$(Q)$< header >$(NEW) $(PUT)
build/stand-ins/refused.inc: common/tools/emu/libs/library_names.sh
	$(call written,$< refused)

# The links that the linker looks for have no version.
$(PRIVATE)/lib/libcublas.so.13: LIBRARY = cublas
$(PRIVATE)/lib/libcurand.so.10: LIBRARY = curand
$(STAND_INS): $(PRIVATE)/lib/lib%: $$(call IN_STAND_IN,$$(firstword $$(subst ., ,$$*))) \
        $$(wildcard $$(addprefix common/tools/emu/,libs/*.h libs/*.inc emu.h \
        ptx/half.h)) \
        $(PRIVATE)/include/cublas_names.h build/stand-ins/refused.inc | build/emu/libcudart.so.13
	$(call say,$(CC),$@)
	$(Q)echo $(SHOWN) >$(NEW).map
	$(Q)$(CC) $(STAND_IN_FLAGS) -Wl,-soname,$(@F),-Bsymbolic,--version-script=$(NEW).map \
	    $(filter %.c,$^) -o $(NEW) build/emu/libcudart.so.13 -lm $(PUT)
	$(Q)rm $(NEW).map && ln -s $(@F) $(NEW) && mv -fT $(NEW) $(@D)/lib$(LIBRARY).so

# ---- make install and release -------------------------------------------------------------------

PREFIX    = /usr/local
DESTDIR   =
INSTALLED = $(DESTDIR)$(PREFIX)
PLACES    = bin lib/upsweep include share/man/man1 share/bash-completion/completions

EMU_VERSION = $(shell sed -n 's/^.define EMU_VERSION "\(.*\)"/\1/p' \
              common/tools/emu/command/command.h)
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
	$(Q)install -m 644 common/tools/emu/emu.h '$(INSTALLED)/include/'
	$(Q)install -m 644 build/emu/emu.1 '$(INSTALLED)/share/man/man1/'
	$(Q)install -m 644 common/tools/emu/emu.bash \
	    '$(INSTALLED)/share/bash-completion/completions/emu'

uninstall: ## use: remove what they installed with the same PREFIX and DESTDIR
	$(Q)rm -rf $(patsubst %,'$(INSTALLED)/%',bin/emu include/emu.h share/man/man1/emu.1 \
	    share/bash-completion/completions/emu lib/upsweep include/upsweep lib/cmake/upsweep \
	    $(UPSWEEP_INSTALLED))

build/emu/emu.1: build/emu/emu common/tools/emu/manual.awk
	$(call written,build/emu/emu --help | awk -v version='$(EMU_VERSION)' -f $(word 2,$^))

dist: ## use: make a tarball of the emulator for other machines, build/upsweep-emu-*.tar.gz
	$(Q)rm -rf build/dist
	$(Q)$(MAKE) --no-print-directory install-emu PREFIX=/$(DIST) DESTDIR=build/dist
	$(Q)common/build/release.sh dist $(DIST)

release: ## use: make all that is released, dist/ (after make setup-page); ALL_GPUS=1
release: build/page/upsweep.html $(WHEEL)/lib/libupsweep.so
	$(Q)$(MAKE) --no-print-directory dist
	$(Q)common/build/release.sh release $(DIST) $(WHEEL)
