/* SPDX-License-Identifier: MIT */
#include "logits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/math/portable_math.h"
#include "core/system/file.h"

#define DIGEST_FILE_LIMIT ((size_t)4096)

static int compare_entries(const void *left, const void *right) {
    const weft_cli_entry *a = left;
    const weft_cli_entry *b = right;
    bool a_first = a->logit > b->logit || (!isnan(a->logit) && isnan(b->logit));
    bool b_first = b->logit > a->logit || (!isnan(b->logit) && isnan(a->logit));
    if (a_first || b_first) {
        return a_first ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

weft_status weft_cli_top_entries(weft_cli_entry *entries, uint32_t top, const float *logits,
                                 uint32_t count, bool multi_label, const weft_host *host) {
    weft_cli_entry *all = weft_alloc_zero(host, count, sizeof *all);
    if (!all) {
        return weft_fail_memory(host, "a row of logits");
    }
    float largest = logits[weft_cli_argmax(logits, count)];
    double sum = 0.0;
    for (uint32_t index = 0; index < count; index++) {
        double part = exp((double)logits[index] - (double)largest);
        all[index] = (weft_cli_entry){.index = index, .logit = logits[index], .probability = part};
        sum += part;
    }
    qsort(all, count, sizeof *all, compare_entries);
    for (uint32_t index = 0; index < top; index++) {
        entries[index] = all[index];
        entries[index].probability = multi_label ? 1.0 / (1.0 + exp(-(double)entries[index].logit))
                                                 : entries[index].probability / sum;
    }
    weft_free(host, all);
    return WEFT_OK;
}

uint32_t weft_cli_argmax(const float *logits, uint32_t count) {
    uint32_t best = 0;
    for (uint32_t index = 1; index < count; index++) {
        if (logits[index] > logits[best] || (isnan(logits[best]) && !isnan(logits[index]))) {
            best = index;
        }
    }
    return best;
}

double weft_cli_bits(const float *logits, uint32_t count, uint32_t index) {
    static const double log2_e = 1.4426950408889634;
    double largest = (double)logits[weft_cli_argmax(logits, count)];
    double sum = 0.0;
    for (uint32_t entry = 0; entry < count; entry++) {
        double below = (double)logits[entry] - largest;
        /* Smaller terms vanish in a sum that is at least 1. */
        sum += below < -700.0 ? 0.0 : weft_portable_exp(below);
    }
    return (weft_portable_log(sum) - ((double)logits[index] - largest)) * log2_e;
}

void weft_cli_hash_add(weft_sha256 *hash, const float *values, uint64_t count) {
    uint8_t bytes[1024];
    size_t size = 0;
    for (uint64_t index = 0; index < count; index++) {
        uint32_t bits;
        memcpy(&bits, &values[index], sizeof bits);
        for (unsigned shift = 0; shift < 32; shift += 8) {
            bytes[size++] = (uint8_t)(bits >> shift);
        }
        if (size == sizeof bytes || index + 1 == count) {
            weft_sha256_add(hash, bytes, size);
            size = 0;
        }
    }
}

const char *weft_cli_digest(const float *values, uint64_t count, char text[WEFT_DIGEST_TEXT_SIZE]) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_cli_hash_add(&hash, values, count);
    weft_digest digest = weft_sha256_end(&hash);
    return weft_digest_text(&digest, text);
}

weft_status weft_cli_read_digest(char text[WEFT_DIGEST_TEXT_SIZE], const char *path,
                                 const weft_host *host) {
    uint8_t *data = NULL;
    size_t size = 0;
    weft_status status = weft_file_read(&data, &size, DIGEST_FILE_LIMIT, path, host);
    if (status != WEFT_OK) {
        return status;
    }
    size_t length = 0;
    while (length < size && data[length] != ' ' && data[length] != '\n') {
        length++;
    }
    if (weft_is_digest_text((const char *)data, length)) {
        memcpy(text, data, length);
        text[length] = '\0';
    } else {
        status =
            weft_fail(host, WEFT_BAD_FILE,
                      "%s: expected a SHA-256 digest of 64 hexadecimal digits at the start", path);
    }
    weft_free(host, data);
    return status;
}
