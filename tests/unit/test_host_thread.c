/* SPDX-License-Identifier: MIT */
/* weft-test: slow one driver */
/* weft-test: posix */
/*
 * What a program's thread and process have besides a float state (test_float_state.c) and changes nothing: the working
 * folder, a small stack, a locale, signals.
 */
#include <dirent.h>
#include <locale.h>
#include <pthread.h>
#include <unistd.h>

#include <weft/mixers.h>
#include <weft/model.h>

#include "support.h"

#define ROWS  256u
#define WIDTH 64u

/* ---- the working folder ---- */

static void enter_folder(const char *path) {
    assert_int_equal(chdir(path), 0);
}

/* By "fft", whose program is kept on disk as soon as it is made. */
static weft_plan *compile(weft_device *device, const weft_host *host) {
    weft_graph *graph = NULL;
    weft_plan *plan = NULL;
    weft_tensor x, y;
    assert_ok(weft_graph_create(&graph, host));
    assert_ok(weft_graph_input(&x, graph, "x", WEFT_F32, weft_shape_of(1, ROWS, WIDTH)));
    assert_ok(weft_graph_fourier(&y, graph, x));
    assert_ok(weft_graph_output(graph, "y", y));
    assert_ok(weft_plan_compile(&plan, device, graph, weft_plan_params(.implementation = "fft")));
    weft_graph_destroy(&graph);
    return plan;
}

WEFT_TEST_ON_HOST(a_relative_cache_stays_where_it_was, host) {
    char before[4096];
    char *first = weft_test_folder(), *second = weft_test_folder();
    weft_device *device = NULL;
    assert_non_null(getcwd(before, sizeof before));
    enter_folder(first);
    assert_ok(
        weft_device_open(&device, weft_device_params(.host = host->host, .cache_dir = "a/cache")));
    enter_folder(second);
    weft_plan *plan = compile(device, &host->host);
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
    enter_folder(before);
    assert_int_equal(weft_test_entries(second), 0);
    assert_true(weft_test_entries(weft_test_path(first, "a/cache")) > 1);
}

WEFT_TEST_ON_HOST(a_relative_cache_of_a_folder_that_is_gone_is_refused, host) {
    char before[4096];
    char *folder = weft_test_folder();
    weft_device *device = NULL;
    assert_non_null(getcwd(before, sizeof before));
    enter_folder(folder);
    assert_int_equal(rmdir(folder), 0);
    const weft_status status =
        weft_device_open(&device, weft_device_params(.host = host->host, .cache_dir = "a/cache"));
    enter_folder(before);
    assert_int_equal(status, WEFT_IO_ERROR);
    weft_test_expect_log(host, "cache_dir a/cache: No such file");
    assert_null(device);
}

/* ---- the stack ---- */

#ifdef __SANITIZE_ADDRESS__
#define STACK ((size_t)1 << 20) /* frames are larger */
#else
#define STACK ((size_t)192 << 10)
#endif

static void *live(void *argument) {
    struct weft_test_host *host = argument;
    weft_device *device = NULL;
    weft_model *model = NULL;
    float *x = weft_test_uniform((size_t)ROWS * WIDTH, 1, 2);
    float *y = calloc((size_t)ROWS * WIDTH, sizeof *y);
    const uint64_t bytes = ROWS * WIDTH * sizeof *x;
    const weft_host_tensor tensors[] = {{"x", x, bytes}, {"y", y, bytes}};
    assert_ok(weft_device_open(&device, weft_device_params(.host = host->host, .cache_dir = "")));
    weft_plan *plan = compile(device, &host->host);
    assert_ok(weft_plan_execute(plan, tensors, 2));
    weft_plan_destroy(&plan);
    assert_ok(weft_model_load(&model, weft_test_data("models/spectraformer_gmm"), &host->host));
    assert_ok(weft_model_compile(&plan, model, device, 1, 8, false, NULL));
    weft_plan_destroy(&plan);
    weft_model_destroy(&model);
    weft_device_destroy(&device);
    free(x);
    free(y);
    return NULL;
}

WEFT_TEST_ON_HOST(a_small_stack_is_enough, host) {
    pthread_attr_t attributes;
    pthread_t thread;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(pthread_attr_setstacksize(&attributes, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attributes, live, host), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attributes);
}

/* ---- the locale ---- */

/* A locale with a decimal comma, made here where the system can; false if there is none. */
static bool use_comma(void) {
    char *folder = weft_test_folder();
    char *command = weft_test_text("localedef -c -i de_DE -f UTF-8 %s/de_DE.UTF-8 > %s/log 2>&1",
                                   folder, folder);
    (void)!system(command);
    weft_test_set_variable("LOCPATH", folder);
    return setlocale(LC_ALL, "de_DE.UTF-8") && *localeconv()->decimal_point == ',';
}

/* Of a model whose config has a fraction, feature_eps, after three tokens; by malloc. */
static float *logits_of(weft_device *device, const weft_host *host, size_t *count) {
    static const int32_t tokens[] = {1, 2, 3};
    weft_model *model = NULL;
    weft_decoder *decoder = NULL;
    weft_model_info info;
    assert_ok(weft_model_load(&model, weft_test_data("models/performer_causal_lm"), host));
    assert_ok(weft_model_get_info(model, &info));
    assert_ok(weft_decoder_create(&decoder, model, device, NULL));
    *count = info.vocabulary;
    float *logits = calloc(*count, sizeof *logits);
    assert_non_null(logits);
    assert_ok(weft_decoder_prompt(decoder, tokens, 3, logits));
    weft_decoder_destroy(&decoder);
    weft_model_destroy(&model);
    return logits;
}

WEFT_TEST_ON_DEVICE(a_comma_in_numbers_changes_no_model, f) {
    size_t count = 0;
    float *expected = logits_of(f->device, &f->host.host, &count);
    if (!use_comma()) {
        free(expected);
        print_message("no locale with a decimal comma, and none could be made\n");
        skip();
    }
    float *found = logits_of(f->device, &f->host.host, &count);
    assert_int_equal(*localeconv()->decimal_point, ',');
    setlocale(LC_ALL, "C");
    assert_memory_equal(found, expected, count * sizeof *expected);
    free(expected);
    free(found);
}

/* ---- signals ---- */

#ifdef __linux__

/* The blocked signals of a thread of this process as the system prints them: 16 hexadecimal digits; 0 if it has ended. */
static uint64_t blocked_by(const char *thread) {
    uint64_t blocked = 0;
    char line[256];
    FILE *file = fopen(weft_test_text("/proc/self/task/%s/status", thread), "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, "SigBlk:", 7) == 0) {
            blocked = strtoull(line + 7, NULL, 16);
        }
    }
    if (file) {
        fclose(file);
    }
    return blocked;
}

/* Signals 1 to 31 but for SIGKILL and SIGSTOP, which nobody can block. */
#define ALL (UINT64_C(0x7fffffff) & ~(UINT64_C(1) << 8 | UINT64_C(1) << 18))

WEFT_TEST_ON_HOST(no_handler_of_the_program_runs_on_a_thread_of_the_device, host) {
    weft_device *device = NULL;
    weft_device_info info;
    assert_ok(weft_device_open(
        &device, weft_device_params(.host = host->host, .cache_dir = "", .threads = 4)));
    assert_ok(weft_device_get_info(device, &info));
    if (info.type != WEFT_DEVICE_PROCESSOR) {
        print_message("a driver's threads are its own affair\n");
        weft_device_destroy(&device);
        skip();
    }
    weft_plan *plan = compile(device, &host->host);
    const char *own = weft_test_text("%ld", (long)getpid());
    uint32_t threads = 0;
    DIR *tasks = opendir("/proc/self/task");
    assert_non_null(tasks);
    for (struct dirent *entry = readdir(tasks); entry; entry = readdir(tasks)) {
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, own) != 0) {
            assert_int_equal(blocked_by(entry->d_name) & ALL, ALL);
            threads++;
        }
    }
    closedir(tasks);
    assert_true(threads >= 3);
    weft_plan_destroy(&plan);
    weft_device_destroy(&device);
}

#endif
