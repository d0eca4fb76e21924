# programs.mk — the programs in this folder, built four ways and run on three GPUs each.
#
# Each .cu file is one kind of program that a student or an instructor would run, written for this
# folder, and checks its own results (check.cuh). It is built with each of CONFIGURATIONS; the binary
# holds PTX for compute_75, compute_90 and compute_100 and nothing else, and a T4, an H200 and a B200
# take one each. `make test-all` does all of it, and only what has changed since; `make test` runs the
# part that is listed in tests/emulator/test_programs.c.
#
#   first steps        vector_add grid_stride matrix_multiply transpose stencil dot_product …
#   threads together   votes atomics* warp_* cg_* shuffle_* async_barrier spin_lock named_barriers
#   the language       device_* function_pointers virtual_functions recursion lambdas templates
#                      integers bits half_precision fast_math constant_memory separate_compilation
#   the runtime        streams callbacks events graphs multi_copy zero_copy managed pitched_copy
#                      peer_copy occupancy attributes properties clocks errors
#   algorithms         reduction* scan_* compaction histogram *_sort sorting_network fft spmv …
#   libraries          cub_* thrust_*
#   Ampere, Hopper     async_copy cluster_* bulk_copy mbarrier (compute capability 9.0: T4 skipped)
#
# A program of two files is NAME.cu and NAME.part.cu. wrong.cu fails in ways that test_programs.c
# looks at; it has no place in the table.

PROGRAM_DIR    := tests/emulator/programs
PROGRAM_BUILD  := $(CUDA_BUILD)/$(PROGRAM_DIR)
PROGRAM_NAMES  := $(patsubst $(PROGRAM_DIR)/%.cu,%,$(filter-out %.part.cu %/wrong.cu,\
                  $(sort $(wildcard $(PROGRAM_DIR)/*.cu))))

# The ways to build; the table has their names without the =.
CONFIGURATIONS  = O3 G O0 rdc
PROGRAM_O3      = -O3
PROGRAM_G       = -G
PROGRAM_O0      = -Xcicc -O0
PROGRAM_rdc     = -rdc=true

# What single programs need besides.
PROGRAM_lambdas = --extended-lambda

PROGRAM_PTX     = $(foreach arch,75 90 100,-gencode arch=compute_$(arch),code=compute_$(arch))
PROGRAM_FLAGS   = -cudart shared -Werror all-warnings -Xcompiler -Wall,-Wextra $(PROGRAM_PTX)

# Those that `make test` runs, as CONFIGURATION/NAME: the tuples in tests/emulator/test_programs.c.
PROGRAM_QUICK  := $(addprefix $(PROGRAM_BUILD)/,O3/wrong $(shell \
                  grep -o '{"[A-Za-z0-9]*/[a-z0-9_]*"' tests/emulator/test_programs.c | tr -d '{"'))

define program_rule
$(PROGRAM_BUILD)/$(1)/%: $(PROGRAM_DIR)/%.cu $(PROGRAM_DIR)/check.cuh $(PROGRAM_DIR)/cub.cuh \
        $$$$(wildcard $(PROGRAM_DIR)/$$$$*.part.cu)
	$$(call say,nvcc,$(1)/$$*)
	$$(Q)$$(NVCC) $$(PROGRAM_FLAGS) $$(PROGRAM_$(1)) $$(PROGRAM_$$*) $$(filter %.part.cu,$$^) \
	    $$(if $$(filter %.part.cu,$$^),-rdc=true) $$< -o $$(NEW) $$(PUT)
endef
$(foreach configuration,$(CONFIGURATIONS),$(eval $(call program_rule,$(configuration))))

# A result says how each of the three runs ended; a wrong one is no error here but in the table.
PROGRAM_RESULTS = $(foreach c,$(CONFIGURATIONS),$(PROGRAM_NAMES:%=$(PROGRAM_BUILD)/$(c)/%.result))

$(PROGRAM_RESULTS): %.result: % build/emu/libcudart.so.13 | emu
	$(call say,run,$(patsubst $(PROGRAM_BUILD)/%,%,$<))
	$(Q)$(PROGRAM_DIR)/run.sh $< $@

.PHONY: programs
programs: $(PROGRAM_RESULTS)
	@$(PROGRAM_DIR)/table.sh $(PROGRAM_BUILD) "$(CONFIGURATIONS)" $(PROGRAM_NAMES)
