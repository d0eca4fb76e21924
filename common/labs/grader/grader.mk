# grader.mk — what `make grade` is built from: the sandbox, the grader and its reports.

GRADER_MAINS = %/confine.c %/grade_labs.c
GRADER   := $(filter-out $(GRADER_MAINS),$(wildcard common/labs/grader/*.c))

# It runs in the sandbox, where no sanitizer could reserve its addresses.
build/labs/confine: common/labs/grader/confine.c common/labs/grader/sandbox.h
	$(call say,$(CC),$@)
	$(Q)$(CC) $(filter-out $(SANITIZE),$(C_FLAGS)) $(CPPFLAGS) $(CFLAGS) $< -o $(NEW) $(PUT)
