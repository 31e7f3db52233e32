/* SPDX-License-Identifier: MIT */
#include "compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compilers/tool.h"

/* The build says where the compiler, amdgcn.cl and a folder for files are: WEFT_AMD_CLANG, _HEADER and _FOLDER. */

enum { MOST_BYTES = 1 << 26, PATH_SIZE = 512 };

static char *read_file(size_t *size, const char *path) {
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    *size = 0;
    if (!file) {
        return NULL;
    }
    if (fseek(file, 0, SEEK_END) == 0) {
        const long end = ftell(file);
        if (end >= 0 && end < MOST_BYTES && fseek(file, 0, SEEK_SET) == 0) {
            bytes = calloc(1, (size_t)end + 1);
            *size = bytes ? fread(bytes, 1, (size_t)end, file) : 0;
        }
    }
    (void)fclose(file);
    return bytes;
}

static bool write_file(const char *path, const char *text, size_t size, bool contracts) {
    static const char off[] = "FP_CONTRACT OFF", on[] = "FP_CONTRACT ON ";
    FILE *file = fopen(path, "wb");
    char *copy = malloc(size + 1);
    bool is_written = file && copy;
    if (is_written) {
        memcpy(copy, text, size);
        copy[size] = '\0';
        char *rule = contracts ? strstr(copy, off) : NULL;
        if (rule) {
            memcpy(rule, on, sizeof on - 1);
        }
        is_written = fwrite(copy, 1, size, file) == size;
    }
    free(copy);
    return (!file || fclose(file) == 0) && is_written;
}

static bool run_clang(struct amd_compiled *made, const char *folder, const char *gpu,
                      const char *text, size_t size, bool contracts) {
    char from[PATH_SIZE], to[PATH_SIZE], log[PATH_SIZE], cpu[64];
    size_t log_size = 0;
    (void)snprintf(from, sizeof from, "%s/kernel.cl", folder);
    (void)snprintf(to, sizeof to, "%s/kernel.o", folder);
    (void)snprintf(log, sizeof log, "%s/log", folder);
    (void)snprintf(cpu, sizeof cpu, "-mcpu=%s", gpu);
    const char *const arguments[] = {WEFT_AMD_CLANG,
                                     "-x",
                                     "cl",
                                     "-cl-std=CL1.2",
                                     "-cl-no-stdinc",
                                     "-cl-denorms-are-zero",
                                     "-include",
                                     WEFT_AMD_HEADER,
                                     "--target=amdgcn-amd-amdhsa",
                                     cpu,
                                     "-nogpulib",
                                     "-O2",
                                     contracts ? "-ffp-contract=fast" : "-ffp-contract=off",
                                     "-c",
                                     "-o",
                                     to,
                                     from,
                                     NULL};
    const bool is_made =
        write_file(from, text, size, contracts) && weft_run_tool(arguments, "/dev/null", log);
    made->log = read_file(&log_size, log);
    made->object = is_made ? (uint8_t *)read_file(&made->size, to) : NULL;
    (void)unlink(from);
    (void)unlink(to);
    (void)unlink(log);
    return made->object != NULL;
}

bool amd_compile(struct amd_compiled *made, const char *gpu, const char *text, size_t size,
                 bool contracts) {
    char folder[PATH_SIZE / 2];
    *made = (struct amd_compiled){0};
    (void)snprintf(folder, sizeof folder, "%s/XXXXXX", WEFT_AMD_FOLDER);
    if (!mkdtemp(folder)) {
        return false;
    }
    const bool is_made = run_clang(made, folder, gpu, text, size, contracts);
    (void)rmdir(folder);
    return is_made;
}
