/* SPDX-License-Identifier: MIT */
/* Settings of the processor device from the environment. */
#ifndef WEFT_PROCESSOR_SETTINGS_H
#define WEFT_PROCESSOR_SETTINGS_H

#include <stdint.h>

#define WEFT_PROCESSOR_MAX_THREADS 1024u

struct weft_processor_settings {
    uint32_t threads; /* WEFT_PROCESSOR_THREADS, else the processors that this process may use */
    uint32_t lanes;   /* WEFT_PROCESSOR_LANES, else what the processor runs best with */
    const char
        *fault; /* what is wrong with a variable, or null; the value above is then the other */
};

void weft_processor_settings_read(struct weft_processor_settings *settings);

#endif
