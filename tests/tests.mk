# tests.mk — builds and runs the tests and their programs, sanitizers, fuzzers and mutations.

.PHONY: promises checks pairs tests-build test test-slow test-all test-nightly asan test-asan
.PHONY: test-architectures test-book test-release fuzz mutate-kernels

# Tests of what step 12 promises, for a GPU or the emulator: tests/cases/promises/NAME.cu becomes
# build/promises/12-NAME. With -cub it also shows CUB's error, and takes longer to compile.
LIBRARY  := $(call objects,steps/12-pipeline/scan.cu steps/12-pipeline/reference.c)
PROMISES := $(patsubst tests/cases/promises/%.cu,build/promises/12-%,$(wildcard \
            tests/cases/promises/*.cu))
WITH_CUB  = build/promises/12-same-bits-cub

#promises: ## measure: build what tries step 12's promises, build/promises/12-NAME
promises: $(PROMISES) $(WITH_CUB)
$(WITH_CUB): build/cub/cub_f32.o
$(PROMISES) $(WITH_CUB): build/promises/12-%: $(LIBRARY) $(call objects,$(COMMON)) \
        $$(call objects,tests/cases/promises/$$(subst -cub,,$$*).cu) | emu
	$(link)

# One program holds all tests, everything in common/ and all steps; its CUDA runtime is emulated.
# `make test` has a program of its own, build/test/run. It lacks what nvcc takes long for. The names
# of tests of that end in _slow, as do those of tests that take more than 1.5 s of processor time.
TEST_ROOMS = $(addprefix unit/,harness steps emulator labs cc tools errata \
             $(if $(SMALL),,library)) \
             $(addprefix cases/,ptx wrong fixtures) measure/fuzz support \
             $(if $(SMALL),support/small)
ONLY_SLOW = $(if $(SMALL),%/test_operators.c %/test_sort.c \
            %/operators_code.cu %/sort_code.cu %/wave_code.cu)
TESTS    := $(call objects,$(filter-out %/bench_main.c $(ONLY_SLOW),$(call sources,common/bench \
            $(addprefix tests/,$(TEST_ROOMS)) $(ONE_PROCESS) $(if $(SMALL),,common/tools/library)) \
            $(wildcard $(NO_MPI17)) $(COMMON))) $(LAB_SHARED) $(UPCC)
RUN      := $(call in_test,run)

# GPUs run only the promises, from PTX.
build/tests/%.o: CFLAGS = -O1 -g1
build/tests/%.o: GPUS = $(call ptx,75 90)
# Of these large files only the emulator runs kernels, as an H200: one PTX takes half the time.
$(patsubst %,$(CUDA_BUILD)/tests/cases/fixtures/%_code.cu.o,operators sort wave): \
    GPUS = $(call ptx,90)

# A program like a step whose scan is wrong on purpose.
build/tests/wrong-scan: $(call objects,$(call sources,tests/cases/wrong tests/cases/wrong/program \
        steps/09-warp-shuffle) $(COMMON))

# Step 17 with a scan that is wrong on purpose, where Open MPI is. NCCL needs real GPUs, so tests
# have a stand-in for it.
build/tests/cli/ranks/%.o: CPPFLAGS += $(HEADERS17)
build/tests/cli/ranks/nccl/%.o: CPPFLAGS += -Itests/cli/ranks/nccl
build/tests/cli/ranks/nccl/%.o: $(RANKS17)/%.c
	$(call compile, for a stand-in of NCCL)
NCCL17    = $(CUDA_BUILD)/tests/cli/ranks/nccl/nccl.cu.o build/tests/cli/ranks/nccl/exchange_nccl.o
with_nccl = $(filter-out %/exchange_nccl.o,$(call objects,$(1))) $(NCCL17)

build/tests/wrong-ranks: WRAPPED = many_run choose_exchange
build/tests/wrong-ranks: build/main/step17.o \
        $(call with_nccl,$(call sources,tests/cli/ranks $(FOLDER17) $(RANKS17)) $(COMMON))
# A program that calls step 17's library.
build/tests/many-calls: $(call with_nccl,tests/cli/ranks/library/calls.c \
        $(call sources,$(FOLDER17) $(RANKS17)) $(COMMON))
build/tests/wrong-ranks build/tests/many-calls: LIBRARIES = $(WRAPPED:%=-Wl,--wrap=%) $(LIBRARIES17)

# Step 14 built without libpng.
build/tests/no_png.o: common/harness/pictures/png.c
	$(call compile, without libpng,-DWITHOUT_PNG)
build/tests/step14-no-png: build/main/step14.o build/tests/no_png.o $(call objects,$(COMMON) \
        common/harness/pictures/picture.c $(call sources,$(filter steps/14-%,$(FOLDERS))))

$(addprefix build/tests/,wrong-scan wrong-ranks many-calls step14-no-png): | emu
	$(link)

# Programs of one source file that tests examine or run: see tests/support/command.h.
CHECKED  := reported merged endless waits ticket two_words ring unwritten launches ends \
            names ordered blas driver dynamic tensors
OF_KERNELS := shared nvidia sm_80 emulated per-thread rpath needs_gpu.so needs_cudart.so \
            zstd.fatbin lz4.fatbin stored.fatbin only90a.fatbin cubin.fatbin
PROGRAMS := $(addprefix $(CUDA_BUILD)/tests/programs/,$(CHECKED) $(OF_KERNELS) static-blas linked)

# Shares of functions.py: of `make test` another one with each commit. The sanitizers run none.
SHARES   = $(if $(filter tests-build test-slow,$(MAKECMDGOALS)),$(addprefix build/functions/, \
           $(shell $(FUNCTIONS).py --shares $(if $(SMALL),quick,slow))))

#tests-build: ## maintain: build the tests; SMALL=1: those of `make test`
tests-build: $(RUN) $(PROGRAMS) $$(PAIRS) $$(PROGRAM_QUICK) all labs build/labs/grade-labs \
        build/labs/confine build/tests/labs/misbehave \
        $$(filter-out $(if $(SMALL),%/ptx %/cubin),$$(CORPORA)) build/tests/predicted/print \
        build/tests/wrong-scan build/experiments/02-in-place $(call in_test,side-by-side) \
        $(addprefix build/fidelity/,answers bits) $(if $(SMALL),,$$(MORE)) \
        $(if $(SANITIZE),build/cc/upcc,test-cc-build $$(SHARES))
	@:

# What only slow tests need.
MORE      = experiments library $(PROMISES) build/profiles/bits \
            $(addprefix build/fidelity/,memory patterns tensor textures) \
            build/architectures/usual/run $(EXAMPLES) build/tests/step14-no-png \
            $(AUTOGRADER_PROGRAMS) step5-B4 $(PAGE_TESTS) \
            $(if $(MPI),build/tests/wrong-ranks build/tests/many-calls)

# The tests are linked with the emulator's library, and with the objects of what it does not export.
$(RUN): CUDART = $(EMULATED) build/emu/all.a -lzstd -lcriterion \
    -Wl,--wrap=criterion_internal_test_teardown
$(RUN): $(TESTS) build/common/tools/emu/command/agreement.o build/emu/libcudart.so.13 \
        build/emu/all.a
	$(link)

# The formulas of tests/unit/steps/predictions.c as a table, for profiles/tables.
build/tests/predicted/print: build/profiles/measure/predicted.o build/tests/unit/steps/predictions.o
	$(call made,link,$(CC) $(SANITIZE) $(LDFLAGS) $^)

# It tries to do what the sandbox of the labs prevents.
build/tests/labs/misbehave: tests/python/labs/misbehave.c
	$(call made,$(CC),$(CC) $(NOT_SANITIZED) $(CFLAGS) $<)

# Programs for the checkers, a program that ptxas changes, and programs that wait or do not end;
# and kernels.cu with other options: as programs, libraries (with NVIDIA's runtime inside, as
# cuRAND's and cuBLAS's are, or without one) and containers. PTX is enough for some. An RPATH to
# NVIDIA's libraries comes before LD_LIBRARY_PATH.
OPTIONS_dynamic         = -rdc=true
OPTIONS_tensors         = $(STAND_IN_LINK) -lcuda
OPTIONS_driver          = $(STAND_IN_LINK) -lcuda
OPTIONS_blas            = $(STAND_IN_LINK) -lcublas -lcurand -Xlinker $(OLD_RPATH)
OPTIONS_static-blas     = $(NVCCFLAGS) -Lbuild/emu $(STAND_IN_LINK) -lcublas -lcurand
OPTIONS_shared          = $(NVCCFLAGS) -cudart shared
OPTIONS_sm_80           = -arch=sm_80 -cudart shared
OPTIONS_per-thread      = $(NVCCFLAGS) -cudart shared -default-stream per-thread
OPTIONS_emulated        = $(NVCCFLAGS) $$(build/emu/emu --nvcc-flags)
OPTIONS_rpath           = $(NVCCFLAGS) -cudart shared -Xlinker $(OLD_RPATH)
OPTIONS_zstd.fatbin     = -fatbin $(call ptx,75 90)
OPTIONS_lz4.fatbin      = -fatbin $(call ptx,75 90) --compress-mode=speed
OPTIONS_stored.fatbin   = -fatbin $(call ptx,75 90) --compress-mode=none
OPTIONS_only90a.fatbin  = -fatbin $(call ptx,90a)
OPTIONS_cubin.fatbin    = -fatbin -gencode arch=compute_90,code=sm_90
OPTIONS_needs_gpu.so    = $(NVCCFLAGS) -shared -Xcompiler -fPIC
OPTIONS_needs_cudart.so = $(NVCCFLAGS) -shared -Xcompiler -fPIC -cudart none
OLD_RPATH = --disable-new-dtags,-rpath,$(abspath $(CUDA))/lib64
$(addprefix build/tests/programs/,endless ordered ring ticket two_words unwritten waits): \
    GPUS = $(call ptx,75 90)
build/tests/programs/names: GPUS = $(call ptx,90)
build/tests/programs/tensors: GPUS = -gencode arch=compute_90,code=[compute_90,sm_90]
build/tests/programs/emulated build/tests/programs/static-blas: build/emu/libcudart_static.a
$(CHECKED:%=build/tests/programs/%): build/tests/programs/%: \
        tests/cases/fixtures/programs/%.cu | emu
	$(call by_nvcc,$(NVCCFLAGS) -g -cudart shared $(OPTIONS_$*))
build/tests/programs/static-blas: tests/cases/fixtures/programs/blas.cu | emu
	$(call by_nvcc,$(OPTIONS_static-blas))
$(OF_KERNELS:%=build/tests/programs/%): build/tests/programs/%: \
        tests/cases/fixtures/programs/kernels.cu | emu
	$(call by_nvcc,$(or $(OPTIONS_$*),$(NVCCFLAGS)))

# A program of two objects, for three generations of GPUs.
LINKED = $(NVCC) $(NVCCFLAGS) $(CPPFLAGS) $(call ptx,100) -rdc=true
build/tests/programs/linked: tests/cases/fixtures/programs/linked.cu | emu
	$(call say,nvcc,$@)
	$(Q)$(LINKED) -DPART -c $< -o $(NEW).o
	$(Q)$(LINKED) -cudart shared $(NEW).o $< -o $(NEW) $(PUT) && rm $(NEW).o

# Catalogues of pairs, wrong and right, on which the checkers and compute-sanitizer are compared:
# for a GPU in build/checks, for the emulator in build/pairs.
CHECKS   := $(patsubst tests/cases/checks/%.cu,build/checks/%,$(wildcard tests/cases/checks/*.cu))
PAIRS    := $(CHECKS:build/checks/%=$(CUDA_BUILD)/pairs/%)
checks: $(CHECKS) emu ## maintain: build the pairs of tests/cases/checks for a GPU, build/checks
pairs: $(PAIRS) emu ## maintain: build the pairs of tests/cases/checks for the emulator, build/pairs
checks pairs:
	@:
OPTIONS_launch = -rdc=true # these kernels call the CUDA runtime
build/checks/%: tests/cases/checks/%.cu
	$(call by_nvcc,-g -lineinfo -cudart shared $(OPTIONS_$*) $(PATTERN_CODE))
build/pairs/%: tests/cases/checks/%.cu
	$(call by_nvcc,-g -lineinfo -cudart shared $(OPTIONS_$*) -arch=compute_90 -code=compute_90)

# build/test, where tests run, has links to the sources. A line that calls make runs with -n, too.
IN_TREE   = Makefile README.md LICENSE common notes profiles steps tests
build_tests = mkdir -p build/test && ln -sfn $(IN_TREE:%=../../%) build/test && \
	    ln -sfn .. build/test/build && date +%s >build/test/began && \
	    $(MAKE) --no-print-directory SMALL=1 tests-build && times >>build/test/began
test: ## maintain: run the quick tests
	+$(Q)$(build_tests)
	$(Q)common/build/test.py quick

# Suites besides step_N.
SUITES_11 = |single_pass
SUITES_12 = |pipeline|hazards
#test-step3: ## maintain: run what is known of step 3; the same of steps 1 to 12 (tests/README.md)
test-step%:
	+$(Q)$(build_tests)
	$(Q)cd build/test && ./run --filter \
	    '@(step_$*|step_counters|predictions$(SUITES_$*))/!(*_slow)'
	$(if $(filter $*,$(LABS)),$(Q)build/labs/check-lab $* build/labs/reference$*.cu \
	    --nvcc $(CUDA)/bin/nvcc | tail -n 3)
	$(Q)profiles/tables/tables.py --check

test-slow: tests-build ## maintain: run the slow tests, and those of parts
	$(Q)common/build/test.py slow
test-all: test ## maintain: run the quick tests, then the slow ones
	$(Q)$(MAKE) --no-print-directory test-slow
test-nightly: test ## maintain: with more sizes, seeds and programs
	$(Q)TEST_NIGHTLY=1 $(MAKE) --no-print-directory test-slow
	$(Q)$(MAKE) --no-print-directory programs mutate-kernels
test-book: all experiments example ## maintain: follow the commands of the other chapters, too
	$(Q)bats --filter-tags apart tests/cli/book.bats
test-release: ## maintain: try what `make release` has made, and GitHub's files (needs PyPI)
	$(Q)bats tests/cli/release
fuzz: ## maintain: fuzz the readers of files, FUZZ_SECONDS=60 each (needs clang)
	$(Q)MAKE='$(MAKE)' common/build/fuzz.sh
mutate-kernels: emu ## maintain: is each change of the steps' kernels noticed? Half an hour
	$(Q)tests/measure/mutation/kernels.py

# A program that runs the libraries of steps 12 to 16 on any GPU, build/architectures/NAME/run. They
# are compiled for one architecture, as the name says, or are the usual objects.
ARCHITECTURES = ptx default sm_75 sm_80 sm_90
BY_ARCHITECTURE := common/harness/run/roof_bulk.cu $(FOLDER16)/scan-SUM_REALS.cu \
        $(foreach row,$(ROWS),$(call library_of,$(call cell,$(row),1)))
build/architectures/%.cu.o: NVCCFLAGS = -O3 -lineinfo $(patsubst sm_%,-arch=sm_%,$(subst ptx, \
    -arch=compute_75 -code=compute_75,$(filter-out default,$(word 3,$(subst /, ,$@)))))
$(patsubst %,build/architectures/%/run,usual $(ARCHITECTURES)): build/architectures/%/run: \
        $(call objects,tests/cli/architectures/libraries.c $(FOLDER16)/scan-OTHERS.cu \
        $(filter-out $(BY_ARCHITECTURE),$(COMMON))) \
        $$(addprefix $$(if $$(filter usual,$$*),$(CUDA_BUILD),$$(@D))/,$(BY_ARCHITECTURE:%=%.o))
	$(link)

test-architectures: $(ARCHITECTURES:%=build/architectures/%/run)
test-architectures: | emu ## maintain: run steps 12 to 16 compiled for other GPUs
	$(Q)tests/cli/architectures/architectures.sh ptx:75 default:75 sm_75:75 sm_80:80 sm_90:90

-include tests/cases/programs/programs.mk

# The sanitizers get a tree of their own, build/asan, where the sources are links; only what nvcc
# compiles is shared. They are linked statically, as GCC's shared UBSan beside ASan ignores
# log_path, and a step exports them (-rdynamic) to the emulator that it loads. With -O1, and of -g
# the lines alone, gcc takes half the time.
SANITIZERS = -fsanitize=address,undefined -fno-sanitize-recover=all -static-libasan \
             -static-libubsan -rdynamic

asan: ## maintain: compile what `make test-asan` runs
	$(Q)$(MAKE) --no-print-directory SMALL=1 tests-build
	$(Q)mkdir -p build/asan && ln -sfn $(IN_TREE:%=../../%) build/asan
	$(Q)CUDA_HOME=$(abspath $(CUDA)) $(MAKE) --no-print-directory -C build/asan tests-build \
	    SMALL=1 CUDA_BUILD=../../build SANITIZE="$(SANITIZERS)" CFLAGS='-O1 -g1'

# Each process that a sanitizer stops leaves a log. One log fails the run, even if the test that
# started the process passed. The program that starts all C tests is copied for each of them, so
# its memory should be small: no more than 16 MiB of what was freed are kept.
test-asan: asan ## maintain: run the tests of the C sources under the sanitizers
	$(Q)cd build/asan && rm -rf log && mkdir log && \
	    ASAN_OPTIONS=log_path=$$PWD/log/asan:quarantine_size_mb=16 SANITIZED=1 \
	    UBSAN_OPTIONS=print_stacktrace=1:log_path=$$PWD/log/ubsan \
	    common/build/test.py sanitized; status=$$?; ! cat log/* 2>/dev/null && exit $$status

# What the fuzzers begin with, a folder each.
CORPORA := $(addprefix build/tests/measure/fuzz/corpus/,cubin cuda fatbin picture ptx unpack)
SEEDS_ptx = $(addprefix tests/cases/fixtures/,programs/kernels.cu cudart_kernels.cu) \
            steps/02-naive/scan.cu
SEEDS_cuda = $(wildcard steps/0[2345]-*/*.cu steps/first-kernel/*.cu)
$(CORPORA): build/tests/measure/fuzz/corpus/%: tests/measure/fuzz/seeds.py $$(SEEDS_$$*)
	$(call say,seeds,$@)
	$(Q)NVCC='$(NVCC)' tests/measure/fuzz/seeds.py $* $(NEW) $(SEEDS_$*) && rm -rf $@ && \
	    mv -T $(NEW) $@

# Each fuzzer gets its bytes through one function, fuzz_NAME; fuzz.sh builds the fuzzers in their
# own tree. The reader of pictures needs no CUDA, and is told of less memory than there is.
build/tests/measure/fuzz/run-cuda: build/tests/measure/fuzz/cuda.o $(UPCC)
build/tests/measure/fuzz/run-picture: build/tests/measure/fuzz/picture.o $(PICTURES) \
        $(call objects,$(wildcard $(addprefix common/harness/,input/*.c print/*.c)) \
        $(addprefix common/,step/element.c $(addprefix files/,allocated.c fault.c files.c \
        visible.c)))
build/tests/measure/fuzz/run-picture: LIBRARIES = $(PNG) -Wl,--defsym,host_memory=fuzz_host_memory
$(addprefix build/tests/measure/fuzz/run-,cubin fatbin ptx unpack): $(EMU) \
    build/tests/measure/fuzz/emulator.o
build/tests/measure/fuzz/run-%:
	$(call made,link,$(CC) $(CFLAGS) -fsanitize=fuzzer $^ $(LIBRARIES) -lzstd -lm -ldl -pthread \
	    -Xlinker --defsym=LLVMFuzzerTestOneInput=fuzz_$*)
