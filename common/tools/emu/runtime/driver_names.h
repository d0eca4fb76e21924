/* driver_names.h — the functions of the driver API by name, as the toolkit's headers declare them.
 * */
#ifndef EMU_DRIVER_NAMES_H
#define EMU_DRIVER_NAMES_H

#include <stddef.h>

struct driver_name {
    const char *name, *base; /* base: as programs write it, without _v2 and _ptsz */
    int version;             /* of CUDA, since which the function has this form: 12000 for 12.0 */
    void (*function)(void);
};
extern const struct driver_name driver_names[]; /* by name */
extern const size_t driver_name_count;

#endif
