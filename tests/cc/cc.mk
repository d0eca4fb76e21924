# cc.mk — tests of the compiler in common/cc against nvcc: `make test-cc`.

.PHONY: test-cc

# What runs random kernels from the PTX of both compilers.
build/tests/cc/compare: $(call objects,tests/cc/compare.c $(addprefix common/,labs/run_entry.c \
        command/fault.c)) $(EMU)
	$(call say,link,$@)
	$(Q)ar rcs $(NEW).a $(EMU)
	$(Q)$(CXX) $(SANITIZE) $(LDFLAGS) $(filter-out $(EMU),$^) $(NEW).a $(ZSTD) -lm -ldl -pthread \
	    -o $(NEW) $(PUT) && rm $(NEW).a

# A hundred kernels a file, since nvcc takes a second a file.
build/tests/cc/%.cu: tests/cc/random_kernels.py
	@mkdir -p $(@D)
	$(Q)python3 -B $< --seed $(notdir $*) >$(NEW) $(PUT)

build/tests/cc/%.nvcc.ptx: build/tests/cc/%.cu
	$(call say,nvcc,$@)
	$(Q)$(NVCC) -w -O3 -lineinfo -ptx -arch=compute_90 $< -o $(NEW) $(PUT)
.PRECIOUS: build/tests/cc/%.cu build/tests/cc/%.nvcc.ptx

# The seeds of the files of random kernels: chosen before the compiler had an optimiser.
CC_SEEDS = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
