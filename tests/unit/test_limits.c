/* SPDX-License-Identifier: MIT */
/* weft-test: posix */
/* weft-test: long */
/*
 * Refusing a file takes a small multiple of the memory that is needed to see that it is to be refused. Peaks are those of a child
 * process, so that what libraries allocate counts, too.
 */
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zip.h>

#include "core/formats/json.h"
#include "core/formats/npz.h"
#include "model/files/safetensors.h"
#include "support.h"

#define MIB ((size_t)1 << 20)

/* ---- memory ---- */

static size_t peak(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
#ifdef __APPLE__
    return (size_t)usage.ru_maxrss;
#else
    return (size_t)usage.ru_maxrss * 1024;
#endif
}

/* Sanitizers keep what is freed for a while, and notes of all memory beside it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZER_FACTOR 8
#else
#define SANITIZER_FACTOR 1
#endif

/* Pages of programs and libraries that the call is the first to touch. */
#define CODE (2 * MIB)

/* The call gives WEFT_BAD_FILE in a child, whose peak grows by no more than `most` bytes. */
static void expect_small(weft_status (*call)(const void *given), const void *given, size_t most) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        size_t found[2] = {peak()};
        const weft_status status = call(given);
        found[0] = peak() - found[0];
        found[1] = (size_t)status;
        _exit(write(ends[1], found, sizeof found) == (ssize_t)sizeof found ? 0 : 1);
    }
    size_t found[2] = {0};
    assert_int_equal(read(ends[0], found, sizeof found), sizeof found);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(found[1], WEFT_BAD_FILE);
    if (found[0] > most * SANITIZER_FACTOR + CODE) {
        fail_msg("%zu MiB, not at most %zu MiB", found[0] / MIB, most / MIB);
    }
}

/* ---- files ---- */

struct text {
    char *bytes;
    size_t size;
};

/* `head`, and `part` again and again until there are `size` bytes with the `tail`. */
static struct text repeated(const char *head, const char *part, const char *tail, size_t size) {
    struct text text = {.bytes = malloc(size + 64)};
    assert_non_null(text.bytes);
    text.size = strlen(head);
    memcpy(text.bytes, head, text.size);
    while (text.size + strlen(part) + strlen(tail) <= size) {
        memcpy(text.bytes + text.size, part, strlen(part));
        text.size += strlen(part);
    }
    memcpy(text.bytes + text.size, tail, strlen(tail));
    text.size += strlen(tail);
    return text;
}

/* ---- safetensors ---- */

static weft_status open_safetensors(const void *given) {
    weft_safetensors *file = NULL;
    weft_status status = weft_safetensors_open(&file, given, NULL);
    weft_safetensors_close(&file);
    return status;
}

static char *write_safetensors(const struct text *header) {
    uint8_t *bytes = malloc(header->size + 8);
    assert_non_null(bytes);
    for (size_t i = 0; i < 8; i++) {
        bytes[i] = (uint8_t)((uint64_t)header->size >> (8 * i));
    }
    memcpy(bytes + 8, header->bytes, header->size);
    char *path = weft_test_write(weft_test_folder(), "model.safetensors", bytes, header->size + 8);
    free(bytes);
    return path;
}

WEFT_TEST(safetensors_headers_take_little_memory) {
    static const char *const parts[][3] = {
        /* tensors, of which none is the first with that name */
        {"{", "\"a\":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]},", "\"b\":7}"},
        {"{\"__metadata__\":{", "\"a\":\"\",", "\"b\":7}}"},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[", "1,", "1],\"data_offsets\":[0,4]}}"},
        {"{\"a\":", "[", "]}"},
        {"{\"", "a", "\":7}"},
        {"{\"__metadata__\":{\"a\":\"", "\\u00e4", "\",\"b\":7}}"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct text header =
            repeated(parts[i][0], parts[i][1], parts[i][2], WEFT_SAFETENSORS_MAX_HEADER);
        char *path = write_safetensors(&header);
        expect_small(open_safetensors, path, 5 * header.size);
        free(header.bytes);
        assert_int_equal(remove(path), 0);
    }
}

/* 98 MB took 2 GB before there was a limit below that. */
WEFT_TEST(longer_safetensors_headers_are_not_read) {
    const struct text header = repeated("{", "\"a\":{},", "\"b\":{}}", 98 * MIB);
    char *path = write_safetensors(&header);
    free(header.bytes);
    expect_small(open_safetensors, path, MIB);
    assert_int_equal(remove(path), 0);
}

/* ---- JSON ---- */

static weft_status read_json(const void *given) {
    json_t *object = NULL;
    weft_status status = weft_json_read(&object, given, NULL);
    json_decref(object);
    return status;
}

WEFT_TEST(json_takes_little_memory) {
    static const char *const parts[][3] = {
        {"{\"a\":[", "{},", "{}]}"}, {"{\"a\":[", "[],", "[]]}"},     {"{\"a\":[", "0,", "0]}"},
        {"{\"a\":", "[", "]}"},      {"{", "\"a\":{\"b\":0},", "0}"}, {"{\"a\":\"", "a", "\"]"},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        const struct text text =
            repeated(parts[i][0], parts[i][1], parts[i][2], WEFT_JSON_MAX_BYTES);
        char *path = weft_test_write(weft_test_folder(), "config.json", text.bytes, text.size);
        free(text.bytes);
        expect_small(read_json, path, 4 * WEFT_JSON_MAX_BYTES);
        assert_int_equal(remove(path), 0);
    }
    /* As many values as there may be, in the kinds that take the most. */
    static const char *const most[][2] = {{"{},", "0]}"}, {"[],", "0]}"}, {"0,", "x"}};
    static const size_t values[] = {5, 2, 1};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        const size_t count = (WEFT_JSON_MAX_VALUES - 16) / values[i];
        const struct text text =
            repeated("{\"a\":[", most[i][0], "0],", count * strlen(most[i][0]));
        char *path = weft_test_write(weft_test_folder(), "config.json", text.bytes, text.size);
        free(text.bytes);
        expect_small(read_json, path, 64 * MIB);
        assert_int_equal(remove(path), 0);
    }
}

/* ---- npy and npz ---- */

static weft_status open_npy(const void *given) {
    weft_npy npy;
    weft_status status = weft_npy_open(&npy, given, NULL);
    if (status == WEFT_OK) {
        weft_npy_close(&npy);
    }
    return status;
}

/* A sparse file of `size` bytes with that beginning. */
static char *sparse(const char *name, const void *begin, size_t begin_size, size_t size) {
    char *path = weft_test_write(weft_test_folder(), name, begin, begin_size);
    assert_int_equal(truncate(path, (off_t)size), 0);
    return path;
}

WEFT_TEST(npy_files_are_looked_at_before_they_are_read) {
    static const struct {
        const char *begin;
        size_t size;
    } files[] = {
        {"\x93NUMPY\x02\x00\x00\x00\x00\x30{'descr'", 12}, /* 800 MB of header */
        {"\x93NUMPY\x01\x00\x40\x00{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }      "
         " ",
         74},
        {"PK\x03\x04 another file", 16},
    };
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *path = sparse("x.npy", files[i].begin, files[i].size, 1024 * MIB);
        expect_small(open_npy, path, MIB);
        assert_int_equal(remove(path), 0);
    }
}

#define UNPACKED (256 * MIB)

struct zeros {
    const char *head;
    size_t head_size, at;
};

/* A source of libzip's: a header, and zeros. */
static zip_int64_t give_zeros(void *user, void *data, zip_uint64_t size, zip_source_cmd_t command) {
    struct zeros *zeros = user;
    zip_stat_t *about = data;
    size_t count = 0;
    switch (command) {
    case ZIP_SOURCE_OPEN:
        zeros->at = 0;
        return 0;
    case ZIP_SOURCE_READ:
        for (; count < size && zeros->at < UNPACKED; count++, zeros->at++) {
            ((char *)data)[count] = zeros->at < zeros->head_size ? zeros->head[zeros->at] : 0;
        }
        return (zip_int64_t)count;
    case ZIP_SOURCE_STAT:
        zip_stat_init(about);
        about->size = UNPACKED;
        about->valid = ZIP_STAT_SIZE;
        return sizeof *about;
    case ZIP_SOURCE_SUPPORTS:
        return ZIP_SOURCE_SUPPORTS_READABLE;
    default:
        return 0;
    }
}

/* tokens.npy of 256 MiB, which take 260 KB in the archive. */
static char *make_bomb(const char *head, size_t head_size) {
    char *path = weft_test_path(weft_test_folder(), "set.npz");
    struct zeros zeros = {.head = head, .head_size = head_size};
    int error = 0;
    zip_t *archive = zip_open(path, ZIP_CREATE | ZIP_EXCL, &error);
    assert_non_null(archive);
    zip_source_t *source = zip_source_function(archive, give_zeros, &zeros);
    assert_non_null(source);
    assert_true(zip_file_add(archive, "tokens.npy", source, 0) >= 0);
    assert_int_equal(zip_close(archive), 0);
    return path;
}

static weft_status get_tokens(const void *given) {
    weft_npz *npz = NULL;
    weft_npy npy;
    weft_status status = weft_npz_open(&npz, given, NULL);
    if (status == WEFT_OK) {
        status = weft_npz_get(&npy, npz, "tokens", 16 * MIB);
    }
    if (status == WEFT_OK) {
        weft_npy_close(&npy);
    }
    weft_npz_close(&npz);
    return status;
}

#define HEAD(shape) \
    "\x93NUMPY\x01\x00\x46\x00{'descr': '<i4', 'fortran_order': False, 'shape': (" shape "), }"
#define HEAD_SIZE 80

WEFT_TEST(npz_members_are_looked_at_before_they_are_unpacked) {
    /* 4 · 67108844 + 80 bytes are 256 MiB, and more than the caller's limit; 5 tokens are fewer than there are bytes. */
    static const char large[HEAD_SIZE] = HEAD("67108844,");
    static const char wrong[HEAD_SIZE] = HEAD("5,");
    static const char other[HEAD_SIZE] = "no header";
    const char *const heads[] = {large, wrong, other};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char head[HEAD_SIZE];
        for (size_t at = 0; at < HEAD_SIZE; at++) {
            head[at] = heads[i][at] != 0 || at < 10 ? heads[i][at] : ' ';
        }
        char *path = make_bomb(head, HEAD_SIZE);
        expect_small(get_tokens, path, 2 * MIB);
        weft_npz *npz = NULL;
        weft_npy about;
        assert_ok(weft_npz_open(&npz, path, NULL));
        assert_status(weft_npz_look(&about, npz, "tokens"), i == 0 ? WEFT_OK : WEFT_BAD_FILE);
        if (i == 0) {
            assert_int_equal(about.elements, 67108844);
            assert_null(about.data);
            weft_npy_close(&about);
        }
        weft_npz_close(&npz);
        assert_int_equal(remove(path), 0);
    }
}
