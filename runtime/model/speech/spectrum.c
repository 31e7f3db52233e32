/* SPDX-License-Identifier: MIT */
#include "model/speech/spectrum.h"

#include <math.h>
#include <string.h>

#include <weft/arithmetic.h>
#include <weft/mixers.h>
#include <weft/movement.h>

#include "core/math/portable_math.h"
#include "core/math/trig.h"
#include "core/try.h"
#include "graph/graph.h"

#define MOST_HERTZ 8000.0 /* of the filters, whatever the rate is */
#define LEAST      1e-10F /* that a filter lets through, before the logarithm */
#define RANGE      8.0F   /* decades below the window's largest value that count */

/* ---- samples ---- */

/* Sample i of the window, of which `count` are given. */
static float sample_at(const float *window, uint64_t count, uint64_t i) {
    return i < count ? window[i] : 0.0F;
}

void weft_spectrum_pad(float *samples, const struct weft_speech_rules *rules, const float *window,
                       uint64_t count) {
    const uint32_t half = rules->frame / 2, all = weft_spectrum_samples(rules);
    const uint64_t last = rules->window - 1;
    for (uint64_t i = 0; i < all; i++) {
        const uint64_t at = i < half ? half - i : i - half;
        samples[i] = sample_at(window, count, at <= last ? at : 2 * last - at);
    }
}

/* ---- constants ---- */

typedef float element_function(const void *user, uint64_t index);

static weft_status add_constant(weft_tensor *out, weft_graph *graph, const char *name,
                                weft_shape shape, element_function *element, const void *user,
                                const weft_host *host) {
    weft_weight *weight = NULL;
    WEFT_TRY(weft_weight_create_empty(
        &weight, weft_weight_params(.name = name, .dtype = WEFT_F32, .shape = shape), host));
    float *data = weight->owned;
    for (uint64_t i = 0; i < weft_shape_elements(shape); i++) {
        data[i] = element(user, i);
    }
    const weft_status status = weft_graph_weight(out, graph, weight);
    weft_weight_destroy(&weight);
    return status;
}

/* Of [2 bins, 1, frame]: cosines of each bin, then its sines, by Hann's window. */
static float fourier_element(const void *user, uint64_t index) {
    const struct weft_speech_rules *rules = user;
    const uint64_t n = rules->frame, bins = n / 2 + 1, row = index / n, t = index % n;
    double cosine = 0, sine = 0, turn = 0, unused = 0;
    weft_unit_root(&turn, &unused, t, n);
    weft_unit_root(&cosine, &sine, row % bins * t % n, n);
    return (float)((0.5 - 0.5 * turn) * (row < bins ? cosine : -sine));
}

/* Slaney's scale: linear below 1000 Hz, then logarithmic. */
static double mel_of(double hertz) {
    const double step = weft_portable_log(6.4) / 27.0;
    return hertz < 1000.0 ? 3.0 * hertz / 200.0 : 15.0 + weft_portable_log(hertz / 1000.0) / step;
}

static double hertz_of(double mel) {
    const double step = weft_portable_log(6.4) / 27.0;
    return mel < 15.0 ? 200.0 * mel / 3.0 : 1000.0 * weft_portable_exp(step * (mel - 15.0));
}

/* Edge i of bands + 2, of which three are a band's. */
static double edge_of(const struct weft_speech_rules *rules, uint64_t i) {
    return hertz_of(mel_of(MOST_HERTZ) * (double)i / (double)(rules->bands + 1));
}

/* Of [bands, 2 bins, 1]: triangles of area 1 over each bin, for the squares of cosines and of sines. */
static float filter_element(const void *user, uint64_t index) {
    const struct weft_speech_rules *rules = user;
    const uint64_t bins = rules->frame / 2 + 1, band = index / (2 * bins), bin = index % bins;
    const double hertz = (double)bin * (double)(rules->rate / 2) / (double)(bins - 1);
    const double low = edge_of(rules, band), middle = edge_of(rules, band + 1),
                 high = edge_of(rules, band + 2);
    const double rise = (hertz - low) / (middle - low), fall = (high - hertz) / (high - middle);
    const double height = rise < fall ? rise : fall;
    return height > 0 ? (float)(height * 2.0 / (high - low)) : 0.0F;
}

/* ---- the graph ---- */

/* What each band has of each frame's power: [1, bands, frames]. */
static weft_status add_bands(weft_tensor *x, weft_graph *graph,
                             const struct weft_speech_rules *rules, const weft_host *host) {
    const uint32_t rows = rules->frame + 2;
    weft_tensor waves = {0}, filters = {0};
    WEFT_TRY(add_constant(&waves, graph, "waves", weft_shape_of(rows, 1, rules->frame),
                          fourier_element, rules, host));
    WEFT_TRY(add_constant(&filters, graph, "filters", weft_shape_of(rules->bands, rows, 1),
                          filter_element, rules, host));
    WEFT_TRY(weft_graph_conv(x, graph, *x, waves, weft_conv_params(.strides = {rules->hop})));
    WEFT_TRY(weft_graph_unary(x, graph, WEFT_UNARY_SQUARE, *x, 0, 0));
    return weft_graph_conv(x, graph, *x, filters, NULL);
}

/* Decimal logarithms, of which the range below the largest counts, divided by 4 and moved by 1. */
static weft_status add_logarithms(weft_tensor *x, weft_graph *graph) {
    const float decade = (float)(1.0 / weft_portable_log(10.0));
    weft_tensor least = {0};
    WEFT_TRY(weft_graph_clamp(x, graph, *x, LEAST, INFINITY));
    WEFT_TRY(weft_graph_unary(x, graph, WEFT_UNARY_LOG, *x, 0, 0));
    WEFT_TRY(weft_graph_affine(x, graph, *x, decade, 0.0F));
    WEFT_TRY(weft_graph_reduce(&least, graph, WEFT_REDUCTION_MAX, *x,
                               weft_reduce_params(.keep_axes = true)));
    WEFT_TRY(weft_graph_affine(&least, graph, least, 1.0F, -RANGE));
    WEFT_TRY(weft_graph_binary(x, graph, WEFT_BINARY_MAXIMUM, *x, least));
    return weft_graph_affine(x, graph, *x, 0.25F, 1.0F);
}

weft_status weft_spectrum_build(weft_graph *graph, const struct weft_speech_rules *rules,
                                const weft_host *host) {
    weft_tensor x = {0};
    WEFT_TRY(weft_graph_input(&x, graph, "samples", WEFT_F32,
                              weft_shape_of(1, 1, weft_spectrum_samples(rules))));
    WEFT_TRY(add_bands(&x, graph, rules, host));
    WEFT_TRY(add_logarithms(&x, graph));
    WEFT_TRY(weft_graph_permute(&x, graph, x, weft_shape_of(0, 2, 1)));
    return weft_graph_output(graph, "features", x);
}
