/* SPDX-License-Identifier: MIT */
#include "model/network/family.h"

#include <stdio.h>

bool weft_family_always(const void *config) {
    (void)config;
    return true;
}

weft_status weft_family_check_heads(uint32_t heads, uint32_t hidden_size,
                                    const weft_json_fields *json) {
    if (hidden_size % heads == 0) {
        return WEFT_OK;
    }
    char expected[64];
    snprintf(expected, sizeof expected, "a divisor of hidden_size %u", (unsigned)hidden_size);
    return weft_fields_refuse(json, "num_attention_heads", expected);
}
