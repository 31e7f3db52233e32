/* SPDX-License-Identifier: MIT */
/*
 * Two receipts of which only the roots are known. One path shows all nodes from a leaf up, and their siblings: the lowest
 * node that differs above an equal one has the first difference below its right child, so that each further record that is
 * asked for is at least one level lower.
 */
#include <string.h>

#include "core/given.h"
#include "core/try.h"
#include "model/receipts/proof.h"

struct referee {
    const weft_referee_params *params;
    const weft_host *host;
    weft_referee_finding *finding;
    uint32_t depth;
    struct weft_merkle_climb climbs[2]; /* of the proofs asked for last */
};

static weft_status check(const weft_referee_params *params, const weft_host *host) {
    for (size_t i = 0; i < 2; i++) {
        const char *root = params->roots[i];
        if (!root || !weft_is_digest_text(root, strlen(root))) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "weft_receipt_referee: root %zu is not 64 lower-case hexadecimal "
                             "digits",
                             i);
        }
        if (params->counts[i] == 0 || params->counts[i] > WEFT_RECEIPT_MAX_RECORDS) {
            return weft_fail(host, WEFT_INVALID_ARGUMENT,
                             "weft_receipt_referee: count %zu: expected 1 to %u records, found %u",
                             i, WEFT_RECEIPT_MAX_RECORDS, params->counts[i]);
        }
    }
    return params->ask
               ? WEFT_OK
               : weft_fail(host, WEFT_INVALID_ARGUMENT, "weft_receipt_referee: ask is null");
}

/* A proof of this record. An answer that is none refutes the party. */
static weft_status ask(weft_proof **proof, struct referee *self, uint32_t party, uint32_t index) {
    const char *json = NULL;
    size_t size = 0;
    WEFT_TRY(self->params->ask(self->params->user, party, index, &json, &size));
    weft_status status =
        json ? weft_proof_read(proof, json, size, self->params->roots[party], self->host)
             : WEFT_BAD_FILE;
    if (status == WEFT_OK &&
        ((*proof)->index != index || (*proof)->count != self->params->counts[party])) {
        weft_proof_destroy(proof);
        status = WEFT_BAD_FILE;
    }
    self->finding->refuted[party] |= status == WEFT_BAD_FILE || status == WEFT_UNSUPPORTED;
    return self->finding->refuted[party] ? WEFT_OK : status;
}

static bool is_decided(const struct referee *self) {
    return self->finding->refuted[0] || self->finding->refuted[1];
}

/* Both parties' proofs of a record, in place of those before. */
static weft_status ask_both(struct referee *self, uint32_t index) {
    self->finding->asked++;
    self->finding->first = index;
    for (uint32_t i = 0; i < 2; i++) {
        weft_proof **proof = &self->finding->proofs[i];
        weft_proof_destroy(proof);
        if (index >= self->params->counts[i]) { /* the shorter one has nothing more */
            continue;
        }
        WEFT_TRY(ask(proof, self, i, index));
        if (*proof) {
            weft_merkle_climb(&self->climbs[i], &(*proof)->record.chain, index, (*proof)->count,
                              &(*proof)->path, self->depth);
        }
    }
    return WEFT_OK;
}

static bool differ(const struct referee *self, uint32_t level) {
    return memcmp(&self->climbs[0].nodes[level], &self->climbs[1].nodes[level],
                  sizeof(weft_digest)) != 0;
}

/* Down to the first leaf that differs, or to the end of the shorter receipt. */
static weft_status descend(struct referee *self) {
    const uint32_t *counts = self->params->counts;
    const uint32_t shorter = counts[0] < counts[1] ? counts[0] : counts[1];
    uint32_t at = 0; /* all leaves before it are the same */
    for (;;) {
        WEFT_TRY(ask_both(self, at));
        if (is_decided(self) || at >= shorter || differ(self, 0)) {
            return WEFT_OK;
        }
        uint32_t level = 1;
        while (level <= self->depth && !differ(self, level)) {
            level++;
        }
        if (level >
            self->depth) { /* only the counts differ: one of the roots was made of another tree */
            return weft_fail(self->host, WEFT_BAD_FILE,
                             "weft_receipt_referee: the roots differ, and no record does");
        }
        at += 1U << (level - 1);
    }
}

/* Both agree on the record before: whose record does not go on from there is wrong. */
static weft_status check_before(struct referee *self) {
    const uint32_t first = self->finding->first;
    weft_digest leaf;
    if (first == 0) {
        return WEFT_OK; /* weft_proof_read has checked it */
    }
    const uint32_t known = self->finding->proofs[0] ? 0 : 1;
    if (first % 2 == 1) {
        leaf = self->climbs[known].siblings[0];
    } else {
        weft_proof *proof = NULL;
        self->finding->asked++;
        WEFT_TRY(ask(&proof, self, known, first - 1));
        if (!proof) {
            return WEFT_OK;
        }
        leaf = weft_merkle_leaf(&proof->record.chain);
        weft_proof_destroy(&proof);
    }
    for (size_t i = 0; i < 2; i++) {
        const weft_proof *proof = self->finding->proofs[i];
        const weft_digest claimed = weft_merkle_leaf(proof ? &proof->before : &(weft_digest){0});
        self->finding->refuted[i] |= proof && memcmp(&claimed, &leaf, sizeof leaf) != 0;
    }
    return WEFT_OK;
}

static weft_status search(struct referee *self) {
    WEFT_TRY(descend(self));
    return is_decided(self) ? WEFT_OK : check_before(self);
}

weft_status weft_receipt_referee(weft_referee_finding *finding, const weft_referee_params *params,
                                 const weft_host *host) {
    WEFT_ENTER;
    WEFT_GIVEN(host, finding, params);
    WEFT_TRY(check(params, host));
    *finding = (weft_referee_finding){.first = UINT32_MAX};
    if (strcmp(params->roots[0], params->roots[1]) == 0) {
        return WEFT_OK;
    }
    const uint32_t longer =
        params->counts[0] > params->counts[1] ? params->counts[0] : params->counts[1];
    struct referee self = {
        .params = params, .host = host, .finding = finding, .depth = weft_merkle_depth(longer)};
    const weft_status status = search(&self);
    if (status != WEFT_OK) {
        weft_proof_destroy(&finding->proofs[0]);
        weft_proof_destroy(&finding->proofs[1]);
    }
    return status;
}
