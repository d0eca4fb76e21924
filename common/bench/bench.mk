# bench.mk — CUB as a program like a step, ./cub, and all contenders in one program, ./bench.

# What steps are compared with is built like one: ./cub. It takes a while to compile, for each type
# of elements: the names of its function, of the elements' type and of the sums'.
CUB_TYPES = cub_f32:float:float cub_f64:double:double cub_i32:int32_t:int32_t \
            cub_i64:int64_t:int64_t cub_i16:int16_t:int32_t cub_i8:int8_t:int32_t
CUB      := build/common/bench/baseline/driver.o \
            $(foreach type,$(CUB_TYPES),build/cub/$(firstword $(subst :, ,$(type))).o)
build/cub/%.o: type = $(subst :, ,$(filter $*:%,$(CUB_TYPES)))
build/cub/%.o: common/bench/baseline/cub.cu
	$(call say,nvcc,"$< for $*")
	$(Q)$(NVCOMPILE) -DCUB_NAME=$* -DCUB_IN=$(word 2,$(type)) -DCUB_OUT=$(word 3,$(type)) $(PUT_OBJECT)

cub: build/main/cub.o $(CUB) $(call objects,$(COMMON)) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# All steps, CUB and the roof in one program: ./bench. Each is found by whether it is linked in.
SIDE_BY_SIDE = $(call objects,$(call sources,common/bench $(FOLDERS)) $(COMMON))
bench: $(SIDE_BY_SIDE) $(CUB) | emu ## build ./bench, which times steps, CUB and copies side by side
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)

# The same without CUB, which takes long to compile, for the tests.
build/tests/side-by-side: $(SIDE_BY_SIDE) | emu
	$(call say,link,$@)
	$(Q)$(LINK) $(CUDART) -lm -pthread $(PUT)
