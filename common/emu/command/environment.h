/* environment.h — the environment in which programs run on the emulator. */
#ifndef EMU_ENVIRONMENT_H
#define EMU_ENVIRONMENT_H

/* Puts the emulator's runtime in the place of NVIDIA's, for this process's program and for all that
 * are started by it. Ends the process if the emulator is not built. */
void emu_environment(void);

#endif
