# bench.mk — builds ./cub, which is CUB as a program like a step, and ./bench, which has all
# contenders.

# CCCL=DIR: take CUB from DIR, not from the toolkit. DIR is a checkout of CCCL, an unpacked wheel of
# nvidia-cuda-cccl, another toolkit, or the folder in one of them that has cub/version.cuh.
CUB_IN   := $(abspath $(patsubst %/cub/version.cuh,%,$(firstword $(wildcard $(if $(CCCL), \
            $(patsubst %,$(CCCL)/%/cub/version.cuh,. cub include/cccl nvidia/*/include/cccl))))))
$(if $(CCCL),$(if $(CUB_IN),,$(error CCCL=$(CCCL) has no cub/version.cuh; give a checkout of CCCL, \
    or the folder of an unpacked wheel nvidia-cuda-cccl)))
# A checkout has CUB's neighbours in folders of their own.
CUB_PATHS = $(CUB_IN) $(wildcard $(patsubst %/cub,%/thrust,$(filter %/cub,$(CUB_IN))) \
            $(patsubst %/cub,%/libcudacxx/include,$(filter %/cub,$(CUB_IN))))
# This file says where CUB was. It is written when that changes, and then what includes CUB is
# compiled again, so that no program has objects of two CUBs.
CUB_FROM  = build/cub/from
cub_from  = $(if $(filter-out $(file <$(CUB_FROM)),$(or $(CUB_IN),toolkit)),$(shell \
            mkdir -p build/cub)$(file >$(CUB_FROM),$(or $(CUB_IN),toolkit)))$(CUB_FROM)
USES_CUB := $(call objects,$(wildcard $(foreach step,$(call steps_with,2,application), \
            steps/$(step)-*/experiments/$(call cell,$(call row_of,$(step)),9).cu)))
$(USES_CUB): $$(cub_from)
build/cub/%.o $(USES_CUB): CPPFLAGS += $(CUB_PATHS:%=-I%)

# ./cub is built like a step. It takes long to compile, once for each type of elements. The words
# are the names of the function, of the elements' type and of the type of the sums.
CUB_TYPES = cub_f32:float:float cub_f64:double:double cub_i32:int32_t:int32_t \
            cub_i64:int64_t:int64_t cub_i16:int16_t:int32_t cub_i8:int8_t:int32_t
CUB      := build/common/bench/baseline/driver.o \
            $(foreach type,$(CUB_TYPES),build/cub/$(firstword $(subst :, ,$(type))).o)
build/cub/%.o: type = $(subst :, ,$(filter $*:%,$(CUB_TYPES)))
build/cub/%.o: common/bench/baseline/cub.cu $$(cub_from)
	$(call compile, for $*,-DCUB_NAME=$* -DCUB_IN=$(word 2,$(type)) -DCUB_OUT=$(word 3,$(type)))

cub: build/main/cub.o $(CUB) $(call objects,$(COMMON))
# ./bench has all steps, CUB and the roof. It finds out at run time which of them are linked in.
SIDE_BY_SIDE = $(call objects,$(call sources,common/bench $(ONE_PROCESS)) $(COMMON))
# Steps that apply scan are timed by experiments, which ./bench runs.
bench: | $(foreach step,$(call steps_with,2,application),$(call timed_by,$(step)))
bench: $(SIDE_BY_SIDE) $(CUB) ## measure: build ./bench: steps, CUB (CCCL=DIR), copies side by side

# For the tests, the same without CUB, which takes long to compile.
$(call in_test,side-by-side): $(SIDE_BY_SIDE)
cub bench $(call in_test,side-by-side): | emu
	$(link)
