/* SPDX-License-Identifier: MIT */
#include "core/try.h"
#include "tokenizer/spm/model.h"

/* Between the cutting and the caller: unknown pieces become bytes, or those that follow each other one. */
struct encoding {
    const struct weft_spm_model *model;
    const char *text;                  /* what is not handed over */
    const struct weft_origin *origins; /* of its bytes, or null */
    size_t unknown;                    /* bytes of unknown pieces at its start */
    weft_spm_take take;
    void *user;
};

static bool hand_over(struct encoding *encoding, size_t size, int32_t id) {
    struct weft_spm_piece piece = {.text = encoding->text, .size = size, .id = id};
    if (encoding->origins) {
        piece.begin = encoding->origins[0].begin;
        piece.end = encoding->origins[size - 1].end;
        encoding->origins += size;
    }
    encoding->text += size;
    return encoding->take(encoding->user, &piece);
}

static bool flush_unknown(struct encoding *encoding) {
    const size_t size = encoding->unknown;
    encoding->unknown = 0;
    return size == 0 || hand_over(encoding, size, encoding->model->vocabulary.unknown);
}

static bool take_bytes(struct encoding *encoding, size_t size) {
    for (size_t i = 0; i < size; i++) {
        if (!hand_over(encoding, 1, encoding->model->byte_ids[(uint8_t)*encoding->text])) {
            return false;
        }
    }
    return true;
}

static bool take_piece(void *user, size_t size, int32_t id) {
    struct encoding *encoding = user;
    if (id == encoding->model->vocabulary.unknown) {
        if (encoding->model->byte_fallback) {
            return take_bytes(encoding, size);
        }
        encoding->unknown += size;
        return true;
    }
    return flush_unknown(encoding) && hand_over(encoding, size, id);
}

static weft_status cut(struct encoding *encoding, struct weft_budget *budget, const char *text,
                       size_t size) {
    static weft_status (*const ways[])(
        const struct weft_vocabulary *, const char *, size_t, weft_take_piece, void *,
        const weft_host *, struct weft_budget *) = {[WEFT_SPM_UNIGRAM] = weft_cut_unigram,
                                                    [WEFT_SPM_BPE] = weft_cut_pairs,
                                                    [WEFT_SPM_WORD] = weft_cut_words,
                                                    [WEFT_SPM_CHAR] = weft_cut_characters};
    const struct weft_spm_model *model = encoding->model;
    WEFT_TRY(ways[model->type](&model->vocabulary, text, size, take_piece, encoding, budget->host,
                               budget));
    (void)flush_unknown(encoding);
    return WEFT_OK;
}

weft_status weft_spm_encode(const struct weft_spm_model *model, struct weft_budget *budget,
                            const char *text, size_t size, bool with_origins, weft_spm_take take,
                            void *user) {
    const weft_host *host = budget->host;
    const size_t most = size < WEFT_MAX_CUT / 16 ? WEFT_SPM_MOST_NORMAL(size) : WEFT_MAX_CUT;
    struct weft_text normal = {.host = *host};
    struct weft_origins origins = {.host = *host};
    weft_status status =
        weft_spm_normalize(&normal, with_origins ? &origins : NULL, &model->normalizer, text, size,
                           most < WEFT_MAX_CUT ? most : WEFT_MAX_CUT, budget);
    if (status == WEFT_OK && normal.length > 0) {
        struct encoding encoding = {
            .model = model, .text = normal.data, .origins = origins.at, .take = take, .user = user};
        status = cut(&encoding, budget, normal.data, normal.length);
    }
    weft_free(host, origins.at);
    weft_free(host, normal.data);
    return status;
}
