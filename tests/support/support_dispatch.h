/* SPDX-License-Identifier: MIT */
/* One dispatch over one buffer, on a device. */
#ifndef WEFT_TESTS_SUPPORT_DISPATCH_H
#define WEFT_TESTS_SUPPORT_DISPATCH_H

#include "shader/pipeline.h"
#include "support.h"

struct weft_test_dispatch {
    const struct weft_pipeline *pipeline;
    const void *push;
    uint32_t base; /* first workgroup */
    uint32_t groups;
};

/** Runs over `words` words in place, of which each binding of the pipeline has an equal part. */
void weft_test_dispatch(weft_device *device, const struct weft_test_dispatch *dispatch,
                        uint32_t *data, size_t words);

#endif
