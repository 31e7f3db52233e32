/* SPDX-License-Identifier: MIT */
/* Models: a folder with config.json and model.safetensors, and its tokenizer. */
#ifndef WEFT_MODEL_H
#define WEFT_MODEL_H

#include <weft/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A checkpoint, its files read and checked. One thread at a time. Destroy before the device of its plans.
 *
 * What was loaded is what it computes with, whatever becomes of the folder: config and tokenizer are in memory, and
 * model.safetensors stays open, from which weights are read when a device first needs them. Replacing, renaming or deleting files changes
 * nothing. Where somebody writes into model.safetensors itself, what would read the changed bytes fails with WEFT_BAD_FILE, naming
 * file and tensor; weights that a device has already stay as they are. A checksum for each 16 KiB decides.
 */
typedef struct weft_model weft_model;

/**
 * Loads and checks a model folder: config.json (Hugging Face layout) and model.safetensors. Every tensor the config
 * asks for must be there with the right shape and finite values. No device is needed. host may be null.
 * Errors: WEFT_NOT_FOUND, WEFT_BAD_FILE and WEFT_UNSUPPORTED, naming file, field or tensor, expected and found.
 */
WEFT_API weft_status weft_model_load(weft_model **model, const char *folder, const weft_host *host);

/** A model in memory: what the files of a model folder hold. */
typedef struct weft_model_memory {
    const char
        *config_json;    /**< the text of a config.json, zero-terminated; read during the call */
    const void *weights; /**< the bytes of a model.safetensors */
    size_t weights_size;
    /** Called once, when nothing needs `weights` any more: neither model nor plan, or because the call failed. Null: the bytes
     * outlive all of these. */
    weft_release release;
    void *release_user;
} weft_model_memory;

#ifndef __cplusplus
#define weft_model_memory(...) (&(weft_model_memory){__VA_ARGS__})
#endif

/**
 * Loads and checks a model as weft_model_load does, without files: from a program's own archive, or from another framework in
 * the same process. The weights are not copied, and must stay as they are. The tokenizer is "bytes" or "none". host may
 * be null. Errors as weft_model_load, whose messages say "config_json" and "weights" for the files, and WEFT_INVALID_ARGUMENT for
 * null, after which release has not been called.
 */
WEFT_API weft_status weft_model_load_memory(weft_model **model, const weft_model_memory *memory,
                                            const weft_host *host);

/**
 * Makes a model of a config alone: config_json is the text of a config.json, zero-terminated, which is copied; weights are
 * random. It is untrained, and meant for timing and tests at any size. No file is read. Destroy it like a loaded one.
 *
 * The config is checked as weft_model_load checks it. Every tensor that a checkpoint must have is drawn by Philox
 * (Salmon et al., SC 2011) from `seed`, in a stream of its own that depends on the tensor's name alone: the same bits on
 * every machine. Matrices have variance 1 / (terms of a sum), weights of norms are near 1 and biases near 0, so that
 * activations stay finite at any depth. Tensors that a checkpoint may lack are treated as missing: the feature matrices of a spectraformer are
 * drawn by features_seed. An fnet without labels has 2. The tokenizer is "bytes" or "none".
 *
 * host may be null. Any number of threads may make models. Errors: WEFT_INVALID_ARGUMENT for null; WEFT_BAD_FILE and
 * WEFT_UNSUPPORTED for the config, naming field, expected and found; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_model_create_random(weft_model **model, const char *config_json,
                                              uint64_t seed, const weft_host *host);

/**
 * The tensor of that name and shape that weft_model_create_random draws, `out` of weft_shape_elements(shape) values: for
 * a reference of such a model. Errors: WEFT_INVALID_ARGUMENT for null.
 */
WEFT_API weft_status weft_model_draw(float *out, const char *name, weft_shape shape, uint64_t seed);

/** Loaded or made. */
WEFT_API void weft_model_destroy(weft_model **model);

typedef enum weft_task {
    WEFT_TASK_HIDDEN = 0, /**< a bare encoder: last hidden state f32 [B, n, d] */
    WEFT_TASK_CLASSIFY,  /**< logits f32 [B, labels]; their softmax, or with multi_label sigmoids */
    WEFT_TASK_MASKED_LM, /**< logits f32 [B, n, vocabulary] */
    WEFT_TASK_NEXT_SENTENCE, /**< logits f32 [B, 2] */
    WEFT_TASK_CAUSAL_LM,     /**< logits f32 [B, n, vocabulary]: row p is of token p + 1 */
    WEFT_TASK_REGRESS,       /**< values f32 [B, labels] */
    /** Two towers: sequences 2b and 2b + 1 of tokens [2B, n] are a pair; logits f32 [B, labels] */
    WEFT_TASK_RETRIEVE,
    WEFT_TASK_CLASSIFY_TOKENS /**< logits f32 [B, n, labels]: each token has a label, or begins and ends an answer */
} weft_task;

/** "hidden", "classify", "masked_lm", "next_sentence", "causal_lm", "regress", "retrieve" or "classify_tokens". */
WEFT_API const char *weft_task_name(weft_task task);

typedef struct weft_model_info {
    const char *
        architecture; /**< "FNetForSequenceClassification", or the model_type; strings live as long as the model */
    /** fnet: "fourier", "linear", "random", "none", "attention" or "hybrid"; otherwise the model_type */
    const char *mixing;
    weft_task task;
    uint32_t layers;
    uint32_t hidden_size;
    uint32_t intermediate_size;
    uint32_t vocabulary;    /**< 0: the input is features */
    uint32_t input_size;    /**< channels of the input "features"; 0: the input is tokens */
    uint32_t position_size; /**< l of the input "positions" f32 [B, n, l], or 0: it has none */
    bool causal;            /**< row p of the result reads the tokens 0 … p alone */
    uint32_t max_length;    /**< longest sequence in tokens */
    bool
        takes_lengths; /**< the sequences of a batch may have lengths of their own: weft_model_inputs */
    uint32_t exact_length; /**< the only length it can run (learned sequence matrices), or 0 */
    uint32_t
        label_count; /**< outputs per sequence (retrieve: pair); 0 for hidden and language models */
    /**
     * Any number of labels may be right, each with the sigmoid of its logit: of an fnet whose problem_type is
     * multi_label_classification, and where there is one label only. Otherwise one is right, by the softmax.
     */
    bool multi_label;
    int32_t eos_token; /**< the token that ends a text, or -1 */
    uint64_t parameters;
    const char *tokenizer; /**< "bytes", "sentencepiece" or "none" */
} weft_model_info;

WEFT_API weft_status weft_model_get_info(const weft_model *model, weft_model_info *info);

/** The text of its config.json as it was loaded. Lives as long as the model. */
WEFT_API const char *weft_model_config(const weft_model *model);

/**
 * The bytes of its model.safetensors as it was loaded, in the host's memory; free them with weft_text_free. Errors: WEFT_UNSUPPORTED for
 * random weights; WEFT_BAD_FILE when the file has other bytes now.
 */
WEFT_API weft_status weft_model_weights(weft_model *model, char **bytes, size_t *size);

/**
 * The same model without its head: its task is WEFT_TASK_HIDDEN. The two share weights, on devices, too. Either may
 * be destroyed first, and each is for one thread at a time. It has no tokenizer's files. Destroy it like a loaded one.
 */
WEFT_API weft_status weft_model_without_head(weft_model **headless, weft_model *model);

/** Label text, or "LABEL_<index>" where the config has none; null when index is out of range. Lives as long as the model. */
WEFT_API const char *weft_model_label(const weft_model *model, uint32_t index);

/**
 * Tokens of a text (UTF-8, not zero-terminated): at most max_length, special tokens included, of which a causal language model
 * has none. *tokens is in the host's
 * memory; free it with weft_tokens_free. Errors: WEFT_UNSUPPORTED without a tokenizer (the message says what is
 * missing), WEFT_INVALID_ARGUMENT for an empty text.
 */
WEFT_API weft_status weft_model_tokenize(weft_model *model, const char *text, size_t size,
                                         int32_t **tokens, uint32_t *count);
WEFT_API void weft_tokens_free(weft_model *model, int32_t **tokens);

/**
 * The text of tokens: *size bytes, and a zero behind them, in the host's memory; free it with weft_text_free. Tokens without a
 * text are left out: special ones and those that the tokenizer does not have. Tokens of bytes need not be UTF-8 together.
 * With SentencePiece a text begins without its first space: what a token adds to a text shows when all of them are given.
 * Errors: WEFT_UNSUPPORTED without a tokenizer (the message says what is missing).
 */
WEFT_API weft_status weft_model_detokenize(weft_model *model, const int32_t *tokens, uint32_t count,
                                           char **text, size_t *size);
WEFT_API void weft_text_free(weft_model *model, char **text);

/** What a model reads. All have the same [B, n]. */
typedef struct weft_model_inputs {
    weft_tensor tokens;    /**< i32 [B, n], unless input_size */
    weft_tensor types;     /**< i32 [B, n], or none; fnet alone */
    weft_tensor features;  /**< f32 [B, n, input_size], with input_size */
    weft_tensor positions; /**< f32 [B, n, position_size], with position_size */
    /** i32 [B], each 1 … n, or none, all n; with takes_lengths alone. Behind a length tokens are any of the vocabulary, and vectors
     * any numbers; results there mean nothing. */
    weft_tensor lengths;
} weft_model_inputs;

#ifndef __cplusplus
#define weft_model_inputs(...) (&(weft_model_inputs){__VA_ARGS__})
#endif

/**
 * Adds the model to a graph: its inputs → the task's output. Errors: WEFT_INVALID_ARGUMENT when n exceeds max_length or is
 * not exact_length, for inputs that the model does not have, or an odd B for pairs; WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_model_build(weft_tensor *out, weft_model *model, weft_graph *graph,
                                      const weft_model_inputs *inputs);

/**
 * A plan for a batch and length: inputs "tokens" i32 [B, n] or "features" f32 [B, n, input_size] (and "token_types" i32
 * [B, n] when with_types, which fnet alone has; and "positions" f32 [B, n, position_size] where the model reads them),
 * output "output". Owned by the caller. Weights are uploaded once per device.
 */
WEFT_API weft_status weft_model_compile(weft_plan **plan, weft_model *model, weft_device *device,
                                        uint32_t batch, uint32_t length, bool with_types,
                                        const weft_plan_params *params);

/**
 * The same for sequences of up to `length` tokens, with one more input, "lengths" i32 [B]: each has the bits that it has alone, in
 * a plan for its own length. WEFT_INVALID_ARGUMENT for a model without takes_lengths.
 */
WEFT_API weft_status weft_model_compile_lengths(weft_plan **plan, weft_model *model,
                                                weft_device *device, uint32_t batch,
                                                uint32_t length, const weft_plan_params *params);

/* ---- decoding: causal language models, one token at a time ---- */

typedef enum weft_decoding {
    /** A state of bounded size goes from token to token: weft/decode.h. Time per token does not depend on the position. */
    WEFT_DECODING_RECURRENT = 0,
    /**
     * All tokens so far are run again for each one, in a plan for the smallest of 64, 128, 256 … tokens that holds them
     * (at most max_length; exact_length where the model has one), padded with token 0 at the end.
     */
    WEFT_DECODING_REEVALUATED = 1
} weft_decoding;

/** "recurrent" or "reevaluated"; never null. */
WEFT_API const char *weft_decoding_name(weft_decoding decoding);

typedef struct weft_decoder_params {
    uint32_t batch; /**< sequences; 0 means 1 */
    uint32_t
        max_length; /**< most tokens of a sequence; 0: the model's. A smaller number makes smaller states and the same bits */
    bool reevaluate;              /**< run all tokens again even where the model has a recurrence */
    const weft_plan_params *plan; /**< or null; its texts must outlive the decoder */
} weft_decoder_params;

#ifndef __cplusplus
#define weft_decoder_params(...) (&(weft_decoder_params){__VA_ARGS__})
#endif

/** Sequences that grow token by token. One thread at a time. Model and device must outlive it. */
typedef struct weft_decoder weft_decoder;

/**
 * Makes a decoder of empty sequences. Models with a recurrence are transformer, performer, fmmformer, flt (without
 * positions of its own), spectraformer (of features that do not look at other tokens) and cosformer (with a length of
 * its own): their decoders are recurrent, and give the bits of weft_model_compile's plan for the whole prefix, whatever
 * its length. All others are evaluated again; with operators by FFT bits can depend on the plan's length.
 * Errors: WEFT_UNSUPPORTED for a model that is not a causal language model over tokens, or that reads positions;
 * WEFT_INVALID_ARGUMENT for a max_length above the model's; those of weft_model_compile. params may be null.
 */
WEFT_API weft_status weft_decoder_create(weft_decoder **decoder, weft_model *model,
                                         weft_device *device, const weft_decoder_params *params);
WEFT_API void weft_decoder_destroy(weft_decoder **decoder);

/**
 * Appends a token to each sequence, tokens[batch], and gives the logits of the next ones, f32 [batch, vocabulary];
 * logits may be null: a decoder that runs all tokens again then only notes the token.
 * Errors: WEFT_INVALID_ARGUMENT for a token outside the vocabulary, or when the sequences have max_length tokens already;
 * the decoder is then as it was. After any other error, reset it.
 */
WEFT_API weft_status weft_decoder_step(weft_decoder *decoder, const int32_t *tokens, float *logits);

/**
 * Begins empty sequences with `count` tokens each, tokens[batch, count], at once, and gives the logits of the next ones, f32
 * [batch, vocabulary], or with logits null nothing: the same bits as by steps, in a fraction of their time. A recurrent decoder
 * compiles a plan for that many tokens, and keeps the newest. Errors: WEFT_INVALID_ARGUMENT for sequences that are not empty, a
 * count of 0 or above max_length, or a token outside the vocabulary; the decoder is then as it was. After any other error,
 * reset it.
 */
WEFT_API weft_status weft_decoder_prompt(weft_decoder *decoder, const int32_t *tokens,
                                         uint32_t count, float *logits);

/** Empties the sequences. */
WEFT_API void weft_decoder_reset(weft_decoder *decoder);

typedef struct weft_decoder_info {
    weft_decoding decoding;
    uint32_t batch;
    uint32_t vocabulary;
    uint32_t length;     /**< tokens of each sequence so far */
    uint32_t max_length; /**< the most they can have */
    uint32_t
        plan_length; /**< tokens that the newest plan runs: 1 when recurrent; 0: there is none yet */
    uint64_t
        state_bytes;     /**< device memory that goes from token to token; 0 when evaluated again */
    weft_plan_info plan; /**< of the newest plan; zeros when there is none */
} weft_decoder_info;

WEFT_API weft_status weft_decoder_get_info(const weft_decoder *decoder, weft_decoder_info *info);

typedef struct weft_sampling {
    double
        temperature; /**< of the softmax; 0: the token of the largest logit, and the first of several */
    uint32_t
        top_k; /**< only among so many of the largest, the first ones of equals; 0: among all */
    uint64_t seed;
} weft_sampling;

/**
 * Chooses the token that follows by its logits: the same one on every machine that has the same logits. `index` is the
 * number of the choice: each has a random number of its own, from Philox. host may be null. Errors:
 * WEFT_INVALID_ARGUMENT for a logit that is NaN or infinite, and for a temperature that is so or negative;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_sample(uint32_t *token, const float *logits, uint32_t count,
                                 const weft_sampling *sampling, uint64_t index,
                                 const weft_host *host);

#ifdef __cplusplus
}
#endif

#endif
