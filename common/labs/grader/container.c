/* container.c — finds what nvcc needs in the sandbox. */
#define _GNU_SOURCE
#include "sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Headers that a lab may include: those of the language and of the runtime. CUB, Thrust and
 * cooperative_groups/scan.h would do the lab's work; libraries for the host are of no use. */
static const char *const headers[] = {
    "builtin_types.h",
    "channel_descriptor.h",
    "common_functions.h",
    "cooperative_groups.h",
    "cooperative_groups/memcpy_async.h",
    "cooperative_groups/details/async.h",
    "cooperative_groups/details/driver_abi.h",
    "cooperative_groups/details/functional.h",
    "cooperative_groups/details/helpers.h",
    "cooperative_groups/details/info.h",
    "cooperative_groups/details/invoke.h",
    "cooperative_groups/details/memory.h",
    "cooperative_groups/details/partitioning.h",
    "cooperative_groups/details/sync.h",
    "crt",
    "cuComplex.h",
    "cuda.h",
    "cuda_awbarrier.h",
    "cuda_awbarrier_helpers.h",
    "cuda_awbarrier_primitives.h",
    "cuda_bf16.h",
    "cuda_bf16.hpp",
    "cuda_device_runtime_api.h",
    "cuda_fp16.h",
    "cuda_fp16.hpp",
    "cuda_pipeline.h",
    "cuda_pipeline_helpers.h",
    "cuda_pipeline_primitives.h",
    "cuda_runtime.h",
    "cuda_runtime_api.h",
    "cuda_stdint.h",
    "device_atomic_functions.h",
    "device_atomic_functions.hpp",
    "device_double_functions.h",
    "device_functions.h",
    "device_launch_parameters.h",
    "device_types.h",
    "driver_functions.h",
    "driver_types.h",
    "host_config.h",
    "host_defines.h",
    "library_types.h",
    "math_constants.h",
    "math_functions.h",
    "mma.h",
    "nv",
    "cccl/cuda",
    "cccl/nv",
    "sm_20_atomic_functions.h",
    "sm_20_atomic_functions.hpp",
    "sm_20_intrinsics.h",
    "sm_20_intrinsics.hpp",
    "sm_30_intrinsics.h",
    "sm_30_intrinsics.hpp",
    "sm_32_atomic_functions.h",
    "sm_32_atomic_functions.hpp",
    "sm_32_intrinsics.h",
    "sm_32_intrinsics.hpp",
    "sm_35_atomic_functions.h",
    "sm_35_intrinsics.h",
    "sm_60_atomic_functions.h",
    "sm_60_atomic_functions.hpp",
    "sm_61_intrinsics.h",
    "sm_61_intrinsics.hpp",
    "surface_indirect_functions.h",
    "surface_types.h",
    "texture_indirect_functions.h",
    "texture_types.h",
    "vector_functions.h",
    "vector_functions.hpp",
    "vector_types.h",
};

/* Folders that a package of the system may have put beside the C library's headers. */
static const char *const hidden[] = {"/usr/include/cub", "/usr/include/thrust"};

static void add(struct toolkit *toolkit, const char *from, const char *to)
{
    if (toolkit->mount_count == TOOLKIT_MOUNTS) abort();
    size_t at = toolkit->mount_count++;
    snprintf(toolkit->paths[at][0], PATH_MAX, "%s", from);
    snprintf(toolkit->paths[at][1], PATH_MAX, "%s", to);
    toolkit->mounts[at] =
        (struct sandbox_mount){toolkit->paths[at][0], toolkit->paths[at][1], true};
}

/* A file of the toolkit, which is at /cuda inside. */
static void add_own(struct toolkit *toolkit, const char *folder, const char *name)
{
    char from[2 * PATH_MAX], to[PATH_MAX];
    snprintf(from, sizeof from, "%s%s%s", toolkit->folder, folder, name);
    snprintf(to, sizeof to, "/cuda%s%s", folder, name);
    add(toolkit, from, to);
}

static void add_hidden(struct toolkit *toolkit, const char *path)
{
    if (access(path, F_OK) != 0) return;
    add(toolkit, "", path);
    toolkit->mounts[toolkit->mount_count - 1].from = NULL;
}

static void add_all(struct toolkit *toolkit)
{
    static const char *const system[] = {"/usr/include", "/usr/libexec/gcc"};
    for (size_t i = 0; i < sizeof system / sizeof *system; i++) add(toolkit, system[i], system[i]);
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++) add_hidden(toolkit, hidden[i]);
    add(toolkit, toolkit->gcc, "/usr/bin/gcc");
    add(toolkit, toolkit->shell, "/bin/sh");
    add(toolkit, toolkit->shell, "/usr/bin/sh");
    add_own(toolkit, "/bin", "");
    add_own(toolkit, "/nvvm", "");
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++)
        add_own(toolkit, "/include/", headers[i]);
}

/* The real path of a program that is searched for in PATH. */
static bool find_program(const char *name, char real[PATH_MAX])
{
    const char *path = getenv("PATH");
    char *folders = strdup(path == NULL ? "/usr/bin:/bin" : path);
    bool found = false;
    for (char *rest = folders, *folder; !found && (folder = strsep(&rest, ":")) != NULL;) {
        char program[PATH_MAX];
        int length = snprintf(program, sizeof program, "%s/%s", folder, name);
        found = length < PATH_MAX && access(program, X_OK) == 0 && realpath(program, real) != NULL;
    }
    free(folders);
    return found;
}

/* nvcc stands in the folder bin of its toolkit. */
static bool find_toolkit(struct toolkit *toolkit, const char *nvcc)
{
    char real[PATH_MAX];
    if (strchr(nvcc, '/') == NULL ? !find_program(nvcc, real) : realpath(nvcc, real) == NULL)
        return false;
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(real, '/');
        if (slash == NULL) return false;
        *slash = '\0';
    }
    memcpy(toolkit->folder, real, sizeof real);
    return true;
}

int toolkit_find(struct toolkit *toolkit, const char *nvcc, struct fault *fault)
{
    toolkit->mount_count = 0;
    if (!find_toolkit(toolkit, nvcc))
        return fail(fault, EXIT_DEVICE, "there is no compiler %s: make setup installs one", nvcc);
    if (!find_program("gcc", toolkit->gcc) || !find_program("sh", toolkit->shell))
        return fail(fault, EXIT_DEVICE, "gcc or sh is not found in PATH: make setup installs gcc");
    add_all(toolkit);
    return 0;
}
