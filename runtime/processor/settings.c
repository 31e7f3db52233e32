/* SPDX-License-Identifier: MIT */
#include "processor/settings.h"

#include <stdbool.h>
#include <stdlib.h>

#include "jobs/machine.h"
#include "native/kernel.h"
#include "native/target.h"

/* The number that `text` is, or 0. */
static uint32_t number_of(const char *text) {
    uint32_t number = 0;
    for (; *text >= '0' && *text <= '9' && number < 1000000; text++) {
        number = number * 10 + (uint32_t)(*text - '0');
    }
    return *text == '\0' ? number : 0;
}

/* True if the variable is set to anything. */
static bool is_set(uint32_t *number, const char *name) {
    const char *text = getenv(name);
    if (!text || text[0] == '\0') {
        return false;
    }
    *number = number_of(text);
    return true;
}

static void read_threads(struct weft_processor_settings *settings) {
    uint32_t number = 0;
    settings->threads = weft_processor_count();
    if (!is_set(&number, "WEFT_PROCESSOR_THREADS")) {
        return;
    }
    if (number >= 1 && number <= WEFT_PROCESSOR_MAX_THREADS) {
        settings->threads = number;
    } else {
        settings->fault = "WEFT_PROCESSOR_THREADS is not a number from 1 to 1024";
    }
}

static void read_lanes(struct weft_processor_settings *settings) {
    uint32_t number = 0;
    settings->lanes = weft_native_lanes();
    if (!is_set(&number, "WEFT_PROCESSOR_LANES")) {
        return;
    }
    if (number == 4 || number == 8 || number == 16) {
        settings->lanes = number;
    } else {
        settings->fault = "WEFT_PROCESSOR_LANES is not 4, 8 or 16";
    }
}

void weft_processor_settings_read(struct weft_processor_settings *settings) {
    *settings = (struct weft_processor_settings){0};
    read_threads(settings);
    read_lanes(settings);
    if (weft_native_machine_is_wrong()) {
        settings->fault = "WEFT_PROCESSOR_TARGET is not a target that this processor runs";
    }
}
