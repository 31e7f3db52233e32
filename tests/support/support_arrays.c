/* SPDX-License-Identifier: MIT */
#include "support_arrays.h"

#include <math.h>

bool weft_test_npy_open(weft_npy *npy, const char *folder, const char *name,
                        struct weft_test_host *host) {
    char file_name[64];
    int length = snprintf(file_name, sizeof file_name, "%s.npy", name);
    assert_in_range(length, 0, sizeof file_name - 1);
    char *path = weft_test_path(folder, file_name);
    FILE *file = fopen(path, "rb");
    bool found = file != NULL;
    if (found) {
        fclose(file);
        assert_ok(weft_npy_open(npy, path, &host->host));
    }
    return found;
}

float *weft_test_npy_f32(const weft_npy *npy) {
    float *data = malloc(npy->elements * sizeof *data + 1);
    assert_non_null(data);
    assert_ok(weft_npy_read_f32(npy, data));
    return data;
}

int32_t *weft_test_npy_i32(const weft_npy *npy) {
    int32_t *data = malloc(npy->elements * sizeof *data + 1);
    assert_non_null(data);
    assert_ok(weft_npy_read_i32(npy, data));
    return data;
}

double weft_test_relative_error(const float *found, const float *expected, uint64_t count) {
    double difference = 0.0;
    double norm = 0.0;
    for (uint64_t i = 0; i < count; i++) {
        double d = (double)found[i] - (double)expected[i];
        difference += d * d;
        norm += (double)expected[i] * (double)expected[i];
    }
    return sqrt(difference / norm);
}

double weft_test_npy_error(const float *found, const weft_npy *expected) {
    float *values = weft_test_npy_f32(expected);
    double error = weft_test_relative_error(found, values, expected->elements);
    free(values);
    return error;
}
