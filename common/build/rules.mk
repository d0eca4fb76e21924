# rules.mk — the tools, and how a file is compiled and a program linked.

CC        = gcc
CXX       = g++
CUDA     := $(shell common/build/toolkit.sh)
TOOLKIT   = $(or $(CUDA),common/build/no-cuda)
NVCC      = $(CUDA)/bin/nvcc -ccbin $(CXX)

# For you to replace, as in `make CFLAGS=-O0`; what the sources need besides is in C_FLAGS.
CFLAGS    = -O2 -g
LDFLAGS   =
C_FLAGS   = -std=c11 -Wall -Wextra -Werror -pthread $(SANITIZE)
NOT_SANITIZED = $(filter-out $(SANITIZE),$(C_FLAGS))
# PTX for the emulator and any GPU since Turing, and machine code for H100 and H200.
GPUS      = -gencode arch=compute_75,code=compute_75 \
            -gencode arch=compute_90,code=[sm_90,compute_90]
ptx       = $(foreach sm,$1,-gencode arch=compute_$(sm),code=compute_$(sm))
WARNINGS  = -Werror all-warnings -Xcompiler -Wall,-Wextra
NVCCFLAGS = -O3 -lineinfo $(WARNINGS) $(GPUS)
CPPFLAGS  = -I.
COMPILE   = $(CC) $(C_FLAGS) $(CPPFLAGS) $(DEPEND) -isystem $(TOOLKIT)/include $(CFLAGS) \
            -c $< -o $(NEW)
NVCOMPILE = $(NVCC) $(NVCCFLAGS) $(CPPFLAGS) $(DEPEND) -c $< -o $(NEW)
LINK      = $(CXX) $(SANITIZE) $(LDFLAGS) $(filter %.o,$^) -o $(NEW) $(LIBRARIES)
LINK_C    = $(CC) $(SANITIZE) $(LDFLAGS) $^ -lm -pthread

# The commands that link a program which calls CUDA's runtime, or one that has in itself what it
# needs of the emulator, from build/emu/all.a or core.a.
define link
$(call say,link,$@)
$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)
endef
link_with_emulator = $(call made,link,$(CXX) $(or $(SANITIZE),$1) $(LDFLAGS) $^ $(ZSTD) -lm -ldl \
                     -pthread)

# Two makes at once do no harm: each writes under a name that no other has, and then renames.
MAKE_ID  := $(shell mktemp -u XXXXXXXX)
NEW       = $@.$(MAKE_ID).new
PUT       = && mv -f $(NEW) $@
DEPEND    = -MMD -MP -MT $@ -MF $(NEW).dependencies
PUT_OBJECT = && mv -f $(NEW).dependencies $(@:.o=).d $(PUT)

# A program finds NVIDIA's runtime through RUNPATH, the way from its folder. LD_LIBRARY_PATH goes
# before that: so --device emu can put the emulator in its place.
RUNPATH   = $(patsubst build/cuda,$$ORIGIN/$(TO_BUILD)cuda,$(CUDA))/lib64
TO_BUILD  = $(if $(filter build/%,$@),$(subst / .,/.,$(foreach \
            folder,$(wordlist 2,9,$(subst /, ,$(@D))),../)),build/)
CUDART    = -L$(CUDA)/lib64 -lcudart -Wl,--enable-new-dtags,-rpath,'$(RUNPATH)'

# Commands are quiet unless V=1: `say` counts them.
Q        := $(if $(V),,@)
BEGAN    := $(shell date +%s)
say       = @mkdir -p $(@D) $(if $(V),,&& $(if $(COUNTING),: say,$(eval BEGUN += x)$\
            $(PROGRESS) $1 $2))
PROGRESS  = common/build/progress.sh $(words $(BEGUN)) $(TOTAL) $(BEGAN) '$(MAKE_TERMOUT)'
TOTAL     = $(eval TOTAL := $(shell $(MAKE) -n -f $(firstword $(MAKEFILE_LIST)) $(MAKEOVERRIDES) \
            $(MAKECMDGOALS) COUNTING=1 2>/dev/null | grep -c ': say$$'))$(or \
            $(filter-out 0,$(TOTAL)),1)

# Only the rules below, and all processors unless -j says otherwise.
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
    MAKEFLAGS += -j$(shell nproc)
endif

# Goals that compile stop here if a tool is missing.
MISSING  := $(shell CC='$(CC)' CXX='$(CXX)' common/build/missing.sh '$(COMPILER)' \
            $(or $(MAKECMDGOALS),all))
$(if $(MISSING),$(error Missing: $(MISSING). `make setup` installs what is missing))

# What compiles the first prerequisite: $1 says for what, and $2 are further options. `made` runs
# command $2, which gets the result's name by -o; `by_nvcc` makes a program or PTX of a source, with
# options $1; `written` gets it from a command that prints it.
define compile
$(call say,$(if $(filter %.c,$<),$(CC),nvcc),"$<$1")
$(Q)$(if $(filter %.c,$<),$(COMPILE),$(NVCOMPILE)) $2 $(PUT_OBJECT)
endef
define made
$(call say,$1,$@)
$(Q)$2 -o $(NEW) $(PUT)
endef
define by_nvcc
$(call say,nvcc,$@)
$(Q)$(NVCC) $1 $(CPPFLAGS) $(DEPEND) $< -o $(NEW) $(PUT_OBJECT)
endef
written   = $(Q)mkdir -p $(@D) && $1 >$(NEW) $(PUT)
copied    = $(call written,cat $<)

# A.c becomes build/A.o, and A.cu build/A.cu.o; with other options of nvcc, in a folder in build/.
objects   = $(patsubst %.c,build/%.o,$(filter %.c,$(1))) $(patsubst %.cu,$(CUDA_BUILD)/%.cu.o,\
            $(foreach f,$(filter %.cu,$(1)),$(if $(filter $(SMALLER),$f),small/)$f))
CUDA_BUILD = build

.SECONDEXPANSION:
build/%.o: %.c
	$(compile)
build/%.cu.o: $$(call cuda_source,$$*)
	$(call compile,$(if $(ONLY), for $(ONLY)),$(ONLY:%=-DONLY=%))

# The source of such an object without its suffix: scan-PART is scan.cu, compiled with -DONLY=PART.
IN_FOLDER = small/ library/gpus/ $(ARCHITECTURES:%=architectures/%/)
cuda_source = $(firstword $(subst /scan-,/scan ,$(firstword $(foreach folder,$(IN_FOLDER), \
              $(patsubst $(folder)%,%,$(filter $(folder)%,$1))) $1))).cu
ONLY      = $(patsubst scan-%.cu.o,%,$(filter scan-%,$(@F)))
