/* fatbin.c — fuzzes the reader of fat binaries: the bytes are a container. */
#include "fuzz.h"

#include "common/tools/emu/ptx/binary.h"

#include <stdlib.h>

int fuzz_fatbin(const uint8_t *data, size_t size)
{
    struct fatbin_ptx ptx;
    char message[300];
    if (fatbin_extract(data, size, 90, &ptx, message, sizeof message) == 0) free(ptx.text);
    struct fatbin_code code;
    if (fatbin_machine_code(data, size, 90, &code)) free(code.allocated);
    return 0;
}
