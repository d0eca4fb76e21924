/* command_nvcc.c — finds nvcc, and what its toolkit lacks. */
#define _GNU_SOURCE /* popen */
#include "command.h"
#include "common/files/program_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stores `folder`/`rest` if it is a program. A folder of NULL or "" has none. */
static bool try_folder(const char *folder, const char *rest, char path[PATH_MAX])
{
    if (folder == NULL || *folder == '\0') return false;
    int length = snprintf(path, PATH_MAX, "%s/%s", folder, rest);
    return length < PATH_MAX && access(path, X_OK) == 0;
}

/* Where `make setup` puts CUDA: build/cuda, if this command is build/emu/emu. */
static bool in_build(char path[PATH_MAX])
{
    char own[PATH_MAX];
    emu_own_folder(own);
    return try_folder(own, "../cuda/bin/nvcc", path);
}

/* Among the packages of the python3 in PATH. Python itself knows where they are: in a virtual
 * environment, in the user's home, or beside Python. */
static bool in_python(char path[PATH_MAX])
{
    FILE *python = popen("python3 -c '\n"
                         "import os, sys\n"
                         "for folder in filter(None, sys.path):\n"
                         "    for package in \"cu13\", \"cuda_nvcc\":\n"
                         "        print(os.path.join(folder, \"nvidia\", package))\n"
                         "' 2>/dev/null",
                         "r");
    char line[PATH_MAX];
    bool found = false;
    if (python == NULL) return false;
    while (fgets(line, sizeof line, python) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = found || try_folder(line, "bin/nvcc", path);
    }
    pclose(python);
    return found;
}

/* Beside the Python package that this command is a part of, SITE/upsweep/bin/emu: that of its extra
 * nvcc. Who installs it wants no other one, whatever a machine's set-up has put into CUDA_HOME. */
static bool beside_package(char path[PATH_MAX])
{
    char folder[PATH_MAX];
    emu_own_folder(folder);
    for (int up = 0; up < 2; up++)
        if (strrchr(folder, '/') != NULL) *strrchr(folder, '/') = '\0';
    return try_folder(folder, "nvidia/cu13/bin/nvcc", path);
}

bool nvcc_find(char path[PATH_MAX])
{
    return beside_package(path) || try_folder(getenv("CUDA_HOME"), "bin/nvcc", path) ||
           program_path("nvcc", path) || try_folder("/usr/local/cuda", "bin/nvcc", path) ||
           in_build(path) || in_python(path);
}

/* Is it the nvcc that pip installs with CUDA 13's package nvidia-cuda-nvcc? */
static bool is_pips(const char *path)
{
    static const char end[] = "/nvidia/cu13/bin/nvcc";
    size_t length = strlen(path);
    return length >= strlen(end) && strcmp(path + length - strlen(end), end) == 0;
}

size_t nvcc_pip_folders(const char *nvcc, char **words)
{
    static char own[PATH_MAX + 16], emulators[PATH_MAX + 8];
    char library[PATH_MAX];
    if (!is_pips(nvcc)) return 0;
    snprintf(own, sizeof own, "-L%.*s/lib", (int)(strlen(nvcc) - strlen("/bin/nvcc")), nvcc);
    emu_library_folder(library);
    snprintf(emulators, sizeof emulators, "-L%s", library);
    words[0] = own;
    words[1] = emulators;
    return 2;
}

void nvcc_offer(void)
{
    char path[PATH_MAX];
    const char *others = getenv("PATH") != NULL ? getenv("PATH") : "/usr/bin:/bin";
    bool first = beside_package(path);
    if (!first && (program_path("nvcc", path) || !nvcc_find(path))) return;
    *strrchr(path, '/') = '\0';
    char *list = emu_text("%s:%s", first ? path : others, first ? others : path);
    emu_set("PATH", list);
    free(list);
    *strrchr(path, '/') = '\0';
    if (getenv("CUDA_HOME") == NULL) emu_set("CUDA_HOME", path);
    if (getenv("CUDA_PATH") == NULL) emu_set("CUDA_PATH", path);
}

size_t nvcc_stand_ins(const char *nvcc, char **words)
{
    static const char *const headers[] = {"cublas_v2.h", "curand.h"};
    char folder[PATH_MAX];
    int has = 0, top = (int)(strlen(nvcc) - strlen("/bin/nvcc"));
    for (int i = 0; i < 2 && top > 0; i++) {
        char *header = emu_text("%.*s/include/%s", top, nvcc, headers[i]);
        has += access(header, R_OK) == 0;
        free(header);
    }
    if (has == 2) return 0;
    emu_library_folder(folder);
    words[0] = "-isystem";
    words[1] = emu_text("%s/libraries/include", folder);
    words[2] = emu_text("-L%s/libraries/lib", folder);
    return NVCC_STAND_INS;
}
