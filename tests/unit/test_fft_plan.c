/* SPDX-License-Identifier: MIT */
/* Making FFT programs: what is refused, the cache, damage, running out of memory. No device. */
#include <locale.h>
#include <math.h>
#include <pthread.h>

#include "core/math/philox.h"
#include "core/system/disk_cache.h"
#include "mixers/vkfft/fft_program.h"
#include "mixers/vkfft/host_dft.h"
#include "mixers/vkfft/program_file.h"
#include "mixers/vkfft/vkfft_unit.h"
#include "support.h"

static struct weft_fft_desc describe(enum weft_fft_kind kind, uint32_t n, uint32_t d,
                                     uint32_t batch) {
    return (struct weft_fft_desc){.kind = kind,
                                  .rank = n > 0 ? 2 : 1,
                                  .size = {d, n},
                                  .batch = batch,
                                  .transform_axis = {true, n > 0}};
}

/* The program as bytes, in malloc's memory. */
static uint8_t *bytes_of(const struct weft_fft_program *program, size_t *size) {
    uint8_t *data = NULL;
    assert_ok(weft_fft_program_write(&data, size, program, NULL));
    return data;
}

static void assert_same(const struct weft_fft_program *a, const struct weft_fft_program *b) {
    size_t a_size, b_size;
    uint8_t *a_bytes = bytes_of(a, &a_size);
    uint8_t *b_bytes = bytes_of(b, &b_size);
    assert_int_equal(a_size, b_size);
    assert_memory_equal(a_bytes, b_bytes, a_size);
    free(a_bytes);
    free(b_bytes);
}

/* ---- arithmetic on the host ---- */

WEFT_TEST(test_trigonometry) {
#ifdef __MINGW32__ /* the processor's own instructions, which reduce angles by 66 bits of pi */
    print_message("this C library's sine and cosine are no measure\n");
    skip();
#endif
    for (uint64_t i = 0; i < 200000; i++) {
        uint32_t word = weft_philox_u32(1, 0, i);
        double x = ((double)word * 0x1p-32 - 0.5) * (i % 2 == 0 ? 20.0 : 6e6);
        assert_true(fabs(weft_fft_cos(x) - cos(x)) <= 0x1p-52);
        assert_true(fabs(weft_fft_sin(x) - sin(x)) <= 0x1p-52);
    }
    for (uint64_t n = 1; n <= 360; n++) {
        for (uint64_t k = 0; k <= 2 * n; k++) {
            double root[2];
            weft_fft_root_of_unity(root, k, n);
            double angle = 2.0 * acos(-1.0) * (double)(k % n) / (double)n;
            /* The angle itself is rounded, here but not there. */
            assert_true(fabs(root[0] - cos(angle)) <= 2e-15);
            assert_true(fabs(root[1] - sin(angle)) <= 2e-15);
        }
    }
    double root[2];
    weft_fft_root_of_unity(root, UINT64_MAX - 1, UINT64_MAX);
    assert_true(root[0] == 1.0 && fabs(root[1]) < 1e-18);
}

WEFT_TEST(test_host_dft) {
    static const uint64_t lengths[] = {1, 2, 3, 4, 7, 12, 30, 49, 97, 210, 256};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint64_t n = lengths[i];
        double *input = calloc(n, 2 * sizeof *input);
        double *output = calloc(n, 2 * sizeof *output);
        assert_non_null(input);
        assert_non_null(output);
        for (uint64_t j = 0; j < 2 * n; j++) {
            input[j] = (double)weft_philox_u32(2, n, j) * 0x1p-31 - 1.0;
        }
        assert_ok(weft_fft_host_dft(output, input, n, NULL));
        double error = 0.0, norm = 0.0;
        for (uint64_t k = 0; k < n; k++) {
            double sum[2] = {0.0, 0.0};
            for (uint64_t j = 0; j < n; j++) {
                double angle = -2.0 * acos(-1.0) * (double)(j * k % n) / (double)n;
                sum[0] += input[2 * j] * cos(angle) - input[2 * j + 1] * sin(angle);
                sum[1] += input[2 * j] * sin(angle) + input[2 * j + 1] * cos(angle);
            }
            for (int part = 0; part < 2; part++) {
                error += pow(sum[part] - output[2 * k + (uint64_t)part], 2.0);
                norm += sum[part] * sum[part];
            }
        }
        assert_true(sqrt(error / norm) < 1e-14);
        free(input);
        free(output);
    }
}

/* ---- what is made and what is refused ---- */

static weft_status status_for(struct weft_test_host *host, struct weft_fft_desc desc) {
    struct weft_fft_program *untouched = (struct weft_fft_program *)(void *)host;
    struct weft_fft_program *program = untouched;
    uint32_t compiled = 77;
    weft_status status = weft_fft_program_create(&program, &desc, NULL, &compiled, &host->host);
    if (status == WEFT_OK) {
        weft_fft_program_destroy(&program, &host->host);
        assert_null(program);
    } else {
        assert_ptr_equal(program, untouched);
    }
    return status;
}

WEFT_TEST_ON_HOST(test_refusals, host) {
    struct weft_fft_desc desc = describe(WEFT_FFT_C2C_FORWARD, 0, 8, 1);
    desc.rank = 0;
    assert_int_equal(status_for(host, desc), WEFT_INVALID_ARGUMENT);
    desc.rank = 3;
    assert_int_equal(status_for(host, desc), WEFT_INVALID_ARGUMENT);
    desc = describe(WEFT_FFT_C2C_FORWARD, 0, 8, 0);
    assert_int_equal(status_for(host, desc), WEFT_INVALID_ARGUMENT);
    desc = describe(WEFT_FFT_C2C_FORWARD, 0, 0, 1);
    assert_int_equal(status_for(host, desc), WEFT_INVALID_ARGUMENT);
    desc = describe(WEFT_FFT_C2C_FORWARD, 1, 8, 1);
    desc.size[1] = 0;
    assert_int_equal(status_for(host, desc), WEFT_INVALID_ARGUMENT);
    desc = describe(WEFT_FFT_R2C, 4, 8, 1);
    desc.transform_axis[0] = false;
    WEFT_EXPECT_REFUSED(host, WEFT_INVALID_ARGUMENT, status_for(host, desc), "error", "innermost");

    weft_test_host_reset(host);
    assert_int_equal(status_for(host, describe(WEFT_FFT_C2C_FORWARD, 0, 1, 5)), WEFT_UNSUPPORTED);
    assert_int_equal(status_for(host, describe(WEFT_FFT_C2C_INVERSE, 1, 1, 5)), WEFT_UNSUPPORTED);
    desc = describe(WEFT_FFT_C2C_FORWARD, 4, 8, 1);
    desc.transform_axis[0] = false;
    desc.transform_axis[1] = false;
    WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED, status_for(host, desc), "error", "length 1");

    weft_test_host_reset(host);
    assert_int_equal(status_for(host, describe(WEFT_FFT_R2C, 0, UINT32_MAX, 1)), WEFT_UNSUPPORTED);
    assert_int_equal(status_for(host, describe(WEFT_FFT_C2C_FORWARD, 0, 1024, UINT32_MAX)),
                     WEFT_UNSUPPORTED);
    WEFT_EXPECT_REFUSED(
        host, WEFT_UNSUPPORTED,
        status_for(host, describe(WEFT_FFT_C2R, UINT32_MAX, UINT32_MAX, UINT32_MAX)), "error",
        "4 GiB");

    WEFT_EXPECT_REFUSED(host, WEFT_UNSUPPORTED,
                        status_for(host, describe(WEFT_FFT_C2C_FORWARD, 2, 2, 65536)), "error",
                        "workgroups");
    assert_ok(status_for(host, describe(WEFT_FFT_C2C_FORWARD, 2, 2, 65535)));
}

static void assert_program(struct weft_fft_desc desc, uint64_t input_bytes, uint64_t output_bytes,
                           uint32_t dispatches, bool temporary) {
    struct weft_fft_program *program = NULL;
    uint32_t compiled;
    assert_ok(weft_fft_program_create(&program, &desc, NULL, &compiled, NULL));
    assert_int_equal(program->input_bytes, input_bytes);
    assert_int_equal(program->output_bytes, output_bytes);
    assert_int_equal(program->dispatch_count, dispatches);
    assert_int_equal(program->temp_bytes > 0, temporary);
    assert_true(compiled >= program->module_count);
    weft_fft_program_destroy(&program, NULL);
}

/* What FNet is promised: at most three dispatches, and no temporary memory up to 512 tokens. */
WEFT_TEST(test_shape_of_programs) {
    assert_program(describe(WEFT_FFT_R2C, 512, 768, 1), UINT64_C(4) * 512 * 768,
                   UINT64_C(8) * 512 * 385, 2, false);
    assert_program(describe(WEFT_FFT_R2C, 500, 768, 3), UINT64_C(12) * 500 * 768,
                   UINT64_C(24) * 500 * 385, 2, false);
    assert_program(describe(WEFT_FFT_R2C, 7, 768, 1), UINT64_C(4) * 7 * 768, UINT64_C(8) * 7 * 385,
                   2, false);
    assert_program(describe(WEFT_FFT_R2C, 1, 768, 1), UINT64_C(4) * 768, UINT64_C(8) * 385, 1,
                   false);
    assert_program(describe(WEFT_FFT_R2C, 1024, 768, 1), UINT64_C(4) * 1024 * 768,
                   UINT64_C(8) * 1024 * 385, 3, true);
    assert_program(describe(WEFT_FFT_C2R, 7, 9, 2), UINT64_C(2) * 8 * 7 * 5,
                   UINT64_C(2) * 4 * 7 * 9, 2, true);
    assert_program(describe(WEFT_FFT_C2C_FORWARD, 0, 2048, 2), 32768, 32768, 1, false);
    assert_program(describe(WEFT_FFT_C2C_FORWARD, 0, 2053, 1), 16424, 16424, 3, true);
}

/* SHA-256 of all tables of a program, one behind the other: the same on every host, whatever its
   libm. For VkFFT 1.3.4. */
static void assert_tables(struct weft_fft_desc desc, const char *expected) {
    struct weft_fft_program *program = NULL;
    uint32_t compiled;
    assert_ok(weft_fft_program_create(&program, &desc, NULL, &compiled, NULL));
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    for (uint32_t i = 0; i < program->table_count; i++) {
        weft_sha256_add(&hash, program->tables[i].data, program->tables[i].size);
    }
    weft_digest digest = weft_sha256_end(&hash);
    char text[WEFT_DIGEST_TEXT_SIZE];
    assert_string_equal(weft_digest_text(&digest, text), expected);
    weft_fft_program_destroy(&program, NULL);
}

WEFT_TEST(test_tables) {
    char identity[WEFT_FFT_IDENTITY_SIZE];
    weft_fft_vkfft_identity(identity);
    if (!strstr(identity, "VkFFT 10304,")) {
        skip();
    }
    assert_tables(describe(WEFT_FFT_C2C_FORWARD, 0, 1021, 1),
                  "0853164516aec21d54497d06ed9eb2b42223272e4603ca53ad83bb8cf7479327");
    assert_tables(describe(WEFT_FFT_C2C_INVERSE, 0, 2053, 1),
                  "e1b0da25ae9b663a259231bf33fd68327215bbe96814b06e25d0914e85ea1d6f");
    assert_tables(describe(WEFT_FFT_R2C, 500, 768, 1),
                  "0daf0ed0b8afe1b5a6d4b272392271c2a152db7416ea34d737a78e37697250f5");
    assert_tables(describe(WEFT_FFT_R2C, 0, 4096, 1),
                  "ea5a551c2360b5ed49c93aa0af7a9b8296447b640f955fa70d255c56382d89a7");
}

/* A program's numbers as seen from a place where the decimal point is a comma. */
WEFT_TEST(test_locale) {
    struct weft_fft_desc desc = describe(WEFT_FFT_C2C_FORWARD, 0, 35, 1);
    struct weft_fft_program *here = NULL;
    struct weft_fft_program *there = NULL;
    uint32_t compiled;
    assert_ok(weft_fft_program_create(&here, &desc, NULL, &compiled, NULL));
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8", "nl_NL.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++) {
        found = setlocale(LC_ALL, names[i]) != NULL;
    }
    weft_status status = weft_fft_program_create(&there, &desc, NULL, &compiled, NULL);
    setlocale(LC_ALL, "C");
    assert_ok(status);
    assert_same(here, there);
    weft_fft_program_destroy(&here, NULL);
    weft_fft_program_destroy(&there, NULL);
    if (!found) {
        print_message("no locale with a decimal comma is installed: tested in C only\n");
    }
}

/* ---- the cache ---- */

WEFT_TEST_ON_HOST(test_cache, host) {
    char *folder = weft_test_folder();
    struct weft_cache *cache = NULL;
    assert_ok(weft_cache_create(&cache, folder, 0, &host->host));
    static const enum weft_fft_kind kinds[] = {WEFT_FFT_R2C, WEFT_FFT_C2R};
    for (size_t i = 0; i < 2; i++) {
        struct weft_fft_desc desc = describe(kinds[i], 0, 4096, 2);
        struct weft_fft_program *made = NULL;
        struct weft_fft_program *read = NULL;
        uint32_t compiled = 0;
        assert_ok(weft_fft_program_create(&made, &desc, cache, &compiled, &host->host));
        assert_int_equal(compiled, made->module_count);
        assert_int_equal(weft_test_entries(folder), i + 1);
        assert_ok(weft_fft_program_create(&read, &desc, cache, &compiled, &host->host));
        assert_int_equal(compiled, 0);
        assert_same(made, read);
        weft_fft_program_destroy(&made, &host->host);
        weft_fft_program_destroy(&read, &host->host);
    }
    /* The same transform said in another way is the same entry. */
    struct weft_fft_desc rows = describe(WEFT_FFT_R2C, 2, 4096, 1);
    rows.transform_axis[1] = false;
    struct weft_fft_program *program = NULL;
    uint32_t compiled = 1;
    assert_ok(weft_fft_program_create(&program, &rows, cache, &compiled, &host->host));
    assert_int_equal(compiled, 0);
    weft_fft_program_destroy(&program, &host->host);
    weft_cache_destroy(&cache, &host->host);
    assert_string_equal(weft_test_log(host), "");
}

static uint64_t place_size(const struct weft_fft_program *program,
                           const struct weft_fft_binding *binding) {
    const uint64_t sizes[] = {program->input_bytes, program->output_bytes, program->temp_bytes};
    return binding->buffer == WEFT_FFT_TABLE ? program->tables[binding->table].size
                                             : sizes[binding->buffer];
}

/* Whether running the program could reach only what it may reach. */
static void assert_sound(const struct weft_fft_program *program) {
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        const struct weft_fft_dispatch *dispatch = &program->dispatches[i];
        assert_true(dispatch->module < program->module_count);
        assert_in_range(dispatch->binding_count, 2, WEFT_FFT_MAX_BINDINGS);
        for (int axis = 0; axis < 3; axis++) {
            assert_in_range(dispatch->groups[axis], 1, 65535);
        }
        for (uint32_t b = 0; b < dispatch->binding_count; b++) {
            const struct weft_fft_binding *binding = &dispatch->binding[b];
            assert_true(binding->buffer != WEFT_FFT_TABLE || binding->table < program->table_count);
            uint64_t size = place_size(program, binding);
            assert_true(binding->offset <= size && binding->range <= size - binding->offset);
            assert_true(binding->buffer != WEFT_FFT_INPUT || b == 0);
        }
    }
}

WEFT_TEST(test_damage) {
    struct weft_fft_desc desc = describe(WEFT_FFT_C2R, 3, 4, 2);
    struct weft_fft_program *program = NULL;
    uint32_t compiled;
    assert_ok(weft_fft_program_create(&program, &desc, NULL, &compiled, NULL));
    size_t size;
    uint8_t *data = bytes_of(program, &size);
    const struct weft_fft_program blank = {.input_bytes = program->input_bytes,
                                           .output_bytes = program->output_bytes};
    struct weft_test_host host;
    weft_test_host_begin(&host);
    unsigned refused = 0;
    for (uint64_t round = 0; round < 20000; round++) {
        size_t mutated_size;
        uint8_t *mutated = weft_test_mutate(data, size, 3, round, &mutated_size);
        struct weft_fft_program *read = weft_alloc_zero(&host.host, 1, sizeof *read);
        assert_non_null(read);
        *read = blank;
        weft_status status = weft_fft_program_read(read, mutated, mutated_size, &host.host);
        if (status == WEFT_OK) {
            assert_sound(read);
        } else {
            assert_int_equal(status, WEFT_BAD_FILE);
            assert_memory_equal(read, &blank, sizeof blank);
            refused++;
        }
        weft_fft_program_destroy(&read, &host.host);
        free(mutated);
    }
    /* Most bytes are instructions and tables, where a change is not noticed here but by the disk
       cache's own checksum. */
    assert_true(refused > 1000);
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 97) {
        struct weft_fft_program read = blank;
        assert_int_equal(weft_fft_program_read(&read, data, cut, &host.host), WEFT_BAD_FILE);
    }
    /* Temporary memory out of all proportion, from 8 MiB on. */
    for (size_t byte = 2; byte < 8; byte++) {
        struct weft_fft_program read = blank;
        uint8_t *temp_bytes = data + 16;
        const uint8_t before = temp_bytes[byte];
        temp_bytes[byte] |= 0x80;
        assert_int_equal(weft_fft_program_read(&read, data, size, &host.host), WEFT_BAD_FILE);
        temp_bytes[byte] = before;
    }
    struct weft_fft_program other = blank;
    other.input_bytes++;
    assert_int_equal(weft_fft_program_read(&other, data, size, &host.host), WEFT_BAD_FILE);
    weft_test_host_end(&host);
    free(data);
    weft_fft_program_destroy(&program, NULL);
}

/* ---- memory and threads ---- */

/* Allocations from all over planning fail, one in each attempt: VkFFT's own, some of them while
   glslang holds a shader, and those for the tables of Rader's and Bluestein's algorithms. */
static void assert_survives(struct weft_fft_desc desc, long step) {
    struct weft_test_host host;
    weft_test_host_begin(&host);
    weft_status status = WEFT_OUT_OF_HOST_MEMORY;
    for (long n = 1; status != WEFT_OK; n += step) {
        weft_test_host_reset(&host);
        host.fail_at = n;
        struct weft_fft_program *program = NULL;
        uint32_t compiled;
        status = weft_fft_program_create(&program, &desc, NULL, &compiled, &host.host);
        if (status == WEFT_OK) {
            assert_true(host.allocations < n);
            weft_fft_program_destroy(&program, &host.host);
        } else {
            assert_int_equal(status, WEFT_OUT_OF_HOST_MEMORY);
            assert_null(program);
            weft_test_expect_log(&host, "memory");
        }
        assert_int_equal(host.live, 0);
    }
    weft_test_host_end(&host);
}

WEFT_TEST(test_out_of_memory) {
    assert_survives(describe(WEFT_FFT_R2C, 0, 2, 1), 7);
    assert_survives(describe(WEFT_FFT_C2R, 0, 17, 1), 61);
    assert_survives(describe(WEFT_FFT_C2C_INVERSE, 0, 1031, 1), 331);
}

static void *create_in_thread(void *argument) {
    struct weft_fft_program **program = argument;
    struct weft_fft_desc desc = describe(WEFT_FFT_C2C_FORWARD, 0, 17, 3);
    uint32_t compiled;
    weft_status status = weft_fft_program_create(program, &desc, NULL, &compiled, NULL);
    return status == WEFT_OK ? argument : NULL;
}

WEFT_TEST(test_threads) {
    pthread_t threads[4];
    struct weft_fft_program *programs[4] = {NULL};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, create_in_thread, &programs[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_non_null(result);
        assert_same(programs[i], programs[0]);
    }
    for (int i = 0; i < 4; i++) {
        weft_fft_program_destroy(&programs[i], NULL);
    }
}
