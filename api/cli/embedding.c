/* SPDX-License-Identifier: MIT */
#include "embedding.h"

#include <string.h>

#include <weft/texts.h>

#include "core/bytes.h"
#include "core/try.h"
#include "eval/run.h"
#include "input.h"
#include "stop.h"

/* Lines in memory with a receipt, which says what ran together, and is not written where the command is stopped. */
#define RECEIPT_WINDOW 32768U
/* Values of a window's vectors: sparse ones have tens of thousands each. */
#define WINDOW_VALUES ((uint32_t)1 << 25)

/* ---- what the options say ---- */

/* By its name; null is none. */
static int find_task(weft_embed_task *task, const char *name, const weft_cli_syntax *syntax) {
    *task = !name                        ? WEFT_EMBED_TASK_NONE
            : strcmp(name, "query") == 0 ? WEFT_EMBED_TASK_QUERY
                                         : WEFT_EMBED_TASK_DOCUMENT;
    return *task != WEFT_EMBED_TASK_DOCUMENT || strcmp(name, "document") == 0
               ? WEFT_CLI_FINE
               : weft_cli_usage_error(syntax, "--task: expected query or document, found '%s'",
                                      name);
}

int weft_cli_embedding_begin(weft_cli_form *form, const weft_cli_embedding_options *options,
                             weft_cli_session *session, const weft_cli_syntax *syntax) {
    weft_vectors_params params = {
        .pooling = options->pooling, .normalize = options->normalize, .prompt = options->prompt};
    uint32_t pooling = 0;
    WEFT_CLI_TRY(find_task(&params.task, options->task, syntax));
    if (params.task != WEFT_EMBED_TASK_NONE && !params.prompt) {
        params.prompt = weft_model_role_prompt(session->model, params.task == WEFT_EMBED_TASK_QUERY
                                                                   ? WEFT_TEXT_QUERY
                                                                   : WEFT_TEXT_DOCUMENT);
    }
    if (options->pooling && weft_pooling_named(&pooling, options->pooling, NULL) != WEFT_OK) {
        return weft_cli_usage_error(syntax, "--pooling: expected one of %s, found '%s'",
                                    weft_pooling_names(), options->pooling);
    }
    if (session->info.task != WEFT_TASK_EMBED && pooling == 0) {
        return weft_cli_usage_error(syntax,
                                    "the folder %s does not say how vectors of texts are made "
                                    "(it has no modules.json): expected --pooling",
                                    session->folder);
    }
    *form = (weft_cli_form){.empty_counts = true};
    WEFT_CLI_TRY(
        weft_cli_exit_code_of_file(weft_model_set_vectors(&form->before, session->model, &params)));
    return weft_cli_exit_code(weft_model_get_info(session->model, &session->info));
}

/* ---- running ---- */

/* The vectors of a text. */
struct block {
    float *values;
    uint32_t count;
};

struct runner {
    weft_cli_vectors_of_texts *result;
    const weft_cli_session *session;
    weft_cli_window window;
    weft_cli_score score;
    uint32_t batch;
    size_t room;
    struct block *blocks; /* of a window's texts, where each has several vectors */
};

static weft_status make_room(struct runner *self) {
    weft_cli_vectors_of_texts *result = self->result;
    const size_t needed = (size_t)result->count + self->window.count;
    if (needed > UINT32_MAX) {
        return weft_fail(&self->session->host, WEFT_BAD_FILE, "expected at most 2^32 - 1 texts");
    }
    if (!result->rows && needed > self->room) {
        const size_t room = result->count == 0 ? needed : 2 * needed;
        float *values = room > UINT32_MAX ? NULL
                                          : weft_realloc(&self->session->host, result->values,
                                                         room * result->width * sizeof *values);
        if (!values) {
            return weft_fail_memory(&self->session->host, "the vectors of texts");
        }
        result->values = values;
        self->room = room;
    }
    return WEFT_OK;
}

/* Of `count` examples from the window's first on: how many tokens each has, and which. */
static void hash_inputs(weft_sha256 *hash, const weft_cli_window *window, uint32_t count) {
    const weft_cli_data *data = &window->data;
    for (uint32_t i = 0; i < count; i++) {
        const weft_cli_sequence *sequence = &data->sequences[i];
        uint8_t bytes[4];
        weft_store_bytes(bytes, sequence->length, sizeof bytes);
        weft_sha256_add(hash, bytes, sizeof bytes);
        for (uint32_t k = 0; k < sequence->length; k++) {
            weft_store_bytes(bytes, (uint32_t)data->tokens[sequence->begin + k], sizeof bytes);
            weft_sha256_add(hash, bytes, sizeof bytes);
        }
    }
}

/* ---- several vectors of a text ---- */

static weft_status take_block(void *user, uint32_t text, const float *output, uint32_t rows,
                              uint32_t width) {
    const struct runner *self = user;
    const size_t values = (size_t)rows * width;
    struct block *block = &self->blocks[text];
    block->values = weft_alloc_zero(&self->session->host, values + 1, sizeof *block->values);
    if (!block->values) {
        return weft_fail_memory(&self->session->host, "the vectors of a text");
    }
    if (values > 0) {
        memcpy(block->values, output, values * sizeof *output);
    }
    block->count = rows;
    return WEFT_OK;
}

static weft_status make_blocks(struct runner *self) {
    if (!self->score.many) {
        return WEFT_OK;
    }
    self->blocks = weft_alloc_zero(&self->session->host, self->window.count, sizeof *self->blocks);
    self->score.take = take_block;
    self->score.user = self;
    return self->blocks ? WEFT_OK : weft_fail_memory(&self->session->host, "the vectors of texts");
}

static void drop_blocks(struct runner *self) {
    for (uint32_t i = 0; self->blocks && i < self->window.count; i++) {
        weft_free(&self->session->host, self->blocks[i].values);
    }
    weft_free(&self->session->host, self->blocks);
    self->blocks = NULL;
}

/* The first stay, to be shown. */
static weft_status show(weft_cli_vectors_of_texts *result, const struct block *block,
                        const weft_host *host) {
    const uint64_t before = result->shown > 0 ? result->ends[result->shown - 1] : 0;
    const uint64_t after = before + block->count;
    float *values =
        weft_realloc(host, result->values, ((size_t)after * result->width + 1) * sizeof *values);
    if (!values) {
        return weft_fail_memory(host, "the vectors of texts");
    }
    result->values = values;
    memcpy(&values[(size_t)before * result->width], block->values,
           (size_t)block->count * result->width * sizeof *values);
    result->ends[result->shown++] = after;
    return WEFT_OK;
}

static int keep_blocks(struct runner *self, uint32_t done) {
    weft_cli_vectors_of_texts *result = self->result;
    for (uint32_t i = 0; i < done; i++) {
        const struct block *block = &self->blocks[i];
        WEFT_CLI_TRY(weft_cli_rows_add_text(result->rows, block->values, block->count,
                                            self->window.ids ? self->window.ids[i] : NULL));
        if (result->shown < WEFT_CLI_MOST_SHOWN) {
            WEFT_CLI_TRY(weft_cli_exit_code(show(result, block, &self->session->host)));
        }
    }
    return WEFT_CLI_FINE;
}

static int keep_rows(struct runner *self, uint32_t done) {
    weft_cli_vectors_of_texts *result = self->result;
    if (self->score.many) {
        return keep_blocks(self, done);
    }
    if (result->rows) {
        return weft_cli_rows_add(result->rows, self->score.outputs, done, self->window.ids,
                                 result->after != NULL);
    }
    memcpy(&result->values[(size_t)result->count * result->width], self->score.outputs,
           (size_t)done * result->width * sizeof *result->values);
    return WEFT_CLI_FINE;
}

static int run_window(struct runner *self) {
    weft_cli_vectors_of_texts *result = self->result;
    weft_cli_evaluation evaluation;
    if (self->window.count == 0) { /* the command was stopped before its first text */
        return WEFT_CLI_FINE;
    }
    WEFT_CLI_TRY(weft_cli_exit_code(make_room(self)));
    WEFT_CLI_TRY(weft_cli_exit_code(weft_cli_window_note(&self->window, self->session)));
    WEFT_CLI_TRY(
        weft_cli_exit_code(weft_cli_score_begin(&self->score, &self->window.data, self->session)));
    self->score.only_outputs = true;
    WEFT_CLI_TRY(weft_cli_exit_code(make_blocks(self)));
    WEFT_CLI_TRY(weft_cli_evaluate(&evaluation, &self->score, self->batch, "texts"));
    const uint32_t done = self->score.done;
    WEFT_CLI_TRY(keep_rows(self, done));
    hash_inputs(&result->inputs, &self->window, done);
    result->count += done;
    result->whole = done == self->window.count;
    result->tokens += weft_cli_window_tokens(&self->window, done);
    result->plans += evaluation.plans;
    result->compile_ms += evaluation.compile_ms;
    result->run_ms += evaluation.run_ms;
    result->cut += self->window.data.cut;
    drop_blocks(self);
    weft_cli_score_clear(&self->score);
    weft_cli_window_clear(&self->window, &self->session->host);
    return result->after ? result->after(result->user) : WEFT_CLI_FINE;
}

/* The lines whose rows are there already: their tokens alone. */
static int pass_lines(struct runner *self, weft_cli_lines *lines, const weft_cli_partial *from) {
    weft_cli_vectors_of_texts *result = self->result;
    char digest[WEFT_DIGEST_TEXT_SIZE];
    uint32_t passed = 0;
    while (passed < from->count && !weft_cli_stopped()) {
        const uint32_t left = from->count - passed;
        WEFT_CLI_TRY(weft_cli_lines_next(&self->window, lines,
                                         left < RECEIPT_WINDOW ? left : RECEIPT_WINDOW));
        if (self->window.count == 0 && !weft_cli_stopped()) {
            return weft_cli_bad_file(&self->session->host,
                                     "%s: expected at least the %u lines of the rows that are "
                                     "done, found %u",
                                     lines->name, from->count, passed);
        }
        hash_inputs(&result->inputs, &self->window, self->window.count);
        result->tokens += weft_cli_window_tokens(&self->window, self->window.count);
        result->cut += self->window.data.cut;
        passed += self->window.count;
        weft_cli_window_clear(&self->window, &self->session->host);
    }
    const weft_sha256 all = result->inputs;
    const weft_digest found = weft_sha256_end(&result->inputs);
    result->inputs = all;
    return passed < from->count || strcmp(weft_digest_text(&found, digest), from->inputs) == 0
               ? WEFT_CLI_FINE
               : weft_cli_bad_file(&self->session->host,
                                   "%s: expected the lines of the rows that are done as its first "
                                   "%u, found others",
                                   lines->name, from->count);
}

static int run_open_lines(struct runner *self, weft_cli_lines *lines,
                          const weft_cli_partial *from) {
    weft_cli_vectors_of_texts *result = self->result;
    const bool has_receipt = self->session->recording.receipt != NULL;
    uint32_t most = 0;
    if (from && from->count > 0) {
        WEFT_CLI_TRY(pass_lines(self, lines, from));
    }
    if (weft_cli_stopped()) {
        return WEFT_CLI_FINE;
    }
    bool fits = true; /* what was read has been run */
    const weft_model_info *info = &self->session->info;
    const uint64_t values =
        (uint64_t)result->width * (info->multi_vector ? info->max_length : 1); /* of a text */
    const uint32_t fitting = (uint32_t)(WINDOW_VALUES / values) + 1;
    while (!weft_cli_stopped()) {
        most = has_receipt ? RECEIPT_WINDOW : weft_cli_window_size(most);
        WEFT_CLI_TRY(weft_cli_lines_next(&self->window, lines, most < fitting ? most : fitting));
        if (self->window.count == 0) {
            break;
        }
        WEFT_CLI_TRY(run_window(self));
        fits = result->whole;
    }
    result->whole = fits && weft_cli_lines_ended(lines);
    return result->count > 0 || !result->whole
               ? WEFT_CLI_FINE
               : weft_cli_bad_file(&self->session->host, "%s: expected texts, found none",
                                   lines->name);
}

static int run_lines(struct runner *self, const weft_cli_texts *texts, const weft_cli_partial *from,
                     const weft_cli_form *form) {
    weft_cli_lines lines;
    int exit_code = weft_cli_lines_open(&lines, texts->lines, self->session);
    lines.form = *form;
    if (exit_code == WEFT_CLI_FINE) {
        weft_cli_lines_tabulate(&lines, texts->table ? texts->table : &(weft_cli_table_options){0});
        exit_code = run_open_lines(self, &lines, from);
    }
    weft_cli_lines_close(&lines);
    return exit_code;
}

static int run_file(struct runner *self, const char *path, const weft_cli_form *form) {
    const weft_host *host = &self->session->host;
    weft_cli_file_bytes text = {0};
    int exit_code = weft_cli_exit_code(weft_cli_read_bytes(&text, path, host));
    if (exit_code == WEFT_CLI_FINE) {
        const weft_cli_text whole = {.bytes = text.bytes, .size = text.size, .name = path};
        exit_code = weft_cli_window_add(&self->window, &whole, form, self->session);
    }
    weft_free(host, text.bytes);
    return exit_code == WEFT_CLI_FINE ? run_window(self) : exit_code;
}

static int run_list(struct runner *self, const weft_cli_list *list, const weft_cli_form *form) {
    for (uint32_t i = 0; i < list->count; i++) {
        const weft_cli_text text = {
            .bytes = list->at[i], .size = strlen(list->at[i]), .name = "--text"};
        WEFT_CLI_TRY(weft_cli_window_add(&self->window, &text, form, self->session));
    }
    return run_window(self);
}

int weft_cli_embedding_run(weft_cli_vectors_of_texts *result, const weft_cli_texts *texts,
                           const weft_cli_partial *from, const weft_cli_form *form, uint32_t batch,
                           const weft_cli_session *session) {
    struct runner self = {.result = result, .session = session, .batch = batch};
    result->width = weft_cli_output_width(session->model);
    weft_sha256_begin(&result->inputs);
    const int exit_code = texts->lines  ? run_lines(&self, texts, from, form)
                          : texts->file ? run_file(&self, texts->file, form)
                                        : run_list(&self, texts->texts, form);
    drop_blocks(&self);
    weft_cli_score_clear(&self.score);
    weft_cli_window_clear(&self.window, &session->host);
    if (exit_code == WEFT_CLI_FINE && result->cut > 0) {
        weft_cli_print(stderr,
                       "weft: note: %u texts are longer than the model's %u tokens; the rest of "
                       "them is left out\n",
                       result->cut, session->info.max_length);
    }
    return exit_code;
}

void weft_cli_embedding_clear(weft_cli_vectors_of_texts *result, const weft_host *host) {
    weft_free(host, result->values);
    *result = (weft_cli_vectors_of_texts){0};
}

weft_status weft_cli_embedding_note(const weft_cli_form *form, const char *name,
                                    const weft_cli_session *session) {
    const char *prompt = form->before ? form->before : "";
    weft_embed_info info;
    WEFT_TRY(weft_model_get_embedding(session->model, &info));
    return weft_cli_receipt_note(&session->recording, WEFT_RECORD_DATA, name, prompt,
                                 strlen(prompt), "%zu bytes, %u tokens of it left out of pooling",
                                 strlen(prompt), info.prompt_tokens);
}
