/* SPDX-License-Identifier: MIT */
/* weft-test: slow device */
/*
 * Calls from a thread that rounds otherwise, traps, or flushes subnormals give the bits that they give in the default state,
 * leave the thread's state as it was, and call the program back in the default state.
 */
#include <weft/decode.h>
#include <weft/features.h>
#include <weft/flt.h>
#include <weft/mixers.h>
#include <weft/model.h>

#include "support.h"
#include "support_floats.h"

#define ROWS  256u
#define WIDTH 64u
#define BYTES (ROWS * WIDTH * sizeof(float))

/* ---- a program around the library, which looks at its state whenever it is called ---- */

struct program {
    struct weft_test_host watched;
    weft_host host;
    const struct weft_test_floats *floats; /* of the threads that call */
    uint32_t calls;                        /* back */
    uint32_t others;                       /* of these not in the default state */
    uint32_t jobs;
    uint64_t hash; /* of all results */
};

static void look(struct program *program) {
    program->calls++;
    program->others += !weft_test_floats_default();
}

static void log_line(void *user, weft_log_level level, const char *line) {
    struct program *program = user;
    look(program);
    program->watched.host.log(program->watched.host.log_user, level, line);
}

static void *reallocate(void *user, void *pointer, size_t size) {
    struct program *program = user;
    look(program);
    return program->watched.host.reallocate(program->watched.host.allocator_user, pointer, size);
}

/* Every call of the work on this thread, which is in a state of its own meanwhile. */
static void run_jobs(void *user, weft_job work, void *job, uint32_t count) {
    struct program *program = user;
    look(program);
    for (uint32_t slot = 0; slot < count; slot++) {
        weft_test_floats_enter(program->floats);
        work(job, slot);
        assert_true(weft_test_floats_leave(program->floats));
        program->jobs++;
    }
}

static void begin(struct program *program, const struct weft_test_floats *floats) {
    *program = (struct program){.floats = floats};
    weft_test_host_begin(&program->watched);
    program->host = (weft_host){
        .log = log_line, .log_user = program, .reallocate = reallocate, .allocator_user = program};
}

/* What was computed, FNV-1a. */
static void add(struct program *program, const void *data, size_t size) {
    const uint8_t *bytes = data;
    for (size_t i = 0; i < size; i++) {
        program->hash = (program->hash ^ bytes[i]) * UINT64_C(1099511628211);
    }
}

static void expect(const struct program *program, weft_status found, weft_status expected,
                   const char *call, int line) {
    if (!weft_test_floats_leave(program->floats)) {
        print_error("line %d: %s changed the state \"%s\"\n", line, call, program->floats->name);
        fail();
    }
    weft_test_status(found, expected, call, __FILE__, line);
}

/* The call in the program's state. Its parameters are made before. */
#define IN_STATE(program, expected, call)                      \
    do {                                                       \
        weft_test_floats_enter((program)->floats);             \
        const weft_status in_state_ = call;                    \
        expect(program, in_state_, expected, #call, __LINE__); \
    } while (0)
#define CALL(program, call)      IN_STATE(program, WEFT_OK, call)
#define CALL_VOID(program, call) CALL(program, (call, WEFT_OK))

/* ---- what it does ---- */

/* Quadrature has a number of rows of its own. */
static uint32_t rows_of(int kind) {
    return kind == WEFT_FEATURES_SGQ ? 2 * 8 + 1 : kind == WEFT_FEATURES_SSR ? 1 + 2 * 9 : 64;
}

static void fill_features(struct program *p) {
    static float w[64 * 8], weights[64];
    for (int kind = 0; kind < WEFT_FEATURES_KIND_COUNT; kind++) {
        const uint32_t rows = rows_of(kind);
        const weft_features_params params = {
            .kind = (weft_features_kind)kind, .rows = rows, .columns = 8, .seed = 3};
        CALL(p, weft_features_fill(w, weights, &params, &p->host));
        add(p, w, rows * 8 * sizeof *w);
        add(p, weights, rows * sizeof *weights);
    }
}

static void fill_flt(struct program *p) {
    static float frequencies[64 * 2], weights[64];
    static double transform[64];
    static const float radii[] = {0.75F, 1.5F};
    for (int kind = 0; kind < WEFT_FLT_KIND_COUNT; kind++) {
        const weft_flt_params params = {.kind = (weft_flt_kind)kind,
                                        .count = 64,
                                        .dimensions = 2,
                                        .radii = kind == WEFT_FLT_LOCAL ? radii : NULL,
                                        .seed = 5};
        CALL(p, weft_flt_fill(frequencies, weights, &params, &p->host));
        CALL(p, weft_flt_transform(transform, frequencies, &params, &p->host));
        add(p, frequencies, sizeof frequencies);
        add(p, weights, sizeof weights);
        add(p, transform, sizeof transform);
    }
}

static weft_device *open_device(struct program *p, weft_math math) {
    weft_device *device = NULL;
    const weft_job_system jobs = {.concurrency = 2, .user = p, .run = run_jobs};
    const weft_device_params params = {
        .host = p->host, .cache_dir = "", .jobs = &jobs, .math = math};
    uint32_t count = 0;
    CALL(p, weft_device_list(NULL, &count, &p->host));
    assert_true(count > 0);
    CALL(p, weft_device_open(&device, &params));
    return device;
}

/* x → Fourier → · weight → softmax → y */
static weft_graph *make_graph(struct program *p) {
    weft_graph *graph = NULL;
    weft_weight *weight = NULL;
    weft_tensor x, w, y;
    float *data = weft_test_uniform((size_t)WIDTH * WIDTH, 7, 1);
    const weft_weight_params params = {
        .dtype = WEFT_F32, .shape = weft_shape_of(WIDTH, WIDTH), .data = data};
    CALL(p, weft_graph_create(&graph, &p->host));
    CALL(p, weft_weight_create(&weight, &params, &p->host));
    CALL(p, weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, ROWS, WIDTH)));
    CALL(p, weft_graph_weight(&w, graph, weight));
    CALL(p, weft_graph_fourier(&y, graph, x));
    CALL(p, weft_graph_matmul(&y, graph, y, w, NULL));
    CALL(p, weft_graph_affine(&y, graph, y, 0.1F, -0.3F));
    CALL(p, weft_graph_softmax(&y, graph, y));
    CALL(p, weft_graph_output(graph, "y", y));
    CALL_VOID(p, weft_weight_destroy(&weight));
    free(data);
    return graph;
}

static void run_plan(struct program *p, weft_device *device, weft_plan *plan) {
    float *x = weft_test_uniform((size_t)ROWS * WIDTH, 7, 2);
    float *y = calloc(1, BYTES);
    assert_non_null(y);
    weft_bindings *bindings = NULL;
    weft_buffer *in = NULL, *out = NULL;
    uint64_t ticket = 0;
    bool done = false;
    const weft_host_tensor tensors[] = {{"x", x, BYTES}, {"y", y, BYTES}};
    CALL(p, weft_plan_execute(plan, tensors, 2));
    add(p, y, BYTES);
    CALL(p, weft_buffer_create(&in, device, BYTES));
    CALL(p, weft_buffer_create(&out, device, BYTES));
    CALL(p, weft_buffer_write(in, 0, x, BYTES));
    CALL(p, weft_bindings_create(&bindings, plan));
    CALL(p, weft_bindings_set(bindings, "x", in));
    CALL(p, weft_bindings_set(bindings, "y", out));
    CALL(p, weft_plan_run(plan, bindings));
    CALL(p, weft_plan_submit(plan, bindings, &ticket));
    CALL(p, weft_plan_wait(plan, ticket, UINT64_MAX, &done));
    CALL(p, weft_buffer_read(out, 0, y, BYTES));
    add(p, y, BYTES);
    IN_STATE(p, WEFT_NOT_FOUND, weft_bindings_set(bindings, "z", out));
    CALL_VOID(p, weft_bindings_destroy(&bindings));
    CALL_VOID(p, weft_buffer_destroy(&in));
    CALL_VOID(p, weft_buffer_destroy(&out));
    free(x);
    free(y);
}

static void run_graphs(struct program *p, weft_device *device) {
    static const char *const implementations[] = {"matrix", "fft"};
    weft_graph *graph = make_graph(p);
    weft_plan *plan = NULL;
    for (int i = 0; i < 2; i++) {
        const weft_plan_params params = {.implementation = implementations[i]};
        CALL(p, weft_plan_compile(&plan, device, graph, &params));
        run_plan(p, device, plan);
        CALL_VOID(p, weft_plan_destroy(&plan));
    }
    CALL_VOID(p, weft_graph_destroy(&graph));
    CALL(p, weft_graph_create(&graph, &p->host));
    IN_STATE(p, WEFT_INVALID_ARGUMENT, weft_plan_compile(&plan, device, graph, NULL));
    CALL_VOID(p, weft_graph_destroy(&graph));
}

static void decode(struct program *p, weft_device *device, weft_model *model, uint32_t size) {
    static const int32_t tokens[] = {1, 2, 3};
    const weft_sampling sampling = {.temperature = 0.7, .seed = 9};
    weft_decoder *decoder = NULL;
    uint32_t token = 0;
    float *logits = calloc(size, sizeof *logits);
    assert_non_null(logits);
    CALL(p, weft_decoder_create(&decoder, model, device, NULL));
    CALL(p, weft_decoder_prompt(decoder, tokens, 3, logits));
    add(p, logits, size * sizeof *logits);
    CALL(p, weft_decoder_step(decoder, tokens, logits));
    add(p, logits, size * sizeof *logits);
    CALL(p, weft_sample(&token, logits, size, &sampling, 0, &p->host));
    add(p, &token, sizeof token);
    CALL_VOID(p, weft_decoder_destroy(&decoder));
    free(logits);
}

static void run_models(struct program *p, weft_device *device) {
    char *folder = weft_test_data("models/spectraformer_positive_causal_lm");
    size_t size = 0;
    char *config = (char *)weft_test_read(
        weft_test_data("models/spectraformer_positive_causal_lm/config.json"), &size);
    weft_model_info info;
    weft_model *model = NULL;
    for (int random = 0; random < 2; random++) {
        if (random) {
            CALL(p, weft_model_create_random(&model, config, 11, &p->host));
        } else {
            CALL(p, weft_model_load(&model, folder, &p->host));
        }
        CALL(p, weft_model_get_info(model, &info));
        decode(p, device, model, info.vocabulary);
        CALL_VOID(p, weft_model_destroy(&model));
    }
    IN_STATE(p, WEFT_NOT_FOUND, weft_model_load(&model, weft_test_folder(), &p->host));
    free(config);
}

/* Weights as f16 are made on the host. */
static void run_fast(struct program *p) {
    weft_device *device = open_device(p, WEFT_MATH_FAST);
    run_graphs(p, device);
    CALL_VOID(p, weft_device_destroy(&device));
}

static uint64_t run_all(const struct weft_test_floats *floats) {
    struct program program;
    begin(&program, floats);
    fill_features(&program);
    fill_flt(&program);
    weft_device *device = open_device(&program, WEFT_MATH_REPRODUCIBLE);
    run_graphs(&program, device);
    run_models(&program, device);
    CALL_VOID(&program, weft_device_destroy(&device));
    run_fast(&program);
    print_message("%s: %u calls back, %u jobs\n", floats->name, program.calls, program.jobs);
    assert_true(program.calls > 0);
    assert_int_equal(program.others, 0);
    weft_test_host_end(&program.watched);
    return program.hash;
}

WEFT_TEST(the_state_of_the_calling_thread_changes_nothing) {
    const uint64_t expected = run_all(&weft_test_floats[0]);
    for (const struct weft_test_floats *floats = weft_test_floats + 1; floats->name; floats++) {
        const uint64_t found = run_all(floats);
        if (found != expected) {
            print_error("other results in the state \"%s\"\n", floats->name);
            fail();
        }
    }
}
