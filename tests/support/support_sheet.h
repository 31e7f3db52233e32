/* SPDX-License-Identifier: MIT */
/* Mixers by their sheets (verify/sheet.h) for tests. */
#ifndef WEFT_TESTS_SUPPORT_SHEET_H
#define WEFT_TESTS_SUPPORT_SHEET_H

#include "support_graph.h"
#include "verify/sheet.h"

/** A mixer with all that it takes. */
struct weft_test_mix {
    const weft_sheet *sheet;
    weft_sizes sizes;
    const void *params;         /* null: all 0; the heads are those of the sizes */
    const char *implementation; /* null: the usual choice */
    float *x[WEFT_OPERANDS];    /* of each operand; null: it is absent */
    uint32_t with;              /* bits of the optional operands that weft_test_mix_fill makes */
    const int32_t *lengths;     /* null: none */
    bool shares_first;          /* the first operand's tensor is the second's, too */
    bool feeds_weights;         /* weights are inputs, and not constants */
};

/** A use of the sheet, with its sizes. */
struct weft_test_mix weft_test_mix_of(const weft_sheet *sheet, const weft_use *use);

/** Gives the operands that are null and not optional uniform numbers of the sheet's ranges, to be freed by weft_test_mix_free. */
void weft_test_mix_fill(struct weft_test_mix *mix, uint64_t seed);
void weft_test_mix_free(struct weft_test_mix *mix);

/** Elements of an operand, and of the result. */
uint64_t weft_test_mix_elements(const struct weft_test_mix *mix, uint32_t operand);
/** Channels of the result. */
uint32_t weft_test_mix_channels(const struct weft_test_mix *mix);

/** The tensors of the operands in a run; of null data too. */
weft_array weft_test_mix_operand(struct weft_test_run *run, const struct weft_test_mix *mix,
                                 uint32_t operand);
/** A graph with the mixer; its result. */
weft_tensor weft_test_mix_begin(struct weft_test_run *run, weft_device *device,
                                const struct weft_test_mix *mix);
/** Runs it; out [batch, n, channels]. */
void weft_test_mix_run(weft_device *device, const struct weft_test_mix *mix, float *out);

#endif
