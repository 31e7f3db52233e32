/* SPDX-License-Identifier: MIT */
#include "tokenizer/spm/model.h"

#include <stdio.h>
#include <string.h>

#include "core/try.h"
#include "tokenizer/spm/protobuf.h"
#include "tokenizer/unicode/text_class.h"

/* Numbers of fields in sentencepiece_model.proto. */
enum { MODEL_PIECES = 1, MODEL_TRAINER = 2, MODEL_NORMALIZER = 3, MODEL_DENORMALIZER = 5 };
enum { PIECE_TEXT = 1, PIECE_SCORE = 2, PIECE_TYPE = 3 };
enum { TRAINER_TYPE = 3, TRAINER_SUFFIX = 24, TRAINER_BYTES = 35, TRAINER_SURFACE = 44 };
enum { SPEC_RULES = 2, SPEC_PREFIX = 3, SPEC_WHITESPACES = 4, SPEC_ESCAPE = 5 };

#define FIELD_STEPS 64u

struct reader {
    struct weft_spm_model *model;
    const char *path;
    uint32_t most_pieces;
    struct weft_budget budget;
    struct weft_protobuf rules[2]; /* of normalizer_spec and denormalizer_spec */
};

static weft_status fail_contents(const struct reader *reader) {
    return weft_fail(&reader->model->host, WEFT_BAD_FILE,
                     "%s: expected a SentencePiece model, found other contents", reader->path);
}

/* `message` is the field's place, with a point behind it, or empty. */
static weft_status expect_wire(const struct reader *reader, const struct weft_protobuf_field *field,
                               enum weft_protobuf_wire wire, const char *message,
                               const char *name) {
    return field->wire == wire
               ? WEFT_OK
               : weft_fail(&reader->model->host, WEFT_BAD_FILE,
                           "%s: %s%s: expected wire type %d, found %d", reader->path, message, name,
                           (int)wire, (int)field->wire);
}

static weft_status read_bool(const struct reader *reader, const struct weft_protobuf_field *field,
                             const char *message, const char *name, bool *value) {
    WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_VARINT, message, name));
    *value = field->value != 0;
    return WEFT_OK;
}

/* ---- pieces ---- */

static weft_status read_piece_field(const struct reader *reader,
                                    const struct weft_protobuf_field *field,
                                    struct weft_piece *piece, const char *place) {
    switch (field->number) {
    case PIECE_TEXT:
        WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_BYTES, place, "piece"));
        piece->text = (const char *)field->bytes.data;
        piece->size = field->bytes.size;
        return WEFT_OK;
    case PIECE_SCORE: {
        WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_FIXED32, place, "score"));
        const uint32_t bits = (uint32_t)field->value;
        float score;
        memcpy(&score, &bits, sizeof bits);
        piece->score = (double)score;
        return WEFT_OK;
    }
    case PIECE_TYPE:
        WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_VARINT, place, "type"));
        /* Numbers that are none of the types' are refused with the rest of the vocabulary. */
        piece->type = (enum weft_piece_type)(field->value <= INT32_MAX ? field->value : INT32_MAX);
        return WEFT_OK;
    default:
        return WEFT_OK;
    }
}

static weft_status read_piece(struct reader *reader, struct weft_protobuf message) {
    const uint32_t id = reader->model->vocabulary.count++;
    struct weft_piece *piece = &reader->model->vocabulary.pieces[id];
    *piece = (struct weft_piece){.text = "", .type = WEFT_PIECE_NORMAL};
    char place[32];
    snprintf(place, sizeof place, "piece %u: ", (unsigned)id);
    while (message.size > 0) {
        struct weft_protobuf_field field;
        if (!weft_protobuf_next(&message, &field)) {
            return fail_contents(reader);
        }
        WEFT_TRY(read_piece_field(reader, &field, piece, place));
    }
    return WEFT_OK;
}

/* Counts the pieces and makes room for them, having seen that the model's fields are whole. */
static weft_status make_room(struct reader *reader, struct weft_protobuf message) {
    struct weft_spm_model *model = reader->model;
    size_t count = 0;
    while (message.size > 0) {
        struct weft_protobuf_field field;
        if (!weft_protobuf_next(&message, &field)) {
            return fail_contents(reader);
        }
        count += field.number == MODEL_PIECES;
    }
    if (count == 0) {
        return weft_fail(&model->host, WEFT_BAD_FILE,
                         "%s: expected a SentencePiece model with pieces, found none",
                         reader->path);
    }
    if (count > reader->most_pieces) {
        return weft_fail(&model->host, WEFT_BAD_FILE,
                         "%s: expected at most %u pieces, the model's vocab_size, found %zu",
                         reader->path, (unsigned)reader->most_pieces, count);
    }
    model->vocabulary.pieces =
        weft_alloc_zero(&model->host, count, sizeof *model->vocabulary.pieces);
    return model->vocabulary.pieces ? WEFT_OK : weft_fail_memory(&model->host, reader->path);
}

/* ---- the other messages ---- */

static weft_status read_type(const struct reader *reader, const struct weft_protobuf_field *field) {
    WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_VARINT, "trainer_spec.", "model_type"));
    if (field->value < WEFT_SPM_UNIGRAM || field->value > WEFT_SPM_CHAR) {
        return weft_fail(&reader->model->host, WEFT_BAD_FILE,
                         "%s: trainer_spec.model_type: expected 1 to 4, found %llu", reader->path,
                         (unsigned long long)field->value);
    }
    reader->model->type = (enum weft_spm_type)field->value;
    return WEFT_OK;
}

static weft_status read_surface(const struct reader *reader,
                                const struct weft_protobuf_field *field) {
    WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_BYTES, "trainer_spec.", "unk_surface"));
    if (field->bytes.size > WEFT_MAX_PIECE ||
        !weft_utf8_is_text((const char *)field->bytes.data, field->bytes.size)) {
        return weft_fail(&reader->model->host, WEFT_BAD_FILE,
                         "%s: trainer_spec.unk_surface: expected at most 4096 bytes of UTF-8 "
                         "without a zero byte, found %s",
                         reader->path, field->bytes.size > WEFT_MAX_PIECE ? "more" : "other bytes");
    }
    reader->model->unknown_surface = (const char *)field->bytes.data;
    reader->model->unknown_surface_size = field->bytes.size;
    return WEFT_OK;
}

static weft_status read_trainer(struct reader *reader, struct weft_protobuf message) {
    struct weft_spm_model *model = reader->model;
    while (message.size > 0) {
        struct weft_protobuf_field field;
        if (!weft_protobuf_next(&message, &field)) {
            return fail_contents(reader);
        }
        switch (field.number) {
        case TRAINER_TYPE:
            WEFT_TRY(read_type(reader, &field));
            break;
        case TRAINER_SUFFIX:
            WEFT_TRY(read_bool(reader, &field, "trainer_spec.", "treat_whitespace_as_suffix",
                               &model->normalizer.whitespace_as_suffix));
            break;
        case TRAINER_BYTES:
            WEFT_TRY(
                read_bool(reader, &field, "trainer_spec.", "byte_fallback", &model->byte_fallback));
            break;
        case TRAINER_SURFACE:
            WEFT_TRY(read_surface(reader, &field));
            break;
        default:
            break;
        }
    }
    return WEFT_OK;
}

static weft_status read_spec_field(const struct reader *reader,
                                   const struct weft_protobuf_field *field,
                                   struct weft_spm_normalizer *normalizer,
                                   struct weft_protobuf *rules, const char *place) {
    switch (field->number) {
    case SPEC_RULES:
        WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_BYTES, place, "precompiled_charsmap"));
        *rules = field->bytes;
        return WEFT_OK;
    case SPEC_PREFIX:
        return read_bool(reader, field, place, "add_dummy_prefix", &normalizer->add_dummy_prefix);
    case SPEC_WHITESPACES:
        return read_bool(reader, field, place, "remove_extra_whitespaces",
                         &normalizer->remove_extra_whitespaces);
    case SPEC_ESCAPE:
        return read_bool(reader, field, place, "escape_whitespaces",
                         &normalizer->escape_whitespaces);
    default:
        return WEFT_OK;
    }
}

static weft_status read_spec(struct reader *reader, struct weft_protobuf message, bool inverse) {
    struct weft_spm_model *model = reader->model;
    while (message.size > 0) {
        struct weft_protobuf_field field;
        if (!weft_protobuf_next(&message, &field)) {
            return fail_contents(reader);
        }
        WEFT_TRY(read_spec_field(
            reader, &field, inverse ? &model->denormalizer : &model->normalizer,
            &reader->rules[inverse], inverse ? "denormalizer_spec." : "normalizer_spec."));
    }
    return WEFT_OK;
}

static weft_status read_model_field(struct reader *reader,
                                    const struct weft_protobuf_field *field) {
    static const char *const names[] = {[MODEL_PIECES] = "pieces",
                                        [MODEL_TRAINER] = "trainer_spec",
                                        [MODEL_NORMALIZER] = "normalizer_spec",
                                        [MODEL_DENORMALIZER] = "denormalizer_spec"};
    const bool known = field->number < sizeof names / sizeof names[0] && names[field->number];
    if (!known) {
        return WEFT_OK;
    }
    WEFT_TRY(expect_wire(reader, field, WEFT_PROTOBUF_BYTES, "", names[field->number]));
    switch (field->number) {
    case MODEL_PIECES:
        return read_piece(reader, field->bytes);
    case MODEL_TRAINER:
        return read_trainer(reader, field->bytes);
    default:
        return read_spec(reader, field->bytes, field->number == MODEL_DENORMALIZER);
    }
}

/* ---- what holds for the whole ---- */

/* The byte that "<0x41>" and the like stand for, or -1. */
static int byte_of(const struct weft_piece *piece) {
    static const char digits[] = "0123456789ABCDEF";
    if (piece->size != 6 || memcmp(piece->text, "<0x", 3) != 0 || piece->text[5] != '>') {
        return -1;
    }
    const char *high = strchr(digits, piece->text[3]);
    const char *low = strchr(digits, piece->text[4]);
    return high && low ? (int)(16 * (high - digits) + (low - digits)) : -1;
}

static weft_status find_bytes(struct reader *reader) {
    struct weft_spm_model *model = reader->model;
    memset(model->byte_ids, 0xFF, sizeof model->byte_ids);
    for (uint32_t id = 0; id < model->vocabulary.count; id++) {
        const struct weft_piece *piece = &model->vocabulary.pieces[id];
        if (piece->type != WEFT_PIECE_BYTE) {
            continue;
        }
        const int byte = byte_of(piece);
        if (!model->byte_fallback || byte < 0) {
            return weft_fail(&model->host, WEFT_BAD_FILE, "%s: piece %u: expected %s", reader->path,
                             (unsigned)id,
                             byte < 0
                                 ? "a byte, <0x00> to <0xFF>, found another text"
                                 : "no byte piece without trainer_spec.byte_fallback, found one");
        }
        model->byte_ids[byte] = (int32_t)id;
    }
    for (unsigned byte = 0; model->byte_fallback && byte < 256; byte++) {
        if (model->byte_ids[byte] < 0) {
            return weft_fail(&model->host, WEFT_BAD_FILE,
                             "%s: trainer_spec.byte_fallback: expected 256 byte pieces, found no "
                             "<0x%02X>",
                             reader->path, byte);
        }
    }
    return WEFT_OK;
}

static weft_status finish(struct reader *reader) {
    struct weft_spm_model *model = reader->model;
    WEFT_TRY(weft_spm_rules_open(&model->normalizer.rules, reader->rules[0].data,
                                 reader->rules[0].size, reader->path, "normalizer_spec",
                                 &model->host));
    WEFT_TRY(weft_spm_rules_open(&model->denormalizer.rules, reader->rules[1].data,
                                 reader->rules[1].size, reader->path, "denormalizer_spec",
                                 &model->host));
    WEFT_TRY(weft_vocabulary_finish(&model->vocabulary, reader->path, &model->host));
    model->normalizer.kept = &model->vocabulary.user_defined;
    return find_bytes(reader);
}

static weft_status read_model(struct reader *reader, size_t size) {
    struct weft_protobuf message = {reader->model->bytes, size};
    WEFT_TRY(make_room(reader, message));
    while (message.size > 0) {
        struct weft_protobuf_field field;
        if (!weft_protobuf_next(&message, &field)) {
            return fail_contents(reader);
        }
        WEFT_TRY(weft_budget_spend(&reader->budget, FIELD_STEPS));
        WEFT_TRY(read_model_field(reader, &field));
    }
    return finish(reader);
}

weft_status weft_spm_model_create(struct weft_spm_model **model, uint8_t *bytes, size_t size,
                                  const char *path, uint32_t most_pieces, const weft_host *host) {
    static const struct weft_spm_normalizer defaults = {
        .add_dummy_prefix = true, .remove_extra_whitespaces = true, .escape_whitespaces = true};
    struct weft_spm_model *created = weft_alloc_zero(host, 1, sizeof *created);
    if (!created) {
        weft_free(host, bytes);
        return weft_fail_memory(host, path);
    }
    created->host = host ? *host : (weft_host){0};
    created->bytes = bytes;
    created->type = WEFT_SPM_UNIGRAM;
    created->unknown_surface = " \xE2\x81\x87 "; /* U+2047 */
    created->unknown_surface_size = strlen(created->unknown_surface);
    created->normalizer = defaults;
    created->denormalizer = defaults;
    struct reader reader = {.model = created, .path = path, .most_pieces = most_pieces};
    weft_budget_begin(&reader.budget, WEFT_FILE_STEPS(size), path, &created->host);
    const weft_status status = read_model(&reader, size);
    if (status == WEFT_OK) {
        *model = created;
    } else {
        weft_spm_model_destroy(created);
    }
    return status;
}

void weft_spm_model_destroy(struct weft_spm_model *model) {
    if (model) {
        weft_host host = model->host;
        weft_vocabulary_clear(&model->vocabulary, &host);
        weft_free(&host, model->bytes);
        weft_free(&host, model);
    }
}
