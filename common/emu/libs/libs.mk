# libs.mk — libraries that take the place of NVIDIA's cuBLAS and cuRAND in programs that `emu`
# starts. They are in a folder of their own, where no loader looks by itself (PRIVATE).

STAND_INS := $(addprefix $(PRIVATE)/lib/,libcublas.so.13 libcurand.so.10)
emu: $(STAND_INS)

# Options of nvcc for programs that use them.
STAND_IN_LINK = -I$(PRIVATE)/include -L$(PRIVATE)/lib

IN_STAND_IN = $(wildcard common/emu/libs/stand_in.c common/emu/libs/$(1)*.c)
STAND_IN_HEADERS := $(wildcard common/emu/libs/include/*.h)

# Results have the same bits on every CPU: no contraction to fma. Programs of others load them, with
# or without sanitizers: so they have none.
STAND_IN_FLAGS = $(filter-out $(SANITIZE),$(C_FLAGS)) $(CPPFLAGS) -Ibuild/stand-ins \
    -I$(PRIVATE)/include -isystem $(TOOLKIT)/include -g -O3 -ffp-contract=off -fno-math-errno \
    -fPIC -shared

$(PRIVATE)/include/cublas_names.h: common/emu/libs/library_names.sh $(STAND_IN_HEADERS)
	@mkdir -p $(@D)
	$(Q)cp $(STAND_IN_HEADERS) $(@D)/
	$(Q)$< header >$(NEW) $(PUT)
build/stand-ins/refused.inc: common/emu/libs/library_names.sh
	@mkdir -p $(@D)
	$(Q)$< refused >$(NEW) $(PUT)

# The links that the linker looks for have no version.
$(PRIVATE)/lib/libcublas.so.13: LIBRARY = cublas
$(PRIVATE)/lib/libcurand.so.10: LIBRARY = curand
$(STAND_INS): $(PRIVATE)/lib/lib%: $$(call IN_STAND_IN,$$(firstword $$(subst ., ,$$*))) \
        $$(wildcard $$(addprefix common/emu/,libs/*.h libs/*.inc libs/*.map emu.h ptx/half.h)) \
        $(PRIVATE)/include/cublas_names.h build/stand-ins/refused.inc | build/emu/libcudart.so.13
	$(call say,$(CC),$@)
	$(Q)$(CC) $(STAND_IN_FLAGS) \
	    -Wl,-soname,$(@F),-Bsymbolic,--version-script=common/emu/libs/$(LIBRARY).map \
	    $(filter %.c,$^) -o $(NEW) build/emu/libcudart.so.13 -lm $(PUT)
	$(Q)ln -s $(@F) $(NEW) && mv -fT $(NEW) $(@D)/lib$(LIBRARY).so
