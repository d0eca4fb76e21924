# bench.mk — builds ./cub, which is CUB as a program like a step, and ./bench, which has all
# contenders.

# ./cub is built like a step. It takes long to compile, once for each type of elements. The words
# are the names of the function, of the elements' type and of the type of the sums.
CUB_TYPES = cub_f32:float:float cub_f64:double:double cub_i32:int32_t:int32_t \
            cub_i64:int64_t:int64_t cub_i16:int16_t:int32_t cub_i8:int8_t:int32_t
CUB      := build/common/bench/baseline/driver.o \
            $(foreach type,$(CUB_TYPES),build/cub/$(firstword $(subst :, ,$(type))).o)
build/cub/%.o: type = $(subst :, ,$(filter $*:%,$(CUB_TYPES)))
build/cub/%.o: common/bench/baseline/cub.cu
	$(call compile, for $*,-DCUB_NAME=$* -DCUB_IN=$(word 2,$(type)) -DCUB_OUT=$(word 3,$(type)))

cub: build/main/cub.o $(CUB) $(call objects,$(COMMON))
# ./bench has all steps, CUB and the roof. It finds out at run time which of them are linked in.
SIDE_BY_SIDE = $(call objects,$(call sources,common/bench $(ONE_PROCESS)) $(COMMON))
# Steps that apply scan are timed by experiments, which ./bench runs.
bench: | $(foreach step,$(call steps_with,2,application),$(call timed_by,$(step)))
bench: $(SIDE_BY_SIDE) $(CUB) ## measure: build ./bench: steps, CUB and copies side by side

# For the tests, the same without CUB, which takes long to compile.
$(call in_test,side-by-side): $(SIDE_BY_SIDE)
cub bench $(call in_test,side-by-side): | emu
	$(link)
