/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzzer's entry once on each file of the folders given, without libFuzzer: so every compiler and every sanitizer
 * sees the kept corpora.
 */
#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/system/file.h"
#include "fuzz.h"

#define INPUT_LIMIT ((size_t)1 << 24)

/* Inputs lie in memory of their own size, so that a read behind the end is noticed. */
static int replay_file(const char *path) {
    uint8_t *data = NULL;
    size_t size = 0;
    if (weft_file_read(&data, &size, INPUT_LIMIT, path, NULL) != WEFT_OK) {
        fprintf(stderr, "%s cannot be read\n", path);
        return 0;
    }
    uint8_t *exact = realloc(data, size > 0 ? size : 1);
    (void)LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 1;
}

static int replay_folder(const char *path) {
    DIR *folder = opendir(path);
    int count = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char file[1024];
        if (entry->d_name[0] != '.') {
            snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
            count += replay_file(file);
        }
    }
    if (folder) {
        closedir(folder);
    }
    return count;
}

int main(int argc, char **argv) {
    int count = 0;
    for (int i = 1; i < argc; i++) {
        int found = replay_folder(argv[i]);
        if (found == 0) {
            fprintf(stderr, "%s: no input was found\n", argv[i]);
            return 1;
        }
        count += found;
    }
    printf("%d inputs\n", count);
    return count > 0 ? 0 : 1;
}
