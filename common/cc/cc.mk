# cc.mk — the compiler of a subset of CUDA C.

CC_ROOMS  = common/cc $(addprefix common/cc/,source syntax ir ptx)
UPCC     := $(call objects,$(wildcard $(addsuffix /*.c,$(CC_ROOMS))))
.PHONY: cc

cc: build/cc/upcc ## learn: build upcc, which compiles a subset of CUDA C without nvcc
	@:

build/cc/upcc build/autograder/cc/upcc: $(UPCC) $(call objects,$(wildcard \
        common/cc/command/*.c) $(addprefix common/,command/fault.c command/option_table.c \
        $(addprefix files/,files.c visible.c wrapped.c)))
	$(call made,link,$(LINK_C))
