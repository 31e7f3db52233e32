/* SPDX-License-Identifier: MIT */
#include "verify/sheet.h"

#include <string.h>

#include "core/math/philox.h"

/* ---- parameters ---- */

static void *field_of(weft_sheet_params *params, size_t field) {
    return (uint8_t *)params + field - 1;
}

static void write_field(weft_sheet_params *params, size_t field, const void *value, size_t size) {
    if (field != 0) {
        memcpy(field_of(params, field), value, size);
    }
}

void weft_sheet_set(weft_sheet_params *params, size_t field, weft_tensor tensor) {
    write_field(params, field, &tensor, sizeof tensor);
}

weft_sheet_params weft_sheet_params_of(const weft_sheet *sheet, const void *params,
                                       const weft_sizes *sizes, weft_tensor lengths) {
    weft_sheet_params own = {{0}};
    if (params) {
        memcpy(&own, params, sheet->params_size);
    }
    write_field(&own, sheet->heads, &sizes->heads, sizeof sizes->heads);
    write_field(&own, sheet->kv_heads, &sizes->kv_heads, sizeof sizes->kv_heads);
    weft_sheet_set(&own, sheet->lengths, lengths);
    return own;
}

bool weft_sheet_is_causal(const weft_sheet *sheet, const void *params) {
    bool causal = sheet->is_causal;
    if (params && sheet->causal != 0) {
        memcpy(&causal, (const uint8_t *)params + sheet->causal - 1, sizeof causal);
    }
    return causal;
}

/* ---- operands ---- */

uint32_t weft_sheet_operand_count(const weft_sheet *sheet) {
    uint32_t count = 0;
    while (count < WEFT_OPERANDS && sheet->operands[count].name) {
        count++;
    }
    return count;
}

static uint32_t usually(uint32_t size, uint32_t usual) {
    return size != 0 ? size : usual;
}

static uint32_t axis_of(weft_axis axis, const weft_sizes *s, bool causal) {
    const uint32_t rows = usually(s->rows, 16);
    const uint32_t reach = usually(s->reach, s->n);
    const uint32_t kv_heads = usually(s->kv_heads, s->heads);
    const uint32_t sizes[] = {
        [WEFT_AXIS_BATCH] = s->batch,
        [WEFT_AXIS_TOKENS] = s->n,
        [WEFT_AXIS_KEYS] = usually(s->keys, s->n),
        [WEFT_AXIS_CHANNELS] = s->heads * s->width,
        [WEFT_AXIS_KEY_CHANNELS] = kv_heads * s->width,
        [WEFT_AXIS_VALUES] = kv_heads * usually(s->values, s->width),
        [WEFT_AXIS_HEADS] = s->heads,
        [WEFT_AXIS_WIDTH] = s->width,
        [WEFT_AXIS_ROWS] = rows,
        [WEFT_AXIS_LAGS] = causal ? reach : 2 * reach - 1,
        [WEFT_AXIS_POINTS] = reach + 1,
        [WEFT_AXIS_SPECTRUM] = (causal ? 1 : 2) * s->heads * s->width,
        [WEFT_AXIS_ODD_ROWS] = 2 * rows + 1,
        [WEFT_AXIS_FEW] = 3,
        [WEFT_AXIS_LONGER] = s->width + 2 * 3,
        [WEFT_AXIS_TAPS] = usually(s->taps, 5),
        [WEFT_AXIS_ONE] = 1,
    };
    return sizes[axis];
}

weft_shape weft_sheet_shape(const weft_sheet *sheet, uint32_t operand, const weft_sizes *sizes,
                            bool causal) {
    const uint8_t *axes = sheet->operands[operand].axes;
    weft_shape shape = {0};
    while (shape.rank < WEFT_MAX_RANK && axes[shape.rank] != WEFT_AXIS_NONE) {
        shape.dim[shape.rank] = axis_of((weft_axis)axes[shape.rank], sizes, causal);
        shape.rank++;
    }
    return shape.rank > 0 ? shape : sheet->operands[operand].shape;
}

/* The i-th of an operand's elements, of a number in [-1, 1). */
static float in_range(weft_operand_range range, float x, uint64_t i, uint32_t columns) {
    const uint64_t row = i / columns;
    switch (range) {
    case WEFT_RANGE_POSITIVE:
        return x + 1.25F;
    case WEFT_RANGE_UNIT:
        return 0.5F * x + 0.5F;
    case WEFT_RANGE_DECAYS:
        return 0.5F * x - 0.5F;
    case WEFT_RANGE_POWERS:
        return i * i % 7 == 1 ? 2.0F : 0.0F;
    case WEFT_RANGE_STEPS:
        return 1.0F + (float)row / 4.0F;
    case WEFT_RANGE_ANY:
        break;
    }
    return x;
}

void weft_sheet_fill(float *data, const weft_operand *operand, weft_shape shape, uint64_t seed,
                     uint64_t stream) {
    const uint64_t count = weft_shape_elements(shape);
    const uint32_t columns = shape.rank > 1 ? weft_case_columns(shape) : 1;
    weft_philox_uniform(data, (size_t)count, seed, stream);
    for (uint64_t i = 0; i < count; i++) {
        data[i] = in_range(operand->range, data[i], i, columns);
    }
}

uint32_t weft_far_state_size(const weft_sizes *s, uint32_t features) {
    const uint32_t values = usually(s->values, s->width);
    return s->heads * (6 * features * (values + 1) + 64 * (features + values));
}

/* ---- the mixer ---- */

/* A band is no wider than the sequence. */
static void limit_half_width(weft_sheet_params *params, size_t field, uint32_t n) {
    uint32_t half_width = 0;
    if (field != 0) {
        memcpy(&half_width, field_of(params, field), sizeof half_width);
        half_width = half_width < n ? half_width : n - 1;
        write_field(params, field, &half_width, sizeof half_width);
    }
}

/* The op, and what its definition makes of each sequence. */
static weft_array call_and_define(weft_case *c, const weft_sheet *sheet, const weft_array *x,
                                  const weft_sheet_params *params) {
    weft_call call = {x[0],
                      x[1],
                      x[2],
                      1,
                      weft_sheet_is_causal(sheet, params),
                      params,
                      .given = x[3].value,
                      .count = x[3].shape.dim[0]};
    weft_tensor tensors[WEFT_OPERANDS];
    weft_tensor y = {0};
    for (uint32_t i = 0; i < WEFT_OPERANDS; i++) {
        tensors[i] = x[i].tensor;
    }
    if (sheet->heads != 0) {
        memcpy(&call.heads, (const uint8_t *)params + sheet->heads - 1, sizeof call.heads);
    }
    if (sheet->kv_heads != 0) {
        memcpy(&call.kv_heads, (const uint8_t *)params + sheet->kv_heads - 1, sizeof call.kv_heads);
    }
    const weft_status status = WEFT_CASE_ADD(c, sheet->call(&y, c->graph, tensors, params));
    return weft_case_attend(c, status, y, sheet->define, &call);
}

weft_array weft_sheet_mix(weft_case *c, const weft_sheet *sheet, const weft_array *x,
                          const void *params) {
    weft_sheet_params own = {{0}};
    if (params) {
        memcpy(&own, params, sheet->params_size);
    }
    for (uint32_t i = 0; i < weft_sheet_operand_count(sheet); i++) {
        if (x[i].tensor.id != 0) {
            weft_sheet_set(&own, sheet->operands[i].field, x[i].tensor);
        }
    }
    limit_half_width(&own, sheet->half_width, x[0].shape.dim[1]);
    return sheet->define ? call_and_define(c, sheet, x, &own) : sheet->mix(c, x, &own);
}

/* An input, or a constant with values of its own. */
static weft_array make_operand(weft_case *c, const weft_operand *operand, weft_shape shape,
                               weft_values kind) {
    if (operand->range < WEFT_RANGE_POWERS) {
        return operand->is_weight ? weft_case_weight(c, shape, WEFT_VALUES_UNIT)
                                  : weft_case_input(c, operand->name, shape, kind);
    }
    float *data = weft_reference_memory(&c->ref, weft_shape_elements(shape), sizeof *data);
    if (!data) {
        return (weft_array){.shape = shape};
    }
    weft_sheet_fill(data, operand, shape, 0, 0);
    return weft_case_weight_of(c, shape, data);
}

weft_array weft_sheet_in_range(weft_case *c, const weft_operand *operand, weft_array x) {
    switch (x.shape.rank > 0 ? operand->range : WEFT_RANGE_ANY) {
    case WEFT_RANGE_POSITIVE:
        return weft_case_affine(c, x, 1.0F, 1.25F);
    case WEFT_RANGE_UNIT:
        return weft_case_activate(c, x, WEFT_ACTIVATION_SIGMOID);
    case WEFT_RANGE_DECAYS:
        return weft_case_affine(c, weft_case_activate(c, x, WEFT_ACTIVATION_SIGMOID), -1.0F, 0.0F);
    default:
        return x;
    }
}

weft_array weft_sheet_operand(weft_case *c, const weft_sheet *sheet, uint32_t operand,
                              const weft_sizes *sizes, bool causal, weft_values kind) {
    const weft_operand *o = &sheet->operands[operand];
    const weft_array x = make_operand(c, o, weft_sheet_shape(sheet, operand, sizes, causal),
                                      o->range == WEFT_RANGE_UNIT ? WEFT_VALUES_UNIT : kind);
    return weft_sheet_in_range(c, o, x);
}

void weft_sheet_case(weft_case *c, const weft_sheet *sheet, uint32_t with, const weft_sizes *sizes,
                     weft_values kind, const void *params) {
    const bool causal = weft_sheet_is_causal(sheet, params);
    weft_array x[WEFT_OPERANDS] = {{.value = NULL}};
    for (uint32_t i = 0; i < weft_sheet_operand_count(sheet); i++) {
        if (!sheet->operands[i].is_optional || (with >> i & 1) != 0) {
            x[i] = weft_sheet_operand(c, sheet, i, sizes, causal, kind);
        }
    }
    weft_case_expect(c, "y", weft_sheet_mix(c, sheet, x, params));
}

weft_array weft_attend_with_features(weft_case *c, weft_array phi, weft_array psi, weft_array v,
                                     const weft_feature_attention *params) {
    return weft_case_linear_attention(
        c, phi, psi, v,
        weft_linear_attention_params(.heads = params->heads, .causal = params->causal,
                                     .epsilon = params->epsilon, .lengths = params->lengths));
}
