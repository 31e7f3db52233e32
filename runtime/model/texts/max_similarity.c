/* SPDX-License-Identifier: MIT */
/* How well a text with several vectors answers a query with several. */
#include <math.h>
#include <string.h>

#include <weft/texts.h>

#include "core/host.h"

#define AT_ONCE 8U /* products whose sums do not wait for each other */

/* The products of a vector with `count` others, each summed in the order of its values. */
static void multiply(double sums[AT_ONCE], const float *one, const float *others, uint32_t count,
                     uint32_t width) {
    for (uint32_t j = 0; j < count; j++) {
        sums[j] = 0;
    }
    for (uint32_t k = 0; k < width; k++) {
        for (uint32_t j = 0; j < count; j++) {
            sums[j] += (double)one[k] * (double)others[(size_t)j * width + k];
        }
    }
}

/* The largest of a vector's products with those of the text; NaN where one is. */
static double largest(const float *one, const weft_vector_list *text, uint32_t width) {
    double found = -INFINITY;
    for (uint32_t first = 0; first < text->count; first += AT_ONCE) {
        const uint32_t left = text->count - first;
        double sums[AT_ONCE];
        multiply(sums, one, &text->values[(size_t)first * width], left < AT_ONCE ? left : AT_ONCE,
                 width);
        for (uint32_t j = 0; j < AT_ONCE && j < left; j++) {
            if (isnan(sums[j])) {
                return sums[j];
            }
            found = sums[j] > found ? sums[j] : found;
        }
    }
    return found;
}

double weft_vectors_similarity(const char *similarity, const weft_vector_list *query,
                               const weft_vector_list *text, uint32_t width) {
    WEFT_ENTER;
    double sum = 0;
    if (!query || !text || (query->count > 0 && !query->values) ||
        (text->count > 0 && !text->values)) {
        return 0;
    }
    for (uint32_t i = 0; i < query->count && text->count > 0; i++) {
        sum += largest(&query->values[(size_t)i * width], text, width);
    }
    sum = text->count > 0 ? sum : WEFT_NO_VECTORS_SCORE;
    return similarity && strcmp(similarity, "meanmaxsim") == 0 && query->count > 0
               ? sum / (double)query->count
               : sum;
}
