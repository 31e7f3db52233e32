/* SPDX-License-Identifier: MIT */
/* Files of api/examples, embedded by cmake/WeftCertify.cmake: three models and their test set. */
#ifndef WEFT_CLI_CERTIFY_FILES_H
#define WEFT_CLI_CERTIFY_FILES_H

#include <stddef.h>

typedef struct weft_certify_file {
    const char *name; /* below api/examples, "models/langid1024-fnet/config.json" */
    const char *data; /* a zero is behind it */
    size_t size;
} weft_certify_file;

extern const weft_certify_file weft_certify_files[];
extern const size_t weft_certify_file_count;

#endif
