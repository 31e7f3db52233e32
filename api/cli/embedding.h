/* SPDX-License-Identifier: MIT */
/* Many texts through a model that gives each a vector, for embed and rerank. Functions return exit codes. */
#ifndef WEFT_CLI_EMBEDDING_H
#define WEFT_CLI_EMBEDDING_H

#include "eval/score.h"
#include "lines.h"
#include "partial.h"
#include "rows.h"

/** Texts whose vectors may be shown. */
#define WEFT_CLI_MOST_SHOWN 16U

/** Arguments of --task and --prompt's default with it. */
#define WEFT_CLI_TASK_OPTION(how)                                                                 \
    {                                                                                             \
        "task", WEFT_CLI_TEXT, &(how)->task, "query|document",                                    \
            "what the texts are: it chooses the model's prompt for these, where --prompt names "  \
            "none; a model with several vectors of a text (ColBERT) also cuts and fills them up " \
            "as its folder says, and leaves vectors out"                                          \
    }

/** Argument of --pooling; the words that folders have are taken, too. */
#define WEFT_CLI_POOLINGS "mean|cls|last|max|weighted_mean|mean_sqrt_len|..."

/** What the options say of pooling and prompts; nulls where they say nothing. */
typedef struct weft_cli_embedding_options {
    const char *pooling; /* as of weft_vectors_params, as the next two */
    const char *prompt;
    const char
        *task; /* "query" or "document": also says which prompt, where none is given; or null */
    bool normalize;
    uint32_t batch; /* 0: chosen by length */
} weft_cli_embedding_options;

/** Where texts come from: one of the three. */
typedef struct weft_cli_texts {
    const weft_cli_list *texts;
    const char *file;                    /* one text */
    const char *lines;                   /* one on each line, or in each record: */
    const weft_cli_table_options *table; /* or null */
} weft_cli_texts;

/**
 * The vectors of the first `count` texts, in their order: all, unless the command was stopped. Where a text has several, they go to `rows`, and
 * of the first texts stay here: text i has the rows of `values` from ends[i - 1] to ends[i].
 */
typedef struct weft_cli_vectors_of_texts {
    float *values; /* [count, width] in fresh memory; or null: they are in … */
    uint64_t ends[WEFT_CLI_MOST_SHOWN];
    uint32_t shown; /* of these */
    weft_cli_rows
        *rows; /* … this file, where it is not null, and `after` is called when some are */
    int (*after)(void *user);
    void *user;
    uint32_t count, width;
    bool whole;         /* these are all */
    weft_sha256 inputs; /* of their tokens, see weft_cli_partial */
    uint64_t tokens;
    uint32_t plans, cut;
    double compile_ms, run_ms;
} weft_cli_vectors_of_texts;

/** Makes the session's model one that gives vectors, as the options say, and *form one for its texts. Open no device before. */
int weft_cli_embedding_begin(weft_cli_form *form, const weft_cli_embedding_options *options,
                             weft_cli_session *session, const weft_cli_syntax *syntax);

/**
 * Runs them: the session is open. `result` is to be cleared, also on failure. It may begin with the rows of an earlier command,
 * to which `from`, else null, says what they are bound to: then the first lines must be theirs, and it goes on behind them.
 */
int weft_cli_embedding_run(weft_cli_vectors_of_texts *result, const weft_cli_texts *texts,
                           const weft_cli_partial *from, const weft_cli_form *form, uint32_t batch,
                           const weft_cli_session *session);

/** Notes the prompt of texts in the session's receipt, if there is one, under that name. The session is open. */
weft_status weft_cli_embedding_note(const weft_cli_form *form, const char *name,
                                    const weft_cli_session *session);

void weft_cli_embedding_clear(weft_cli_vectors_of_texts *result, const weft_host *host);

#endif
