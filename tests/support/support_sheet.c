/* SPDX-License-Identifier: MIT */
#include "support_sheet.h"

#include "core/shape.h"
#include "device/device.h"

static bool is_causal(const struct weft_test_mix *mix) {
    return weft_sheet_is_causal(mix->sheet, mix->params);
}

static weft_shape shape_of(const struct weft_test_mix *mix, uint32_t operand) {
    return weft_sheet_shape(mix->sheet, operand, &mix->sizes, is_causal(mix));
}

uint64_t weft_test_mix_elements(const struct weft_test_mix *mix, uint32_t operand) {
    return weft_shape_elements(shape_of(mix, operand));
}

uint32_t weft_test_mix_channels(const struct weft_test_mix *mix) {
    return mix->sizes.heads * (mix->sizes.values ? mix->sizes.values : mix->sizes.width);
}

struct weft_test_mix weft_test_mix_of(const weft_sheet *sheet, const weft_use *use) {
    return (struct weft_test_mix){.sheet = sheet,
                                  .sizes = use->sizes,
                                  .params = use->params,
                                  .implementation = use->implementation,
                                  .with = use->with};
}

/* True if it has the operand. */
static bool has(const struct weft_test_mix *mix, uint32_t operand) {
    return !mix->sheet->operands[operand].is_optional || (mix->with >> operand & 1) != 0;
}

void weft_test_mix_fill(struct weft_test_mix *mix, uint64_t seed) {
    for (uint32_t i = 0; i < weft_sheet_operand_count(mix->sheet); i++) {
        const weft_operand *operand = &mix->sheet->operands[i];
        if (!mix->x[i] && has(mix, i)) {
            const weft_shape shape = shape_of(mix, i);
            mix->x[i] = calloc(weft_shape_elements(shape), sizeof(float));
            assert_non_null(mix->x[i]);
            weft_sheet_fill(mix->x[i], operand, shape, seed, i);
        }
    }
}

void weft_test_mix_free(struct weft_test_mix *mix) {
    for (uint32_t i = 0; i < WEFT_OPERANDS; i++) {
        free(mix->x[i]);
        mix->x[i] = NULL;
    }
}

weft_array weft_test_mix_operand(struct weft_test_run *run, const struct weft_test_mix *mix,
                                 uint32_t operand) {
    const weft_operand *own = &mix->sheet->operands[operand];
    weft_array x = {.shape = shape_of(mix, operand)};
    if (own->is_weight && !mix->feeds_weights && mix->x[operand]) {
        x.tensor = weft_test_constant(run->graph, x.shape, mix->x[operand]);
    } else if (mix->x[operand] || has(mix, operand)) {
        x.tensor = weft_test_feed(run, own->name, x.shape, mix->x[operand]);
    }
    return x;
}

weft_tensor weft_test_mix_begin(struct weft_test_run *run, weft_device *device,
                                const struct weft_test_mix *mix) {
    *run = weft_test_begin(device);
    weft_case c = {.ref.host = device->host, .graph = run->graph, .only_graph = true};
    weft_array x[WEFT_OPERANDS] = {{.value = NULL}};
    weft_tensor lengths = {0};
    for (uint32_t i = 0; i < weft_sheet_operand_count(mix->sheet); i++) {
        x[i] = i == 1 && mix->shares_first ? x[0] : weft_test_mix_operand(run, mix, i);
    }
    if (mix->lengths && mix->sheet->lengths != 0) {
        lengths = weft_test_feed_i32(run, "lengths", weft_shape_of(mix->sizes.batch), mix->lengths);
    }
    const weft_sheet_params params =
        weft_sheet_params_of(mix->sheet, mix->params, &mix->sizes, lengths);
    const weft_array y = weft_sheet_mix(&c, mix->sheet, x, &params);
    if (c.ref.status != WEFT_OK) {
        fail_msg("%s is not added to a graph: status %d", mix->sheet->name, (int)c.ref.status);
    }
    weft_reference_end(&c.ref);
    return y.tensor;
}

void weft_test_mix_run(weft_device *device, const struct weft_test_mix *mix, float *out) {
    struct weft_test_run run;
    const weft_tensor y = weft_test_mix_begin(&run, device, mix);
    weft_test_take(&run, "y", y, out);
    weft_test_execute(&run, mix->implementation);
}
