# emu.mk — the emulator: a library in place of NVIDIA's runtime, and the command build/emu/emu.

.PHONY: emu emu-report

# Its operations (ops*.c) are compiled for any CPU and for one with AVX2; at run time it takes what
# the CPU can do. They round as PTX says: no contraction to fma, no assumption on the rounding mode.
ISAS     := base $(if $(filter x86_64,$(shell uname -m)),v3)
OPS      := $(wildcard common/emu/operations/ops*.c)
EMU      := $(call objects,$(filter-out $(OPS),$(wildcard common/emu/*/*.c common/files/*.c))) \
            $(foreach isa,$(ISAS),$(OPS:%.c=build/%.$(isa).o))

# Every symbol must be there at the link; sanitized objects get some from the program.
NO_UNDEFINED = $(if $(SANITIZE),,-Wl$(comma)-z$(comma)defs)
comma       := ,

build/common/emu/% build/common/files/%: C_FLAGS += -fPIC -ffp-contract=off
build/common/emu/operations/ops%: C_FLAGS += -frounding-math
build/common/emu/operations/ops%: CFLAGS += -O3
# So that the function which the program called stays on the stack (cudart_place.c).
build/common/emu/runtime/cudart_%: C_FLAGS += -fno-optimize-sibling-calls

build/%.base.o: %.c
	$(call say,$(CC),"$< for any CPU")
	$(Q)$(COMPILE) -DEMU_ISA=base $(PUT_OBJECT)

build/%.v3.o: %.c
	$(call say,$(CC),"$< for AVX2")
	$(Q)$(COMPILE) -DEMU_ISA=v3 -march=x86-64-v3 $(PUT_OBJECT)

emu: $(addprefix build/emu/,libcudart.so.13 libcudart_static.a emu) ## build the emulator, build/emu

# A program that runs meanwhile keeps the library it has.
build/emu/libcudart.so.13: $(EMU) common/emu/cudart.map
	$(call say,link,$@)
	$(Q)$(CC) -shared -Wl,-soname,libcudart.so.13,-Bsymbolic $(NO_UNDEFINED) $(LDFLAGS) \
	    -Wl,--version-script=common/emu/cudart.map $(EMU) -o $(NEW) -lzstd -lm -ldl -pthread $(PUT)
	$(Q)ln -s $(@F) $(NEW) && mv -fT $(NEW) build/emu/libcudart.so

# One object with zstd inside, and outside only the names of the runtime and of emu.h.
build/emu/libcudart_static.a: $(EMU)
	$(call say,ar,$@)
	$(Q)ld -r $(EMU) $(shell $(CC) -print-file-name=libzstd.a) -o $(NEW).o
	$(Q)objcopy --wildcard --rename-section '.text=emu_text' --keep-global-symbol='cuda[A-Z]*' \
	    --keep-global-symbol='__cuda*' --keep-global-symbol='emu_*' $(NEW).o
	$(Q)ar rcs $(NEW) $(NEW).o $(PUT) && rm $(NEW).o

# The command runs no kernel: of all objects it takes those that it calls.
build/emu/emu: $(call objects,$(wildcard common/emu/*.c common/command/*.c)) $(EMU)
	$(call say,link,$@)
	$(Q)ar rcs $(NEW).a $(EMU)
	$(Q)$(CXX) $(SANITIZE) $(LDFLAGS) $(filter-out $(EMU),$^) $(NEW).a -lzstd -lm -ldl -pthread \
	    -o $(NEW) $(PUT) && rm $(NEW).a

emu-report: emu ## say how exact the counters of PROGRAM=./step4 are, kernel by kernel
	$(Q)$(if $(PROGRAM),,echo 'Which program? make emu-report PROGRAM=./step4' >&2; exit 2;) \
	    build/emu/emu --report $(PROGRAM)
