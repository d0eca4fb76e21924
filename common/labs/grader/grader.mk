# grader.mk — what `make grade` is built from: the sandbox, the grader and its reports.

GRADER_MAINS = %/confine.c %/grade_labs.c %/check_lab.c %/no_platform.c
GRADER   := $(filter-out $(GRADER_MAINS),$(wildcard common/labs/grader/*.c)) common/labs/run_entry.c

# It runs in the sandbox, where no sanitizer could reserve its addresses.
build/labs/confine build/autograder/labs/confine: $(addprefix common/labs/grader/, \
        confine.c sandbox.h)
	$(call say,$(CC),$@)
	$(Q)$(CC) $(filter-out $(SANITIZE),$(C_FLAGS)) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) \
	    $(filter %.c,$^) -o $(NEW) $(PUT)

# The scorer and the results' reader come from the labs. Both run no submission themselves. To
# check one's own lab, no grader is compiled: only an archive's check-lab has --format.
build/labs/grade-labs: $(call objects,common/labs/grader/grade_labs.c $(GRADER))
build/labs/check-lab: $(addprefix build/common/labs/grader/,check_lab.o no_platform.o)
build/autograder/labs/check-lab: $(call objects,common/labs/grader/check_lab.c $(GRADER))
build/labs/grade-labs build/labs/check-lab build/autograder/labs/check-lab: \
        $(LAB_COMMON) $(call objects,$(addprefix common/, \
        files/files.c emu/ptx/ptx_types.c))
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ -lm -pthread -o $(NEW) $(PUT)

GRADING   = build/labs/grade-labs build/labs/confine $(if $(filter own,$(COMPILER)), \
            build/labs/run-lab $(LAB_TEXTS) $(call reference,$(N)),labs)

#grade: ## teach: judge a class: DIR=submissions N=3 (or page), and OUT= SEED= ARGS=...
.PHONY: grade
# The labs of the page need no sandbox: what is handed in are answers, and our kernels run.
ifeq ($(N),page)
grade: build/page/native $$(PAGE_PTX)
	$(Q)command -v node >/dev/null || { echo 'make setup-page installs node' >&2; exit 2; }
	$(Q)node common/labs/grader/grade_links.js '$(DIR)' --out '$(or $(OUT),grades/page)' $(ARGS)
else
grade: $(if $(and $(DIR),$(N)),$(GRADING))
	$(Q)$(if $(and $(DIR),$(N)),,echo 'Which? make grade DIR=submissions N=3' >&2; exit 2;) \
	    build/labs/grade-labs $(N) '$(DIR)' $(JUDGE) $(if $(OUT),--out '$(OUT)') \
	    $(if $(SEED),--seed $(SEED)) $(ARGS)
endif

.PHONY: test-class
test-class: $(GRADING) ## teach: grade a class of cheats and honest submissions, twice
	$(Q)tests/labs/class.sh

# ---- autograders ---------------------------------------------------------------------------------

# Linked statically, the programs of an archive run in any container of this processor.
build/autograder/%: LDFLAGS += -static -s
AUTOGRADER_PROGRAMS = $(addprefix build/autograder/,labs/check-lab labs/run-lab labs/confine \
            cc/upcc)

# Our own compiler, where it compiles the lab: then a container needs nothing but a shell.
AUTOGRADERS = gradescope prairielearn classroom
.PHONY: $(AUTOGRADERS:%=autograder-%)
ifneq ($(filter autograder-%,$(MAKECMDGOALS)),)
ifeq ($(and $(LAB),$(filter $(LAB),$(LABS))),)
    $(error Which lab? make $(firstword $(MAKECMDGOALS)) LAB=3; there are labs $(LABS))
endif
ifeq ($(origin COMPILER),file)
    COMPILER = $(if $(filter $(LAB),$(OWN_LABS)),own,nvcc)
endif
endif
#autograder-gradescope: ## teach: pack LAB=3 for Gradescope; SEED= HIDE= WEIGHTS= OUT= COMPILER=
#autograder-prairielearn: ## teach: make a question of PrairieLearn of LAB=3; also IMAGE=
#autograder-classroom: ## teach: make a template repository of LAB=3 for GitHub Classroom
$(AUTOGRADERS:%=autograder-%): autograder-%: $(AUTOGRADER_PROGRAMS) $(LAB_PROGRAMS) $(LAB_TEXTS) \
        $$(call reference,$(LAB))
	$(Q)common/labs/skeleton.sh $(LAB) $(call lab_source,$(LAB)) >build/autograder/lab$(LAB).cu
	$(Q)SKELETON=build/autograder/lab$(LAB).cu SEED='$(SEED)' HIDE='$(HIDE)' \
	    WEIGHTS='$(WEIGHTS)' IMAGE='$(IMAGE)' common/labs/autograder/archive.sh $* $(LAB) \
	    $(COMPILER) '$(or $(OUT),autograders/$*-lab$(LAB)$(if $(filter gradescope,$*),.zip))'
