/* native.c — answers a request on stdin as the page's worker does: what WebAssembly is compared
 * with. */
#include "face.h"
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    enum { PIECE = 1 << 16 };
    char *text = NULL;
    size_t used = 0, got;
    do {
        char *grown = realloc(text, used + PIECE + 1);
        if (!grown) return EXIT_FAILURE;
        text = grown;
        got = fread(text + used, 1, PIECE, stdin);
        used += got;
    } while (got);
    text[used] = 0;
    char *answer = face_run(text);
    free(text);
    if (!answer || fputs(answer, stdout) == EOF) return EXIT_FAILURE;
    free(answer);
    return EXIT_SUCCESS;
}
