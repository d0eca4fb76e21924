# Upsweep: `make help` lists the targets. What is built lies in build/, except the steps, ./stepN.

CC        = gcc
CXX       = g++
CUDA     := $(shell common/build/toolkit.sh)
NVCC      = $(CUDA)/bin/nvcc -ccbin $(CXX)

CFLAGS    = -std=c11 -Wall -Wextra -Werror -O2 -g -pthread
# PTX for the emulator and any GPU since Turing, and machine code for H100 and H200.
NVCCFLAGS = -O3 -lineinfo -Werror all-warnings -Xcompiler -Wall,-Wextra \
            -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=[sm_90,compute_90]
INCLUDES  = -I. -Icommon
DEPENDENCIES = -MMD -MP

# A step finds NVIDIA's runtime through RUNPATH. LD_LIBRARY_PATH goes before that: so --device emu can
# put the emulator in its place.
RUNPATH   = $(patsubst $(CURDIR)/%,$$ORIGIN/%,$(CUDA))/lib64
LDLIBS    = -L$(CUDA)/lib64 -lcudart -Wl,--enable-new-dtags,-rpath,'$(RUNPATH)' -lm -pthread

# Commands are quiet unless V=1; $(call say,tool,file) tells in their place.
Q        := $(if $(V),,@)
say       = @mkdir -p $(@D) $(if $(V),,&& printf '  %-5s %s\n' $(1) $(2))

# What becomes of A.c and A.cu: build/A.o and build/A.cu.o.
objects   = $(patsubst %.c,build/%.o,$(filter %.c,$(1))) $(patsubst %.cu,build/%.cu.o,$(filter %.cu,$(1)))
sources   = $(wildcard $(addsuffix /*.c,$(1)) $(addsuffix /*.cu,$(1)))

COMMON   := $(call objects,$(filter-out common/main.c,$(call sources,common)))

# Folder steps/03-name is program ./step3 and descriptor step03.
STEP_DIRS := $(patsubst %/,%,$(wildcard steps/[0-9][0-9]-*/))
STEPS     := $(sort $(foreach dir,$(STEP_DIRS),step$(patsubst 0%,%,$(firstword $(subst -, ,$(notdir $(dir)))))))
number    = $(if $(filter 0 1 2 3 4 5 6 7 8 9,$(1)),0)$(1)
folder    = $(patsubst %/,%,$(call the_one,$(1),$(wildcard steps/$(call number,$(1))-*/)))
the_one   = $(if $(filter 1,$(words $(2))),$(2),$(error step$(1) needs exactly one folder \
            steps/$(call number,$(1))-*, and there $(if $(2),are $(words $(2)): $(2),is none)))

.PHONY: all emu tests-build test clean
.DELETE_ON_ERROR:
.SECONDEXPANSION:

all: $(STEPS) ## build every step (the default)

# ---- steps --------------------------------------------------------------------------------------

# A goal stepN that has no folder gets this rule too, and with it the error of `the_one`.
$(sort $(STEPS) $(filter step%,$(MAKECMDGOALS))): step%: \
        $$(call objects,$$(call sources,$$(call folder,$$*))) build/main/step$$(call number,$$*).o $(COMMON) | emu
	$(call say,link,$@)
	$(Q)$(CXX) $^ -o $@ $(LDLIBS)

# main.c is compiled once a step; STEP is the descriptor that it runs.
build/main/%.o: common/main.c
	$(call say,$(CC),"$< ($*)")
	$(Q)$(CC) $(CFLAGS) $(INCLUDES) -isystem $(CUDA)/include -DSTEP=$* $(DEPENDENCIES) -c $< -o $@

build/%.o: %.c
	$(call say,$(CC),$<)
	$(Q)$(CC) $(CFLAGS) $(INCLUDES) -isystem $(CUDA)/include $(DEPENDENCIES) -c $< -o $@

build/%.cu.o: %.cu
	$(call say,nvcc,$<)
	$(Q)$(NVCC) $(NVCCFLAGS) $(INCLUDES) $(DEPENDENCIES) -c $< -o $@

# ---- the emulator -------------------------------------------------------------------------------

# The operations (ops*.c) are compiled for any CPU and for one with AVX2; the emulator takes what runs.
# They round as PTX says: no contraction to fma, no assumption about the rounding mode.
ISAS     := base $(if $(filter x86_64,$(shell uname -m)),v3)
OPS      := $(wildcard common/emu/ops*.c)
EMU      := $(call objects,$(filter-out $(OPS) %/emu_main.c,$(wildcard common/emu/*.c))) \
            $(foreach isa,$(ISAS),$(OPS:%.c=build/%.$(isa).o))
VERSIONS := $(wildcard common/emu/cudart.map)

emu: build/emu/libcudart.so.13 build/emu/libcudart_static.a build/emu/emu ## build the emulator: build/emu/

build/common/emu/%: CFLAGS += -fPIC -ffp-contract=off
build/common/emu/ops%: CFLAGS += -O3 -frounding-math

build/%.base.o: %.c
	$(call say,$(CC),"$< (any CPU)")
	$(Q)$(CC) $(CFLAGS) -DEMU_ISA=base $(INCLUDES) -isystem $(CUDA)/include $(DEPENDENCIES) -c $< -o $@

build/%.v3.o: %.c
	$(call say,$(CC),"$< (AVX2)")
	$(Q)$(CC) $(CFLAGS) -DEMU_ISA=v3 -march=x86-64-v3 $(INCLUDES) -isystem $(CUDA)/include $(DEPENDENCIES) -c $< -o $@

build/emu/libcudart.so.13: $(EMU) $(VERSIONS)
	$(call say,link,$@)
	$(Q)$(CC) -shared -Wl,-soname,libcudart.so.13,-Bsymbolic $(VERSIONS:%=-Wl,--version-script=%) \
	    $(EMU) -o $@ -lzstd -lm -ldl -pthread
	$(Q)ln -sf libcudart.so.13 build/emu/libcudart.so

# One object with zstd inside and only the runtime's own names outside: it links with anything.
build/emu/libcudart_static.a: $(EMU)
	$(call say,ar,$@)
	$(Q)ld -r $(EMU) -L$(dir $(shell $(CC) -print-file-name=libzstd.a)) -l:libzstd.a -o build/emu/cudart.o
	$(Q)objcopy --wildcard --keep-global-symbol='cuda*' --keep-global-symbol='__cuda*' \
	    --keep-global-symbol='emu_*' build/emu/cudart.o
	$(Q)rm -f $@ && ar rcs $@ build/emu/cudart.o

build/emu/emu: $(call objects,$(wildcard common/emu/emu_main.c))
	$(call say,link,$@)
	$(Q)$(if $^,$(CC) $^ -o $@ -lm,true)

# ---- tests --------------------------------------------------------------------------------------

# One Criterion program of every test, everything in common/ and every step, on the emulator: no GPU needed.
TESTS    := $(call objects,$(call sources,tests tests/emu tests/wrong)) $(COMMON) \
            $(call objects,$(call sources,$(STEP_DIRS)))

tests-build: build/tests/run all ## build the tests

build/tests/run: $(TESTS) build/emu/libcudart.so.13
	$(call say,link,$@)
	$(Q)$(CXX) $^ -o $@ -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../emu' -lcriterion -lm -pthread

test: tests-build ## run every test
	$(Q)build/tests/run

# -------------------------------------------------------------------------------------------------

clean: ## remove what was built, but not a toolkit in build/cuda
	$(Q)rm -rf $(filter-out build/cuda,$(wildcard build/*)) $(wildcard step[0-9] step[0-9][0-9])

-include $(shell find build -name '*.d' 2>/dev/null)
