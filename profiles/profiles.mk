# profiles.mk — measures counters and times, and makes tables and figures of them.

.PHONY: compare bits bench-emu docs

# Command-line variables (N, VARIANT, DEVICE; A, B, LINES) reach the script, which explains them.
profile%: step%
	$(Q)profiles/measure/compare.py profile $*
#profileN: ## measure: count step N, by ncu or the emulator; N= VARIANT= DEVICE=cuda|emu

# Of A and B, which may be 4:pad16 or a recording, only the steps are built.
COMPARED  = $(if $(A)$(B),$(filter $(STEPS),$(TWO_STEPS)),all)
TWO_STEPS = $(foreach side,$(A) $(B),step$(firstword $(subst :, ,$(side))))
compare: $$(COMPARED)
	$(Q)profiles/measure/compare.py
#compare: ## learn: counters side by side: of two steps (A=3 B=4 N=512 LINES=1), or of all

# The emulator's benchmark times the steps and a few kernels of its own.
build/tests/bench/run: CUDART = $(EMULATED)
build/tests/bench/run: $(call objects,$(call sources,profiles/measure/speed $(ONE_PROCESS)) \
        $(COMMON)) build/emu/libcudart.so.13
	$(link)

# Checksums of scans of real numbers: see bits.py.
build/profiles/bits: $(LIBRARY) $(call objects,profiles/measure/bits.cu $(addprefix \
        $(FOLDER16)/scan-,SUM_REALS.cu AFFINE.cu OTHERS.cu) $(COMMON)) | emu
	$(link)
#bits: ## measure: compare all bits of scans of real numbers with the recorded ones; N=2^30
bits: build/profiles/bits $(if $(MPI),step17)
	$(Q)profiles/measure/bits.py $(N)

# Memory instructions in many patterns, counted by ncu on a GPU and by the emulator.
PATTERN_CODE = -gencode arch=compute_90,code=[sm_90,compute_90]
build/fidelity/%: profiles/measure/fidelity/%.cu
	$(call by_nvcc,-O3 -lineinfo $(WARNINGS) $(PATTERN_CODE) -cudart shared)

# Functions of all kinds, share by share: see functions.py. The emulator needs PTX alone.
FUNCTIONS = profiles/measure/fidelity/functions
FUNCTION_OPTIONS = -O3 -diag-suppress 39,177,550 -I$(dir $(FUNCTIONS)) -arch=compute_90 \
                   -code=compute_90 -cudart shared
.PRECIOUS: build/functions/%.cu
build/functions/%.cu: $(FUNCTIONS).py $(FUNCTIONS)_ptx.csv
	$(call written,$(FUNCTIONS).py $*)
build/functions/%: build/functions/%.cu
	$(call by_nvcc,$(FUNCTION_OPTIONS))

#bench-emu: ## measure: measure the emulator's speed
bench-emu: build/tests/bench/run build/tests/programs/shared $(PROGRAM_BUILD)/O3/thrust_sort
	$(Q)profiles/measure/measure.py speed

#docs: ## maintain: renew the tables and figures of README.md and notes/ (needs python3)
docs: build/tests/predicted/print
	$(Q)profiles/tables/tables.py
	$(Q)for figures in profiles/draw/draw_*.py; do python3 $$figures || exit; done
