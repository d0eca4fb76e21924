/* no_png.c — takes the place of png.c where libpng is not installed: PNG files are refused. */
#include "picture.h"

#include <errno.h>

bool png_is_supported(void) { return false; }

int png_read(struct picture *p, FILE *file, const char *name, struct fault *fault)
{
    (void)p, (void)file;
    return fail(fault, EXIT_USAGE,
                "%s is a PNG, and this program was built without libpng; install libpng-dev and "
                "build again, or use a PGM or PPM.",
                name);
}

int png_write(const struct picture *p, FILE *file)
{
    (void)p, (void)file;
    return ENOTSUP;
}
