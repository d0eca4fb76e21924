#define _POSIX_C_SOURCE 200809L /* strnlen */
#include "driver_jit.h"

#include <string.h>

/* The size of a buffer is passed in the pointer itself; after loading, the pointer says how many
 * bytes were used. */
bool jit_read(struct jit_log *log, unsigned count, const CUjit_option *options, void **values)
{
    *log = (struct jit_log){0};
    if (count > 0 && (options == NULL || values == NULL)) return false;
    for (unsigned i = 0; i < count; i++) {
        switch (options[i]) {
        case CU_JIT_ERROR_LOG_BUFFER: log->text = values[i]; break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            log->size = (size_t)(uintptr_t)values[i];
            log->used = &values[i];
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: log->info_used = &values[i]; break;
        case CU_JIT_MAX_REGISTERS: log->registers = (unsigned)(uintptr_t)values[i]; break;
        default: break;
        }
    }
    return true;
}

void jit_write(const struct jit_log *log, const char *message)
{
    bool has_buffer = log->text != NULL && log->size > 0;
    size_t length = has_buffer ? strnlen(message, log->size - 1) : 0;
    if (has_buffer) {
        memcpy(log->text, message, length);
        log->text[length] = '\0';
    } else {
        cudart_print(message);
    }
    if (log->used != NULL) *log->used = (void *)(uintptr_t)(length > 0 ? length + 1 : 0);
    if (log->info_used != NULL) *log->info_used = NULL;
}
