# programs.mk — the programs in this folder, built four ways and run on three GPUs each.
#
# Each .cu file holds programs of one kind that a student or an instructor would run, and that check
# their own results (check.cuh). A file is built with each of CONFIGURATIONS; the binary contains
# only PTX, for compute_75, compute_90 and compute_100, which a T4, an H200 and a B200 use. `make
# test-nightly` builds and runs all that has changed; `make test-all` those that are listed in
# tests/unit/emulator/test_programs.c.
#
# What the steps do, what a test in C or in PTX looks at alone, and single functions of CUDA C
# (profiles/h200/functions.csv) have no program here. wrong.cu fails in ways that test_programs.c
# checks.

PROGRAM_DIR    := tests/cases/programs
PROGRAM_BUILD  := $(CUDA_BUILD)/$(PROGRAM_DIR)
# A toolkit that `make setup` fetched has no NVRTC.
PROGRAM_NAMES  := $(patsubst $(PROGRAM_DIR)/%.cu,%,$(filter-out %/wrong.cu $(if $(wildcard \
                  $(TOOLKIT)/include/nvrtc.h),,%/nvrtc.cu),$(wildcard $(PROGRAM_DIR)/*.cu)))

# The ways to build, and additional flags of single files.
CONFIGURATIONS  = O3 G O0 rdc
PROGRAM_O3      = -O3
PROGRAM_G       = -G
PROGRAM_O0      = -Xcicc -O0
PROGRAM_rdc     = -rdc=true
PROGRAM_dynamic = -rdc=true
PROGRAM_blas    = -lcublas
PROGRAM_random_numbers = -lcurand
PROGRAM_network = -lcublas -lcurand
PROGRAM_nvrtc   = -lcuda -lnvrtc
PROGRAM_driver  = -lcuda
# Blackwell wants multicasts compiled for sm_100a; ptxas says so of each.
PROGRAM_textures = -Xptxas --disable-warnings

# The files that `make test` (SMALL=1) and `make test-all` run, as CONFIGURATION/NAME.
PROGRAM_QUICK  := $(addprefix $(PROGRAM_BUILD)/O3/,wrong arithmetic cooperative) \
                  $(addprefix $(PROGRAM_BUILD)/,$(if $(SMALL),, \
                  $(shell sed -n 's,.*{"\([A-Za-z0-9]*/[a-z0-9_]*\)".*,\1,p' \
                  tests/unit/emulator/test_programs.c)))
PROGRAM_FILES   = $(foreach c,$(CONFIGURATIONS),$(PROGRAM_NAMES:%=$(PROGRAM_BUILD)/$(c)/%))
$(sort $(PROGRAM_FILES) $(PROGRAM_QUICK)): $(PROGRAM_DIR)/$$(@F).cu \
        | $(STAND_INS) $(PRIVATE)/lib/libcuda.so
	$(call by_nvcc,$(STAND_IN_LINK) -cudart shared $(WARNINGS) $(call ptx,75 90 100) \
	    $(PROGRAM_$(notdir $(@D))) $(PROGRAM_$(@F)))

# A result says how each run of a file ended. `programs` shows what was wrong, and removes these
# results, so that the next make runs them again.
$(PROGRAM_FILES:%=%.result): %.result: % build/emu/libcudart.so.13 | emu
	$(call say,run,$<)
	$(Q)$(PROGRAM_DIR)/run.sh $< $@ t4 h200 b200
.PHONY: programs
programs: $(PROGRAM_FILES:%=%.result)
	@for end in right skipped wrong; do echo "$$(cat $^ | grep -c " $$end$$") $$end"; done
	@! grep -A 20 ' wrong$$' $^ || { grep -l ' wrong$$' $^ | xargs rm; false; }
