# library.mk — builds libupsweep from the files of steps 12 to 15 and of scan/, and installs it.

.PHONY: library install-library

# Major and minor version, in upsweep/version.h.
VERSION_WORDS := $(shell sed -n 's/^.define UPSWEEP_M[AI].* //p' \
                 common/tools/library/upsweep/version.h 2>/dev/null)
UPSWEEP_MAJOR := $(firstword $(VERSION_WORDS))
UPSWEEP_VERSION := $(UPSWEEP_MAJOR).$(word 2,$(VERSION_WORDS))

# ALL_GPUS=1: machine code for every GPU since Turing that the toolkit knows, and PTX for later ones
# and the emulator; compressed, and without line numbers. Otherwise the steps' objects are used.
UPSWEEP_ALL = 75 80 86 89 90 100 120
UPSWEEP_BUILD = build/library$(if $(ALL_GPUS),/gpus)
UPSWEEP_CUDA  = $(if $(ALL_GPUS),build/library/gpus,$(CUDA_BUILD))
UPSWEEP_HAS   = $(if $(ALL_GPUS),$(filter $(UPSWEEP_ALL:%=sm_%),$(shell $(NVCC) --list-gpu-code)))
UPSWEEP_GPUS  = $(foreach sm,$(UPSWEEP_HAS:sm_%=%),-gencode arch=compute_$(sm),code=sm_$(sm)) \
                $(call ptx,75 90 $(patsubst sm_%,%,$(lastword $(UPSWEEP_HAS))))
build/library/gpus/%: NVCCFLAGS = -O3 $(WARNINGS) --compress-mode=size $(UPSWEEP_GPUS)

UPSWEEP_SOURCES = $(addprefix steps/,12-pipeline/scan.cu 13-compaction/fast.cu \
                  14-summed-area-table/fast.cu 14-summed-area-table/filter.cu \
                  15-radix-sort/sort.cu) $(filter-out %-OTHERS.cu,$(PARTS16)) \
                  $(wildcard common/tools/library/*.cu)
UPSWEEP_OBJECTS = $(patsubst %.c,build/%.o,$(wildcard common/tools/library/*.c)) \
                  $(patsubst %.cu,$(UPSWEEP_CUDA)/%.cu.o,$(UPSWEEP_SOURCES))
UPSWEEP_SO      = $(UPSWEEP_BUILD)/libupsweep.so.$(UPSWEEP_VERSION)

build/common/tools/library/%: C_FLAGS += -fPIC

library: $(UPSWEEP_SO) $(UPSWEEP_BUILD)/libupsweep.a ## use: build libupsweep, build/library
	@:
#ALL_GPUS=1: ## use: with `library` or `install-library`, for all GPUs since Turing

# It shows nothing but the functions of its headers. Programs bring the CUDA runtime.
LINK_UPSWEEP = $(CXX) -shared -Wl,-soname,libupsweep.so.$(UPSWEEP_MAJOR),-Bsymbolic,-z,defs \
    -Wl,--version-script=common/tools/library/upsweep.map -static-libstdc++ $(LDFLAGS) \
    $(UPSWEEP_OBJECTS) -L$(CUDA)/lib64 -lcudart
$(UPSWEEP_SO): $(UPSWEEP_OBJECTS) common/tools/library/upsweep.map
	$(call made,link,$(LINK_UPSWEEP) -static-libgcc)
	$(Q)ln -sf $(@F) $(UPSWEEP_BUILD)/libupsweep.so.$(UPSWEEP_MAJOR)
	$(Q)ln -sf libupsweep.so.$(UPSWEEP_MAJOR) $(UPSWEEP_BUILD)/libupsweep.so

# For the wheel: GCC 12's static libgcc needs glibc 2.35. The shared one is wherever glibc is.
WHEEL = $(UPSWEEP_BUILD)/wheel
$(WHEEL)/lib/libupsweep.so: $(UPSWEEP_OBJECTS) common/tools/library/upsweep.map
	$(call made,link,$(LINK_UPSWEEP) -s)

$(UPSWEEP_BUILD)/libupsweep.a: $(UPSWEEP_OBJECTS)
	$(call say,ar,$@)
	$(Q)ld -r $(UPSWEEP_OBJECTS) -o $(NEW).o
	$(Q)objcopy --wildcard --keep-global-symbol='upsweep_*' $(NEW).o
	$(Q)ar rcs $(NEW) $(NEW).o $(PUT) && rm $(NEW).o

# ---- make install --------------------------------------------------------------------------------

UPSWEEP_LIBRARIES = libupsweep.so.$(UPSWEEP_VERSION) libupsweep.so.$(UPSWEEP_MAJOR) libupsweep.so \
                    libupsweep.a
UPSWEEP_CMAKE     = upsweepConfig.cmake upsweepConfigVersion.cmake
UPSWEEP_INSTALLED = $(UPSWEEP_LIBRARIES:%=lib/%) lib/pkgconfig/upsweep.pc \
                    $(UPSWEEP_CMAKE:%=lib/cmake/upsweep/%)
filled_in = sed -e 's|@VERSION@|$(UPSWEEP_VERSION)|g' -e 's|@MAJOR@|$(UPSWEEP_MAJOR)|g' \
            -e 's|@CUDA@|$(abspath $(CUDA))|g'

# Headers of templates are made one file each, of the files that they include.
build/library/upsweep/%.cuh: common/tools/library/upsweep/%.cuh \
        common/tools/library/one_header.awk \
        $(wildcard steps/1[236]-*/*.cuh steps/1[23]-*/*.h steps/1[23]-*/parts/* \
                   common/tools/library/*.h common/tools/library/scan/*.*h common/step/*.cuh)
	$(call written,awk -f common/tools/library/one_header.awk $<)

UPSWEEP_TEMPLATES = $(patsubst common/tools/library/%,build/library/%, \
                    $(wildcard common/tools/library/upsweep/*.cuh))
install-library: library $(UPSWEEP_TEMPLATES) ## use: install libupsweep, PREFIX=/usr/local DESTDIR=
	$(Q)install -d $(addprefix '$(INSTALLED)'/,include/upsweep lib/pkgconfig lib/cmake/upsweep)
	$(Q)cp -P --remove-destination $(UPSWEEP_LIBRARIES:%=$(UPSWEEP_BUILD)/%) '$(INSTALLED)/lib/'
	$(Q)install -m 644 common/tools/library/upsweep/*.h $(UPSWEEP_TEMPLATES) \
	    '$(INSTALLED)/include/upsweep/'
	$(Q)$(filled_in) common/tools/library/upsweep.pc.in >'$(INSTALLED)/lib/pkgconfig/upsweep.pc'
	$(Q)for file in $(UPSWEEP_CMAKE); do $(filled_in) common/tools/library/$$file.in \
	    >'$(INSTALLED)'/lib/cmake/upsweep/$$file || exit; done
	$(Q)cd '$(INSTALLED)' && chmod $(FOR_ALL) $(UPSWEEP_INSTALLED)
