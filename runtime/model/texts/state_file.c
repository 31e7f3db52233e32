/* SPDX-License-Identifier: MIT */
#include "model/texts/state_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <weft/device.h>

#include "core/system/file.h"
#include "core/try.h"
#include "model/files/safetensors_header.h"

#define PREFIX "state/"

/* Notes, each of which stands once. */
enum { FORMAT, VERSION, BITS, MODEL, MATH, WEIGHTS, DECODING, TOKENS, GIVEN, TEXT, STATES, NOTES };
static const char *const keys[NOTES] = {
    [FORMAT] = "format",     [VERSION] = "version", /* WEFT_STATE_VERSION */
    [BITS] = "bits",                                /* WEFT_BITS_VERSION */
    [MODEL] = "model",                              /* its hash */
    [MATH] = "math",                                /* mode of the device */
    [WEIGHTS] = "weights",                          /* how the device keeps them */
    [DECODING] = "decoding",                        /* recurrent or reevaluated */
    [TOKENS] = "tokens",                            /* how many were read */
    [GIVEN] = "given",                              /* how many of the text's were not made */
    [TEXT] = "text", /* SHA-256 of how many were read, are to be read and were given, and of all, as i32 */
    [STATES] = "states" /* tree hash of the states' data, in the order of their names */
};

#define VALUE_SIZE WEFT_DIGEST_TEXT_SIZE
struct values {
    char at[NOTES][VALUE_SIZE];
};

static uint32_t kept_rows(const struct weft_state_part *part, uint32_t tokens) {
    return tokens < part->rings.rows ? tokens : part->rings.rows;
}

uint64_t weft_state_part_kept(const struct weft_state_part *part, uint32_t tokens) {
    return part->rings.count == 0
               ? part->elements
               : (uint64_t)part->rings.count * kept_rows(part, tokens) * part->rings.width;
}

static uint64_t kept_bytes(const struct weft_state_part *part, uint32_t tokens) {
    return weft_state_part_kept(part, tokens) * weft_dtype_size(part->dtype);
}

static uint32_t shape_of(uint64_t shape[3], const struct weft_state_part *part, uint32_t tokens) {
    if (part->rings.count == 0) {
        shape[0] = part->elements;
        return 1;
    }
    shape[0] = part->rings.count;
    shape[1] = kept_rows(part, tokens);
    shape[2] = part->rings.width;
    return 3;
}

static weft_safetensors_dtype dtype_of(const struct weft_state_part *part) {
    return part->dtype == WEFT_F16 ? WEFT_SAFETENSORS_F16 : WEFT_SAFETENSORS_F32;
}

static char *tensor_name(const struct weft_state_part *part, const weft_host *host) {
    return weft_format(host, PREFIX "%s", part->name);
}

static weft_digest digest_of_text(const struct weft_state_text *text) {
    const uint32_t counts[] = {text->count, text->next, text->given};
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    weft_sha256_add(&hash, counts, sizeof counts);
    weft_sha256_add(&hash, text->tokens, ((size_t)text->count + text->next) * sizeof *text->tokens);
    return weft_sha256_end(&hash);
}

/* What the notes say, but for the hash of the states. */
static void take_values(struct values *values, const struct weft_state_owner *owner,
                        const struct weft_state_text *text) {
    const weft_digest tokens = digest_of_text(text);
    snprintf(values->at[FORMAT], VALUE_SIZE, "%s", WEFT_STATE_FORMAT);
    snprintf(values->at[VERSION], VALUE_SIZE, "%d", WEFT_STATE_VERSION);
    snprintf(values->at[BITS], VALUE_SIZE, "%d", WEFT_BITS_VERSION);
    snprintf(values->at[MATH], VALUE_SIZE, "%s", owner->math);
    snprintf(values->at[WEIGHTS], VALUE_SIZE, "%s", owner->weights);
    snprintf(values->at[DECODING], VALUE_SIZE, "%s", owner->decoding);
    snprintf(values->at[TOKENS], VALUE_SIZE, "%" PRIu32, text->count);
    snprintf(values->at[GIVEN], VALUE_SIZE, "%" PRIu32, text->given);
    weft_digest_text(&owner->model, values->at[MODEL]);
    weft_digest_text(&tokens, values->at[TEXT]);
}

/* ---- the order of the states ---- */

static int compare_names(const void *left, const void *right) {
    const struct weft_state_part *a = *(const struct weft_state_part *const *)left;
    const struct weft_state_part *b = *(const struct weft_state_part *const *)right;
    return strcmp(a->name, b->name);
}

/* The parts by their names, in host memory. */
static weft_status sort(const struct weft_state_part ***sorted, const struct weft_state_part *parts,
                        uint32_t count, const weft_host *host) {
    *sorted = weft_alloc_zero(host, (size_t)count + 1, sizeof **sorted);
    if (!*sorted) {
        return weft_fail_memory(host, "a decoder's states");
    }
    for (uint32_t i = 0; i < count; i++) {
        (*sorted)[i] = &parts[i];
    }
    qsort((void *)*sorted, count, sizeof **sorted, compare_names);
    return WEFT_OK;
}

static uint64_t largest(const struct weft_state_part *parts, uint32_t count, uint32_t tokens) {
    uint64_t most = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t kept = kept_bytes(&parts[i], tokens);
        most = kept > most ? kept : most;
    }
    return most;
}

/* ---- writing ---- */

struct writer {
    const struct weft_state_source *source;
    const weft_host *host;
    const struct weft_state_part **sorted;
    void *room;
    struct values values;
    struct weft_safetensors_header header;
    struct weft_new_file file;
};

/* Gives the states' data to the hash, or without one to the file. */
static weft_status pass_states(struct writer *writer, weft_tree_hash *hash) {
    const struct weft_state_source *source = writer->source;
    for (uint32_t i = 0; i < source->count; i++) {
        const struct weft_state_part *part = writer->sorted[i];
        const size_t bytes = (size_t)kept_bytes(part, source->text.count);
        WEFT_TRY(source->read(source->user, (uint32_t)(part - source->parts), writer->room));
        if (hash) {
            weft_tree_hash_add(hash, writer->room, bytes);
        } else {
            WEFT_TRY(weft_new_file_add(&writer->file, writer->room, bytes, writer->host));
        }
    }
    return WEFT_OK;
}

static weft_status add_tensor(struct writer *writer, const struct weft_state_part *part) {
    uint64_t shape[3];
    const uint32_t rank = shape_of(shape, part, writer->source->text.count);
    char *name = tensor_name(part, writer->host);
    if (!name) {
        return weft_fail_memory(writer->host, "the name of a state");
    }
    const weft_status status =
        weft_safetensors_header_add(&writer->header, name, dtype_of(part), shape, rank);
    weft_free(writer->host, name);
    return status;
}

static weft_status make_header(struct writer *writer) {
    const struct weft_state_text *text = &writer->source->text;
    const uint64_t count = text->count, next = text->next;
    weft_safetensors_note notes[NOTES];
    WEFT_TRY(
        weft_safetensors_header_add(&writer->header, "tokens", WEFT_SAFETENSORS_I32, &count, 1));
    if (next > 0) {
        WEFT_TRY(
            weft_safetensors_header_add(&writer->header, "next", WEFT_SAFETENSORS_I32, &next, 1));
    }
    for (uint32_t i = 0; i < writer->source->count; i++) {
        WEFT_TRY(add_tensor(writer, writer->sorted[i]));
    }
    for (uint32_t i = 0; i < NOTES; i++) {
        notes[i] = (weft_safetensors_note){keys[i], writer->values.at[i]};
    }
    return weft_safetensors_header_end(&writer->header, notes, NOTES);
}

static weft_status write(struct writer *writer, const char *path) {
    const struct weft_state_source *source = writer->source;
    const struct weft_state_text *text = &source->text;
    weft_tree_hash hash;
    take_values(&writer->values, source->owner, text);
    weft_tree_hash_begin(&hash);
    WEFT_TRY(pass_states(writer, &hash));
    const weft_digest states = weft_tree_hash_end(&hash);
    weft_digest_text(&states, writer->values.at[STATES]);
    WEFT_TRY(make_header(writer));
    WEFT_TRY(weft_new_file_create(&writer->file, path, writer->host));
    WEFT_TRY(weft_new_file_add(&writer->file, writer->header.text.data, writer->header.text.length,
                               writer->host));
    WEFT_TRY(weft_new_file_add(&writer->file, text->tokens,
                               ((size_t)text->count + text->next) * sizeof *text->tokens,
                               writer->host));
    WEFT_TRY(pass_states(writer, NULL));
    WEFT_TRY(weft_new_file_finish(&writer->file, writer->host));
    return weft_new_file_place(&writer->file, writer->host);
}

weft_status weft_state_file_write(const char *path, const struct weft_state_source *source,
                                  const weft_host *host) {
    struct writer writer = {
        .source = source, .host = host, .header.text.host = *host, .file.file = -1};
    const uint64_t most = largest(source->parts, source->count, source->text.count);
    WEFT_TRY(sort(&writer.sorted, source->parts, source->count, host));
    writer.room = weft_alloc_zero(host, (size_t)most + 1, 1);
    const weft_status status =
        writer.room ? write(&writer, path) : weft_fail_memory(host, "a decoder's states");
    weft_new_file_drop(&writer.file, host);
    weft_free(host, writer.header.text.data);
    weft_free(host, writer.room);
    weft_free(host, (void *)writer.sorted);
    return status;
}

/* ---- reading: notes ---- */

/* The value of a note; null: there is none. */
static const char *find_note(const weft_safetensors *tensors, const char *key) {
    for (uint32_t i = 0; i < weft_safetensors_note_count(tensors); i++) {
        const weft_safetensors_note *note = weft_safetensors_note_at(tensors, i);
        if (strcmp(note->key, key) == 0) {
            return note->value;
        }
    }
    return NULL;
}

static weft_status fail_note(const weft_safetensors *tensors, uint32_t note, const char *expected) {
    const char *found = find_note(tensors, keys[note]);
    return weft_fail(weft_safetensors_host(tensors), WEFT_BAD_FILE,
                     "%s: %s: expected %s, found %s%.80s%s", weft_safetensors_path(tensors),
                     keys[note], expected, found ? "'" : "", found ? found : "none",
                     found ? "'" : "");
}

static bool is_known(const char *key) {
    for (uint32_t i = 0; i < NOTES; i++) {
        if (strcmp(keys[i], key) == 0) {
            return true;
        }
    }
    return false;
}

/* A number as take_values writes it: digits without a zero in front of others. False for anything else. */
static bool parse_number(uint64_t *number, const char *text) {
    const bool has_sign_or_zero = text[0] < '1' || text[0] > '9';
    *number = 0;
    for (const char *at = text; *at; at++) {
        if (*at < '0' || *at > '9' || at - text > 9) {
            return false;
        }
        *number = *number * 10 + (uint64_t)(*at - '0');
    }
    return !has_sign_or_zero || strcmp(text, "0") == 0;
}

static weft_status read_number(uint32_t *number, const weft_safetensors *tensors, uint32_t note,
                               uint32_t least, uint32_t most) {
    char expected[64];
    const char *found = find_note(tensors, keys[note]);
    uint64_t value = 0;
    if (found && parse_number(&value, found) && value >= least && value <= most) {
        *number = (uint32_t)value;
        return WEFT_OK;
    }
    snprintf(expected, sizeof expected, "a number from %" PRIu32 " to %" PRIu32, least, most);
    return fail_note(tensors, note, expected);
}

/* Those that name what the state belongs to. Notes that stand twice have the first value. */
static weft_status check_owner(const weft_safetensors *tensors,
                               const struct weft_state_owner *own) {
    struct values values;
    const struct weft_state_text nothing = {.count = 0};
    take_values(&values, own, &nothing);
    for (uint32_t i = FORMAT; i <= DECODING; i++) {
        const char *found = find_note(tensors, keys[i]);
        if (!found || strcmp(found, values.at[i]) != 0) {
            char expected[VALUE_SIZE + 32];
            snprintf(expected, sizeof expected, "'%s'%s", values.at[i],
                     i == MODEL ? ", this model's hash" : "");
            return fail_note(tensors, i, expected);
        }
    }
    for (uint32_t i = 0; i < weft_safetensors_note_count(tensors); i++) {
        const char *key = weft_safetensors_note_at(tensors, i)->key;
        if (!is_known(key)) {
            return weft_fail(weft_safetensors_host(tensors), WEFT_BAD_FILE,
                             "%s: expected the notes of a state, found '%.80s'",
                             weft_safetensors_path(tensors), key);
        }
    }
    return WEFT_OK;
}

/* ---- reading: tokens ---- */

static weft_status check_list(uint32_t *count, const weft_safetensors *tensors, const char *name,
                              uint32_t most) {
    const weft_safetensors_tensor *tensor = weft_safetensors_find(tensors, name);
    if (!tensor || tensor->dtype != WEFT_SAFETENSORS_I32 || tensor->rank != 1 ||
        tensor->shape[0] < 1 || tensor->shape[0] > most) {
        return weft_fail(weft_safetensors_host(tensors), WEFT_BAD_FILE,
                         "%s: tensor '%s': expected I32 [n], n from 1 to %" PRIu32
                         ", found %s, %" PRIu64 " axes, %" PRIu64 " elements",
                         weft_safetensors_path(tensors), name, most,
                         tensor ? weft_safetensors_dtype_name(tensor->dtype) : "none",
                         tensor ? (uint64_t)tensor->rank : 0, tensor ? tensor->elements : 0);
    }
    *count = (uint32_t)tensor->shape[0];
    return WEFT_OK;
}

static weft_status read_list(const struct weft_state_file *file, const char *name, int32_t *out,
                             uint32_t count, uint32_t vocabulary) {
    const weft_safetensors_tensor *tensor = weft_safetensors_find(file->tensors, name);
    WEFT_TRY(weft_safetensors_read_i32(file->tensors, tensor, 0, count, out));
    for (uint32_t i = 0; i < count; i++) {
        if (out[i] < 0 || (uint32_t)out[i] >= vocabulary) {
            return weft_fail(weft_safetensors_host(file->tensors), WEFT_BAD_FILE,
                             "%s: tensor '%s': token %" PRIu32 ": expected 0 to %" PRIu32
                             ", found %" PRId32,
                             weft_safetensors_path(file->tensors), name, i, vocabulary - 1, out[i]);
        }
    }
    return WEFT_OK;
}

static weft_status read_text(struct weft_state_file *file, const struct weft_state_owner *owner,
                             uint32_t most) {
    struct weft_state_text *text = &file->text;
    const weft_safetensors *tensors = file->tensors;
    const weft_host *host = weft_safetensors_host(tensors);
    uint32_t noted = 0;
    WEFT_TRY(check_list(&text->count, tensors, "tokens", most));
    WEFT_TRY(read_number(&noted, tensors, TOKENS, text->count, text->count));
    if (weft_safetensors_find(tensors, "next")) {
        WEFT_TRY(check_list(&text->next, tensors, "next", INT32_MAX - text->count));
    }
    WEFT_TRY(read_number(&text->given, tensors, GIVEN, 0, text->count + text->next));
    file->tokens = weft_alloc_zero(host, (size_t)text->count + text->next, sizeof *file->tokens);
    if (!file->tokens) {
        return weft_fail_memory(host, "a state's tokens");
    }
    text->tokens = file->tokens;
    WEFT_TRY(read_list(file, "tokens", file->tokens, text->count, owner->vocabulary));
    if (text->next > 0) {
        WEFT_TRY(
            read_list(file, "next", file->tokens + text->count, text->next, owner->vocabulary));
    }
    struct values values;
    take_values(&values, owner, text);
    const char *found = find_note(tensors, keys[TEXT]);
    return found && strcmp(found, values.at[TEXT]) == 0
               ? WEFT_OK
               : fail_note(tensors, TEXT, "the hash of its tokens");
}

weft_status weft_state_file_open(struct weft_state_file *file, const char *path,
                                 const struct weft_state_owner *owner, uint32_t most,
                                 const weft_host *host) {
    WEFT_TRY(weft_safetensors_open(&file->tensors, path, host));
    WEFT_TRY(check_owner(file->tensors, owner));
    return read_text(file, owner, most);
}

void weft_state_file_close(struct weft_state_file *file) {
    if (file->tensors) {
        weft_free(weft_safetensors_host(file->tensors), file->tokens);
        weft_safetensors_close(&file->tensors);
    }
    *file = (struct weft_state_file){.tensors = NULL};
}

/* ---- reading: states ---- */

/* Before the shape, which is another one where states are of another type. */
static weft_status check_dtype(const weft_safetensors *tensors, const char *name,
                               weft_safetensors_dtype dtype) {
    const weft_safetensors_tensor *tensor = weft_safetensors_find(tensors, name);
    return !tensor || tensor->dtype == dtype
               ? WEFT_OK
               : weft_fail(weft_safetensors_host(tensors), WEFT_BAD_FILE,
                           "%s: tensor '%s': dtype: expected %s, found %s",
                           weft_safetensors_path(tensors), name, weft_safetensors_dtype_name(dtype),
                           weft_safetensors_dtype_name(tensor->dtype));
}

/* The part's tensor of the shape that its text makes it. */
static weft_status find_part(const weft_safetensors_tensor **tensor,
                             const struct weft_state_file *file,
                             const struct weft_state_part *part) {
    const weft_host *host = weft_safetensors_host(file->tensors);
    uint64_t shape[3];
    const uint32_t rank = shape_of(shape, part, file->text.count);
    char *name = tensor_name(part, host);
    if (!name) {
        return weft_fail_memory(host, "the name of a state");
    }
    const weft_shape expected =
        rank == 1 ? weft_shape_of((uint32_t)shape[0])
                  : weft_shape_of((uint32_t)shape[0], (uint32_t)shape[1], (uint32_t)shape[2]);
    weft_status status = check_dtype(file->tensors, name, dtype_of(part));
    if (status == WEFT_OK) {
        status = weft_safetensors_require(tensor, file->tensors, name, expected);
    }
    if (status == WEFT_NOT_FOUND) {
        status = WEFT_BAD_FILE;
    }
    weft_free(host, name);
    return status;
}

weft_status weft_state_file_read(const struct weft_state_file *file,
                                 const struct weft_state_part *part, void *out) {
    const weft_safetensors_tensor *tensor = NULL;
    WEFT_TRY(find_part(&tensor, file, part));
    return part->dtype == WEFT_F16
               ? weft_safetensors_read_u16(file->tensors, tensor, 0, tensor->elements, out)
               : weft_safetensors_read_f32(file->tensors, tensor, 0, tensor->elements, out);
}

/* Of all parts in the order of their names. */
static weft_status hash_parts(weft_digest *digest, const struct weft_state_file *file,
                              const struct weft_state_part **sorted, uint32_t count, void *room) {
    weft_tree_hash hash;
    weft_tree_hash_begin(&hash);
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(weft_state_file_read(file, sorted[i], room));
        weft_tree_hash_add(&hash, room, (size_t)kept_bytes(sorted[i], file->text.count));
    }
    *digest = weft_tree_hash_end(&hash);
    return WEFT_OK;
}

static weft_status check_hash(const struct weft_state_file *file,
                              const struct weft_state_part **sorted, uint32_t count, void *room) {
    weft_digest digest;
    char text[WEFT_DIGEST_TEXT_SIZE];
    const char *found = find_note(file->tensors, keys[STATES]);
    WEFT_TRY(hash_parts(&digest, file, sorted, count, room));
    return found && strcmp(found, weft_digest_text(&digest, text)) == 0
               ? WEFT_OK
               : fail_note(file->tensors, STATES, "the hash of its states");
}

/* Every tensor is one of the text's lists or a part: as all parts are there, their number says so. */
static weft_status check_parts(const struct weft_state_file *file,
                               const struct weft_state_part *parts, uint32_t count) {
    const uint32_t lists = file->text.next > 0 ? 2 : 1;
    const weft_safetensors_tensor *tensor = NULL;
    for (uint32_t i = 0; i < count; i++) {
        WEFT_TRY(find_part(&tensor, file, &parts[i]));
    }
    return weft_safetensors_count(file->tensors) == count + lists
               ? WEFT_OK
               : weft_fail(weft_safetensors_host(file->tensors), WEFT_BAD_FILE,
                           "%s: expected %" PRIu32 " tensors, found %" PRIu32,
                           weft_safetensors_path(file->tensors), count + lists,
                           weft_safetensors_count(file->tensors));
}

weft_status weft_state_file_check(const struct weft_state_file *file,
                                  const struct weft_state_part *parts, uint32_t count) {
    const weft_host *host = weft_safetensors_host(file->tensors);
    const struct weft_state_part **sorted = NULL;
    WEFT_TRY(check_parts(file, parts, count));
    WEFT_TRY(sort(&sorted, parts, count, host));
    const uint64_t most = largest(parts, count, file->text.count);
    void *room = weft_alloc_zero(host, (size_t)most + 1, 1);
    const weft_status status =
        room ? check_hash(file, sorted, count, room) : weft_fail_memory(host, "a state");
    weft_free(host, room);
    weft_free(host, (void *)sorted);
    return status;
}
