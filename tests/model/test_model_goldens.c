/* SPDX-License-Identifier: MIT */
/* weft-test: long device */
/*
 * The model families against PyTorch in float64: every folder of tests/data/models, which
 * tests/reference/make_model_goldens.py and make_encoder_goldens.py made. A new folder needs no code here.
 */
#include <dirent.h>
#include <math.h>

#include <weft/model.h>

#include "core/formats/npz.h"
#include "core/hash.h"
#include "support_arrays.h"

#define TOLERANCE  1e-5
#define NAME_SIZE  32
#define MOST_PORTS 8
/* More than any array here has. */
#define MOST_BYTES ((size_t)1 << 20)

/* The bits of all cases, the same on every device: a line of digest, folder and case for each. */
#define BITS      "models/bits.sha256"
#define LINE_SIZE 160

/** What all cases came to. */
struct fixture {
    struct weft_test_device *test;
    char *bits;
    size_t bits_size;
    double worst;
    uint32_t cases, failed;
};

/** A model folder of the goldens, and what PyTorch read and gave. */
struct golden {
    struct fixture *fixture;
    const char *name;
    weft_model *model;
    weft_npz *input, *expected;
};

static void open_archive(weft_npz **npz, const char *folder, const char *name,
                         const struct fixture *fixture) {
    char *path = weft_test_path(folder, name);
    assert_ok(weft_npz_open(npz, path, &fixture->test->host.host));
}

/* The array `name` of case `index`. */
static void get(weft_npy *npy, const struct golden *golden, weft_npz *npz, const char *name,
                uint32_t index) {
    char member[NAME_SIZE];
    snprintf(member, sizeof member, "%.20s%u", name, index);
    if (weft_npz_get(npy, npz, member, MOST_BYTES) != WEFT_OK) {
        fail_msg("%s: the model has a port %s, the golden no array %s", golden->name, name, member);
    }
}

static bool has(const weft_npz *npz, const char *name, uint32_t index) {
    char member[NAME_SIZE];
    snprintf(member, sizeof member, "%.20s%u", name, index);
    return weft_npz_has(npz, member);
}

/* A case's values for one input of the plan, in malloc's memory. */
static void *read_input(const struct golden *golden, const weft_port_info *port, uint32_t index) {
    weft_npy npy;
    get(&npy, golden, golden->input, port->name, index);
    assert_int_equal(npy.elements * 4, port->bytes);
    void *values = malloc((size_t)port->bytes);
    assert_non_null(values);
    assert_ok(port->dtype == WEFT_F32 ? weft_npy_read_f32(&npy, values)
                                      : weft_npy_read_i32(&npy, values));
    weft_npy_close(&npy);
    return values;
}

static void check_bits(const struct golden *golden, uint32_t index, const void *output,
                       size_t bytes) {
    struct fixture *fixture = golden->fixture;
    char line[LINE_SIZE];
    const weft_digest digest = weft_digest_of(output, bytes);
    weft_digest_text(&digest, line);
    const size_t used = strlen(line);
    const int more = snprintf(line + used, sizeof line - used, "  %.64s %u\n", golden->name, index);
    const size_t length = used + (size_t)more;
    for (size_t i = 0; i + length <= fixture->bits_size; i++) {
        if (memcmp(fixture->bits + i, line, length) == 0) {
            return;
        }
    }
    print_error("not in %s: %s", BITS, line);
    fixture->failed++;
}

/* Runs a plan on a case, and compares. */
static double run(const struct golden *golden, weft_plan *plan, uint32_t index) {
    weft_host_tensor tensors[MOST_PORTS] = {{.name = NULL}};
    weft_port_info port = {.is_output = false};
    uint32_t count = 0;
    for (; !port.is_output; count++) {
        assert_in_range(count, 0, MOST_PORTS - 1);
        assert_ok(weft_plan_get_port(plan, count, &port));
        void *data = NULL;
        if (port.is_output) {
            data = malloc((size_t)port.bytes);
            assert_non_null(data);
            memset(data, 0xff, (size_t)port.bytes);
        } else {
            data = read_input(golden, &port, index);
        }
        tensors[count] = (weft_host_tensor){.name = port.name, .data = data, .bytes = port.bytes};
    }
    weft_npy expected;
    get(&expected, golden, golden->expected, port.name, index);
    assert_int_equal(expected.bytes, port.bytes);
    assert_ok(weft_plan_execute(plan, tensors, count));
    double error = weft_test_npy_error(tensors[count - 1].data, &expected);
    check_bits(golden, index, tensors[count - 1].data, (size_t)port.bytes);
    weft_npy_close(&expected);
    while (count-- > 0) {
        free(tensors[count].data);
    }
    return error;
}

static void check_case(struct golden *golden, uint32_t index, const weft_plan_params *params) {
    struct fixture *fixture = golden->fixture;
    weft_npy first;
    weft_model_info info;
    assert_ok(weft_model_get_info(golden->model, &info));
    get(&first, golden, golden->input,
        info.image_size   ? "pixels"
        : info.input_size ? "features"
                          : "tokens",
        index);
    uint32_t batch = (uint32_t)first.shape[0];
    uint32_t length = info.image_size ? info.exact_length : (uint32_t)first.shape[1];
    weft_npy_close(&first);
    weft_plan *plan = NULL;
    double error = INFINITY;
    if (weft_model_compile(&plan, golden->model, fixture->test->device, batch, length,
                           has(golden->input, "token_types", index), params) == WEFT_OK) {
        error = run(golden, plan, index);
    }
    weft_plan_destroy(&plan);
    fixture->cases++;
    fixture->worst = fmax(fixture->worst, error);
    if (!(error <= TOLERANCE)) {
        print_error("%s, %u of %u tokens: relative L2 %g exceeds %g\n", golden->name, batch, length,
                    error, TOLERANCE);
        fixture->failed++;
    }
}

static void check_golden(struct fixture *fixture, const char *name,
                         const weft_plan_params *params) {
    char *root = weft_test_data("models");
    char *folder = weft_test_path(root, name);
    struct golden golden = {.fixture = fixture, .name = name};
    weft_test_host_reset(&fixture->test->host); /* so that a message is this model's */
    open_archive(&golden.input, folder, "input.npz", fixture);
    open_archive(&golden.expected, folder, "expected.npz", fixture);
    if (weft_model_load(&golden.model, folder, &fixture->test->host.host) != WEFT_OK) {
        print_error("%s: %s", name, weft_test_log(&fixture->test->host));
        fixture->failed++;
    } else {
        for (uint32_t i = 0; has(golden.expected, "output", i); i++) {
            check_case(&golden, i, params);
        }
    }
    weft_model_destroy(&golden.model);
    weft_npz_close(&golden.input);
    weft_npz_close(&golden.expected);
}

static void check_all(struct fixture *fixture, const weft_plan_params *params) {
    char *root = weft_test_data("models");
    DIR *folder = opendir(root);
    assert_non_null(folder);
    for (struct dirent *entry = readdir(folder); entry; entry = readdir(folder)) {
        if (!strchr(entry->d_name, '.')) { /* no README.md, no parent */
            check_golden(fixture, entry->d_name, params);
        }
    }
    closedir(folder);
    print_message("%u cases, worst relative L2 %.2g\n", fixture->cases, fixture->worst);
    assert_int_equal(fixture->failed, 0);
    assert_in_range(fixture->cases, 100, 1000);
}

WEFT_TEST_ON_DEVICE(test_goldens, f) {
    struct fixture fixture = {.test = f};
    fixture.bits = (char *)weft_test_read(weft_test_data(BITS), &fixture.bits_size);
    check_all(&fixture, NULL);
    free(fixture.bits);
}
