# steps.mk — builds what belongs to single steps besides the programs ./stepN.

.PHONY: experiments example run17

#diffN: ## learn: print what step N changes in the step that it continues
diff%:
	$(Q)common/build/diff_step.sh $*
#aloneN: ## learn: write build/alone/stepN.cu, step N and a main in one file; N is 0 to 12
alone%:
	$(Q)mkdir -p build/alone && file=build/alone/step$*.$(if $(filter 1,$*),c,cu) && \
	    common/build/alone.py $* >$$file.new && mv $$file.new $$file && \
	    echo "$$file is written; its first line says how to compile and run it"

#step5-BN: ## measure: build step 5 with blocks of N elements; step7-RN: step 7 with N registers
build/B%/driver.o: steps/05-arbitrary-size/driver.c
	$(call compile, with B = $*,-DB=$*)
build/B%/scan.o: steps/05-arbitrary-size/scan.cu
	$(call compile, with B = $*,-DB=$*)
build/B%/variants.o: steps/05-arbitrary-size/variants.cu
	$(call compile, with B = $*,-DB=$*)
build/R%/scan.o: steps/07-unrolled/scan.cu
	$(call compile, with at most $* registers,-maxrregcount=$*)
# Otherwise make would delete them at the end, and its last line would be this `rm`.
.PRECIOUS: build/B%/driver.o build/B%/scan.o build/B%/variants.o build/R%/scan.o
step5-B%: build/main/step05.o build/B%/driver.o build/B%/scan.o build/B%/variants.o \
        $(call objects,$(COMMON)) | emu
	$(link)
step7-R%: build/main/step07.o build/steps/07-unrolled/driver.o build/R%/scan.o \
        $(call objects,$(COMMON)) | emu
	$(link)

# Step 17: its sources are compiled with the flags of MPI and, if it is there, NCCL. The tests are
# linked with those that need neither.
FOLDER17 := $(filter steps/17-%,$(FOLDERS))
RANKS17   = common/tools/library/ranks
NO_MPI17  = $(addprefix $(FOLDER17)/,part.cu judge.c) $(RANKS17)/peer.cu
NCCL     := $(shell NCCL_HOME='$(NCCL_HOME)' CUDA='$(CUDA)' common/build/nccl.sh)
HEADERS17 = $(patsubst -I%,-isystem %,$(filter -I% -D%,$(MPI) $(NCCL)))
LIBRARIES17 = $(filter-out -I% -D%,$(MPI) $(NCCL))
build/$(FOLDER17)/%.o build/$(RANKS17)/%.o: CPPFLAGS += $(HEADERS17)
SOURCES17 = $(filter-out $(if $(NCCL),,%/exchange_nccl.c),$(call sources,$(FOLDER17) $(RANKS17)))
# Its experiment is a program of several processes, too.
RATES17   = build/experiments/17-rates
$(RATES17): $(call objects,$(SOURCES17) steps/12-pipeline/scan.cu)
step17 $(RATES17): LIBRARIES = $(LIBRARIES17)
step17: $(if $(MPI),build/main/step17.o $(call objects,$(SOURCES17) $(COMMON)) | emu)
	$(if $(MPI),$(link),@echo 'step17 needs Open MPI; `make setup-mpi` installs it.' >&2; exit 1)

run17: step17 ## use: run step 17 in P=4 processes on this machine; ARGS="--n 1Mi" are its options
	@common/build/run17.sh $(or $(P),4) $(ARGS)

# Step 16 is the command of the library's engine, whose scan.cu is compiled once for each of these
# parts, so that nvcc processes share the work. For `make test` some are left out.
FOLDER16  = common/tools/library/scan
PARTS16   = $(patsubst %,$(FOLDER16)/scan-%.cu,MAX_REALS SUM_INTEGERS OTHERS $(if $(SMALL),,\
            SUM_REALS MAX_INTEGERS MIN PRODUCT XOR LOGSUMEXP AFFINE ARGMAX ARGMIN))
$(AT)step16: $(call objects,$(call sources,$(FOLDER16)))
$(AT)step16 $(call in_test,side-by-side): $(if $(SMALL),build/tests/support/small/left_out.o)
build/kernels16: $(call objects,$(PARTS16) $(FOLDER16)/partners.cu)
	@:

# Each experiment is a small program: steps/00-copy/experiments/NAME.cu becomes
# build/experiments/00-NAME.
EXPERIMENT_CU := $(filter-out $(if $(MPI),,steps/17-%),$(wildcard steps/*/experiments/*.cu))
experiment_of = build/experiments/$(firstword $(subst -, ,$(patsubst steps/%,%,$1)))-$\
                $(basename $(notdir $1))
EXPERIMENTS := $(foreach f,$(EXPERIMENT_CU),$(call experiment_of,$f))
$(foreach f,$(EXPERIMENT_CU),$(eval $(call experiment_of,$f): $(call objects,$f)))
$(EXPERIMENTS): $(call objects,$(COMMON)) | emu
	$(link)

experiments: $(EXPERIMENTS) ## measure: build all experiments, build/experiments/NN-NAME
#experiment-NN-NAME: ## learn: build and run one, such as make experiment-06-clocks
experiment-%: build/experiments/%
	$(Q)$<

# What ./bench runs for a step calls the step's kernels and the libraries that the step calls.
timed_by = build/experiments/$1-$(call cell,$(call row_of,$1),9)
$(foreach step,$(call steps_with,2,application),$(eval $(call timed_by,$(step)): $(call objects,\
    $(wildcard steps/$(step)-*/*.cu) $(foreach other,$(call cell,$(call row_of,$(step)),7),\
    $(call library_of,$(other))))))
build/experiments/05-transfers: $(call objects,steps/05-arbitrary-size/variants.cu)
build/experiments/14-against-npp: LIBRARIES = -ldl
build/experiments/14-against-npp: $(call objects,steps/14-summed-area-table/judge.c)
build/experiments/16-rates: $(call objects,$(PARTS16) $(call library_of,12))
build/experiments/16-call-cost: $(call objects,$(PARTS16) \
        $(foreach step,12 13 14 15,$(call library_of,$(step))))

# The examples for the headers of steps 12 to 16 need no other part of this project.
EXAMPLES  = build/example $(addprefix build/example,13 14 15 16 16-backward 16-json)
example: $(EXAMPLES) ## use: build the examples of libraries: build/example, build/example13 to 16
	@:

example_of = $(call objects,common/tools/library/examples/$(1).c $(2))
EXAMPLE16 = $(addprefix $(FOLDER16)/scan-,AFFINE.cu OTHERS.cu)
build/example: $(call example_of,scan,steps/12-pipeline/scan.cu)
build/example13: $(call example_of,compact,steps/13-compaction/fast.cu)
build/example14: $(call example_of,sat,$(addprefix steps/14-summed-area-table/,fast.cu filter.cu))
build/example15: $(call example_of,sort,steps/15-radix-sort/sort.cu)
build/example16: $(call example_of,operators,$(EXAMPLE16))
build/example16-backward: $(call example_of,backward,$(EXAMPLE16))
build/example16-json: $(call example_of,json,$(FOLDER16)/scan-OTHERS.cu)
$(EXAMPLES):
	$(link)
