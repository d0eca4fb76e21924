# cc.mk — the compiler of a subset of CUDA C, and its tests against nvcc: `make test-cc`.

CC_ROOMS  = common/tools/cc $(addprefix common/tools/cc/,source syntax ir ptx)
UPCC     := $(call objects,$(wildcard $(addsuffix /*.c,$(CC_ROOMS))))
.PHONY: cc test-cc

cc: build/cc/upcc ## learn: build upcc, which compiles a subset of CUDA C without nvcc
	@:

build/cc/upcc build/autograder/cc/upcc: $(UPCC) $(call objects,$(wildcard \
        common/tools/cc/command/*.c) $(addprefix common/files/,allocated.c fault.c files.c \
        option_table.c visible.c))
	$(call made,link,$(LINK_C))

# ---- tests ---------------------------------------------------------------------------------------

# The seeds of the files of random kernels: `make test-all` takes the first two.
CC_SEEDS = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
cc_random = $(foreach seed,$(1),build/tests/cc/$(seed).nvcc.ptx)

# A hundred kernels a file, since nvcc takes a second a file.
build/tests/cc/%.cu: tests/python/cc/random_kernels.py
	$(call written,python3 -B $< --seed $(notdir $*))

build/tests/cc/%.nvcc.ptx: build/tests/cc/%.cu
	$(call made,nvcc,$(NVCC) -w -O3 -lineinfo -ptx -arch=compute_90 $<)
.PRECIOUS: build/tests/cc/%.cu build/tests/cc/%.nvcc.ptx

test-cc-build: build/cc/upcc $(LAB_PROGRAMS) $$(LAB_TEXTS) \
        $(foreach lab,$(LABS),$(addprefix build/labs/reference$(lab),.ptx .own.ptx)) \
        build/page/native $(if $(SMALL),,$(PAGE_PTX) $(call cc_random,1 2))

test-cc: test-cc-build $(call cc_random,$(CC_SEEDS)) ## maintain: hold common/tools/cc against nvcc
	$(Q)CC_SEEDS='$(CC_SEEDS)' common/build/test.py unit any tests/python/cc
