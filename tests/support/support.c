/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <dirent.h>
#include <pthread.h>

#include "core/math/philox.h"
#include "support_system.h"

/* ---- the log ---- */

struct log {
    pthread_mutex_t lock;
    char *text;
    size_t size;
};

static void take_line(void *user, weft_log_level level, const char *message) {
    static const char *const names[] = {"error", "warning", "info", "debug"};
    struct weft_test_host *test = user;
    struct log *log = test->log;
    pthread_mutex_lock(&log->lock);
    size_t room = strlen(names[level]) + strlen(message) + 4;
    char *text = realloc(log->text, log->size + room);
    if (text) {
        int written = snprintf(text + log->size, room, "%s: %s\n", names[level], message);
        log->text = text;
        log->size += (size_t)written;
    }
    if (strncmp(message, "validation error", 16) == 0 ||
        strncmp(message, "validation warning", 18) == 0) {
        test->validation++;
        print_message("%s\n", message);
    }
    pthread_mutex_unlock(&log->lock);
}

const char *weft_test_log(struct weft_test_host *test) {
    const struct log *log = test->log;
    return log->text ? log->text : "";
}

bool weft_test_log_has(struct weft_test_host *test, const char *text) {
    return strstr(weft_test_log(test), text) != NULL;
}

uint32_t weft_test_log_count(struct weft_test_host *test, const char *level) {
    const char *start = weft_test_text("%s: ", level);
    uint32_t count = 0;
    for (const char *line = weft_test_log(test); *line != '\0'; line = strchr(line, '\n') + 1) {
        count += strncmp(line, start, strlen(start)) == 0;
    }
    return count;
}

static bool line_has_all(const char *line, size_t length, va_list texts) {
    for (const char *text = va_arg(texts, const char *); text; text = va_arg(texts, const char *)) {
        const char *found = strstr(line, text);
        if (!found || found + strlen(text) > line + length) {
            return false;
        }
    }
    return true;
}

void weft_test_expect_line(struct weft_test_host *test, const char *text, ...) {
    const char *line = weft_test_log(test);
    while (*line != '\0') {
        const char *end = strchr(line, '\n');
        const char *found = strstr(line, text);
        va_list more;
        va_start(more, text);
        bool has_all = found && found < end && line_has_all(line, (size_t)(end - line), more);
        va_end(more);
        if (has_all) {
            return;
        }
        line = end + 1;
    }
    fail_msg("no line with all the texts (first \"%s\") in the log:\n%s", text,
             weft_test_log(test));
}

void weft_test_status(weft_status found, weft_status expected, const char *call, const char *file,
                      int line) {
    if (found != expected) {
        print_error("%s gives %s, not %s\n", call, weft_status_name(found),
                    weft_status_name(expected));
        _fail(file, line);
    }
}

/* ---- memory ---- */

static void *reallocate(void *user, void *pointer, size_t size) {
    struct weft_test_host *test = user;
    if (size == 0) {
        if (pointer) {
            atomic_fetch_sub(&test->live, 1);
        }
        free(pointer);
        return NULL;
    }
    long request = test->paused ? 0 : atomic_fetch_add(&test->allocations, 1) + 1;
    bool chosen = request > 0 && test->fail_at > 0 &&
                  (request == test->fail_at || (test->fail_rest && request > test->fail_at));
    void *result = chosen ? NULL : realloc(pointer, size);
    if (result && !pointer) {
        atomic_fetch_add(&test->live, 1);
    }
    return result;
}

void weft_test_host_begin(struct weft_test_host *test) {
    memset(test, 0, sizeof *test);
    struct log *log = calloc(1, sizeof *log);
    assert_non_null(log);
    pthread_mutex_init(&log->lock, NULL);
    test->log = log;
    atomic_init(&test->live, 0);
    atomic_init(&test->allocations, 0);
    test->host = (weft_host){
        .log = take_line, .log_user = test, .reallocate = reallocate, .allocator_user = test};
}

void weft_test_host_reset(struct weft_test_host *test) {
    struct log *log = test->log;
    free(log->text);
    log->text = NULL;
    log->size = 0;
    test->fail_at = 0;
    test->fail_rest = false;
    atomic_store(&test->allocations, 0);
}

bool weft_test_next_failure(struct weft_test_host *test, weft_status status) {
    const bool fail_rest = test->fail_rest;
    const long failed = test->fail_at;
    weft_test_host_reset(test);
    if (status == WEFT_OK) {
        test->failures = failed - 1;
        return false;
    }
    assert_status(status, WEFT_OUT_OF_HOST_MEMORY);
    assert_in_range(failed, 0, 10000);
    test->fail_at = failed + 1;
    test->fail_rest = fail_rest;
    return true;
}

void weft_test_host_end(struct weft_test_host *test) {
    struct log *log = test->log;
    long live = atomic_load(&test->live);
    if (live != 0) {
        fail_msg("%ld blocks of the host's memory were not freed; the log:\n%s", live,
                 weft_test_log(test));
    }
    pthread_mutex_destroy(&log->lock);
    free(log->text);
    free(log);
    memset(test, 0, sizeof *test);
}

int weft_test_host_set_up(void **state) {
    struct weft_test_host *test = calloc(1, sizeof *test);
    assert_non_null(test);
    weft_test_host_begin(test);
    *state = test;
    return 0;
}

int weft_test_host_tear_down(void **state) {
    weft_test_host_end(*state);
    free(*state);
    return 0;
}

int weft_test_place_set_up(void **state) {
    struct weft_test_place *place = calloc(1, sizeof *place);
    assert_non_null(place);
    weft_test_host_begin(&place->host);
    place->folder = weft_test_folder();
    *state = place;
    return 0;
}

int weft_test_place_tear_down(void **state) {
    struct weft_test_place *place = *state;
    weft_test_host_end(&place->host);
    free(place);
    return 0;
}

void weft_test_device_close(weft_device **device) {
    weft_device_stats stats;
    assert_ok(weft_device_get_stats(*device, &stats));
    assert_int_equal(stats.validation_messages, 0);
    weft_device_destroy(device);
    assert_null(*device);
}

int weft_test_device_set_up(void **state) {
    struct weft_test_device *test = calloc(1, sizeof *test);
    assert_non_null(test);
    weft_test_host_begin(&test->host);
    assert_ok(weft_device_open(&test->device, weft_device_params(.host = test->host.host)));
    *state = test;
    return 0;
}

int weft_test_device_tear_down(void **state) {
    struct weft_test_device *test = *state;
    weft_test_device_close(&test->device);
    weft_test_host_end(&test->host);
    free(test);
    return 0;
}

/* ---- files ---- */

struct kept {
    struct kept *next;
    bool is_folder;
    max_align_t bytes[];
};

static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all_kept;

static void *keep(size_t size, bool is_folder) {
    struct kept *kept = malloc(sizeof *kept + size);
    assert_non_null(kept);
    kept->is_folder = is_folder;
    pthread_mutex_lock(&kept_lock);
    kept->next = all_kept;
    all_kept = kept;
    pthread_mutex_unlock(&kept_lock);
    return kept->bytes;
}

void *weft_test_keep(size_t size) {
    return keep(size, false);
}

__attribute__((destructor)) static void drop_all_kept(void) {
    while (all_kept) {
        struct kept *kept = all_kept;
        all_kept = kept->next;
        if (kept->is_folder) {
            weft_test_remove_folder((const char *)kept->bytes);
        }
        free(kept);
    }
}

char *weft_test_text(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    assert_true(length >= 0);
    char *text = weft_test_keep((size_t)length + 1);
    va_start(arguments, format);
    vsnprintf(text, (size_t)length + 1, format, arguments);
    va_end(arguments);
    return text;
}

char *weft_test_folder(void) {
    char path[WEFT_TEST_FOLDER_SIZE];
    weft_test_make_folder(path);
    char *folder = keep(strlen(path) + 1, true);
    memcpy(folder, path, strlen(path) + 1);
    return folder;
}

char *weft_test_path(const char *folder, const char *name) {
    return weft_test_text("%s/%s", folder, name);
}

char *weft_test_absent(const char *name) {
    return weft_test_path(weft_test_folder(), name);
}

char *weft_test_data(const char *name) {
    return weft_test_path(WEFT_SOURCE_DIR "/tests/data", name);
}

char *weft_test_write(const char *folder, const char *name, const void *data, size_t size) {
    char *path = weft_test_path(folder, name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (size > 0) {
        assert_int_equal(fwrite(data, 1, size, file), size);
    }
    assert_int_equal(fclose(file), 0);
    return path;
}

uint8_t *weft_test_read(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("cannot open %s", path);
    }
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long length = ftell(file);
    assert_true(length >= 0);
    rewind(file);
    uint8_t *data = malloc((size_t)length + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, (size_t)length, file), (size_t)length);
    data[length] = 0;
    fclose(file);
    *size = (size_t)length;
    return data;
}

size_t weft_test_entries(const char *folder) {
    DIR *stream = opendir(folder);
    assert_non_null(stream);
    size_t count = 0;
    for (const struct dirent *entry = readdir(stream); entry; entry = readdir(stream)) {
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    }
    closedir(stream);
    return count;
}

/* ---- numbers ---- */

float *weft_test_uniform(size_t count, uint64_t seed, uint64_t stream) {
    float *data = malloc(count * sizeof *data);
    assert_non_null(data);
    weft_philox_uniform(data, count, seed, stream);
    return data;
}

/* ---- threads ---- */

struct call {
    weft_job work;
    void *job;
    uint32_t slot;
};

static void *call_on_thread(void *argument) {
    const struct call *call = argument;
    call->work(call->job, call->slot);
    return NULL;
}

void weft_test_run_on_new_threads(void *user, weft_job work, void *job, uint32_t count) {
    enum { MOST = 8 };
    struct weft_test_jobs *asked = user;
    struct call calls[MOST];
    pthread_t threads[MOST];
    assert_in_range(count, 1, MOST);
    atomic_fetch_add(&asked->jobs, 1);
    for (uint32_t i = 0; i < count; i++) {
        calls[i] = (struct call){.work = work, .job = job, .slot = i};
        assert_int_equal(pthread_create(&threads[i], NULL, call_on_thread, &calls[i]), 0);
        atomic_fetch_add(&asked->threads, 1);
    }
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
}

/* ---- damage ---- */

struct random_words {
    uint64_t seed;
    uint64_t stream;
    uint64_t index;
};

static size_t below(struct random_words *words, size_t limit) {
    return limit == 0 ? 0 : weft_philox_u32(words->seed, words->stream, words->index++) % limit;
}

/* Replaces `removed` bytes at `at` by `inserted` ones. `data` has room. */
static size_t splice(uint8_t *data, size_t size, size_t at, size_t removed, const void *inserted,
                     size_t inserted_size) {
    memmove(data + at + inserted_size, data + at + removed, size - at - removed);
    if (inserted_size > 0) {
        memmove(data + at, inserted, inserted_size);
    }
    return size - removed + inserted_size;
}

/* Texts that parsers trip over. */
static const char *const fragments[] = {
    "-1",
    "0",
    "18446744073709551615",
    "9223372036854775807",
    "4294967296",
    "1e400",
    "1.5",
    "null",
    "true",
    "\"\"",
    "[]",
    "{}",
    "[",
    "}",
    ",",
    ":",
    "\"",
    "\\u0000",
    "()",
    "F16",
    "\xff",
    "I64",
    "'",
    "\\",
    "\"shape\":[",
    "NaN",
    " ",
    "\n",
};
#define MUTATIONS    4
#define MUTATION_MAX 64 /* bytes that one mutation adds at most */

static size_t mutate_once(uint8_t *data, size_t size, struct random_words *words) {
    size_t at = below(words, size + 1);
    size_t rest = size - at;
    uint8_t byte = (uint8_t)below(words, 256);
    size_t run = below(words, rest < MUTATION_MAX ? rest + 1 : MUTATION_MAX);
    const char *fragment = fragments[below(words, sizeof fragments / sizeof fragments[0])];
    switch (below(words, 8)) {
    case 0:
        return splice(data, size, at, rest > 0 ? 1 : 0, &byte, 1);
    case 1:
        if (rest > 0) {
            data[at] = (uint8_t)(data[at] ^ 1u << below(words, 8));
        }
        return size;
    case 2:
        return splice(data, size, at, 0, fragment, strlen(fragment));
    case 3:
        return splice(data, size, at, run < rest ? run : rest, fragment, strlen(fragment));
    case 4:
        return splice(data, size, at, run < rest ? run : rest, NULL, 0);
    case 5:
        return splice(data, size, below(words, at + 1), 0, data + at, run < rest ? run : rest);
    case 6: { /* another number where there is one */
        size_t digits = 0;
        while (at + digits < size && data[at + digits] >= '0' && data[at + digits] <= '9') {
            data[at + digits++] = (uint8_t)('0' + below(words, 10));
        }
        return size;
    }
    default:
        return below(words, 4) == 0 ? at : size; /* cut off */
    }
}

uint8_t *weft_test_mutate(const uint8_t *data, size_t size, uint64_t seed, uint64_t round,
                          size_t *mutated_size) {
    struct random_words words = {seed, round, 0};
    uint8_t *room = malloc(size + (size_t)(MUTATIONS + 1) * MUTATION_MAX);
    assert_non_null(room);
    memcpy(room, data, size);
    size_t count = 1 + below(&words, MUTATIONS);
    for (size_t i = 0; i < count; i++) {
        size = mutate_once(room, size, &words);
    }
    uint8_t *exact = size > 0 ? malloc(size) : NULL;
    if (size > 0) {
        assert_non_null(exact);
        memcpy(exact, room, size);
    }
    free(room);
    *mutated_size = size;
    return exact;
}
