/* SPDX-License-Identifier: MIT */
/* weft-test: one device */
/* A checkpoint of f16 or bf16 is kept in 16 bits where products and embeddings read it, and has the bits of the widened checkpoint. */
#include "cli/command.h"
#include "core/math/half.h"
#include "model/files/safetensors.h"
#include "model/files/safetensors_header.h"

#define GOLDEN WEFT_SOURCE_DIR "/tests/data/fnet/classify_d36_l2_gelu"

static uint16_t narrow(float value, weft_safetensors_dtype dtype) {
    return dtype == WEFT_SAFETENSORS_F16 ? weft_half_of_float(value) : weft_bfloat_of_float(value);
}

static float widen(uint16_t bits, weft_safetensors_dtype dtype) {
    return dtype == WEFT_SAFETENSORS_F16 ? weft_float_of_half(bits) : weft_float_of_bfloat(bits);
}

/* A tensor rounded to the type, in it or widened again; how many bytes that takes. */
static size_t put(void *out, const weft_safetensors *file, const weft_safetensors_tensor *tensor,
                  weft_safetensors_dtype dtype, bool widened) {
    const size_t count = (size_t)tensor->elements;
    float *values = malloc(count * sizeof *values);
    uint16_t *halves = malloc(count * sizeof *halves);
    assert_ok(weft_safetensors_read_f32(file, tensor, 0, count, values));
    for (size_t i = 0; i < count; i++) {
        halves[i] = narrow(values[i], dtype);
        values[i] = widen(halves[i], dtype);
    }
    const size_t bytes = count * (widened ? sizeof *values : sizeof *halves);
    memcpy(out, widened ? (const void *)values : halves, bytes);
    free(values);
    free(halves);
    return bytes;
}

/* The golden model in a folder of its own. */
static char *write_model(weft_safetensors_dtype dtype, bool widened) {
    weft_safetensors *file = NULL;
    struct weft_safetensors_header header = {.data = 0};
    char *folder = weft_test_folder();
    size_t size = 0;
    uint8_t *config = weft_test_read(GOLDEN "/config.json", &size);
    weft_test_write(folder, "config.json", config, size);
    free(config);
    assert_ok(weft_safetensors_open(&file, GOLDEN "/model.safetensors", NULL));
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        const weft_safetensors_tensor *tensor = weft_safetensors_at(file, i);
        assert_ok(weft_safetensors_header_add(&header, tensor->name,
                                              widened ? WEFT_SAFETENSORS_F32 : dtype, tensor->shape,
                                              tensor->rank));
    }
    assert_ok(weft_safetensors_header_end(&header, NULL, 0));
    size = header.text.length;
    char *data = malloc(size + (size_t)header.data);
    memcpy(data, header.text.data, size);
    for (uint32_t i = 0; i < weft_safetensors_count(file); i++) {
        size += put(data + size, file, weft_safetensors_at(file, i), dtype, widened);
    }
    weft_test_write(folder, "model.safetensors", data, size);
    free(data);
    weft_free(NULL, header.text.data);
    weft_safetensors_close(&file);
    return folder;
}

static json_t *run(const char *folder) {
    struct outcome outcome =
        expect_weft(0, "run %s --tokens " GOLDEN "/cases/n9_b1/tokens.npy --json", folder);
    json_t *report = json_of(&outcome);
    outcome_clear(&outcome);
    return report;
}

static json_int_t bytes_of(const json_t *report, const char *name) {
    return json_integer_value(json_object_get(report, name));
}

WEFT_TEST(a_checkpoint_of_16_bits_has_the_bits_of_the_widened_one) {
    static const weft_safetensors_dtype dtypes[] = {WEFT_SAFETENSORS_F16, WEFT_SAFETENSORS_BF16};
    for (size_t i = 0; i < sizeof dtypes / sizeof dtypes[0]; i++) {
        json_t *stored = run(write_model(dtypes[i], false));
        json_t *widened = run(write_model(dtypes[i], true));
        assert_string_equal(string_field(stored, "output/sha256"),
                            string_field(widened, "output/sha256"));
        assert_int_equal(bytes_of(widened, "narrow_weight_bytes"), 0);
        /* All but biases, norms and the tables of Fourier transforms. */
        const json_int_t narrow_bytes = bytes_of(stored, "narrow_weight_bytes");
        assert_true(narrow_bytes > 0);
        assert_int_equal(bytes_of(stored, "weight_bytes") + narrow_bytes,
                         bytes_of(widened, "weight_bytes"));
        json_decref(stored);
        json_decref(widened);
    }
}
