# page.mk — builds the book as one page, build/page/upsweep.html: the chapters, and the emulator
# compiled to WebAssembly. Needs emscripten and pandoc (make setup-page).

.PHONY: page

PAGE     := common/tools/page
FACE     := $(addprefix $(PAGE)/face/,face.c judge.c request.c)

# What judges labs, without its programs.
JUDGES   := $(filter-out $(LAB_MAINS) %/run_lab.c %/compile.c,$(LAB_SOURCES)) \
            $(wildcard common/harness/verify/*.c) \
            $(addprefix common/,files/fault.c files/allocated.c step/element.c)

# The emulator without what only the runtime library and the command need: containers of kernels,
# programs, and reports in other forms than JSON; and without threads, tensor cores, tensor maps,
# launches in kernels and --tool order, which the page does not use: face/absent.c stands in their
# place. And the compiler without its command.
WASM_ROOMS = $(addprefix common/tools/emu/,ptx machine ops watch) $(CC_ROOMS)
NOT_WASM  = %/fatbin.c %/program_elf.c %/device_runtime.c %/device_runtime_memory.c \
            %/matrix_product.c %/matrix_move.c %/decode_matrix.c %/tensor.c %children.c \
            %/needed.c
WASM_C   := $(filter-out $(NOT_WASM),$(wildcard $(WASM_ROOMS:%=%/*.c))) $(FACE) $(JUDGES) \
            $(PAGE)/face/absent.c common/files/visible.c common/files/json.c \
            $(addprefix common/tools/emu/report/,document.c json_document.c)
WASM     := $(WASM_C:%.c=build/page/wasm/%.o)

# As in emu.mk. WebAssembly has one instruction set. The page's memory grows. Debian's
# emscripten uses Debian's packages of JavaScript, which other builds of node do not find.
EMCC      = emcc -std=c11 -Wall -Wextra -Werror -O2 -ffp-contract=off -fno-math-errno \
            -DEMU_ISA=base -DEMU_HAS_base -I. -isystem $(TOOLKIT)/include
EMCC_LINK = NODE_PATH=/usr/share/nodejs emcc -O2 -sMODULARIZE=1 -sEXPORT_NAME=Emulator \
            -sALLOW_MEMORY_GROWTH=1 -sENVIRONMENT=web,worker,node \
            -sEXPORTED_FUNCTIONS=_face_run,_malloc,_free \
            -sEXPORTED_RUNTIME_METHODS=UTF8ToString,stringToUTF8,lengthBytesUTF8

# Small rather than fast: the emulator takes the time, and little of it with these operations, and
# before and after a launch.
SELDOM    = $(addprefix common/tools/emu/,ops/ops_convert.c ops/ops_texture.c machine/device.c \
            machine/module.c machine/launch.c ptx/decode_%.c watch/race_report.c watch/metrics.c \
            watch/fidelity.c watch/code_uses.c watch/finding_text.c) common/tools/cc/%.c $(JUDGES)
$(patsubst %.c,build/page/wasm/%.o,$(filter $(SELDOM),$(WASM_C))): EMCC += -Os
build/page/wasm/%.o: %.c
	$(call say,emcc,$<)
	$(Q)$(EMCC) $(DEPEND) -c $< -o $(NEW) $(PUT_OBJECT)

# The linker also writes emulator.wasm, which has the same name in front.
build/page/emulator.js: $(WASM) $(PAGE)/page.mk
	$(call say,emcc,$@)
	$(Q)mkdir $(NEW) && $(EMCC_LINK) $(WASM) -o $(NEW)/emulator.js && mv -f $(NEW)/* $(@D) && \
	    rmdir $(NEW)

# What the tests compare it with.
build/page/native: $(call objects,$(FACE) $(PAGE)/face/native.c $(JUDGES) \
        common/harness/print/progress.c) $(UPCC) build/emu/all.a
	$(link_with_emulator)

# ---- the page ------------------------------------------------------------------------------------

# The PTX of a step's kernels. Other steps' kernels use no shared memory, or are too large.
PAGE_CU  := $(foreach step,$(call steps_with,4,yes),$(wildcard $(call folder,$(step))/scan.cu)) \
            $(wildcard steps/04-*/variants.cu steps/05-*/variants.cu)
PAGE_PTX := $(PAGE_CU:steps/%.cu=build/page/ptx/%.ptx)

# Step 5's other block scans are launched with a kernel of scan.cu: they become one PTX text.
build/page/ptx/05-%/variants.ptx: WITH = -include steps/$(dir $*)scan.cu

build/page/ptx/%.ptx: steps/%.cu
	$(call by_nvcc,-O3 -lineinfo -ptx -arch=compute_90 $(WITH))

page: build/page/upsweep.html ## learn: build the book as one page, build/page/upsweep.html
	@echo "Open $(CURDIR)/$< in a browser, by a double click or as file://$(CURDIR)/$<"

PAGE_IN  := $(wildcard $(addprefix $(PAGE)/*.,js py html css) \
            $(addprefix notes/,*.md answers/*.md more/*.md figures/*) \
            $(addprefix common/tools/labs/,exercises/* *.txt skeleton.sh) \
            steps/first-kernel/*.cu common/build/alone* profiles/h200/counters.csv \
            profiles/counters_differences.csv profiles/measure/cases.py)
build/page/upsweep.html: build/page/emulator.js $(PAGE_PTX) $(PAGE_IN)
	$(call say,page,$@)
	$(Q)python3 -B $(PAGE)/build_page.py build/page/ptx build/page/emulator.js $(NEW) $(PUT)

# What the tests of the page need, where `make setup-page-tests` has been run.
PAGE_TESTS := $(shell command -v emcc >/dev/null && command -v pandoc >/dev/null && \
              echo build/page/upsweep.html build/page/native)
