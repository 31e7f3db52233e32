/* SPDX-License-Identifier: MIT */
/*
 * The Merkle tree over a receipt's records, with a root that binds the number of records. Of N records it has the least
 * 2^D leaves that are N or more:
 *
 *   leaf     SHA-256(0x00, chain of the record)
 *   nothing  SHA-256(0x03) in place of the leaves behind the last
 *   node     SHA-256(0x01, left, right)
 *   root     SHA-256(0x02, N as u64 little-endian, the node above all)
 *
 * The first bytes differ, so that no node can be passed off as a leaf, nor as a root; and no leaf is doubled to make
 * their number even. A path leaves out nodes above nothing but nothing, which whoever reads it makes himself.
 */
#ifndef WEFT_MODEL_RECEIPT_MERKLE_H
#define WEFT_MODEL_RECEIPT_MERKLE_H

#include "model/receipts/receipt.h"

/** Most hashes of a path: 2^15 is above WEFT_RECEIPT_MAX_RECORDS. */
#define WEFT_MERKLE_MAX_PATH 15

/** Siblings on the way from a leaf to the node above all, from below. */
struct weft_merkle_path {
    weft_digest at[WEFT_MERKLE_MAX_PATH];
    uint32_t count;
};

/** How many siblings a leaf has on its way up, those above nothing left out. `index` is below `count`. */
uint32_t weft_merkle_path_length(uint32_t index, uint32_t count);

/** D: how many levels are above the leaves of `count` records. */
uint32_t weft_merkle_depth(uint32_t count);

/**
 * The root of a receipt's records, and the path of the record `index`, if `path` is not null. A receipt without
 * records has a root, too. Errors: WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_merkle_root(weft_digest *root, struct weft_merkle_path *path,
                             const weft_receipt *receipt, uint32_t index);

/** A leaf. */
weft_digest weft_merkle_leaf(const weft_digest *chain);

/** All nodes from a leaf up to `depth`, and their siblings, with those that a path leaves out. */
struct weft_merkle_climb {
    weft_digest nodes[WEFT_MERKLE_MAX_PATH + 1], siblings[WEFT_MERKLE_MAX_PATH];
};
/** Climbs by a path of weft_merkle_path_length hashes, to a depth of weft_merkle_depth(count) or more. */
void weft_merkle_climb(struct weft_merkle_climb *climb, const weft_digest *chain, uint32_t index,
                       uint32_t count, const struct weft_merkle_path *path, uint32_t depth);

/** The root that follows from one record's chain and its path. */
weft_digest weft_merkle_root_of(const weft_digest *chain, uint32_t index, uint32_t count,
                                const struct weft_merkle_path *path);

#endif
