/* SPDX-License-Identifier: MIT */
/* What token classifiers say of a text: its entities, or the answer to a question. */
#include <string.h>

#include <weft/model.h>

#include "core/given.h"
#include "core/host.h"
#include "core/math/portable_math.h"
#include "model/network/architecture.h"

#define SPECIAL     255U
#define MOST_TOKENS 15U /* of an answer: transformers' max_answer_len */

bool weft_model_answers_questions(const weft_model *model) {
    static const char end[] = "ForQuestionAnswering";
    weft_model_info info = {0};
    if (weft_model_get_info(model, &info) != WEFT_OK || info.task != WEFT_TASK_CLASSIFY_TOKENS ||
        info.label_count != 2) { /* a config may have other labels: then they are no places */
        return false;
    }
    const size_t length = strlen(info.architecture);
    return length >= sizeof end - 1 &&
           strcmp(info.architecture + length - (sizeof end - 1), end) == 0;
}

static weft_status expect(const weft_model *model, bool answers, const char *expected) {
    weft_model_info info = {0};
    const weft_status status = weft_model_get_info(model, &info);
    if (status != WEFT_OK) {
        return status;
    }
    return info.task == WEFT_TASK_CLASSIFY_TOKENS && weft_model_answers_questions(model) == answers
               ? WEFT_OK
               : weft_fail(weft_model_host(model), WEFT_UNSUPPORTED,
                           "expected %s, found %s, task %s", expected, info.architecture,
                           weft_task_name(info.task));
}

/* ---- entities ---- */

struct finder {
    const weft_model *model;
    const weft_host *host;
    weft_text_span *spans;
    uint32_t count, capacity;
    const char *label; /* of the tokens that are being joined; null: none are */
    uint32_t tokens, begin, end;
    double score; /* their sum */
};

struct chosen {
    const char *label; /* without its "B-" or "I-" */
    bool begins;
    double probability;
};

static struct chosen choose(const struct finder *self, const float *logits, uint32_t labels) {
    uint32_t best = 0;
    double sum = 0;
    for (uint32_t i = 1; i < labels; i++) {
        best = logits[i] > logits[best] ? i : best;
    }
    for (uint32_t i = 0; i < labels; i++) {
        sum += weft_portable_exp((double)logits[i] - (double)logits[best]);
    }
    const char *label = weft_model_label(self->model, best);
    const bool begins = strncmp(label, "B-", 2) == 0;
    const bool marked = begins || strncmp(label, "I-", 2) == 0;
    return (struct chosen){label + (marked ? 2 : 0), begins, 1.0 / sum};
}

/* The tokens that are being joined are all. False when memory is out. */
static bool finish(struct finder *self) {
    const char *label = self->label;
    self->label = NULL;
    if (!label || strcmp(label, "O") == 0) {
        return true;
    }
    if (!weft_grow(self->host, &self->spans, self->count, &self->capacity, sizeof *self->spans)) {
        return false;
    }
    self->spans[self->count++] =
        (weft_text_span){label, self->score / self->tokens, self->begin, self->end};
    return true;
}

/* A token before the last one belongs to the text again: a template may name a text twice. */
static bool take(struct finder *self, const struct chosen *chosen, uint32_t begin, uint32_t end) {
    const bool joins = self->label && !chosen->begins && begin >= self->begin && end >= self->end &&
                       strcmp(self->label, chosen->label) == 0;
    if (!joins) {
        if (!finish(self)) {
            return false;
        }
        self->label = chosen->label;
        self->begin = begin;
        self->score = 0;
        self->tokens = 0;
    }
    self->end = end;
    self->score += chosen->probability;
    self->tokens++;
    return true;
}

weft_status weft_model_find_entities(weft_text_span **spans, uint32_t *count, weft_model *model,
                                     const weft_encoding *encoding, const float *logits) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), spans, count, model, encoding, logits);
    weft_model_info info = {0};
    weft_status status = expect(model, false, "a model that gives each token a label");
    if (status == WEFT_OK) {
        status = weft_model_get_info(model, &info);
    }
    struct finder self = {.model = model, .host = weft_model_host(model)};
    for (uint32_t i = 0; status == WEFT_OK && i < encoding->count; i++) {
        if (encoding->sequences[i] == SPECIAL) {
            continue;
        }
        const struct chosen chosen =
            choose(&self, &logits[(size_t)i * info.label_count], info.label_count);
        if (!take(&self, &chosen, encoding->begins[i], encoding->ends[i])) {
            status = weft_fail_memory(self.host, "entities");
        }
    }
    if (status == WEFT_OK && !finish(&self)) {
        status = weft_fail_memory(self.host, "entities");
    }
    if (status != WEFT_OK) {
        weft_free(self.host, self.spans);
        return status;
    }
    *spans = self.spans;
    *count = self.count;
    return WEFT_OK;
}

void weft_spans_free(weft_model *model, weft_text_span **spans) {
    WEFT_ENTER;
    if (model && spans) {
        weft_free(weft_model_host(model), *spans);
        *spans = NULL;
    }
}

/* ---- answers ---- */

struct reader {
    const weft_encoding *encoding;
    const float *logits;
};

static bool is_context(const struct reader *self, uint32_t token) {
    return self->encoding->sequences[token] == 1;
}

/* What tokens share the probability: the context's, and the first, by which models say that there is no answer. */
static bool counts(const struct reader *self, uint32_t token) {
    return is_context(self, token) || (token == 0 && self->encoding->sequences[0] == SPECIAL);
}

/* exp(logit - largest) of the tokens that count; *sum is that of all. side: 0 begins, 1 ends. */
static double weigh(const struct reader *self, uint32_t token, uint32_t side, double largest) {
    return weft_portable_exp((double)self->logits[2 * (size_t)token + side] - largest);
}

static void measure(const struct reader *self, uint32_t side, double *largest, double *sum) {
    *largest = -1e300;
    for (uint32_t i = 0; i < self->encoding->count; i++) {
        const double logit = (double)self->logits[2 * (size_t)i + side];
        *largest = counts(self, i) && logit > *largest ? logit : *largest;
    }
    *sum = 0;
    for (uint32_t i = 0; i < self->encoding->count; i++) {
        *sum += counts(self, i) ? weigh(self, i, side, *largest) : 0;
    }
}

/* Whether an answer may go from one token to another: not where a template names the context again. */
static bool reaches(const struct reader *self, uint32_t from, uint32_t to) {
    const weft_encoding *encoding = self->encoding;
    return is_context(self, to) && encoding->begins[to] >= encoding->begins[from] &&
           encoding->ends[to] >= encoding->begins[from];
}

/* The likeliest pair of tokens; false without a context. */
static bool find_best(const struct reader *self, uint32_t most, uint32_t best[2], double *score) {
    double largest[2];
    double sum[2];
    measure(self, 0, &largest[0], &sum[0]);
    measure(self, 1, &largest[1], &sum[1]);
    *score = -1;
    for (uint32_t i = 0; i < self->encoding->count; i++) {
        if (!is_context(self, i)) {
            continue;
        }
        const double begins = weigh(self, i, 0, largest[0]) / sum[0];
        for (uint32_t k = i; k < self->encoding->count && k - i < most && reaches(self, i, k);
             k++) {
            const double both = begins * weigh(self, k, 1, largest[1]) / sum[1];
            if (both > *score) {
                *score = both;
                best[0] = i;
                best[1] = k;
            }
        }
    }
    return *score >= 0;
}

weft_status weft_model_find_answer(weft_text_span *answer, weft_model *model,
                                   const weft_encoding *encoding, const float *logits,
                                   uint32_t max_tokens) {
    WEFT_ENTER;
    WEFT_GIVEN(weft_model_host(model), answer, model, encoding, logits);
    const weft_status status = expect(model, true, "a model that answers questions");
    if (status != WEFT_OK) {
        return status;
    }
    const struct reader self = {encoding, logits};
    uint32_t best[2] = {0};
    double score = 0;
    if (!find_best(&self, max_tokens > 0 ? max_tokens : MOST_TOKENS, best, &score)) {
        return weft_fail(weft_model_host(model), WEFT_INVALID_ARGUMENT,
                         "expected a question and a context, found one text, or an empty context");
    }
    *answer = (weft_text_span){NULL, score, encoding->begins[best[0]], encoding->ends[best[1]]};
    return WEFT_OK;
}
