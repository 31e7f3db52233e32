/* SPDX-License-Identifier: MIT */
/*
 * Many texts, or sequences of tokens, through a model, whatever their lengths: which of them run together, their prompts and
 * poolings by name, ranks, and parts of texts in characters.
 *
 *   weft_model_set_vectors, for vectors → weft_texts_create → weft_texts_run, as often as needed → weft_texts_destroy
 *
 * In reproducible and fused mode each text has the bits that it has alone.
 */
#ifndef WEFT_TEXTS_H
#define WEFT_TEXTS_H

#include <weft/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how vectors are made, by name ---- */

/**
 * A pooling by its name: "cls", "max", "mean", "mean_sqrt_len", "weighted_mean" or "last", or as folders of sentence-transformers
 * write it, "mean_sqrt_len_tokens", "weightedmean" or "lasttoken". host may be null. Thread safe.
 * Errors: WEFT_INVALID_ARGUMENT for another name.
 */
WEFT_API weft_status weft_pooling_named(uint32_t *pooling, const char *name, const weft_host *host);

/** "cls, max, mean, mean_sqrt_len, weighted_mean, last", for messages. Thread safe. */
WEFT_API const char *weft_pooling_names(void);

/** Role of a text in a search. */
typedef enum weft_text_role {
    WEFT_TEXT_QUERY = 0, /**< it asks */
    WEFT_TEXT_DOCUMENT   /**< it is found */
} weft_text_role;

/**
 * The name of the prompt that the model's folder has for texts of a role, "query", or the first of "document", "passage" and
 * "corpus" that is there; "" if it has none. Lives as long as the model.
 */
WEFT_API const char *weft_model_role_prompt(const weft_model *model, weft_text_role role);

typedef struct weft_vectors_params {
    const char
        *pooling;   /**< a name for weft_pooling_named; null: the pooling before, or the folder's */
    bool normalize; /**< give vectors of length 1, also where the folder does not say so */
    /** The name of one of the model's prompts, or the text itself; "": none; null: the folder's default */
    const char *prompt;
    bool prompt_is_text; /**< `prompt` is a text, also where it is some prompt's name */
    uint32_t dimension;  /**< of weft_embed_params, as the next */
    uint32_t max_terms;
    weft_embed_task task;
} weft_vectors_params;

#ifndef __cplusplus
#define weft_vectors_params(...) (&(weft_vectors_params){__VA_ARGS__})
#endif

/**
 * Makes a model give vectors, by weft_model_set_embedding. Where pooling leaves out the prompt, it tells the model how many tokens the
 * prompt has, without the special one that ends a text. *prompt is the text for weft_texts_run_params.prompt, or null. It lives as long as
 * the model and params->prompt. `task` chooses no prompt: weft_model_role_prompt does. params may be null.
 * Errors: those of weft_pooling_named, weft_model_set_embedding and weft_model_encode.
 */
WEFT_API weft_status weft_model_set_vectors(const char **prompt, weft_model *model,
                                            const weft_vectors_params *params);

/* ---- running ---- */

/** A text, a pair of texts, or a sequence as another tokenizer made it. All memory is the caller's, and read during the call only. */
typedef struct weft_text_input {
    const char *text; /**< UTF-8, not zero-terminated, may have zeros; null: a sequence */
    size_t size;      /**< 0: the empty text */
    const char *pair; /**< a second text; null: there is none */
    size_t pair_size;
    /** A sequence: tokens [length], or features f32 [length, input_size] for a model that takes them */
    const int32_t *tokens;
    const int32_t *types; /**< [length], or null: all 0; only with takes_types */
    const float *features;
    const float *positions; /**< f32 [length, position_size] for a model that reads them */
    uint32_t length;        /**< at least 1 */
} weft_text_input;

/** Output of the model for a text. Pointers are valid during the call. */
typedef struct weft_text_output {
    uint32_t index;      /**< of the text; of a model of pairs (weft_texts_run) that of the pair */
    const float *values; /**< f32 [rows, width] */
    /** 1; or of a task with an output for each token, the text's tokens; or with multi_vector those whose vectors count, perhaps none */
    uint32_t rows;
    uint32_t width;
    /** Tokens of a text and their places, for weft_model_find_entities; null for a sequence */
    const weft_encoding *encoding;
} weft_text_output;

/** Texts that run together. Pointers are valid during the call. */
typedef struct weft_text_batch {
    const uint32_t *indices; /**< [count] of the texts, or pairs, in the plan's order of rows */
    uint32_t count;
    uint32_t
        size; /**< texts or pairs that the plan takes: those behind `count` are copies of the first */
    uint32_t length; /**< tokens of the plan's sequences */
    uint64_t
        tokens; /**< of all sequences of the plan, copies included, without those behind lengths */
    uint64_t runs; /**< of this plan before */
} weft_text_batch;

typedef struct weft_texts_params {
    /** How many compiled plans are kept for later runs; each has memory on the device. 0: 8; at most 1024 */
    uint32_t plans;
    const weft_plan_params *plan; /**< or null; its texts must outlive the object */
} weft_texts_params;

#ifndef __cplusplus
#define weft_texts_params(...) (&(weft_texts_params){__VA_ARGS__})
#endif

/** A model on a device, with plans for batches of texts. One thread at a time. Destroy it before the device. */
typedef struct weft_texts weft_texts;

/**
 * Nothing is compiled yet. params may be null.
 * Errors: WEFT_UNSUPPORTED for a program without a task; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_texts_create(weft_texts **texts, weft_model *model, weft_device *device,
                                       const weft_texts_params *params);
WEFT_API void weft_texts_destroy(weft_texts **texts);

typedef struct weft_texts_run_params {
    const weft_text_input *texts;
    uint32_t count;  /**< 0: nothing is done */
    uint32_t number; /**< of the first text in messages */
    /** Most texts of a batch; 0: 32, or fewer that have 8,192 tokens or, for a language model, 2^24 logits together */
    uint32_t batch;
    /** Zero-terminated; stands in front of each text that has no pair; null: nothing does */
    const char *prompt;
    /** f32 [count, width], in the texts' order, or null. Only for tasks with one row for each text */
    float *values;
    bool *has; /**< where not null: [count], set to true for each text whose output was delivered */
    uint32_t *cut; /**< where not null: [count], tokens that truncation removed from each text */
    /** Gets each output, after `values`; or null. Another status than WEFT_OK ends the run with that status */
    weft_status (*take)(void *user, const weft_text_output *output);
    /** Runs a plan in place of weft_plan_execute, as weft_receipt_execute does, or to measure it; or null */
    weft_status (*execute)(void *user, weft_plan *plan, const weft_host_tensor *tensors,
                           uint32_t tensor_count, const weft_text_batch *batch);
    void *user; /**< for both */
} weft_texts_run_params;

#ifndef __cplusplus
#define weft_texts_run_params(...) (&(weft_texts_run_params){__VA_ARGS__})
#endif

/**
 * Encodes all texts, and runs them: the shortest first, those of one length in their order. A batch has sequences of
 * one length; or, with takes_lengths, of up to 4/3 of its shortest. If there are more of them than a batch takes,
 * without `batch` all batches are of about equal size. The last one is filled up with copies. Sequences with types
 * run behind all others.
 *
 * Each output is written to `values` and handed to `take` as soon as its batch has run. So a run that ends early, by
 * an error, by `take` or with WEFT_CANCELLED, has delivered all that it computed. A later run may go on with the
 * texts that are missing in `has`. The width is weft_model_get_output_shape's last axis. A model of task "retrieve"
 * takes pairs of sequences: texts 2i and 2i + 1 are pair i, of one length, and `count`, which is even, still counts
 * sequences; `values` and `has` have count / 2 rows. Callbacks may call functions that read the model, such as
 * weft_model_find_answer, and none of this object.
 * Errors: WEFT_INVALID_ARGUMENT naming the text and the expected value, for an empty sequence, one that is longer
 * than max_length or not of exact_length, or a token outside the vocabulary; also for types or inputs that the model
 * does not have, or values for a task with rows of tokens; those of weft_model_encode, after a line that names the
 * text; those of weft_model_compile_shape and weft_plan_execute.
 */
WEFT_API weft_status weft_texts_run(weft_texts *texts, const weft_texts_run_params *params);

/** Counters of an object since its creation. */
typedef struct weft_texts_info {
    uint64_t texts;     /**< whose outputs were delivered, or pairs of sequences */
    uint64_t tokens;    /**< of these */
    uint64_t cut_texts; /**< that were longer than the model takes, of all that were encoded */
    uint64_t plans;     /**< compiled */
    double compile_ms;  /**< of all plans */
    uint64_t pipelines_compiled; /**< that no cache had */
} weft_texts_info;

WEFT_API weft_status weft_texts_get_info(const weft_texts *texts, weft_texts_info *info);

/* ---- ranks ---- */

/**
 * How alike two vectors of `width` values are, in float64, larger for more alike: by "dot" their product, by "euclidean" and
 * "manhattan" the negative distance, by any other name the cosine, which is 0 for a vector of zeros. The names are those of
 * weft_embed_info.similarity. similarity may be null: the cosine. Thread safe. 0 for null vectors.
 */
WEFT_API double weft_vector_similarity(const char *similarity, const float *a, const float *b,
                                       uint32_t width);

/** The score of a pair by the only output of a cross-encoder: the value itself with raw_scores, else its sigmoid. */
WEFT_API double weft_model_pair_score(const weft_model *model, float value);

/** Some vectors of a text, f32 [count, width]. */
typedef struct weft_vector_list {
    const float *values;
    uint32_t count;
} weft_vector_list;

/** What a text without vectors scores, whatever the query: less than any other. */
#define WEFT_NO_VECTORS_SCORE (-1e9)

/**
 * How well a text with several vectors answers a query with several: the sum over the query's of the largest product with one of the text's,
 * in float64 and in their order (MaxSim: Khattab and Zaharia, "ColBERT", SIGIR 2020, equation 3); by "meanmaxsim" over the number of the query's.
 * WEFT_NO_VECTORS_SCORE for a text that has none, and 0 for a query that has none. A NaN among the products makes it NaN. similarity may be null: "maxsim".
 * Thread safe. 0 for null vectors.
 */
WEFT_API double weft_vectors_similarity(const char *similarity, const weft_vector_list *query,
                                        const weft_vector_list *text, uint32_t width);

/** A text among those that are ranked. */
typedef struct weft_ranked {
    uint32_t index; /**< its place among the texts that were given */
    double score;
} weft_ranked;

/** Sorts by score, the largest first, equal ones by index, NaN last. Thread safe. */
WEFT_API void weft_rank(weft_ranked *ranked, uint32_t count);

typedef struct weft_rank_params {
    const weft_text_input *query; /**< without a pair */
    const weft_text_input *
        texts; /**< without pairs; with a cross-encoder all are texts, else sequences may be among them */
    uint32_t count;
    uint32_t batch; /**< as in weft_texts_run_params, as all that follow */
    uint32_t *cut;
    weft_status (*take)(void *user,
                        const weft_text_output *output); /**< gets the outputs of texts */
    void *user;
} weft_rank_params;

#ifndef __cplusplus
#define weft_rank_params(...) (&(weft_rank_params){__VA_ARGS__})
#endif

/**
 * Ranks texts by how well they answer a query, ranked[params->count], the best first. A classifier or a regression with one label, a
 * cross-encoder, reads the query with each text, and gives weft_model_pair_score. A model that makes vectors compares the query's with each
 * text's by the folder's similarity, with the prompts of weft_model_role_prompt; with multi_vector by weft_vectors_similarity, text by
 * text, so that no vectors are kept. The settings of weft_model_set_vectors stay.
 * Errors: those of weft_texts_run and weft_model_set_vectors; `ranked` is then as it was, as ranks of some texts are no ranks of all.
 */
WEFT_API weft_status weft_texts_rank(weft_ranked *ranked, weft_texts *texts,
                                     const weft_rank_params *params);

/* ---- sparse vectors ---- */

/** A token of a sparse vector, and its weight. */
typedef struct weft_term {
    uint32_t token;
    float value;
} weft_term;

/**
 * The values of a vector f32 [width] that are not 0, the largest first, equal ones by token: at most the first `most` of them, 0: all. `terms`
 * has room for `most`, or else for width. Returns how many there are. Of a model with weft_embed_info.sparse these are its terms, and
 * `most` should be max_terms or less. Thread safe. 0 for null.
 */
WEFT_API uint32_t weft_vector_terms(weft_term *terms, uint32_t most, const float *vector,
                                    uint32_t width);

/* ---- search ---- */

typedef struct weft_search_params {
    const float *queries; /**< f32 [count, width], copied */
    uint32_t count;       /**< at least 1, as the next two */
    uint32_t width;
    uint32_t top; /**< how many of the best are kept for each query */
    /** A name of weft_vector_similarity, or null: the cosine */
    const char *similarity;
} weft_search_params;

#ifndef __cplusplus
#define weft_search_params(...) (&(weft_search_params){__VA_ARGS__})
#endif

/**
 * An exact search of vectors for the ones most like some queries. Every vector is compared with every query, by weft_vector_similarity, so that
 * results are the same on every machine. Vectors are not kept: there may be more than memory holds. One thread at a time.
 */
typedef struct weft_search weft_search;

/**
 * host may be null. Takes memory for queries and results alone.
 * Errors: WEFT_INVALID_ARGUMENT for a similarity that is not there, or sizes of 0; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_search_create(weft_search **search, const weft_search_params *params,
                                        const weft_host *host);
WEFT_API void weft_search_destroy(weft_search **search);

/**
 * Looks at `count` more vectors f32 [count, width], which are numbered from 0 on in the order in which they come.
 * Errors: WEFT_INVALID_ARGUMENT for more than 2^32 - 1 in all; WEFT_CANCELLED, after which the search is of no use.
 */
WEFT_API weft_status weft_search_add(weft_search *search, const float *vectors, uint32_t count);

/**
 * The best for a query so far, *count of them, at most `top`, for which `ranked` has room: in the order of weft_rank, so that of equal ones
 * the first comes first.
 */
WEFT_API weft_status weft_search_best(const weft_search *search, uint32_t query,
                                      weft_ranked *ranked, uint32_t *count);

/* ---- parts of texts ---- */

/** Place of a part of a text, in whole characters, as tokens may be parts of one. */
typedef struct weft_text_part {
    size_t begin; /**< bytes [begin, end) */
    size_t end;
    size_t first; /**< characters [first, last) */
    size_t last;
} weft_text_part;

/**
 * The part of a text, UTF-8 of `size` bytes, that the bytes [begin, end) touch. A character begins with each byte that does not go on with
 * another. Places behind the text count as its end. Thread safe. Zeros for a null text.
 */
WEFT_API weft_text_part weft_text_find_part(const char *text, size_t size, size_t begin,
                                            size_t end);

#ifdef __cplusplus
}
#endif

#endif
