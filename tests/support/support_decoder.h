/* SPDX-License-Identifier: MIT */
/* Causal language models of every family whose decoder is tried: goldens of tests/data/models, where possible with more positions. */
#ifndef WEFT_TESTS_SUPPORT_DECODER_H
#define WEFT_TESTS_SUPPORT_DECODER_H

#include "support_model.h"

#ifdef __SANITIZE_ADDRESS__
#define WEFT_TEST_LONGER 70U /* sanitizers are slow: one chunk and a part of one */
#else
#define WEFT_TEST_LONGER 150U /* positions: two chunks and a part of one */
#endif

struct weft_test_decoded {
    const char *golden;
    weft_decoding decoding;
    bool longer;         /* give it WEFT_TEST_LONGER positions */
    const char *without; /* a field of the config to leave out, or null */
    bool by_transforms;  /* what whole sequences are: other bits than those of steps */
};

extern const struct weft_test_decoded weft_test_decoded_models[];
extern const size_t weft_test_decoded_count;

void weft_test_load_decoded(weft_model **model, struct weft_test_device *f,
                            const struct weft_test_decoded *variant);

/** Positions that are tried: a model of states alone has more than a test can. */
uint32_t weft_test_decoded_reach(const weft_model_info *info);

#endif
