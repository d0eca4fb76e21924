# Upsweep: `make help` lists the targets. What is built lies in build/, except the steps, ./stepN.

include common/build/rules.mk

# A step's sources are also those of its parts; the library's scan.cu is compiled in
# parts (steps.mk).
sources   = $(patsubst $(FOLDER16)/scan.cu,$(PARTS16),$(wildcard $(foreach f,$(1), \
            $(addprefix $f/,*.c *.cu parts/*.c))))

# SMALL=1 (`make test`): these sources are compiled into build/small, without a GPU to PTX for
# compute_90 alone, and the programs are linked in the folder AT.
in_test   = $(or $(AT:%=%$(1)),build/tests/$(1))
AT        =
ifdef SMALL
    SMALLER = steps/12-% steps/13-% steps/14-% steps/15-% $(FOLDER16)/% \
              tests/cases/fixtures/%
    AT      = $(if $(SANITIZE),,build/test/)
    ifeq ($(shell nvidia-smi -L 2>/dev/null),)
        build/small/%: GPUS = -gencode arch=compute_90,code=compute_90
    endif
endif

COMMON   := $(filter-out common/harness/main.c,$(call sources,$(addprefix common/,files \
            step harness experiment $(addprefix harness/,print input verify run report traced))))

# Pictures, for programs that are made with them.
PNG      := $(shell echo '\#include <png.h>' | $(CC) -E -x c - >/dev/null 2>&1 && echo -lpng)
PICTURE_PROGRAMS = $(AT)step14 bench build/tests/bench/run $(call in_test,run) \
            $(call in_test,side-by-side)
PICTURES := $(call objects,$(call sources,common/harness/pictures))

# Flags of Open MPI, which step 17 needs; empty if it is missing.
MPI      := $(shell common/build/mpi.sh)

# Folder steps/03-name makes program ./step3, and has descriptor step03. Step 17 is a program of
# several processes, and is built and run in its own way: steps.mk.
FOLDERS  := $(patsubst %/,%,$(wildcard steps/[0-9][0-9]-*/))
ONE_PROCESS = $(filter-out steps/17-%,$(FOLDERS)) $(FOLDER16)
NUMBERS  := $(foreach f,$(FOLDERS),$(firstword $(subst -, ,$(notdir $(f)))))
OTHERWISE = step5-B% step7-R% step17
STEPS    := $(filter-out $(if $(SMALL),step17,$(if $(MPI),,step17)),$(sort $(patsubst \
            %,step%,$(NUMBERS:0%=%))))
two_digits = $(if $(filter 0% 1 2 3 4 5 6 7 8 9,$(1)),0)$(1)
folder    = $(patsubst %/,%,$(call the_only,$(1),$(wildcard steps/$(call two_digits,$(1))-*/)))
the_only  = $(if $(filter 1,$(words $(2))),$(2),$(error step$(1) needs exactly one folder \
            steps/$(call two_digits,$(1))-*, and there $(if $(2),are $(words $(2)): $(2),is none)))

# The table of steps (common/build/step_table.py says its columns): a row, the words in column $2 of
# a row, the steps that have one of the words $2 in column $1, and the source of a step's library.
comma    := ,
ROWS     := $(filter-out step$(comma)%,$(file <steps/steps.csv))
row_of    = $(filter $1$(comma)%,$(ROWS))
cell      = $(filter-out -,$(subst :, ,$(word $2,$(subst $(comma), ,$1))))
steps_with = $(strip $(foreach row,$(ROWS),$(if $(filter $2,$(call cell,$(row),$1)), \
             $(call cell,$(row),1))))
library_of = $(addprefix $(filter steps/$1-%,$(FOLDERS))/,$(call cell,$(call row_of,$1),6))

.DELETE_ON_ERROR:
.PHONY: all setup setup-labs setup-page setup-page-tests setup-mpi setup-python doctor format clean
.PHONY: help

all: $(STEPS:%=$(AT)%) ## maintain: build every step; the default
	$(if $(MPI),,@echo 'step17 is skipped: Open MPI is missing; `make setup-mpi` installs it.')
#cub: ## measure: build CUB's scan, to be compared with
#V=1: ## maintain: with any target, show the commands

# ---- steps --------------------------------------------------------------------------------------

# Goals stepN without a folder get this rule too, and with it the error of `the_only`.
$(addprefix $(AT),$(filter-out $(OTHERWISE),$(sort $(STEPS) $(filter step%,$(MAKECMDGOALS))))): \
        $(AT)step%: \
        build/main/step$$(call two_digits,$$*).o \
        $$(call objects,$$(call sources,$$(call folder,$$*)) $(COMMON)) | $$(EMU_RUNS)
	$(link)

# main.c is compiled once for each step; STEP is the descriptor that it runs.
build/main/%.o: common/harness/main.c
	$(call compile, for $*,-DSTEP=$*)

# Step 13 builds on step 12's scan, and step 16 finds the partners of brackets with step 15's sort.
$(foreach row,$(ROWS),$(foreach step,$(call cell,$(row),7), \
    $(eval $(AT)step$(call cell,$(row),1): $(call objects,$(call library_of,$(step))))))

$(PICTURE_PROGRAMS): $(PICTURES)
$(PICTURE_PROGRAMS): LIBRARIES = $(PNG)

# ---- the rest -----------------------------------------------------------------------------------

setup: ## learn: list which tools are missing, and install them (Debian, Ubuntu; needs root or sudo)
#stepN: ## learn: build step N from its folder steps/NN-name, and the emulator
setup-labs: ## teach: install bubblewrap, in which `make grade` runs what students write
setup-page: ## maintain: install emscripten and pandoc, for `make page`
setup-page-tests: ## maintain: install these and two browsers, for the tests of the page
setup-mpi: ## maintain: install Open MPI, which step 17 needs
setup-python: ## maintain: install NumPy and venv, for the tests of the Python package
setup setup-labs setup-page setup-page-tests setup-mpi setup-python:
	@common/build/setup.sh $(filter-out setup,$(@:setup-%=%))

# apt-get cannot run twice at once.
ifneq ($(word 2,$(filter setup%,$(MAKECMDGOALS))),)
.NOTPARALLEL:
endif

doctor: ## learn: tell which tools were found and what each is for
	@common/build/doctor.sh

format: ## maintain: put the C and CUDA sources into the style of .clang-format
	$(Q)git ls-files '*.c' '*.h' '*.cu' '*.cuh' | xargs clang-format -i

clean: ## maintain: remove what was built; a toolkit in build/cuda stays
	$(Q)rm -rf $(filter-out build/cuda,$(wildcard build/*)) \
	    $(wildcard step[0-9] step[0-9][0-9] step[57]-* cub bench *.new)

# The text of a target stands behind `##`, after the readers for whom it is.
GROUPS_OF_HELP = learn teach use measure maintain
help: ## learn: list the targets
	@sed -En 's/^#?([A-Za-z0-9=-]+):.*## ([a-z]+): (.*)/\2\t\1\t\3/p' \
	    $(filter Makefile %.mk,$(MAKEFILE_LIST)) | awk -F '\t' -v order='$(GROUPS_OF_HELP)' \
	    '{ rows[$$1] = rows[$$1] sprintf("  make %-18s %s\n", $$2, $$3) } \
	    END { n = split(order, group, " "); for (i = 1; i <= n; i++) \
	          printf "%sTo %s:\n%s", (i > 1 ? "\n" : ""), group[i], rows[group[i]] }'

# The rest of the build stands beside what it builds.
include steps/steps.mk common/bench/bench.mk $(addprefix common/tools/,library/library.mk \
        emu/emu.mk labs/labs.mk cc/cc.mk page/page.mk) tests/tests.mk profiles/profiles.mk

# No rule makes these.
DEPENDENCIES := $(shell find build -name '*.d' -not -path 'build/asan/*' 2>/dev/null)
$(DEPENDENCIES): ;
-include $(DEPENDENCIES)
