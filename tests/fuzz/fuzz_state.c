/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the file of a decoder's state, in little memory; and files that are written, of which one byte is another: what is taken
 * of one is what was written, or it is refused.
 */
#include <stdlib.h>
#include <string.h>

#include "core/system/file.h"
#include "fuzz.h"
#include "model/texts/state_file.h"
#include "program_grammar.h"

#define VOCABULARY 200U
#define MOST       9U /* tokens that the reader takes */
#define PARTS      4U
#define LARGEST    96U

static const struct weft_state_part parts[PARTS] = {
    {.name = "sums", .elements = 5},
    {.name = "keys", .elements = 40, .rings = {.count = 2, .rows = 5, .width = 4}},
    {.name = "a/b", .elements = 16, .rings = {.count = 1, .rows = 16, .width = 1}},
    {.name = "halves",
     .dtype = WEFT_F16,
     .elements = 2 * 16 * 4,
     .rings = {.count = 2, .rows = 16, .width = 3, .halves = true}},
};

static const struct weft_state_owner owner = {.math = "reproducible",
                                              .weights = "f32",
                                              .decoding = "recurrent",
                                              .model = {{1, 2, 3}},
                                              .vocabulary = VOCABULARY};

/* What a file of so many bytes may take, beside what its parts are read into. */
static size_t memory_for(size_t size) {
    return 8 * size + ((size_t)64 << 10);
}

struct content {
    int32_t tokens[2 * MOST];
    uint32_t count, next;
    float values[PARTS][LARGEST];
};

/* ---- reading ---- */

static bool read_parts(struct content *content, const struct weft_state_file *file) {
    if (weft_state_file_check(file, parts, PARTS) != WEFT_OK) {
        return false;
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        fuzz_expect(weft_state_part_kept(&parts[i], file->text.count) <= LARGEST);
        fuzz_expect(weft_state_file_read(file, &parts[i], content->values[i]) == WEFT_OK);
    }
    return true;
}

/* True if the file is taken; then its tokens are those of the vocabulary. */
static bool take(struct content *content, const char *path, size_t size) {
    size_t left = 0;
    const weft_host host = fuzz_small_host(&left, memory_for(size));
    struct weft_state_file file = {.tensors = NULL};
    const weft_status status = weft_state_file_open(&file, path, &owner, MOST, &host);
    bool taken = status == WEFT_OK;
    fuzz_expect(status != WEFT_OUT_OF_HOST_MEMORY);
    *content = (struct content){.count = file.text.count, .next = file.text.next};
    if (taken) {
        const uint32_t all = file.text.count + file.text.next;
        fuzz_expect(file.text.count >= 1 && file.text.count <= MOST && file.text.given <= all);
        for (uint32_t i = 0; i < all; i++) {
            fuzz_expect(file.text.tokens[i] >= 0 && file.text.tokens[i] < (int32_t)VOCABULARY);
        }
        memcpy(content->tokens, file.text.tokens,
               (all < 2 * MOST ? all : 2 * MOST) * sizeof(int32_t));
        taken = read_parts(content, &file);
    }
    weft_state_file_close(&file);
    fuzz_expect(left == memory_for(size)); /* nothing was lost on the way */
    return taken;
}

/* ---- writing ---- */

static weft_status give(void *user, uint32_t part, void *out) {
    const struct content *content = user;
    memcpy(out, content->values[part],
           (size_t)weft_state_part_kept(&parts[part], content->count) *
               weft_dtype_size(parts[part].dtype));
    return WEFT_OK;
}

static void make(struct content *content, struct fuzz_choices *choices) {
    *content = (struct content){.count = 1 + fuzz_choose(choices, MOST),
                                .next = fuzz_choose(choices, MOST)};
    for (uint32_t i = 0; i < content->count + content->next; i++) {
        content->tokens[i] = (int32_t)fuzz_choose(choices, VOCABULARY);
    }
    for (uint32_t i = 0; i < PARTS; i++) {
        const uint64_t kept = weft_state_part_kept(&parts[i], content->count);
        const uint64_t words = (kept * weft_dtype_size(parts[i].dtype) + 3) / 4;
        for (uint64_t k = 0; k < words; k++) {
            content->values[i][k] = (float)fuzz_choose(choices, 256) / 8 - 4;
        }
    }
}

static bool are_same(const struct content *a, const struct content *b) {
    return memcmp(a->tokens, b->tokens, sizeof a->tokens) == 0 && a->count == b->count &&
           a->next == b->next && memcmp(a->values, b->values, sizeof a->values) == 0;
}

static void write_and_change(struct fuzz_choices *choices) {
    struct content made, found;
    char path[1024];
    size_t size = 0;
    uint8_t *bytes = NULL;
    make(&made, choices);
    const uint32_t given = fuzz_choose(choices, made.count + made.next + 1);
    const struct weft_state_source source = {
        .owner = &owner,
        .text = {.tokens = made.tokens, .count = made.count, .next = made.next, .given = given},
        .parts = parts,
        .count = PARTS,
        .read = give,
        .user = &made};
    const weft_host host = {.log = NULL};
    strcpy(path, fuzz_write("state", "", 0));
    fuzz_expect(weft_state_file_write(path, &source, &host) == WEFT_OK);
    fuzz_expect(weft_file_read(&bytes, &size, (size_t)1 << 20, path, &host) == WEFT_OK);
    fuzz_expect(take(&found, path, size) && are_same(&made, &found));
    bytes[(fuzz_choose(choices, 256) * 256 + fuzz_choose(choices, 256)) % size] =
        (uint8_t)fuzz_choose(choices, 256);
    strcpy(path, fuzz_write("state", bytes, size));
    fuzz_expect(!take(&found, path, size) || are_same(&made, &found));
    weft_free(&host, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct content content;
    struct fuzz_choices choices = {.data = data, .size = size};
    (void)take(&content, fuzz_file(data, size), size);
    if (size < 512) {
        write_and_change(&choices);
    }
    return 0;
}
