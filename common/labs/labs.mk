# labs.mk — the labs: `make labN` writes a skeleton, `make checkN` judges it, `make hintN` helps.

LABS      = 2 3 4 5 6 7 9 11 13
# A lab's source: the step's, or one of its own where the step's kernels are too long for a lab.
lab_source = $(or $(wildcard common/labs/sources/$(call two_digits,$(1))-*.cu),$\
             $(call folder,$(1))/scan.cu)
LAB_SOURCES = $(wildcard common/labs/*.c)
LAB_MAINS = %/run_lab.c
# What the programs share. Only run-lab has the emulator.
LAB_SHARED := $(call objects,$(filter-out $(LAB_MAINS) common/labs/run_%,$(LAB_SOURCES)))
LAB_COMMON := $(LAB_SHARED) $(call objects,$(wildcard common/harness/verify/*.c) $(addprefix \
             common/,command/fault.c command/option_table.c files/visible.c files/wrapped.c \
             step/levels.c step/element.c harness/host/parallel.c \
             harness/print/progress.c emu/report/json.c))
LAB_RUNS  := $(call objects,$(filter-out %/run_first.c %/run_puzzle.c,\
             $(wildcard common/labs/run_*.c)) \
             $(addprefix common/labs/,lab_table.c results_write.c) \
             $(addprefix common/,command/fault.c command/option_table.c step/levels.c))
LAB_PROGRAMS = build/labs/run-lab build/labs/check-lab build/labs/gpu-lab
LAB_REFERENCES = $(LABS:%=build/labs/reference%.ptx) build/labs/reference-exercise4.ptx

# COMPILER=own judges without nvcc, by the compiler of common/cc, which compiles these labs.
OWN_LABS  = 2 3 4 5
COMPILER  = nvcc
JUDGE     = --compiler $(COMPILER) --nvcc '$(CUDA)/bin/nvcc'
$(if $(filter-out nvcc own,$(COMPILER)),$(error COMPILER is "$(COMPILER)"; give nvcc or own))
reference = $(if $(filter own,$(COMPILER)),build/cc/upcc \
            $(patsubst %,build/labs/reference%.own.ptx,$(filter $(1),$(OWN_LABS) -exercise4)),\
            build/labs/reference$(1).ptx)

# ---- the first puzzles ---------------------------------------------------------------------------

FIRSTS   := $(patsubst steps/first-kernel/%.cu,%,$(wildcard steps/first-kernel/first[0-9].cu))
#firstN: ## learn: write labs/firstN.cu, a whole program that lacks one line; N is 1 to 5

#check-firstN: ## learn: run labs/firstN.cu on the emulator, with all checkers on
FIRSTS_NEED = $(if $(filter own,$(COMPILER)),build/cc/upcc build/labs/run-first,$(EMU_RUNS))
$(FIRSTS:%=check-%): check-%: | $$(FIRSTS_NEED)
	$(Q)common/labs/check_first.sh labs/$*.cu $(filter own,$(COMPILER)) $(FEWER_OK)

#learn: ## learn: all first puzzles in turn, each checked whenever you save its file
learn: | $$(FIRSTS_NEED)
	@$(MAKE) --no-print-directory $(FIRSTS) >/dev/null
	@common/labs/learn.sh $(filter own,$(COMPILER)) $(FIRSTS:%=labs/%.cu)

# ---- labs ---------------------------------------------------------------------------------------

labs: $(LAB_PROGRAMS) $(LAB_REFERENCES) $$(LAB_TEXTS) $$(LAB_BANKS) ## teach: build what labs need
	@:

#labN: ## learn: write labs/labN.cu, a step with gaps to fill in; N is 2 to 7, 9, 11 or 13

# The step's own solution, from the same lines as the skeleton.
build/labs/reference%.cu: common/labs/skeleton.sh $$(call lab_source,$$*) \
        $$(wildcard $$(call folder,$$*)/*.cu* $$(call folder,$$*)/*.h)
	@mkdir -p $(@D)
	$(Q)common/labs/skeleton.sh --solution $* $(call lab_source,$*) >$(NEW) $(PUT)

build/labs/reference%.ptx: build/labs/reference%.cu build/common/labs/compile.o | \
        build/labs/check-lab
	$(call say,nvcc,$@)
	$(Q)build/labs/check-lab --nvcc '$(CUDA)/bin/nvcc' --compile $< $(NEW) $(PUT)

build/labs/reference%.own.ptx: build/labs/reference%.cu build/cc/upcc
	$(call say,upcc,$@)
	$(Q)build/cc/upcc $< -o $(NEW) $(PUT)

# A solution of an exercise that is no lab's.
build/labs/reference-exercise%.cu: build/labs/reference%.cu common/labs/exercises/solution%.sed
	$(Q)sed -f common/labs/exercises/solution$*.sed $< >$(NEW) $(PUT)

.PRECIOUS: build/labs/reference%.cu build/labs/reference-exercise%.cu

# The emulator without the CUDA runtime, whose header comes with nvcc.
EMU_CORE := $(filter-out build/common/emu/runtime/%,$(EMU))
build/labs/run-lab build/autograder/labs/run-lab: $(LAB_RUNS) $(EMU_CORE)
	$(call link_with_emulator,$(EMU_CORE))

# Launches the first puzzles without the host code in their files.
build/labs/run-first: $(call objects,$(addprefix common/,labs/run_first.c labs/run_puzzle.c \
        labs/run_entry.c \
        command/fault.c)) $(EMU_CORE)
	$(call link_with_emulator,$(EMU_CORE))

# The driver is found when it runs.
build/labs/gpu-lab: $(call objects,$(wildcard common/labs/gpu/*.c) common/labs/run_entry.c \
        common/emu/ptx/ptx_types.c) $(LAB_COMMON)
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ -lm -ldl -pthread -o $(NEW) $(PUT)

LAB_TEXTS = build/labs/weights.txt build/labs/hints.txt
$(LAB_TEXTS): build/labs/%: common/labs/%
	@mkdir -p $(@D)
	$(Q)cp $< $(NEW) $(PUT)

# Fewer points are not a failure of make, which would end with "make: *** Error 1". Scripts run the
# program itself, whose exit code says whether there are full points.
FEWER_OK  = || { code=$$?; [ $$code -eq 1 ] || exit $$code; }

#checkN: ## learn: judge labs/labN.cu, a reason for each lost point; COMPILER=own: without nvcc
$(LABS:%=check%): check%: $(LAB_PROGRAMS) $$(call reference,$$*) $(LAB_TEXTS)
	$(Q)build/labs/check-lab $* labs/lab$*.cu $(JUDGE) $(ARGS) $(FEWER_OK)

#hintN: ## learn: say what to look at in labs/labN.cu; LEVEL=1 (a nudge) to 3 (the lines)
$(LABS:%=hint%): hint%: $(LAB_PROGRAMS) $$(call reference,$$*) $(LAB_TEXTS)
	$(Q)build/labs/check-lab $* labs/lab$*.cu $(JUDGE) --hint $(or $(LEVEL),1)

# ---- on a GPU -----------------------------------------------------------------------------------

RACE     ?= labs/lab11.cu
RACE_N    = 16777216
#race: ## measure: time lab 11, RACE=labs/lab11.cu, beside step 12 on a GPU
race: $(LAB_PROGRAMS) build/labs/reference11.ptx $(LAB_TEXTS) | step12
	$(Q)said=$$(build/labs/check-lab 11 $(RACE) --nvcc '$(CUDA)/bin/nvcc' | grep '^GPU'); \
	echo "$${said:-There is no driver, or not all kernels end, as make check11 says.}"; \
	case $$said in *'runs right; n ='*) ./step12 --n $(RACE_N) | grep -E '^ *(device|time) ';; esac

# ---- broken kernels -----------------------------------------------------------------------------

BUG_LIST := $(wildcard common/labs/bugs/bugs.txt)
BUGS     := $(if $(BUG_LIST),$(shell sed -n 's/^== //p' $(BUG_LIST)))
bug_lab   = $(shell sed -n '/^== $(1)$$/{n;s/^. lab \([0-9]*\):.*/\1/p;}' $(BUG_LIST))
#bugN: ## learn: write labs/bugN.cu, a kernel with one fault to find; N is 1 to 10

#check-bugN: ## learn: judge labs/bugN.cu, as the lab that it is made of
$(BUGS:%=check-bug%): check-bug%: $(LAB_PROGRAMS) $$(call reference,$$(call bug_lab,$$*)) \
        $(LAB_TEXTS)
	$(Q)build/labs/check-lab $(call bug_lab,$*) labs/bug$*.cu $(JUDGE) $(ARGS) $(FEWER_OK)

# ---- exercises ----------------------------------------------------------------------------------

EXERCISE   = common/labs/exercises/exercise.sh
EXERCISE_LIST := $(wildcard common/labs/exercises/exercises.txt)
EXERCISES := $(if $(EXERCISE_LIST),$(shell sed -n 's/^\([0-9][0-9]*\) .*/\1/p' $(EXERCISE_LIST)))
#exerciseN: ## learn: write labs/exerciseN.cu, for the exercise "write" of chapter N

#check-exerciseN: ## learn: judge labs/exerciseN.cu, as a lab is
judged_as = $(shell $(EXERCISE) --judge $(1))
$(EXERCISES:%=check-exercise%): check-exercise%: $(LAB_PROGRAMS) $(LAB_TEXTS) \
        $$(call reference,$$(subst exercise,-exercise,$$(call judged_as,$$*)))
	$(Q)build/labs/check-lab $(call judged_as,$*) labs/exercise$*.cu $(JUDGE) $(ARGS) $(FEWER_OK)

# ---- sheets to fill in --------------------------------------------------------------------------

LAB_BANKS = build/labs/bank-lab build/labs/banks.ptx
build/labs/banks.ptx: common/labs/banks/banks.cu build/common/labs/compile.o | build/labs/check-lab
	$(call say,nvcc,$@)
	$(Q)build/labs/check-lab --nvcc '$(CUDA)/bin/nvcc' --compile $< $(NEW) $(PUT)

build/labs/bank-lab: $(call objects,$(wildcard common/labs/banks/*.c) $(addprefix common/,\
        labs/run_entry.c command/fault.c)) $(EMU)
	$(call link_with_emulator,$(EMU))

predict: ## learn: write labs/predict.txt, to predict the bank conflicts of each level
detective: ## learn: write labs/detective.txt, to find out which kernel made which bank conflicts
predict detective: $(LAB_BANKS)

check-predict: ## learn: compare labs/predict.txt with what the emulator counts
check-detective: ## learn: check the letters in labs/detective.txt
check-predict check-detective: check-%: $(LAB_BANKS)
	$(Q)build/labs/bank-lab $* check labs/$*.txt build/labs/banks.ptx $(FEWER_OK)

# ---- a kernel without bank conflicts -------------------------------------------------------------

#swizzle: ## learn: write labs/swizzle.cu, a product by ldmatrix that is to have no bank conflict
#check-swizzle: ## learn: judge labs/swizzle.cu by its result and its bank conflicts
check-swizzle: build/labs/bank-lab build/labs/check-lab
	@[ -e labs/swizzle.cu ] || { echo '`make swizzle` writes labs/swizzle.cu.' >&2; exit 2; }
	$(Q)build/labs/check-lab --nvcc '$(CUDA)/bin/nvcc' --compile labs/swizzle.cu \
	    build/labs/swizzle.ptx
	$(Q)build/labs/bank-lab swizzle check labs/swizzle.cu build/labs/swizzle.ptx $(FEWER_OK)

# ---- what is written, and names that there are not -----------------------------------------------

WRITTEN  := $(FIRSTS) $(LABS:%=lab%) $(BUGS:%=bug%) $(EXERCISES:%=exercise%) predict detective \
            swizzle
CHECKED_LABS := $(LABS:%=check%) $(LABS:%=hint%) $(patsubst %,check-%,$(filter-out lab%,$(WRITTEN)))
.PHONY: labs learn race $(WRITTEN) $(CHECKED_LABS)
$(WRITTEN):
	$(Q)common/labs/write.sh $@ $(if $(filter lab%,$@),$(call lab_source,$(@:lab%=%)))

NO_SUCH  := $(filter-out labs $(WRITTEN) $(CHECKED_LABS),$(filter lab% hint% bug% check-bug% \
            exercise% check-exercise% $(addsuffix %,$(addprefix check,0 1 2 3 4 5 6 7 8 9)), \
            $(MAKECMDGOALS)))
$(NO_SUCH):
	@echo "There is no $@; there are labs 2 to 7, 9, 11 and 13, broken kernels 1 to" \
	    "$(words $(BUGS)), and exercises of the chapters $(EXERCISES)." >&2; exit 2
