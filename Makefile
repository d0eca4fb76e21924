# Upsweep: `make help` lists the targets. What is built lies in build/, except the steps, ./stepN.

CC        = gcc
CXX       = g++
CUDA     := $(shell common/build/toolkit.sh)
NVCC      = $(CUDA)/bin/nvcc -ccbin $(CXX)

# For you to replace, as in `make CFLAGS=-O0`; what the sources need besides is in C_FLAGS.
CFLAGS    = -O2 -g
LDFLAGS   =
C_FLAGS   = -std=c11 -Wall -Wextra -Werror -pthread $(SANITIZE)
# PTX for the emulator and any GPU since Turing, and machine code for H100 and H200.
NVCCFLAGS = -O3 -lineinfo -Werror all-warnings -Xcompiler -Wall,-Wextra \
            -gencode arch=compute_75,code=compute_75 \
            -gencode arch=compute_90,code=[sm_90,compute_90]
CPPFLAGS  = -I.
COMPILE   = $(CC) $(C_FLAGS) $(CPPFLAGS) $(DEPEND) -isystem $(CUDA)/include $(CFLAGS) -c $< \
            -o $(NEW)
NVCOMPILE = $(NVCC) $(NVCCFLAGS) $(CPPFLAGS) $(DEPEND) -c $< -o $(NEW)
LINK      = $(CXX) $(SANITIZE) $(LDFLAGS) $(filter %.o,$^) -o $(NEW)

# Two makes at once do no harm: each writes under a name that no other has, and then renames.
MAKE_ID  := $(shell mktemp -u XXXXXXXX)
NEW       = $@.$(MAKE_ID).new
PUT       = && mv -f $(NEW) $@
DEPEND    = -MMD -MP -MT $@ -MF $(NEW).dependencies
PUT_OBJECT = && mv -f $(NEW).dependencies $(@:.o=.d) $(PUT)

# A step finds NVIDIA's runtime through RUNPATH. LD_LIBRARY_PATH goes before that: so --device emu
# can put the emulator in its place.
RUNPATH   = $(patsubst build/cuda,$$ORIGIN/build/cuda,$(CUDA))/lib64
CUDART    = -L$(CUDA)/lib64 -lcudart -Wl,--enable-new-dtags,-rpath,'$(RUNPATH)'

# Commands are quiet unless V=1; `say` prints a word and a file in their place.
Q        := $(if $(V),,@)
say       = @mkdir -p $(@D) $(if $(V),,&& printf '  %-5s %s\n' $(1) $(2))

# Only the rules below, and all processors unless -j says otherwise.
MAKEFLAGS += --no-builtin-rules
ifeq ($(MAKELEVEL),0)
    MAKEFLAGS += -j$(shell nproc)
endif

# Goals that compile stop here if a tool is missing.
GOALS    := $(filter-out help setup doctor docs format clean,$(or $(MAKECMDGOALS),all))
ifneq ($(GOALS),)
    MISSING := $(shell CC='$(CC)' CXX='$(CXX)' common/build/missing.sh \
               $(if $(filter test% mutate%,$(GOALS)),tests))
    $(if $(MISSING),$(error Missing: $(MISSING). `make setup` installs what is missing))
endif

# A.c becomes build/A.o, and A.cu build/A.cu.o.
objects   = $(patsubst %.c,build/%.o,$(filter %.c,$(1))) \
            $(patsubst %.cu,$(CUDA_BUILD)/%.cu.o,$(filter %.cu,$(1)))
sources   = $(filter-out %/example.c,$(wildcard $(addsuffix /*.c,$(1)) $(addsuffix /*.cu,$(1))))
CUDA_BUILD = build

COMMON   := $(filter-out common/harness/main.c,$(call sources,$(addprefix common/,files harness \
            harness/input harness/run harness/verify harness/report)))

# Folder steps/03-name makes program ./step3, and has descriptor step03.
FOLDERS  := $(patsubst %/,%,$(wildcard steps/[0-9][0-9]-*/))
NUMBERS  := $(foreach f,$(FOLDERS),$(firstword $(subst -, ,$(notdir $(f)))))
OTHERWISE = step5-B% step7-R%
STEPS    := $(sort $(patsubst %,step%,$(NUMBERS:0%=%)))
two_digits = $(if $(filter 0% 1 2 3 4 5 6 7 8 9,$(1)),0)$(1)
folder    = $(patsubst %/,%,$(call the_only,$(1),$(wildcard steps/$(call two_digits,$(1))-*/)))
the_only  = $(if $(filter 1,$(words $(2))),$(2),$(error step$(1) needs exactly one folder \
            steps/$(call two_digits,$(1))-*, and there $(if $(2),are $(words $(2)): $(2),is none)))

.DELETE_ON_ERROR:
.SECONDEXPANSION:
.PHONY: all experiments promises example compare emu emu-report tests-build test test-asan fuzz mutate mutate-record mutate-map bench-emu setup doctor docs format clean help

all: $(STEPS) ## build every step; the default
#cub: ## build CUB's scan, to be compared with
#stepN: ## build step N from its folder steps/NN-name, and the emulator
#V=1: ## with any target, show the commands

# ---- steps --------------------------------------------------------------------------------------

# Goals stepN without a folder get this rule too, and with it the error of `the_only`.
$(sort $(STEPS) $(filter-out $(OTHERWISE),$(filter step%,$(MAKECMDGOALS)))): step%: build/main/step$$(call two_digits,$$*).o \
        $$(call objects,$$(call sources,$$(call folder,$$*)) $(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# main.c is compiled once for each step; STEP is the descriptor that it runs.
build/main/%.o: common/harness/main.c
	$(call say,$(CC),"$< for $*")
	$(Q)$(COMPILE) -DSTEP=$* $(PUT_OBJECT)

# Steps compiled otherwise, to see what it makes of their time: step 5 with blocks of so many
# elements, step 7 with so many registers at most.
build/B%/driver.o: steps/05-arbitrary-size/driver.c
	$(call say,$(CC),"$< with B = $*")
	$(Q)$(COMPILE) -DB=$* $(PUT_OBJECT)
build/B%/scan.o: steps/05-arbitrary-size/scan.cu
	$(call say,nvcc,"$< with B = $*")
	$(Q)$(NVCOMPILE) -DB=$* $(PUT_OBJECT)
build/R%/scan.o: steps/07-unrolled/scan.cu
	$(call say,nvcc,"$< with at most $* registers")
	$(Q)$(NVCOMPILE) -maxrregcount=$* $(PUT_OBJECT)

# Else make would delete them, and its last word would be not the tests' but `rm`.
.PRECIOUS: build/B%/driver.o build/B%/scan.o build/R%/scan.o
step5-B%: build/main/step05.o build/B%/driver.o build/B%/scan.o $(call objects,$(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)
step7-R%: build/main/step07.o build/steps/07-unrolled/driver.o build/R%/scan.o \
        $(call objects,$(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)
#step5-BN: ## build step 5 with blocks of N elements; step7-RN: step 7 with at most N registers

# What steps are compared with is built like one: ./cub. It takes a while to compile, for each type
# of elements: the names of its function, of the elements' type and of the sums'.
CUB_TYPES = cub_f32:float:float cub_f64:double:double cub_i32:int32_t:int32_t \
            cub_i64:int64_t:int64_t cub_i16:int16_t:int32_t cub_i8:int8_t:int32_t
CUB      := build/common/bench/baseline/driver.o \
            $(foreach type,$(CUB_TYPES),build/cub/$(firstword $(subst :, ,$(type))).o)
build/cub/%.o: type = $(subst :, ,$(filter $*:%,$(CUB_TYPES)))
build/cub/%.o: common/bench/baseline/cub.cu
	$(call say,nvcc,"$< for $*")
	$(Q)$(NVCOMPILE) -DCUB_NAME=$* -DCUB_IN=$(word 2,$(type)) -DCUB_OUT=$(word 3,$(type)) $(PUT_OBJECT)

cub: build/main/cub.o $(CUB) $(call objects,$(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# All steps, CUB and the roof in one program: ./bench. Each is found by whether it is linked in.
SIDE_BY_SIDE = $(call objects,$(call sources,common/bench $(FOLDERS)) $(COMMON))
bench: $(SIDE_BY_SIDE) $(CUB) | emu ## build ./bench, which times steps, CUB and copies side by side
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# The same without CUB, which takes long to compile, for the tests.
build/tests/side-by-side: $(SIDE_BY_SIDE) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

build/%.o: %.c
	$(call say,$(CC),$<)
	$(Q)$(COMPILE) $(PUT_OBJECT)

build/%.cu.o: %.cu
	$(call say,nvcc,$<)
	$(Q)$(NVCOMPILE) $(PUT_OBJECT)

# Small programs that show one thing each: steps/00-copy/experiments/NAME.cu becomes
# build/experiments/00-NAME.
EXPERIMENTS := $(foreach f,$(wildcard steps/*/experiments/*.cu),build/experiments/$(firstword \
               $(subst -, ,$(word 2,$(subst /, ,$f))))-$(basename $(notdir $f)))

experiments: $(EXPERIMENTS) ## build the experiments, build/experiments/NN-NAME

build/experiments/%: RUNPATH = $(patsubst build/cuda,$$ORIGIN/../cuda,$(CUDA))/lib64
$(EXPERIMENTS): build/experiments/%: $$(call objects,$$(call experiment,$$*) $(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)
experiment = $(wildcard steps/$(firstword $(subst -, ,$(1)))-*/experiments/$(patsubst $(firstword \
             $(subst -, ,$(1)))-%,%,$(1)).cu)

# What step 12 promises, tried on a GPU or the emulator: tests/promises/NAME.cu becomes
# build/promises/12-NAME. With -cub it also tells CUB's error, and takes longer to compile.
LIBRARY  := $(call objects,steps/12-pipeline/scan.cu steps/12-pipeline/reference.c)
PROMISES := $(patsubst tests/promises/%.cu,build/promises/12-%,$(wildcard \
            tests/promises/*.cu))

promises: $(PROMISES) build/promises/12-same-bits-cub ## build what tries step 12's promises, build/promises/12-NAME

build/promises/%: RUNPATH = $(patsubst build/cuda,$$ORIGIN/../cuda,$(CUDA))/lib64
build/example: RUNPATH = $(patsubst build/cuda,$$ORIGIN/cuda,$(CUDA))/lib64
build/promises/12-same-bits-cub: build/cub/cub_f32.o
$(PROMISES) build/promises/12-same-bits-cub: build/promises/12-%: $(LIBRARY) $(call objects,$(COMMON)) \
        $$(call objects,tests/promises/$$(subst -cub,,$$*).cu) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# The program that shows how to use scan.h needs nothing else of this project.
example: build/example ## build step 12's example of a library, build/example
	@:

build/example: build/steps/12-pipeline/example.o $(call objects,steps/12-pipeline/scan.cu)
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) $(PUT)

# ---- counters -----------------------------------------------------------------------------------

# Command-line variables (N, VARIANT, DEVICE; A, B, LINES) reach the scripts, which explain them.
profile%: step%
	$(Q)profiles/measure/profile.sh $*
#profileN: ## count step N, by ncu or the emulator; N= VARIANT= DEVICE=cuda|emu

compare: all ## two steps' counters side by side, A=3 B=4 N=512 LINES=1; without A and B all steps;
#compare: ## or two recordings, A=old.csv B=new.csv, STEPS= VARIANTS= SIZES= of them
	$(Q)profiles/measure/compare.sh

# ---- the emulator -------------------------------------------------------------------------------

# Its operations (ops*.c) are compiled for any CPU and for one with AVX2; at run time it takes what
# the CPU can do. They round as PTX says: no contraction to fma, no assumption on the rounding mode.
ISAS     := base $(if $(filter x86_64,$(shell uname -m)),v3)
OPS      := $(wildcard common/emu/operations/ops*.c)
EMU      := $(call objects,$(filter-out $(OPS),$(wildcard common/emu/*/*.c common/files/*.c))) \
            $(foreach isa,$(ISAS),$(OPS:%.c=build/%.$(isa).o))

# Every symbol must be there at the link; sanitized objects get some from the program.
NO_UNDEFINED = $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs)
comma       := ,

build/common/emu/% build/common/files/%: C_FLAGS += -fPIC -ffp-contract=off
build/common/emu/operations/ops%: C_FLAGS += -frounding-math
build/common/emu/operations/ops%: CFLAGS += -O3
# So that the function which the program called stays on the stack (cudart_place.c).
build/common/emu/runtime/cudart_%: C_FLAGS += -fno-optimize-sibling-calls

build/%.base.o: %.c
	$(call say,$(CC),"$< for any CPU")
	$(Q)$(COMPILE) -DEMU_ISA=base $(PUT_OBJECT)

build/%.v3.o: %.c
	$(call say,$(CC),"$< for AVX2")
	$(Q)$(COMPILE) -DEMU_ISA=v3 -march=x86-64-v3 $(PUT_OBJECT)

emu: $(addprefix build/emu/,libcudart.so.13 libcudart_static.a emu) ## build the emulator, build/emu

# A program that runs meanwhile keeps the library it has.
build/emu/libcudart.so.13: $(EMU) common/emu/cudart.map
	$(call say,link,$@)
	$(Q)$(CC) -shared -Wl,-soname,libcudart.so.13,-Bsymbolic $(NO_UNDEFINED) $(LDFLAGS) \
	    -Wl,--version-script=common/emu/cudart.map $(EMU) -o $(NEW) -lzstd -lm -ldl -pthread $(PUT)
	$(Q)ln -s $(@F) $(NEW) && mv -fT $(NEW) build/emu/libcudart.so

# One object with zstd inside, and outside only the names of the runtime and of emu.h.
build/emu/libcudart_static.a: $(EMU)
	$(call say,ar,$@)
	$(Q)ld -r $(EMU) $(shell $(CC) -print-file-name=libzstd.a) -o $(NEW).o
	$(Q)objcopy --wildcard --rename-section '.text=emu_text' --keep-global-symbol='cuda[A-Z]*' \
	    --keep-global-symbol='__cuda*' --keep-global-symbol='emu_*' $(NEW).o
	$(Q)ar rcs $(NEW) $(NEW).o $(PUT) && rm $(NEW).o

# The command runs no kernel: of all objects it takes those that it calls.
build/emu/emu: build/common/emu/emu_main.o $(EMU)
	$(call say,link,$@)
	$(Q)ar rcs $(NEW).a $(EMU)
	$(Q)$(CXX) $(SANITIZE) $(LDFLAGS) $< $(NEW).a -lzstd -lm -ldl -pthread -o $(NEW) $(PUT) && \
	    rm $(NEW).a

emu-report: emu ## say how exact the counters of PROGRAM=./step4 are, kernel by kernel
	$(Q)$(if $(PROGRAM),,echo 'Which program? make emu-report PROGRAM=./step4' >&2; exit 2;) \
	    build/emu/emu --report $(PROGRAM)

# ---- tests --------------------------------------------------------------------------------------

# One program holds all tests, everything in common/ and all steps; its CUDA runtime is emulated.
TESTS    := $(call objects,$(filter-out %/bench_main.c,$(call sources,common/bench)) \
            $(call sources,$(addprefix tests/,harness steps emulator emulator/ptx tools fuzz wrong errata \
            support fixtures) $(FOLDERS)) $(COMMON))

# Kernels that are tested from the PTX of each generation of the compiler.
THREE_PTX = -gencode arch=compute_100,code=compute_100
$(patsubst %,$(CUDA_BUILD)/tests/fixtures/%_code.cu.o,cooperative async cluster): NVCCFLAGS += $(THREE_PTX)

# A deliberately wrong scan as a program like a step.
WRONG    := tests/wrong tests/wrong/program steps/09-warp-shuffle
build/tests/wrong-scan: $(call objects,$(call sources,$(WRONG)) $(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# What tests look at or run, made of one source file: see tests/fixtures/programs/programs.h.
PROGRAMS := $(addprefix $(CUDA_BUILD)/tests/programs/,shared nvidia emulated per-thread memory sync \
            merged endless waits traced ticket ring limits unwritten linked no_memory.so hazards.ptx zstd.fatbin \
            lz4.fatbin stored.fatbin only90a.fatbin cubin.fatbin)

SMALL_BLOCKS = $(if $(SANITIZE),,step5-B4)

#tests-build: ## build the tests
tests-build: build/tests/run build/tests/predicted/print $(PROGRAMS) $$(PAIRS) $$(PROGRAM_QUICK) \
        $$(if $$(filter test-all,$$(MAKECMDGOALS)),$$(CHECKS)) all experiments $(PROMISES) \
        build/example build/tests/side-by-side build/tests/wrong-scan $(SMALL_BLOCKS)
	@:

# The tests see the parts of the emulator that its library hides, too.
build/tests/run: $(TESTS) $(addprefix build/common/emu/,$(addprefix binary/,fatbin.o lz4.o kernel_name.o \
        emu_elf.o cubin.o cubin_lines.o sass.o) ptx/ptx_types.o machine/models.o) \
        build/emu/libcudart.so.13
	$(call say,link,$@)
	$(Q)$(LINK) build/emu/libcudart.so.13 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../emu' \
	    -lcriterion -lzstd -lm -pthread $(PUT)

# The formulas of tests/steps/predictions.c as a table, for profiles/measure/emulated.sh.
build/tests/predicted/print: build/profiles/measure/predicted.o build/tests/steps/predictions.o
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ -o $(NEW) $(PUT)

TWO_PTX   = -gencode arch=compute_75,code=compute_75 -gencode arch=compute_90,code=compute_90

build/tests/programs/shared: OPTIONS = $(NVCCFLAGS) -cudart shared
build/tests/programs/nvidia: OPTIONS = $(NVCCFLAGS)
build/tests/programs/emulated: OPTIONS = $(NVCCFLAGS)
build/tests/programs/emulated: SETTING = NVCC_PREPEND_FLAGS="$$(build/emu/emu --nvcc-flags)"
build/tests/programs/per-thread: OPTIONS = $(NVCCFLAGS) -cudart shared -default-stream per-thread
build/tests/programs/zstd.fatbin: OPTIONS = -fatbin $(TWO_PTX)
build/tests/programs/lz4.fatbin: OPTIONS = -fatbin $(TWO_PTX) --compress-mode=speed
build/tests/programs/stored.fatbin: OPTIONS = -fatbin $(TWO_PTX) --compress-mode=none
build/tests/programs/only90a.fatbin: OPTIONS = -fatbin -gencode arch=compute_90a,code=compute_90a
build/tests/programs/cubin.fatbin: OPTIONS = -fatbin -gencode arch=compute_90,code=sm_90

build/tests/programs/emulated: build/emu/libcudart_static.a

build/tests/programs/%: tests/fixtures/programs/kernels.cu | emu
	$(call say,nvcc,$@)
	$(Q)$(SETTING) $(NVCC) $(OPTIONS) $< -o $(NEW) $(PUT)

# Programs that the checkers look at, one that ptxas changes, and those that wait or do not end.
build/tests/programs/ticket: $(wildcard steps/11-*/*.cu*) steps/11-single-pass/scan.h
build/tests/programs/ring: $(wildcard steps/12-*/*.cuh steps/12-*/parts/*)
$(addprefix build/tests/programs/,memory sync merged endless waits traced ticket ring limits unwritten): \
        %: tests/fixtures/programs/$$(notdir $$@).cu
	$(call say,nvcc,$@)
	$(Q)$(NVCC) $(NVCCFLAGS) $(CPPFLAGS) -g -cudart shared $< -o $(NEW) $(PUT)

build/tests/programs/no_memory.so: tests/fixtures/programs/no_memory.c
	$(call say,$(CC),$@)
	$(Q)$(CC) -std=c11 -Wall -Wextra -Werror -O2 -fPIC -shared $< -o $(NEW) -ldl $(PUT)

# Of two objects, for three generations of GPUs.
build/tests/programs/linked: $(wildcard tests/fixtures/programs/linked*) | emu
	$(call say,nvcc,$@)
	$(Q)$(NVCC) $(NVCCFLAGS) $(CPPFLAGS) $(THREE_PTX) -rdc=true -cudart shared $(filter %.cu,$^) -o $(NEW) $(PUT)

build/tests/programs/hazards.ptx: steps/12-pipeline/parts/barrier.cuh
build/tests/programs/%.ptx: tests/fixtures/programs/%.cu
	$(call say,nvcc,$@)
	$(Q)$(NVCC) $(CPPFLAGS) -ptx -O3 -lineinfo -arch=compute_90 $< -o $(NEW) $(PUT)

# Pairs of programs, wrong and right, on which the checkers and compute-sanitizer are compared.
CHECKS   := $(patsubst tests/checks/%.cu,build/checks/%,$(wildcard tests/checks/*.cu))

checks: $(CHECKS) emu ## build each pair of tests/checks for a GPU, build/checks
	@:

CHECK_HEADERS = $(wildcard tests/checks/*.h steps/12-*/parts/*.cuh)

build/checks/%: tests/checks/%.cu $(CHECK_HEADERS)
	$(call say,nvcc,$<)
	$(Q)$(NVCC) $(CPPFLAGS) -g -lineinfo -gencode arch=compute_90,code=[sm_90,compute_90] -cudart shared $< \
	    -o $(NEW) $(PUT)

# For the emulator, all pairs of a class are one program, which takes much less time to compile. A
# pair that includes files of a step stays alone.
ALONE    := $(basename $(notdir $(shell grep -ls '^\#include "steps/' tests/checks/*.cu)))
CLASSES  := $(sort $(foreach c,$(CHECKS),$(firstword $(subst -, ,$(notdir $c)))))
PAIRS    := $(addprefix $(CUDA_BUILD)/pairs/,$(CLASSES) $(ALONE))

pairs: $(PAIRS) emu ## build the pairs of tests/checks for the emulator, build/pairs
	@:

$(CLASSES:%=build/pairs/%.cu): build/pairs/%.cu: tests/checks/group.sh \
        $$(wildcard tests/checks/$$*-*.cu) tests/checks
	@mkdir -p $(@D)
	$(Q)$< $(filter-out $(ALONE:%=tests/checks/%.cu),$(filter %.cu,$^)) >$(NEW) $(PUT)
$(ALONE:%=build/pairs/%): build/pairs/%: tests/checks/%.cu
$(CLASSES:%=build/pairs/%): build/pairs/%: build/pairs/%.cu
$(addprefix build/pairs/,$(CLASSES) $(ALONE)): $(CHECK_HEADERS)
	$(call say,nvcc,$@)
	$(Q)$(NVCC) $(CPPFLAGS) -g -lineinfo -arch=compute_90 -code=compute_90 -cudart shared -Itests/checks \
	    $(filter %.cu,$^) -o $(NEW) $(PUT)

test: tests-build $(if $(CI),test-asan) ## run every test; with CI=1, under the sanitizers first
	$(Q)common/build/test.sh

-include tests/emulator/programs/programs.mk

.PHONY: test-all
# The recorded counters of large scans, and all that tests/emulator/schedules.sh can do, too.
test-all: export TEST_ALL = 1
test-all: test programs ## also run all programs of tests/emulator/programs, built in every way

# The sanitizers get a tree of their own, build/asan, where the sources are links; only what nvcc
# compiles is shared. They are linked statically, as GCC's shared UBSan beside ASan ignores
# log_path, and a step exports them (-rdynamic) to the emulator that it loads.
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all -static-libasan \
             -static-libubsan -rdynamic

test-asan: tests-build ## run every test with the host code under AddressSanitizer and UBSan
	$(Q)mkdir -p build/asan
	$(Q)ln -sfn $(addprefix ../../,Makefile README.md LICENSE common notes profiles steps tests) \
	    build/asan
	$(Q)CUDA_HOME=$(abspath $(CUDA)) $(MAKE) --no-print-directory -C build/asan tests-build \
	    CUDA_BUILD=../../build SANITIZE="$(SANITIZERS)"
	$(Q)common/build/test-asan.sh

# Each fuzzer gets bytes by way of one function, fuzz_NAME; fuzz.sh makes them in a tree of its own.
build/tests/fuzz/run-%: $(call objects,$(filter-out %/npy.c,$(wildcard tests/fuzz/*.c))) $(EMU)
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $^ -Wl,--defsym,LLVMFuzzerTestOneInput=fuzz_$* -o $(NEW) \
	    -lzstd -lm -ldl -pthread $(PUT)

# That of the harness's reader takes nothing of the emulator but a file or two.
build/tests/fuzz/run-npy: $(call objects,$(wildcard common/harness/input/*.c) tests/fuzz/npy.c \
        $(addprefix common/,harness/element.c harness/fault.c harness/report/progress.c files/visible.c))
	$(call say,link,$@)
	$(Q)$(CC) $(CFLAGS) -fsanitize=fuzzer $^ -Wl,--defsym,LLVMFuzzerTestOneInput=fuzz_npy -o $(NEW) \
	    -lm -pthread $(PUT)

fuzz: ## fuzz the readers of files, FUZZ_SECONDS=60 each (needs clang)
	$(Q)MAKE='$(MAKE)' common/build/fuzz.sh

# Mutations are made in copies of the repository, build/mutate.
mutate: tests-build ## do tests notice N=20 random changes of common/? SEED=1 FILES=verify.c (needs python3)
	$(Q)tests/mutation/mutate.py --number $(or $(N),20) --seed $(or $(SEED),1) $(FILES)

mutate-record: tests-build ## go on with the sample of notes/mutation.md, N=300 SEED=1, and write its tables
	$(Q)tests/mutation/mutate.py --number $(or $(N),300) --seed $(or $(SEED),1) --again \
	    --results tests/mutation/result.csv; status=$$?; profiles/tables/tables.py && exit $$status

mutate-map: tests-build ## find out again which suites run which function, tests/mutation/covered.txt
	$(Q)tests/mutation/cover.py

# The emulator's bench: the steps and a few kernels of its own, timed.
BENCH    := $(call objects,$(call sources,profiles/measure/speed $(FOLDERS)) $(COMMON))

build/tests/bench/run: $(BENCH) build/emu/libcudart.so.13
	$(call say,link,$@)
	$(Q)$(LINK) build/emu/libcudart.so.13 -Wl,--enable-new-dtags,-rpath,'$$ORIGIN/../../emu' \
	    -lm -pthread $(PUT)

bench-emu: build/tests/bench/run build/tests/programs/shared $(PROGRAM_BUILD)/O3/thrust_sort ## measure the emulator's speed
	$(Q)profiles/measure/speed.sh

# ---- the rest -----------------------------------------------------------------------------------

setup: ## list which tools are missing, and install them (Debian, Ubuntu; needs root or sudo)
	@common/build/setup.sh

doctor: ## tell which tools were found and what each is for
	@common/build/doctor.sh

docs: ## renew the tables and figures of README.md and notes/ (needs python3 and gnuplot)
	$(Q)profiles/tables/tables.py
	$(Q)profiles/draw/plot.py
	$(Q)for figures in profiles/draw/draw_*.py; do python3 $$figures || exit; done

format: ## put the C and CUDA sources into the style of .clang-format
	$(Q)git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

clean: ## remove what was built; a toolkit in build/cuda stays
	$(Q)rm -rf $(filter-out build/cuda,$(wildcard build/*)) \
	    $(wildcard step[0-9] step[0-9][0-9] step[57]-* cub bench *.new)

help: ## list the targets
	@sed -En 's/^#?([A-Za-z=1-]+):.*## (.*)/\1:\2/p' Makefile | \
	    awk -F : '{ printf "  make %-13s %s\n", $$1, $$2 }'

-include $(shell find build -name '*.d' -not -path 'build/asan/*' -not -path 'build/mutate/*' 2>/dev/null)
