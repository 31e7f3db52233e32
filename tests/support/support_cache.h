/* SPDX-License-Identifier: MIT */
/* Entries of the cache on disk, changed as by somebody who knows their form. */
#ifndef WEFT_TESTS_SUPPORT_CACHE_H
#define WEFT_TESTS_SUPPORT_CACHE_H

#include "core/hash.h"
#include "support.h"

/** Changes each object of an entry of pipelines of a device of softvk's, and makes the hashes around them anew. */
void weft_test_change_objects(const char *folder, const weft_digest *key,
                              void (*change)(uint8_t *object, size_t size));

#endif
