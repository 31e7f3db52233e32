/* SPDX-License-Identifier: MIT */
#include "certify/cases.h"

#include <string.h>

/* Fisher and Yates' shuffle of what is behind the listed ones. */
static void shuffle(weft_certify_cases *cases, uint32_t seed) {
    for (uint32_t at = cases->count; at-- > cases->listed + 1;) {
        const uint32_t other =
            cases->listed + weft_values_below(seed, 0, at, at - cases->listed + 1);
        const uint32_t place = cases->order[at];
        cases->order[at] = cases->order[other];
        cases->order[other] = place;
    }
}

static void put_in_order(weft_certify_cases *cases, uint32_t seed) {
    uint32_t at = 0;
    for (int listed = 1; listed >= 0; listed--) {
        for (uint32_t place = 0; place < cases->count; place++) {
            if (weft_certify_is_listed(cases->list[place].name) == (listed == 1)) {
                cases->order[at++] = place;
            }
        }
        cases->listed = listed == 1 ? at : cases->listed;
    }
    shuffle(cases, seed);
}

weft_status weft_certify_cases_make(weft_certify_cases *cases, uint32_t seed,
                                    const weft_host *host) {
    const weft_case_family *family = NULL;
    uint32_t count = 0;
    for (uint32_t which = 0; (family = weft_case_family_at(which)); which++) {
        count += family->count;
    }
    *cases = (weft_certify_cases){.list = weft_alloc_zero(host, count, sizeof *cases->list),
                                  .order = weft_alloc_zero(host, count, sizeof *cases->order)};
    if (!cases->list || !cases->order) {
        return weft_fail_memory(host, "the list of cases");
    }
    for (uint32_t which = 0; (family = weft_case_family_at(which)); which++) {
        for (uint32_t index = 0; index < family->count; index++) {
            weft_certify_case *made = &cases->list[cases->count++];
            made->family = family;
            made->index = index;
            weft_case_name(made->name, family, index);
        }
    }
    put_in_order(cases, seed);
    return WEFT_OK;
}

void weft_certify_cases_free(weft_certify_cases *cases, const weft_host *host) {
    weft_free(host, cases->list);
    weft_free(host, cases->order);
    *cases = (weft_certify_cases){0};
}

size_t weft_certify_op_length(const char *name) {
    return strcspn(name, "/");
}

void weft_certify_root_begin(weft_certify_root *root) {
    weft_sha256_begin(&root->hash);
}

void weft_certify_root_add(weft_certify_root *root, const char *name, const char *digits) {
    weft_sha256_add(&root->hash, name, strlen(name));
    weft_sha256_add(&root->hash, " ", 1);
    weft_sha256_add(&root->hash, digits, strlen(digits));
    weft_sha256_add(&root->hash, "\n", 1);
}

const char *weft_certify_root_end(weft_certify_root *root, char text[WEFT_DIGEST_TEXT_SIZE]) {
    const weft_digest digest = weft_sha256_end(&root->hash);
    return weft_digest_text(&digest, text);
}
