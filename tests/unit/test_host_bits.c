/* SPDX-License-Identifier: MIT */
/* weft-test: long */
/*
 * What the host computes and devices read - feature matrices, FLT sets, sounds, VkFFT's programs - has the same bits on every
 * processor, by every compiler and C library: its hashes are those of tests/data/host-bits.sha256, which are of x86-64 with
 * glibc. All that were found are written to host-bits.sha256 in the build folder; to commit a change on purpose, copy that.
 */
#include <stdlib.h>
#include <string.h>

#include <glslang/build_info.h>

#include <weft/features.h>
#include <weft/flt.h>
#include <weft/speech.h>

#include "core/hash.h"
#include "core/math/half.h"
#include "core/math/philox.h"
#include "core/math/portable_math.h"
#include "core/math/quantile.h"
#include "core/math/trig.h"
#include "mixers/vkfft/fft_program.h"
#include "mixers/vkfft/host_dft.h"
#include "mixers/vkfft/vkfft_unit.h"
#include "support.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct bits {
    struct weft_test_host *host;
    char *expected; /* the committed file */
    FILE *found;
    uint32_t compared, wrong;
};

static int set_up(void **state) {
    struct bits *bits = calloc(1, sizeof *bits);
    size_t size = 0;
    assert_non_null(bits);
    void *host = NULL;
    assert_int_equal(weft_test_host_set_up(&host), 0);
    bits->host = host;
    bits->expected = (char *)weft_test_read(weft_test_data("host-bits.sha256"), &size);
    bits->found = fopen(WEFT_BINARY_DIR "/host-bits.sha256", "a");
    assert_non_null(bits->found);
    *state = bits;
    return 0;
}

static int tear_down(void **state) {
    struct bits *bits = *state;
    void *host = bits->host;
    fclose(bits->found);
    free(bits->expected);
    free(bits);
    return weft_test_host_tear_down(&host);
}

#define TEST(name) WEFT_TEST_WITH(name, struct bits *bits, set_up, tear_down)

/* One line of the file: the hash, two spaces and the name, as sha256sum writes it. */
static void expect(struct bits *bits, const char *name, const weft_digest *digest) {
    char text[WEFT_DIGEST_TEXT_SIZE];
    const char *line = weft_test_text("\n%s  %s\n", weft_digest_text(digest, text), name);
    fputs(line + 1, bits->found);
    bits->compared++;
    if (!strstr(bits->expected, line)) {
        bits->wrong++;
        print_error("%s: found %s, which is not in tests/data/host-bits.sha256\n", name, text);
    }
}

static void expect_bytes(struct bits *bits, const char *name, const void *data, size_t size) {
    const weft_digest digest = weft_digest_of(data, size);
    expect(bits, name, &digest);
}

/* Each test ends so. `count` is of the lines that it should have compared. */
static void conclude(const struct bits *bits, uint32_t count) {
    assert_int_equal(bits->compared, count);
    assert_int_equal(bits->wrong, 0);
}

/* The list of what was found begins anew. */
WEFT_TEST(the_file_is_there) {
    FILE *file = fopen(WEFT_BINARY_DIR "/host-bits.sha256", "w");
    assert_non_null(file);
    fputs("# What the host computes: SHA-256 of its bits, see tests/unit/test_host_bits.c.\n",
          file);
    fclose(file);
}

/* ---- functions of numbers ---- */

#define SAMPLES (1u << 18)

/* 0 < u < 1 with 53 bits: halves of all 2^-53. */
static double unit(uint32_t i, uint32_t stream) {
    uint32_t words[4] = {i, stream, 0, 0};
    weft_philox(words, 17);
    const uint64_t bits = ((uint64_t)words[0] << 32 | words[1]) >> 12;
    return ((double)bits + 0.5) * 0x1p-52;
}

static double sample_exp(uint32_t i) {
    return weft_portable_exp(1400.0 * unit(i, 1) - 700.0);
}

/* All binades of normal numbers. */
static double sample_log(uint32_t i) {
    const double mantissa = 1.0 + unit(i, 2);
    uint64_t word;
    memcpy(&word, &mantissa, sizeof word);
    word = (word & 0x000FFFFFFFFFFFFFull) | (uint64_t)(1 + i % 2046) << 52;
    double x;
    memcpy(&x, &word, sizeof x);
    return weft_portable_log(x);
}

static double sample_cos(uint32_t i) {
    return weft_fft_cos(8e6 * unit(i, 3) - 4e6);
}

static double sample_sin(uint32_t i) {
    return weft_fft_sin(8e6 * unit(i, 4) - 4e6);
}

static double sample_cos_near(uint32_t i) {
    return weft_fft_cos(16.0 * unit(i, 5) - 8.0);
}

static double sample_sin_near(uint32_t i) {
    return weft_fft_sin(16.0 * unit(i, 6) - 8.0);
}

static double sample_unit_root(uint32_t i) {
    double cosine, sine;
    weft_unit_root(&cosine, &sine, i, 1 + i % 100003);
    return cosine + 4.0 * sine;
}

static double sample_normal(uint32_t i) {
    return weft_normal_quantile(i % 2 == 0 ? unit(i, 7) : unit(i, 7) * 0x1p-8);
}

TEST(functions_have_the_same_bits) {
    static const struct {
        const char *name;
        double (*at)(uint32_t i);
    } functions[] = {
        {"function/exp", sample_exp},
        {"function/log", sample_log},
        {"function/cos", sample_cos},
        {"function/sin", sample_sin},
        {"function/cos-near-0", sample_cos_near},
        {"function/sin-near-0", sample_sin_near},
        {"function/unit-root", sample_unit_root},
        {"function/normal-quantile", sample_normal},
    };
    double *values = malloc(SAMPLES * sizeof *values);
    assert_non_null(values);
    for (size_t f = 0; f < COUNT(functions); f++) {
        for (uint32_t i = 0; i < SAMPLES; i++) {
            values[i] = functions[f].at(i);
        }
        expect_bytes(bits, functions[f].name, values, SAMPLES * sizeof *values);
    }
    free(values);
    conclude(bits, COUNT(functions));
}

TEST(chi_quantiles_have_the_same_bits) {
    static const uint32_t degrees[] = {2, 8, 64, 1024};
    double values[1000];
    for (size_t d = 0; d < COUNT(degrees); d++) {
        const struct weft_chi chi = weft_chi_of(degrees[d]);
        for (uint32_t i = 0; i < COUNT(values); i++) {
            values[i] = weft_chi_quantile(&chi, unit(i, 8));
        }
        expect_bytes(bits, weft_test_text("function/chi-quantile/%u", degrees[d]), values,
                     sizeof values);
    }
    conclude(bits, COUNT(degrees));
}

/* From every half, and to halves from floats of every exponent, ties among them. */
TEST(halves_have_the_same_bits) {
    enum { HALVES = 1 << 16 };
    float *floats = malloc(HALVES * sizeof *floats);
    uint16_t *halves = malloc(HALVES * sizeof *halves);
    assert_non_null(floats);
    assert_non_null(halves);
    for (uint32_t i = 0; i < HALVES; i++) {
        floats[i] = weft_float_of_half((uint16_t)i);
    }
    expect_bytes(bits, "half/to-float", floats, HALVES * sizeof *floats);
    for (uint32_t i = 0; i < HALVES; i++) {
        const uint32_t word = i << 16 | (i % 3 == 0 ? 0x1000u : i * 40503u % 0x10000u);
        memcpy(&floats[i], &word, sizeof word);
        halves[i] = weft_half_of_float(floats[i]);
    }
    expect_bytes(bits, "half/of-float", halves, HALVES * sizeof *halves);
    free(floats);
    free(halves);
    conclude(bits, 2);
}

/* ---- matrices ---- */

static void expect_features(struct bits *bits, const char *what, const weft_features_params *p) {
    const size_t count = (size_t)p->rows * p->columns;
    float *w = calloc(count + p->rows, sizeof *w);
    assert_non_null(w);
    assert_ok(weft_features_fill(w, w + count, p, &bits->host->host));
    expect_bytes(bits,
                 weft_test_text("features/%s%s/%ux%u", weft_features_name(p->kind), what, p->rows,
                                p->columns),
                 w, (count + p->rows) * sizeof *w);
    free(w);
}

/* The number of rows that a kind has for so many columns, if it is not free. */
static uint32_t rows_of(weft_features_kind kind, uint32_t rows, uint32_t columns) {
    if (kind == WEFT_FEATURES_SGQ) {
        return 2 * columns + 1;
    }
    return kind == WEFT_FEATURES_SSR ? 1 + 2 * (columns + 1) * 2 : rows;
}

TEST(feature_matrices_have_the_same_bits) {
    static const uint32_t shapes[][2] = {{16, 6}, {64, 32}, {130, 50}};
    for (int kind = 0; kind < WEFT_FEATURES_KIND_COUNT; kind++) {
        for (uint32_t s = 0; s < COUNT(shapes); s++) {
            const uint32_t columns = shapes[s][1];
            expect_features(
                bits, "",
                weft_features_params(.kind = (weft_features_kind)kind, .columns = columns,
                                     .rows =
                                         rows_of((weft_features_kind)kind, shapes[s][0], columns),
                                     .seed = 1234 + s, .matrix = s));
        }
    }
    expect_features(bits, "/sobol-shift",
                    weft_features_params(.kind = WEFT_FEATURES_QMC, .rows = 257, .columns = 40,
                                         .seed = 7, .shift = true));
    expect_features(bits, "/halton-shift",
                    weft_features_params(.kind = WEFT_FEATURES_QMC, .rows = 257, .columns = 40,
                                         .seed = 7, .sequence = WEFT_FEATURES_HALTON,
                                         .shift = true));
    expect_features(bits, "/sqrt-norms",
                    weft_features_params(.kind = WEFT_FEATURES_ORF, .rows = 100, .columns = 48,
                                         .seed = 3, .norm = WEFT_FEATURES_NORM_SQRT));
    conclude(bits, WEFT_FEATURES_KIND_COUNT * COUNT(shapes) + 3);
}

TEST(flt_sets_have_the_same_bits) {
    enum { SIZE = 500, MOST = 3 };
    static const float radii[MOST] = {0.5F, 0.7F, 0.9F};
    static const float widths[1] = {0.75F};
    static float values[SIZE * (MOST + 1)];
    for (int kind = 0; kind < WEFT_FLT_KIND_COUNT; kind++) {
        for (uint32_t dimensions = 1; dimensions <= MOST; dimensions++) {
            const bool local = kind == WEFT_FLT_LOCAL;
            assert_ok(weft_flt_fill(values, values + SIZE * dimensions,
                                    weft_flt_params(.kind = (weft_flt_kind)kind, .count = SIZE,
                                                    .dimensions = dimensions, .seed = 99,
                                                    .radii = local ? radii : NULL,
                                                    .widths = local ? NULL : widths),
                                    &bits->host->host));
            expect_bytes(
                bits, weft_test_text("flt/%s/%u", weft_flt_name((weft_flt_kind)kind), dimensions),
                values, SIZE * (dimensions + 1) * sizeof *values);
        }
    }
    conclude(bits, WEFT_FLT_KIND_COUNT * MOST);
}

/* Of noise, by ratios whose taps are kept, and by one whose taps are computed where they are needed. */
TEST(sounds_at_another_rate_have_the_same_bits) {
    enum { COUNT_OF_NOISE = 5000 };
    static const uint32_t rates[][2] = {{44100, 16000}, {16000, 44100}, {44099, 16000}};
    for (size_t i = 0; i < COUNT(rates); i++) {
        weft_sound sound = {.count = COUNT_OF_NOISE, .rate = rates[i][0]};
        sound.samples = malloc(COUNT_OF_NOISE * sizeof(float));
        assert_non_null(sound.samples);
        for (uint64_t k = 0; k < COUNT_OF_NOISE; k++) {
            sound.samples[k] = (float)(int32_t)weft_philox_u32(21, 22, k) * 0x1p-31F;
        }
        assert_ok(weft_sound_resample(&sound, rates[i][1], NULL));
        expect_bytes(bits, weft_test_text("sound/%u-%u", rates[i][0], rates[i][1]), sound.samples,
                     sound.count * sizeof(float));
        weft_sound_clear(&sound, NULL);
    }
    conclude(bits, COUNT(rates));
}

/* ---- VkFFT's programs ---- */

/* Products of small primes, primes by Rader's algorithm and beyond it by Bluestein's, one dispatch and several. */
static const uint32_t lengths[] = {2,    3,    4,    5,    7,    8,    12,    13,    16,
                                   17,   23,   31,   64,   97,   127,  131,   144,   240,
                                   256,  257,  509,  512,  521,  1000, 1021,  1024,  1031,
                                   2053, 3000, 4093, 4096, 6000, 8192, 10007, 16384, 65536};

struct program_hashes {
    weft_sha256 plan, modules;
};

/* No struct as a whole: it has padding. */
static void add_dispatch(weft_sha256 *hash, const struct weft_fft_dispatch *dispatch) {
    weft_sha256_add(hash, &dispatch->module, sizeof dispatch->module);
    weft_sha256_add(hash, dispatch->groups, sizeof dispatch->groups);
    for (uint32_t i = 0; i < dispatch->binding_count; i++) {
        const struct weft_fft_binding *binding = &dispatch->binding[i];
        const uint64_t words[4] = {(uint64_t)binding->buffer, binding->table, binding->offset,
                                   binding->range};
        weft_sha256_add(hash, words, sizeof words);
    }
}

static void add_program(struct program_hashes *hashes, const struct weft_fft_program *program) {
    for (uint32_t i = 0; i < program->table_count; i++) {
        weft_sha256_add(&hashes->plan, program->tables[i].data, program->tables[i].size);
    }
    for (uint32_t i = 0; i < program->dispatch_count; i++) {
        add_dispatch(&hashes->plan, &program->dispatches[i]);
    }
    for (uint32_t i = 0; i < program->module_count; i++) {
        weft_sha256_add(&hashes->modules, program->modules[i].words, program->modules[i].size);
    }
}

static void add_transforms(struct bits *bits, struct program_hashes *hashes, uint32_t length) {
    for (int kind = 0; kind < 4; kind++) {
        for (uint32_t rank = 1; rank <= 2; rank++) {
            if (rank == 2 && (length > 600 || kind == WEFT_FFT_C2R)) {
                continue;
            }
            const struct weft_fft_desc desc = {.kind = (enum weft_fft_kind)kind,
                                               .rank = rank,
                                               .size = {length, rank == 2 ? 24 : 0},
                                               .batch = 3,
                                               .transform_axis = {true, rank == 2}};
            struct weft_fft_program *program = NULL;
            uint32_t compiled = 0;
            assert_ok(weft_fft_program_create(&program, &desc, NULL, &compiled, &bits->host->host));
            add_program(hashes, program);
            weft_fft_program_destroy(&program, &bits->host->host);
        }
    }
}

/* Programs are those of one VkFFT, and modules of one glslang, which their names tell: with others there is nothing to compare. */
TEST(transforms_have_the_same_bits) {
    const char *vkfft = weft_test_text("vkfft-%d/", weft_fft_vkfft_version());
    const char *glslang = weft_test_text("glslang-%d.%d.%d/", GLSLANG_VERSION_MAJOR,
                                         GLSLANG_VERSION_MINOR, GLSLANG_VERSION_PATCH);
    const bool known = strstr(bits->expected, vkfft) != NULL;
    const bool modules_known = known && strstr(bits->expected, glslang) != NULL;
    for (size_t i = 0; i < COUNT(lengths); i++) {
        struct program_hashes hashes;
        weft_sha256_begin(&hashes.plan);
        weft_sha256_begin(&hashes.modules);
        add_transforms(bits, &hashes, lengths[i]);
        const weft_digest plan = weft_sha256_end(&hashes.plan);
        const weft_digest modules = weft_sha256_end(&hashes.modules);
        expect(bits, weft_test_text("%splan/%u", vkfft, lengths[i]), &plan);
        expect(bits, weft_test_text("%s%smodules/%u", vkfft, glslang, lengths[i]), &modules);
    }
    bits->wrong -= known ? 0 : (uint32_t)COUNT(lengths);
    bits->wrong -= modules_known ? 0 : (uint32_t)COUNT(lengths);
    conclude(bits, 2 * COUNT(lengths));
    if (!known || !modules_known) {
        print_message("nothing is committed for %s%s\n", vkfft, known ? glslang : "");
        skip();
    }
}
