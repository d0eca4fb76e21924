# programs.mk — the programs in this folder, built four ways and run on three GPUs each.
#
# Each .cu file is a kind of program that a student or an instructor would run. It was written for
# this folder and checks its own results (check.cuh). It is built with each of CONFIGURATIONS; the
# binary contains only PTX, for compute_75, compute_90 and compute_100, which a T4, an H200 and a
# B200 use. `make test-nightly` builds and runs all that has changed; `make test-all` runs the part
# that is listed in tests/emulator/test_programs.c.
#
#   threads together   matrix_multiply votes atomics* warp_shuffles spin_lock cg_groups
#   launches in kernels  dynamic_*
#   the runtime        streams graph_conditions occupancy texture_turn
#   tensor cores       wmma_multiply mma_multiply
#   libraries          cub_* thrust_* blas_* random_numbers network nvrtc
#   the driver API     driver_*
#   Hopper             tensor_maps (compute capability 9.0: a T4 skips it)
#
# What the steps do, what a test in C or in PTX looks at alone, and single functions of CUDA C
# (profiles/h200/functions.csv) have no program here.
#
# wrong.cu fails in ways that test_programs.c checks; it is not in the table.

PROGRAM_DIR    := tests/emulator/programs
PROGRAM_BUILD  := $(CUDA_BUILD)/$(PROGRAM_DIR)
PROGRAM_NAMES  := $(patsubst $(PROGRAM_DIR)/%.cu,%,$(filter-out %/wrong.cu,\
                  $(sort $(wildcard $(PROGRAM_DIR)/*.cu))))
# A toolkit that `make setup` fetched has no NVRTC.
ifeq ($(wildcard $(TOOLKIT)/include/nvrtc.h),)
PROGRAM_NAMES  := $(filter-out nvrtc,$(PROGRAM_NAMES))
endif

# The ways to build; the table has their names without the =.
CONFIGURATIONS  = O3 G O0 rdc
PROGRAM_O3      = -O3
PROGRAM_G       = -G
PROGRAM_O0      = -Xcicc -O0
PROGRAM_rdc     = -rdc=true

# Additional flags of single programs.
PROGRAM_dynamic_quicksort = -rdc=true
PROGRAM_dynamic_streams = -rdc=true
PROGRAM_graph_conditions = -rdc=true
PROGRAM_blas_vectors = -lcublas
PROGRAM_blas_matrices = -lcublas
PROGRAM_random_numbers = -lcurand
PROGRAM_network = -lcublas -lcurand
PROGRAM_nvrtc = -lcuda -lnvrtc
# Blackwell wants multicasts compiled for sm_100a; ptxas says so of each.
PROGRAM_tensor_maps = -Xptxas --disable-warnings
PROGRAM_driver_launch = -lcuda
PROGRAM_driver_memory = -lcuda
PROGRAM_driver_errors = -lcuda
PROGRAM_driver_mixed = -lcuda

PROGRAM_PTX     = $(foreach arch,75 90 100,-gencode arch=compute_$(arch),code=compute_$(arch))
PROGRAM_FLAGS   = $(STAND_IN_LINK) -cudart shared -Werror all-warnings -Xcompiler -Wall,-Wextra \
                  $(PROGRAM_PTX)

# The programs that `make test-all` runs, as CONFIGURATION/NAME: the tuples in
# tests/emulator/test_programs.c.
PROGRAM_QUICK  := $(addprefix $(PROGRAM_BUILD)/,O3/wrong O3/integer_types $(if $(SMALL),,$(shell \
                  grep -o '{"[A-Za-z0-9]*/[a-z0-9_]*"' tests/emulator/test_programs.c | \
                  tr -d '{"')))

define program_rule
$(PROGRAM_BUILD)/$(1)/%: $(PROGRAM_DIR)/%.cu $(wildcard $(PROGRAM_DIR)/*.cuh) \
        | $(STAND_INS) $(PRIVATE)/lib/libcuda.so
	$$(call say,nvcc,$(1)/$$*)
	$$(Q)$$(NVCC) $$(PROGRAM_FLAGS) $$(PROGRAM_$(1)) $$(PROGRAM_$$*) $$< -o $$(NEW) $$(PUT)
endef
$(foreach configuration,$(CONFIGURATIONS),$(eval $(call program_rule,$(configuration))))

# A result says how each of the three runs ended. A wrong run is an error only in the table.
PROGRAM_RESULTS = $(foreach c,$(CONFIGURATIONS),$(PROGRAM_NAMES:%=$(PROGRAM_BUILD)/$(c)/%.result))

$(PROGRAM_RESULTS): %.result: % build/emu/libcudart.so.13 | emu
	$(call say,run,$(patsubst $(PROGRAM_BUILD)/%,%,$<))
	$(Q)$(PROGRAM_DIR)/run.sh $< $@

.PHONY: programs
programs: $(PROGRAM_RESULTS)
	@$(PROGRAM_DIR)/table.sh $(PROGRAM_BUILD) "$(CONFIGURATIONS)" $(PROGRAM_NAMES)
