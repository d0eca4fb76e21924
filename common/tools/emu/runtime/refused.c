/* refused.c — what is said of a feature that is not supported. (driver_refused.c has the functions
 * that are not.) */
#include "cudart.h"

/* Where the program is, as " (called by main in my.cu:3)", or by a file in which it has no name;
 * empty if that is not known. */
static void describe_caller(char *text, size_t size)
{
    struct emu_host_place place;
    char where[512];
    text[0] = '\0';
    cudart_place(&place);
    cudart_describe_place(&place, where, sizeof where);
    where[strcspn(where, "\n")] = '\0';
    char *file = strstr(where, "] in "), *end = strstr(where, " [0x"); /* the address */
    if (file == NULL) return;
    if (end != NULL) *end = '\0';
    snprintf(text, size, " (called by %s)", end != NULL ? where : file + strlen("] in "));
}

/* Has this been said before? If not, notes it. */
static bool is_told(const char *feature)
{
    enum { MOST = 64 };
    static char told[MOST][80];
    static size_t count;
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    bool found = false;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < count && !found; i++)
        found = strncmp(told[i], feature, sizeof told[i] - 1) == 0;
    if (!found && count < MOST) snprintf(told[count++], sizeof told[0], "%s", feature);
    pthread_mutex_unlock(&mutex);
    return found;
}

cudaError_t cudart_not_supported(const char *feature, const char *why)
{
    char caller[600];
    if (is_told(feature)) return cudaErrorNotSupported;
    describe_caller(caller, sizeof caller);
    cudart_printf("%s is not supported%s: %s", feature, caller, why);
    return cudaErrorNotSupported;
}
