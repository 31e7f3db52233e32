/* SPDX-License-Identifier: MIT */
/* Numbers that are found by some bytes, such as a name: what would otherwise be a search in a list. */
#ifndef WEFT_GRAPH_INDEX_H
#define WEFT_GRAPH_INDEX_H

#include "core/digest_map.h"

#define WEFT_INDEX_NONE UINT32_MAX

/** The number of that key, in place of the one that it had. False: memory is out, and nothing has changed. */
bool weft_index_set(struct weft_digest_map *index, const void *key, size_t size, uint32_t number,
                    const weft_host *host);

/** The number of that key, or WEFT_INDEX_NONE. */
uint32_t weft_index_find(const struct weft_digest_map *index, const void *key, size_t size);

#endif
