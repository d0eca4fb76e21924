# labs.mk — the labs: `make labN` writes a skeleton, `make checkN` judges it, `make hintN` helps;
# `make grade` judges a class.

LABS     := $(call steps_with,3,yes)
# A lab's source: the step's, or one of its own where the step's kernels are too long for a lab.
lab_source = $(or $(wildcard common/tools/labs/sources/$(call two_digits,$(1))-*.cu),$\
             $(call folder,$(1))/scan.cu)
LAB_SOURCES = $(wildcard common/tools/labs/*.c)
LAB_MAINS = %/check_lab.c %/confine.c %/debug_lab.c
# What the programs share. Only run-lab and debug-lab have the emulator.
LAB_SHARED := $(call objects,$(filter-out $(LAB_MAINS) common/tools/labs/run_%,$(LAB_SOURCES)))
LAB_COMMON := $(LAB_SHARED) $(call objects,$(wildcard common/harness/verify/*.c) $(addprefix \
             common/,files/fault.c files/option_table.c files/visible.c step/element.c \
             harness/print/progress.c files/json.c))
LAB_RUNS  := $(call objects,$(wildcard common/tools/labs/run_*.c) $(addprefix common/,\
             tools/labs/lab_table.c tools/labs/results.c files/fault.c files/option_table.c))
LAB_PROGRAMS = build/labs/run-lab build/labs/check-lab build/labs/gpu-lab
LAB_TEXTS = build/labs/weights.txt build/labs/hints.txt
JUDGES_LABS = $(LAB_PROGRAMS) $(LAB_TEXTS)

# COMPILER=own judges without nvcc, by the compiler of common/tools/cc, which compiles these labs.
# It is an autograder's compiler unless it is told otherwise: its container needs but a shell then.
COMPILER  = $(if $(filter autograder-%,$(MAKECMDGOALS)),own,nvcc)
JUDGE     = --compiler $(COMPILER) --nvcc '$(CUDA)/bin/nvcc'
$(if $(filter-out nvcc own,$(COMPILER)),$(error COMPILER is "$(COMPILER)"; give nvcc or own))
reference = $(if $(filter own,$(COMPILER)),build/cc/upcc \
            $(patsubst %,build/labs/reference%.own.ptx,$(filter $(1),$(LABS) -exercise4)),\
            build/labs/reference$(1).ptx)

#labs: ## teach: build what labs need
labs: $(JUDGES_LABS) build/labs/debug-lab $(LABS:%=build/labs/reference%.ptx) \
        build/labs/reference-exercise4.ptx $$(LAB_BANKS)
	@:

# The step's own solution, from the same lines as the skeleton.
build/labs/reference%.cu: common/tools/labs/skeleton.sh $$(call lab_source,$$*) \
        $$(wildcard $$(call folder,$$*)/*.cu* $$(call folder,$$*)/*.h)
	$(call written,common/tools/labs/skeleton.sh --solution $* $(call lab_source,$*))

TO_PTX    = build/labs/check-lab --nvcc '$(CUDA)/bin/nvcc' --compile
build/labs/reference%.ptx: build/labs/reference%.cu build/common/tools/labs/compile.o | \
        build/labs/check-lab
	$(call say,nvcc,$@)
	$(Q)$(TO_PTX) $< $(NEW) $(PUT)

build/labs/reference%.own.ptx: build/labs/reference%.cu build/cc/upcc
	$(call made,upcc,build/cc/upcc $<)

# A solution of an exercise that is no lab's.
build/labs/reference-exercise%.cu: build/labs/reference%.cu \
        common/tools/labs/exercises/solution%.sed
	$(call written,sed -f common/tools/labs/exercises/solution$*.sed $<)
.PRECIOUS: build/labs/reference%.cu build/labs/reference-exercise%.cu

build/labs/run-lab build/autograder/labs/run-lab: $(LAB_RUNS) build/emu/core.a
	$(link_with_emulator)

build/labs/debug-lab: $(call objects,$(addprefix common/tools/labs/,debug_lab.c run_case.c \
        run_entry.c)) $(LAB_COMMON) build/emu/core.a
	$(link_with_emulator)

# The driver is found when it runs.
build/labs/gpu-lab: $(call objects,$(addprefix common/tools/,labs/gpu/gpu_lab.c labs/run_entry.c \
        emu/ptx/ptx_types.c)) $(LAB_COMMON)
	$(call made,link,$(LINK_C) -ldl)

$(LAB_TEXTS): build/labs/%: common/tools/labs/%
	$(copied)

# ---- what is written, and judged -----------------------------------------------------------------

# What can be judged, each with the lab or the exercise as which it is: lab2:2, and bug1:3, a broken
# kernel as what it is made of.
JUDGED   := $(foreach lab,$(LABS),lab$(lab):$(lab)) $(shell cd common/tools/labs && \
            sed -n '/^== /{N;s/== \(.*\)\n. lab \([0-9]*\).*/bug\1:\2/p;}' exercises/bugs.txt) \
            $(foreach lab,$(LABS),exercise$(lab):$(if $(wildcard \
            common/tools/labs/exercises/solution$(lab).sed),exercise)$(lab))
judged_as = $(patsubst $1:%,%,$(filter $1:%,$(JUDGED)))
FIRSTS   := $(patsubst steps/first-kernel/%.cu,%,$(wildcard steps/first-kernel/first[0-9].cu))
BANKS     = predict detective swizzle
WRITTEN  := $(FIRSTS) $(foreach pair,$(JUDGED),$(firstword $(subst :, ,$(pair)))) $(BANKS)
#firstN: ## learn: write labs/firstN.cu, a whole program that lacks one line; N is 1 to 5
#check-firstN: ## learn: run labs/firstN.cu on the emulator, with all checkers on
#learn: ## learn: all first puzzles in turn, each checked whenever you save its file
#labN: ## learn: write labs/labN.cu, a step with gaps to fill in; N is 2 to 7, 9, 11 or 13
#checkN: ## learn: judge labs/labN.cu, a reason for each lost point; COMPILER=own: without nvcc
#debugN: ## learn: begin the first wrong run of labs/labN.cu in the debugger; also debug-bugN
#hintN: ## learn: say what to look at in labs/labN.cu; LEVEL=1 (a nudge) to 3 (the lines)
#race: ## measure: time lab 11, RACE=labs/lab11.cu, beside step 12 on a GPU
#bugN: ## learn: write labs/bugN.cu, a kernel with one fault to find; N is 1 to 10
#check-bugN: ## learn: judge labs/bugN.cu, as the lab that it is made of
#exerciseN: ## learn: write labs/exerciseN.cu, for the exercise "write" of chapter N
#check-exerciseN: ## learn: judge labs/exerciseN.cu, as a lab is
#predict: ## learn: write labs/predict.txt, to predict the bank conflicts of each level
#detective: ## learn: write labs/detective.txt, to find out which kernel made which bank conflicts
#check-predict: ## learn: compare labs/predict.txt with what the emulator counts
#check-detective: ## learn: check the letters in labs/detective.txt
#swizzle: ## learn: write labs/swizzle.cu, a product by ldmatrix that is to have no bank conflict
#check-swizzle: ## learn: judge labs/swizzle.cu by its result and its bank conflicts
$(WRITTEN):
	$(Q)common/tools/labs/write.sh $@ $(if $(filter lab%,$@),$(call lab_source,$(@:lab%=%)))

# Fewer points are not a failure of make, which would end with "make: *** Error 1". Scripts run the
# program itself, whose exit code says whether there are full points.
FEWER_OK  = || { code=$$?; [ $$code -eq 1 ] || exit $$code; }

judged    = $(patsubst check%,lab%,$(patsubst hint%,lab%,$(1:check-%=%)))
CHECKS_OF_LABS := $(patsubst check-lab%,check%,$(filter-out $(FIRSTS:%=check-%) $(BANKS:%=check-%),\
            $(WRITTEN:%=check-%))) $(LABS:%=hint%)
$(CHECKS_OF_LABS): $(JUDGES_LABS) \
        $$(call reference,$$(subst exercise,-exercise,$$(call judged_as,$$(call judged,$$@))))
	$(Q)build/labs/check-lab $(call judged_as,$(call judged,$@)) labs/$(call judged,$@).cu \
	    $(JUDGE) $(if $(filter hint%,$@),--hint $(or $(LEVEL),1),$(ARGS) $(FEWER_OK))

# -G keeps variables, and so debug-lab looks for a run that is wrong with -G, too.
debugged  = $(call judged,$(@:debug%=check%))
DEBUGS_OF_LABS := $(patsubst check%,debug%,$(filter check%,$(CHECKS_OF_LABS)))
$(DEBUGS_OF_LABS): build/labs/debug-lab | $(EMU_RUNS)
	@[ -e labs/$(debugged).cu ] || \
	    { echo '`make $(debugged)` writes labs/$(debugged).cu.' >&2; exit 2; }
	$(Q)$(NVCC) -G -ptx -arch=compute_90 -diag-suppress=177,550 labs/$(debugged).cu \
	    -o build/labs/$(debugged).debug.ptx
	$(Q)build/emu/emu debug build/labs/debug-lab $(call judged_as,$(debugged)) \
	    build/labs/$(debugged).debug.ptx

FIRSTS_NEED = $(if $(filter own,$(COMPILER)),build/cc/upcc build/labs/run-lab,$(EMU_RUNS))
$(FIRSTS:%=check-%): check-%: | $$(FIRSTS_NEED)
	$(Q)common/tools/labs/check_first.sh labs/$*.cu $(filter own,$(COMPILER)) $(FEWER_OK)

learn: | $$(FIRSTS_NEED)
	@$(MAKE) --no-print-directory $(FIRSTS) >/dev/null
	@common/tools/labs/learn.sh $(filter own,$(COMPILER)) $(FIRSTS:%=labs/%.cu)

RACE     ?= labs/lab11.cu
RACE_N    = 16777216
race: $(JUDGES_LABS) build/labs/reference11.ptx | step12
	$(Q)said=$$(build/labs/check-lab 11 $(RACE) --nvcc '$(CUDA)/bin/nvcc' | grep '^GPU'); \
	echo "$${said:-There is no driver, or not all kernels end, as make check11 says.}"; \
	case $$said in *'runs right; n ='*) ./step12 --n $(RACE_N) | grep -E '^ *(device|time) ';; esac

LAB_BANKS = build/labs/bank-lab build/labs/banks.ptx
build/labs/banks.ptx: common/tools/labs/banks/banks.cu
	$(call by_nvcc,-O3 -lineinfo -ptx -arch=compute_90)
build/labs/bank-lab: $(call objects,$(addprefix common/,tools/labs/banks/bank_lab.c \
        tools/labs/run_entry.c files/fault.c)) build/emu/all.a
	$(link_with_emulator)

predict detective: $(LAB_BANKS)
check-predict check-detective: check-%: $(LAB_BANKS)
	$(Q)build/labs/bank-lab $* check labs/$*.txt build/labs/banks.ptx $(FEWER_OK)

check-swizzle: build/labs/bank-lab build/labs/check-lab
	@[ -e labs/swizzle.cu ] || { echo '`make swizzle` writes labs/swizzle.cu.' >&2; exit 2; }
	$(Q)$(TO_PTX) labs/swizzle.cu build/labs/swizzle.ptx
	$(Q)build/labs/bank-lab swizzle check labs/swizzle.cu build/labs/swizzle.ptx $(FEWER_OK)

CHECKED_LABS := $(CHECKS_OF_LABS) $(FIRSTS:%=check-%) $(BANKS:%=check-%)
.PHONY: labs learn race $(WRITTEN) $(CHECKED_LABS) $(DEBUGS_OF_LABS)
NO_SUCH  := $(filter-out labs checks $(WRITTEN) $(CHECKED_LABS) $(DEBUGS_OF_LABS),\
            $(filter lab% hint% bug% exercise% check% debug%,$(MAKECMDGOALS)))
$(NO_SUCH):
	@echo "There is no $@; there are labs 2 to 7, 9, 11 and 13, broken kernels 1 to" \
	    "$(words $(filter bug%,$(JUDGED))), and exercises of the chapters" \
	    "$(patsubst exercise%,%,$(filter exercise%,$(WRITTEN)))." >&2; exit 2

# ---- make grade ----------------------------------------------------------------------------------

# A program in one file, of Python's sources.
build/labs/grade-labs: $(wildcard common/tools/labs/grader/*.py)
	$(call say,zip,$@)
	$(Q)python3 -m zipapp -c common/tools/labs/grader -p '/usr/bin/env python3' -o $(NEW) && \
	    chmod a+rx $(NEW) $(PUT)

# It runs in the sandbox, where no sanitizer could reserve its addresses.
build/labs/confine build/autograder/labs/confine: common/tools/labs/confine.c
	$(call made,$(CC),$(CC) $(NOT_SANITIZED) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) $<)

# The scorer and the results' reader come from the labs. It runs no submission itself.
build/labs/check-lab build/autograder/labs/check-lab: build/common/tools/labs/check_lab.o \
        $(LAB_COMMON)
	$(call made,link,$(LINK_C))

GRADING   = build/labs/grade-labs build/labs/confine $(if $(filter own,$(COMPILER)), \
            build/labs/check-lab build/labs/run-lab $(LAB_TEXTS) $(call reference,$(N)),labs)

#grade: ## teach: judge a class: DIR=submissions N=3 (or page), and OUT= SEED= ARGS=...
.PHONY: grade test-class
# The labs of the page need no sandbox: what is handed in are answers, and our kernels run.
ifeq ($(N),page)
grade: build/page/native $$(PAGE_PTX)
	$(Q)command -v node >/dev/null || { echo 'make setup-page installs node' >&2; exit 2; }
	$(Q)node common/tools/labs/grade_links.js '$(DIR)' \
	    --out '$(or $(OUT),grades/page)' $(ARGS)
else
grade: $(if $(and $(DIR),$(N)),$(GRADING))
	$(Q)$(if $(and $(DIR),$(N)),,echo 'Which? make grade DIR=submissions N=3' >&2; exit 2;) \
	    build/labs/grade-labs $(N) '$(DIR)' $(JUDGE) $(if $(OUT),--out '$(OUT)') \
	    $(if $(SEED),--seed $(SEED)) $(ARGS)
endif

test-class: $(GRADING) ## teach: grade a class of cheats and honest submissions, twice
	$(Q)bats --filter-tags apart tests/cli/grade.bats

# ---- autograders ---------------------------------------------------------------------------------

# Linked statically, the programs of an archive run in any container of this processor.
build/autograder/%: LDFLAGS += -static -s
AUTOGRADER_PROGRAMS = $(addprefix build/autograder/labs/,check-lab run-lab confine) \
            build/labs/grade-labs build/autograder/cc/upcc

# Our own compiler, where it compiles the lab: then a container needs a shell and python3 only.
AUTOGRADERS = gradescope prairielearn classroom
.PHONY: $(AUTOGRADERS:%=autograder-%)
$(if $(filter autograder-%,$(MAKECMDGOALS)),$(if $(filter $(LAB),$(LABS)),,$(error Which lab? \
    make $(firstword $(MAKECMDGOALS)) LAB=3; there are labs $(LABS))))
#autograder-gradescope: ## teach: pack LAB=3 for Gradescope; SEED= HIDE= WEIGHTS= OUT= COMPILER=
#autograder-prairielearn: ## teach: make a question of PrairieLearn of LAB=3; also IMAGE=
#autograder-classroom: ## teach: make a template repository of LAB=3 for GitHub Classroom
$(AUTOGRADERS:%=autograder-%): autograder-%: $(AUTOGRADER_PROGRAMS) $(JUDGES_LABS) \
        $$(call reference,$(LAB))
	$(Q)common/tools/labs/skeleton.sh $(LAB) $(call lab_source,$(LAB)) >build/autograder/lab$(LAB).cu
	$(Q)SKELETON=build/autograder/lab$(LAB).cu SEED='$(SEED)' HIDE='$(HIDE)' \
	    WEIGHTS='$(WEIGHTS)' IMAGE='$(IMAGE)' common/tools/labs/autograder/archive.sh $* $(LAB) \
	    $(COMPILER) '$(or $(OUT),autograders/$*-lab$(LAB)$(if $(filter gradescope,$*),.zip))'
