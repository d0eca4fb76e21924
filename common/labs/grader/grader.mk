# grader.mk — what `make grade` is built from: the sandbox, the grader and its reports.

GRADER_MAINS = %/confine.c %/confine_calls.c %/grade_labs.c
GRADER   := $(filter-out $(GRADER_MAINS),$(wildcard common/labs/grader/*.c)) common/labs/run_entry.c

# It runs in the sandbox, where no sanitizer could reserve its addresses.
build/labs/confine: $(addprefix common/labs/grader/,confine.c confine_calls.c confine_calls.h \
        sandbox.h)
	$(call say,$(CC),$@)
	$(Q)$(CC) $(filter-out $(SANITIZE),$(C_FLAGS)) $(CPPFLAGS) $(CFLAGS) $(filter %.c,$^) \
	    -o $(NEW) $(PUT)

# The scorer and the results' reader come from the labs. It runs no submission itself.
build/labs/grade-labs: build/common/labs/grader/grade_labs.o $(call objects,$(GRADER)) \
        $(LAB_COMMON) \
        $(call objects,$(addprefix common/,files/whole_file.c files/replacement.c \
        files/cleanup.c emu/ptx/kernel_name.c))
	$(call say,link,$@)
	$(Q)$(CC) $(SANITIZE) $(LDFLAGS) $^ -lm -pthread -o $(NEW) $(PUT)

GRADING   = build/labs/grade-labs build/labs/confine labs

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
	    build/labs/grade-labs $(N) '$(DIR)' --nvcc '$(CUDA)/bin/nvcc' $(if $(OUT),--out '$(OUT)') \
	    $(if $(SEED),--seed $(SEED)) $(ARGS)
endif

.PHONY: test-class
test-class: $(GRADING) ## teach: grade a class of cheats and honest submissions, twice
	$(Q)tests/labs/class.sh
