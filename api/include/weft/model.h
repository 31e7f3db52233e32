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
 * Later changes of the folder do not change a loaded model. Config and tokenizer are in memory; model.safetensors stays
 * open, and weights are read from it when a device first needs them. Replacing, renaming or deleting files has no
 * effect. If another program writes into model.safetensors itself, a call that reads the changed bytes fails with
 * WEFT_BAD_FILE, naming file and tensor; weights already on a device keep their values. A checksum for each 16 KiB
 * detects changes.
 */
typedef struct weft_model weft_model;

/**
 * Loads and checks a model folder: config.json (Hugging Face layout) and model.safetensors, or the files that
 * model.safetensors.index.json names; a static embedding; or a GGUF file, perhaps alone in a folder (api/MODELS.md). Every tensor the config
 * asks for must be there with the right shape and finite values. No device is needed. host may be null.
 * Errors: WEFT_NOT_FOUND, WEFT_BAD_FILE and WEFT_UNSUPPORTED, naming file, field or tensor, expected and found.
 */
WEFT_API weft_status weft_model_load(weft_model **model, const char *folder, const weft_host *host);

/** A model in memory: the contents of the files of a model folder. */
typedef struct weft_model_memory {
    const char
        *config_json;    /**< the text of a config.json, zero-terminated; read during the call */
    const void *weights; /**< the bytes of a model.safetensors */
    size_t weights_size;
    /**
     * Called once, when no model or plan needs `weights` any more, or when the call has failed. Null: the bytes outlive
     * them.
     */
    weft_release release;
    void *release_user;
} weft_model_memory;

#ifndef __cplusplus
#define weft_model_memory(...) (&(weft_model_memory){__VA_ARGS__})
#endif

/**
 * Loads and checks a model as weft_model_load does, without files: from a program's own archive, or from another
 * framework in the same process. The weights are not copied, and must not change. The tokenizer is "bytes" or "none".
 * host may be null.
 * Errors: as weft_model_load, with "config_json" and "weights" as names of the files; WEFT_INVALID_ARGUMENT for null,
 * without a call of release.
 */
WEFT_API weft_status weft_model_load_memory(weft_model **model, const weft_model_memory *memory,
                                            const weft_host *host);

/**
 * Makes an untrained model with random weights from a config alone, for timing and tests at any size. config_json is
 * the text of a config.json, zero-terminated; it is copied. No file is read. Destroy it like a loaded model.
 *
 * The config is checked as weft_model_load checks it. Every required tensor is drawn by Philox (Salmon et al., SC
 * 2011) from `seed`, in its own stream that depends on the tensor's name alone: the same bits on every machine.
 * Matrices have variance 1 / (terms of a sum), weights of norms are near 1 and biases near 0, so that activations
 * stay finite at any depth. Optional tensors of a checkpoint count as missing: the feature matrices of a
 * spectraformer are drawn by features_seed. A class of transformers without labels gets 2. The tokenizer is "bytes"
 * or "none".
 *
 * host may be null. Any number of threads may make models. Errors: WEFT_INVALID_ARGUMENT for null; WEFT_BAD_FILE and
 * WEFT_UNSUPPORTED for the config, naming field, expected and found; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_model_create_random(weft_model **model, const char *config_json,
                                              uint64_t seed, const weft_host *host);

/**
 * Draws one tensor as weft_model_create_random does, by name and shape, for a reference of such a model. `out` has
 * weft_shape_elements(shape) values.
 * Errors: WEFT_INVALID_ARGUMENT for null.
 */
WEFT_API weft_status weft_model_draw(float *out, const char *name, weft_shape shape, uint64_t seed);

/** What matrices become; the last three are blocks of ggml's formats of those names, along rows. */
typedef enum weft_quantization {
    WEFT_QUANTIZE_I8 = 0,      /**< WEFT_STORED_I8 */
    WEFT_QUANTIZE_I8_ONLY = 1, /**< WEFT_STORED_I8_ONLY */
    WEFT_QUANTIZE_Q8_0 = 2,    /**< bytes, and a scale for 32 of them */
    WEFT_QUANTIZE_Q4_0 = 3,    /**< 4 bits, and a scale for 32 numbers */
    /** 4 bits, a scale and a smallest number for 32 numbers; Q8_0 in matrices whose rows are no multiple of 256 */
    WEFT_QUANTIZE_Q4_K = 4
} weft_quantization;

/** Result of weft_model_quantize. */
typedef struct weft_quantize_info {
    uint32_t matrices;     /**< converted */
    uint64_t bytes_before; /**< of all tensors in the files that it read */
    uint64_t bytes_after;
    uint32_t as_q8_0; /**< of the matrices, those that are Q8_0 where Q4_K was asked for */
} weft_quantize_info;

/**
 * Writes a copy of a model folder in which matrices that only products and embeddings read are smaller.
 *
 * I8 and I8_ONLY: as a device with WEFT_WEIGHTS_I8 (or WEFT_WEIGHTS_I8_ONLY) makes them of `folder`. Loaded without that option, it gives the
 * bits of the option. Such a matrix is an I8 tensor under its name, and its scales are an F32 tensor NAME.scale, or NAME.scale_only, of shape
 * [rows, 1] or [1, columns].
 *
 * Q8_0, Q4_0 and Q4_K: matrices that are multiplied along their rows, if these are whole blocks of 32, and tables of tokens, not those of
 * positions. A matrix is a U8 tensor NAME.q8_0, NAME.q4_0 or NAME.q4_k, whose rows are those of a GGUF file. They stay so on the device, and
 * results are those of the numbers that they stand for.
 *
 * A GGUF file becomes another one, `out`, by Q8_0, Q4_0 or Q4_K: matrices of F32, F16 and BF16, but for tables of positions and of kinds of
 * tokens, as llama.cpp leaves them. Its keys are copied.
 *
 * All other tensors, configs and tokenizers are copied; weights in several files become one. Files of those names in `out` are replaced,
 * config.json last; one call at a time writes into a folder. info and host may be null.
 * Errors: those of weft_model_load; WEFT_BAD_FILE for a file to copy that is a link out of `folder`, except to the
 * blobs beside the snapshots of the Hub's cache; WEFT_INVALID_ARGUMENT where `out` is `folder`, or is not called *.gguf where that is such a
 * file, or for another quantization; WEFT_UNSUPPORTED if there is no such matrix, some are blocks already, or a number is too large for a
 * scale of 16 bits; WEFT_IO_ERROR.
 */
WEFT_API weft_status weft_model_quantize(weft_quantize_info *info, const char *folder,
                                         const char *out, weft_quantization to,
                                         const weft_host *host);

/** Destroys a model from any of these functions. */
WEFT_API void weft_model_destroy(weft_model **model);

typedef enum weft_task {
    WEFT_TASK_HIDDEN = 0, /**< a bare encoder: last hidden state f32 [B, n, d] */
    WEFT_TASK_CLASSIFY,  /**< logits f32 [B, labels]; their softmax, or with multi_label sigmoids */
    WEFT_TASK_MASKED_LM, /**< logits f32 [B, n, vocabulary] */
    WEFT_TASK_NEXT_SENTENCE, /**< logits f32 [B, 2] */
    WEFT_TASK_CAUSAL_LM,     /**< logits f32 [B, n, vocabulary]: row p predicts token p + 1 */
    WEFT_TASK_REGRESS,       /**< values f32 [B, labels] */
    /** Two towers: sequences 2b and 2b + 1 of tokens [2B, n] are a pair; logits f32 [B, labels] */
    WEFT_TASK_RETRIEVE,
    WEFT_TASK_CLASSIFY_TOKENS, /**< logits f32 [B, n, labels]: each token has a label, or begins and ends an answer */
    WEFT_TASK_PROGRAM, /**< a program without one of these: weft_model_get_port lists its inputs and outputs */
    /** Vectors f32 [B, embedding_size], with multi_vector f32 [B, n, embedding_size]: weft_model_get_embedding */
    WEFT_TASK_EMBED,
    /** An encoder reads a text, and a decoder writes another: weft_generator, weft_decoder; hidden states are the encoder's */
    WEFT_TASK_TEXT_TO_TEXT
} weft_task;

/**
 * "hidden", "classify", "masked_lm", "next_sentence", "causal_lm", "regress", "retrieve", "classify_tokens",
 * "program", "embed" or "text_to_text".
 */
WEFT_API const char *weft_task_name(weft_task task);

typedef struct weft_model_info {
    const char *
        architecture; /**< "BertForSequenceClassification", or the model_type; strings live as long as the model */
    /** fnet: "fourier", "linear", "random", "none", "attention" or "hybrid"; otherwise the model_type */
    const char *mixing;
    weft_task
        task; /**< of a program WEFT_TASK_PROGRAM: then only names, parameters and tokenizer are set */
    uint32_t layers;
    uint32_t hidden_size;
    uint32_t embedding_size; /**< values of a text's vector; 0: the task is not "embed" */
    bool
        multi_vector; /**< a text has a vector for each token that counts: weft/texts.h delivers these alone */
    uint32_t intermediate_size;
    uint32_t vocabulary;    /**< 0: the input is features or images */
    uint32_t input_size;    /**< channels of the input "features"; 0: the input is tokens */
    uint32_t position_size; /**< l of the input "positions" f32 [B, n, l], or 0: it has none */
    bool causal;            /**< row p of the result reads the tokens 0 … p alone */
    uint32_t max_length;    /**< longest sequence in tokens */
    bool takes_types;       /**< it has token types: weft_model_inputs.types */
    bool takes_lengths; /**< sequences of a batch may differ in length: weft_model_inputs.lengths */
    uint32_t exact_length; /**< the only length it can run (learned sequence matrices), or 0 */
    uint32_t
        label_count; /**< outputs per sequence (retrieve: pair); 0 for hidden and language models */
    /**
     * Any number of labels may apply, each with the sigmoid of its logit: true with problem_type
     * multi_label_classification, and for a single label. Otherwise one label applies, by the softmax.
     */
    bool multi_label;
    int32_t eos_token;         /**< the token that ends a text, the first of eos_tokens, or -1 */
    const int32_t *eos_tokens; /**< all of them; lives as long as the model */
    uint32_t eos_token_count;
    uint64_t parameters;
    const char *tokenizer; /**< "bytes", "sentencepiece", "tokenizer.json" or "none" */
    /** A pair's score is the value of its only label: of a regression, or where activation_fn is Identity. Else its sigmoid. */
    bool raw_scores;
    /**
     * A pair's score is that of the text that the folder's chat template makes of it (a LogitScore of sentence-transformers): the model
     * takes such texts, and weft_model_encode no pairs.
     */
    bool by_template;
    /** The input is images, "pixels" f32 [B, image_channels, image_size, image_size], of exact_length patches; 0: it is not */
    uint32_t image_size;
    uint32_t image_channels;
    /**
     * Of a model with a tower of texts, which this is, and one of images (weft_model_image_tower): the logit of a text's and
     * an image's vectors is similarity_scale * their cosine + similarity_bias. 0: there is no other tower.
     */
    float similarity_scale;
    float similarity_bias;
    weft_dtype state; /**< weft_model_set_state */
} weft_model_info;

WEFT_API weft_status weft_model_get_info(const weft_model *model, weft_model_info *info);

/**
 * Shape of a model's output for `batch` sequences of `length` tokens, as given at weft_task. weft_model_build checks
 * every graph against it, so readers of outputs can rely on it.
 * Errors: WEFT_UNSUPPORTED for a program without a task.
 */
WEFT_API weft_status weft_model_get_output_shape(const weft_model *model, uint32_t batch,
                                                 uint32_t length, weft_shape *shape);

/** The text of the loaded config.json. Lives as long as the model. */
WEFT_API const char *weft_model_config(const weft_model *model);

/**
 * The bytes of the loaded model.safetensors, allocated through the model's weft_host; free them with weft_text_free.
 * Weights in several files come as the bytes of one file with all of them.
 * Errors: WEFT_UNSUPPORTED for random weights; WEFT_BAD_FILE if the file's bytes have changed.
 */
WEFT_API weft_status weft_model_weights(weft_model *model, char **bytes, size_t *size);

/**
 * Makes a model without the head of `model`, with the task WEFT_TASK_HIDDEN and without the tokenizer's files. Both
 * share weights, on devices, too. Either may be destroyed first, and each is for one thread at a time. Destroy it
 * like a loaded model.
 */
WEFT_API weft_status weft_model_without_head(weft_model **headless, weft_model *model);

/**
 * Makes a model of the tower that reads images, of a model with two towers: CLIPModel, SiglipModel. Its vectors are compared with
 * those of `model`. Both share weights, on devices, too. Either may be destroyed first, and each is for one thread at a time.
 * Destroy it like a loaded model. Errors: WEFT_UNSUPPORTED for a model without such a tower.
 */
WEFT_API weft_status weft_model_image_tower(weft_model **tower, weft_model *model);

/** Filters of an image that is resized, by their numbers in Pillow. */
typedef enum weft_resampling {
    WEFT_RESAMPLING_NEAREST = 0,
    WEFT_RESAMPLING_LANCZOS = 1,
    WEFT_RESAMPLING_BILINEAR = 2,
    WEFT_RESAMPLING_BICUBIC = 3,
    WEFT_RESAMPLING_BOX = 4,
    WEFT_RESAMPLING_HAMMING = 5
} weft_resampling;

/** What becomes of an image's bytes before a model reads them, in this order; the steps are those of transformers. */
typedef struct weft_image_rules {
    bool converts_rgb; /**< whatever it is, it becomes an image of red, green and blue */
    bool
        resizes; /**< to height and width, or its shortest edge to shortest_edge; the other one is 0 */
    uint32_t height, width, shortest_edge;
    uint32_t resampling; /**< weft_resampling */
    bool crops;          /**< to the middle, with zeros around where the image is smaller */
    uint32_t crop_height, crop_width;
    bool rescales; /**< multiplies by rescale_factor */
    double rescale_factor;
    bool normalizes;   /**< subtracts mean, and divides by std: one of each channel */
    uint32_t channels; /**< that mean and std have */
    double mean[4], std[4];
} weft_image_rules;

/**
 * Reads preprocessor_config.json of a model folder. The types are CLIP's, ViT's, SigLIP's and Bit's image processors. A field
 * that changes the result is in the rules, or is refused; others are named in a warning. host may be null.
 * Errors: WEFT_NOT_FOUND without the file; WEFT_UNSUPPORTED and WEFT_BAD_FILE, naming field, expected and found.
 */
WEFT_API weft_status weft_image_rules_read(weft_image_rules *rules, const char *folder,
                                           const weft_host *host);

/* ---- embeddings ---- */

/**
 * Ways to pool the vectors of tokens into one. Several results are concatenated, in this order. Vectors behind a
 * length never count.
 */
typedef enum weft_embed_pooling {
    WEFT_EMBED_CLS = 1,            /**< the first token's */
    WEFT_EMBED_MAX = 2,            /**< the largest of each channel */
    WEFT_EMBED_MEAN = 4,           /**< their mean */
    WEFT_EMBED_MEAN_SQRT = 8,      /**< their sum over the root of their number */
    WEFT_EMBED_WEIGHTED_MEAN = 16, /**< the mean in which token i of 1 … n counts i times */
    WEFT_EMBED_LAST = 32           /**< the last token's */
} weft_embed_pooling;

/**
 * What a text is for a model with several vectors for each text (weft_model_info.multi_vector): its folder says to how many tokens texts of a task
 * are cut, whether short queries are filled up with copies of a token, and which tokens' vectors count. Without a task a text is a document
 * that is cut as the tokenizer says.
 */
typedef enum weft_embed_task {
    WEFT_EMBED_TASK_NONE = 0,
    WEFT_EMBED_TASK_QUERY,
    WEFT_EMBED_TASK_DOCUMENT
} weft_embed_task;

typedef struct weft_embed_params {
    /** Bits of weft_embed_pooling, for a model whose folder has no modules.json; 0: those of the folder */
    uint32_t pooling;
    bool normalize; /**< give vectors of length 1, also where the folder does not say so */
    /** Number of tokens at the start of each text that belong to the prompt: left out if skips_prompt is set */
    uint32_t prompt_tokens;
    /** A vector's first values are its result, before they are normalized; more than there are: all; 0: as the folder says */
    uint32_t dimension;
    /** Of sparse vectors: so many of the largest values are the result, of equal ones the first, others are 0; 0: as the folder says */
    uint32_t max_terms;
    weft_embed_task task; /**< no vector of a model without multi_vector depends on it */
} weft_embed_params;

#ifndef __cplusplus
#define weft_embed_params(...) (&(weft_embed_params){__VA_ARGS__})
#endif

/**
 * Makes a model give embeddings: its task is then WEFT_TASK_EMBED, whatever its head is. A folder with a modules.json
 * of sentence-transformers (Transformer, Pooling, Normalize, Dense; MLMTransformer, SpladePooling; Transformer, Dense, MultiVectorMask, Normalize) is loaded as such, and keeps its pooling. The
 * newest call decides for plans compiled later; a pooling of 0 keeps the previous one.
 * Errors: WEFT_INVALID_ARGUMENT for a pooling if the folder has one, if neither has one, and for unknown bits;
 * WEFT_UNSUPPORTED for a program, or a model of pairs. Also WEFT_INVALID_ARGUMENT for a task that is none, and a dimension of a
 * model with multi_vector.
 */
WEFT_API weft_status weft_model_set_embedding(weft_model *model, const weft_embed_params *params);

/**
 * Has texts cut at `length` tokens, special ones included: weft_model_info.max_length from now on. 0: as after loading.
 * Errors: WEFT_INVALID_ARGUMENT for more than the network has positions.
 */
WEFT_API weft_status weft_model_set_max_length(weft_model *model, uint32_t length);

/**
 * Has the keys and values of causal softmax attention rounded to f16, after whatever is done to them and before attention reads any, to
 * nearest, ties to even, and from 65520 on to infinity; WEFT_F32: not, as after loading. It holds for all graphs and plans that are made of
 * the model from now on: for whole sequences, for weft_decoder and for what is built on it. So these give the bits of one another,
 * other ones than without it. The state of a decoder then has them as f16, in half of the memory, and so have its files, which are refused where
 * the other type is set. Convolutions, gated states and linear attention keep theirs in f32.
 * Errors: WEFT_INVALID_ARGUMENT for another type; WEFT_UNSUPPORTED for a model whose decoder's state has no keys and values: one that is
 * reevaluated, text_to_text or no decoder.
 */
WEFT_API weft_status weft_model_set_state(weft_model *model, weft_dtype dtype);

/** Settings of a model of task WEFT_TASK_EMBED. Texts live as long as the model. */
typedef struct weft_embed_info {
    uint32_t pooling; /**< bits of weft_embed_pooling */
    bool normalizes;  /**< vectors have length 1 */
    bool
        skips_prompt; /**< pooling leaves out the prompt's tokens: weft_embed_params.prompt_tokens */
    const char *similarity; /**< similarity_fn_name, such as "cosine", or null */
    uint32_t prompt_count;  /**< weft_model_get_prompt lists them */
    const char
        *default_prompt;    /**< name of the prompt to use unless another is requested, or null */
    uint32_t prompt_tokens; /**< as passed to weft_model_set_embedding */
    uint32_t dimension;     /**< as passed, or the folder's truncate_dim; 0: all values */
    /** Vectors have a value for each token of the vocabulary, most of them 0: weft_vector_terms, weft_model_get_piece */
    bool sparse;
    uint32_t max_terms; /**< of these, how many of the largest count (max_active_dims); 0: all */
    /** A text has a vector for each of its tokens that counts, compared by "maxsim" or "meanmaxsim": weft_vectors_similarity */
    bool multi_vector;
    weft_embed_task task; /**< as passed; weft_model_info.max_length is that of its texts */
} weft_embed_info;

/** Errors: WEFT_UNSUPPORTED for a model of another task. */
WEFT_API weft_status weft_model_get_embedding(const weft_model *model, weft_embed_info *info);

/** A prompt of the folder: a text that is put in front of texts of a kind, such as "query: ". */
typedef struct weft_prompt_info {
    const char *name; /**< as text, it lives as long as the model */
    const char *text;
} weft_prompt_info;

/** Prompts in the folder's order. WEFT_NOT_FOUND past the last one. */
WEFT_API weft_status weft_model_get_prompt(const weft_model *model, uint32_t index,
                                           weft_prompt_info *info);

/** Label text, or "LABEL_<index>" if the config has none; null if index is out of range. Lives as long as the model. */
WEFT_API const char *weft_model_label(const weft_model *model, uint32_t index);

/** Tokens of a text, or of a pair of texts, and their positions in it. Arrays have `count` entries. */
typedef struct weft_encoding {
    int32_t *tokens;
    int32_t *types; /**< 0, or 1 for the second text of a pair, as the tokenizer's template says */
    /** The bytes [begin, end) of the text, of the pair's second where `sequences` is 1. Special tokens have 0, 0 */
    uint32_t *begins;
    uint32_t *ends;
    uint8_t *sequences; /**< 0: the first text, 1: the second, 255: special, part of neither */
    uint32_t count;
    uint32_t cut; /**< tokens that truncation removed */
} weft_encoding;

typedef struct weft_encode_params {
    const char *text; /**< UTF-8, not zero-terminated */
    size_t size;
    const char *pair; /**< a second text; null: there is none */
    size_t pair_size;
    bool no_special;     /**< leave out special tokens */
    uint32_t max_tokens; /**< with the special tokens; 0: the model's max_length */
} weft_encode_params;

#ifndef __cplusplus
#define weft_encode_params(...) (&(weft_encode_params){__VA_ARGS__})
#endif

/**
 * Encodes a text, or a pair, with the special tokens that the tokenizer puts around it. If there are too many tokens,
 * the texts' are cut: those at the end of the longer text first, unless tokenizer.json says otherwise. An empty text
 * has the special tokens alone; of a static embedding (api/MODELS.md), which has none, the vocabulary's last token, whose
 * row is zeros. The arrays are allocated through the model's weft_host; free them with weft_encoding_free. At most max_tokens tokens, each with begin <= end <= the size of its text. A text takes at most
 * 2^22 steps and 512 more for each of its bytes, and at most 32 MiB of working memory and 512 bytes more for each of
 * its bytes; usual tokenizers take some 70 of either.
 * Errors: WEFT_UNSUPPORTED without a tokenizer (the message says what is missing); WEFT_INVALID_ARGUMENT for texts without
 * any token, for one that takes more steps or memory, or if max_tokens has no room for the special ones; WEFT_CANCELLED.
 */
WEFT_API weft_status weft_model_encode(weft_encoding *encoding, weft_model *model,
                                       const weft_encode_params *params);
WEFT_API void weft_encoding_free(weft_model *model, weft_encoding *encoding);

/**
 * Tokens of a text (UTF-8, not zero-terminated): at most max_length, with special tokens. A causal language model's
 * spiece.model adds no special tokens. An empty text has the special tokens alone. *tokens is allocated through the
 * model's weft_host; free it with weft_tokens_free.
 * Errors: WEFT_UNSUPPORTED without a tokenizer (the message says what is missing), WEFT_INVALID_ARGUMENT for a text
 * without any token.
 */
WEFT_API weft_status weft_model_tokenize(weft_model *model, const char *text, size_t size,
                                         int32_t **tokens, uint32_t *count);
WEFT_API void weft_tokens_free(weft_model *model, int32_t **tokens);

/**
 * The text of tokens: *size bytes and a terminating zero, allocated through the model's weft_host; free it with
 * weft_text_free. Leaves out special and unknown tokens, which have no text. Tokens of bytes need not form valid
 * UTF-8. With SentencePiece a text begins without its first space: to see what a token adds to a text, pass all
 * tokens so far. At most 32 MiB, and 1 KiB for each token.
 * Errors: WEFT_UNSUPPORTED without a tokenizer (the message says what is missing); WEFT_INVALID_ARGUMENT for a longer text, or
 * one that takes more steps; WEFT_CANCELLED.
 */
WEFT_API weft_status weft_model_detokenize(weft_model *model, const int32_t *tokens, uint32_t count,
                                           char **text, size_t *size);
WEFT_API void weft_text_free(weft_model *model, char **text);

/**
 * A token as the vocabulary has it, special ones and "##ing" too: *size bytes and a terminating zero, allocated through the model's
 * weft_host; free it with weft_text_free. A token that is a byte need not be valid UTF-8.
 * WEFT_NOT_FOUND for a token that the tokenizer does not have, as a vocabulary may have more rows than it has tokens. Errors: WEFT_UNSUPPORTED
 * without a tokenizer (the message says what is missing).
 */
WEFT_API weft_status weft_model_get_piece(weft_model *model, int32_t token, char **text,
                                          size_t *size);

/* ---- parts of texts ---- */

/** A part of a text that a model of task "classify_tokens" has found. */
typedef struct weft_text_span {
    const char *
        label; /**< of entities, without its "B-" or "I-"; null for answers. Lives as long as the model */
    double score;   /**< a probability */
    uint32_t begin; /**< bytes [begin, end) of the text, of an answer of the pair's second */
    uint32_t end;
} weft_text_span;

/**
 * True if the two outputs of each token tell if an answer begins and ends there: the class is …ForQuestionAnswering.
 */
WEFT_API bool weft_model_answers_questions(const weft_model *model);

/**
 * Finds the entities of a text, in their order, by its logits f32 [count, labels]. Each token has its likeliest
 * label. Neighbours with one label form an entity, unless "B-" begins another; its score is the mean of theirs. "O"
 * marks tokens outside entities. This is the aggregation "simple" of transformers. *spans is allocated through the
 * model's weft_host; free it with weft_spans_free. It is null if there are no entities.
 * Errors: WEFT_UNSUPPORTED for a model of another task.
 */
WEFT_API weft_status weft_model_find_entities(weft_text_span **spans, uint32_t *count,
                                              weft_model *model, const weft_encoding *encoding,
                                              const float *logits);
WEFT_API void weft_spans_free(weft_model *model, weft_text_span **spans);

/**
 * Finds the likeliest answer to a question by the logits f32 [count, 2] of the pair of question and context. It has
 * at most `max_tokens` tokens of the context; 0 means 15. The score is the product of the probabilities that it
 * begins and ends there.
 * Errors: WEFT_UNSUPPORTED for a model that does not answer; WEFT_INVALID_ARGUMENT for an encoding without a context.
 */
WEFT_API weft_status weft_model_find_answer(weft_text_span *answer, weft_model *model,
                                            const weft_encoding *encoding, const float *logits,
                                            uint32_t max_tokens);

/** Inputs of a model. All but pixels have the same [B, n]. */
typedef struct weft_model_inputs {
    weft_tensor tokens;    /**< i32 [B, n], unless input_size */
    weft_tensor types;     /**< i32 [B, n], or none: all 0; only with takes_types */
    weft_tensor features;  /**< f32 [B, n, input_size], with input_size */
    weft_tensor positions; /**< f32 [B, n, position_size], with position_size */
    /**
     * i32 [B], each 1 … n; none: all n. Only with takes_lengths. After a length, tokens may be any of the vocabulary
     * and vectors any numbers; results there are meaningless.
     */
    weft_tensor lengths;
    /** f32 [B, image_channels, image_size, image_size], with image_size: values as the model's preprocessor gives them. Then alone */
    weft_tensor pixels;
} weft_model_inputs;

#ifndef __cplusplus
#define weft_model_inputs(...) (&(weft_model_inputs){__VA_ARGS__})
#endif

/**
 * Adds the model to a graph: its inputs → the task's output.
 * Errors: WEFT_INVALID_ARGUMENT if n exceeds max_length or is not exact_length, for inputs that the model does not
 * have, or an odd B for pairs; WEFT_SHAPE_MISMATCH.
 */
WEFT_API weft_status weft_model_build(weft_tensor *out, weft_model *model, weft_graph *graph,
                                      const weft_model_inputs *inputs);

/**
 * Makes a plan for a batch and length. Inputs: "tokens" i32 [B, n] or "features" f32 [B, n, input_size]; with
 * with_types "token_types" i32 [B, n], of a model that takes_types; "positions" f32 [B, n, position_size] if the model reads
 * them. Of a model of images "pixels" f32 [B, image_channels, image_size, image_size] alone, and the length is exact_length. Output: "output". The caller owns the plan. Weights are uploaded once per device.
 */
WEFT_API weft_status weft_model_compile(weft_plan **plan, weft_model *model, weft_device *device,
                                        uint32_t batch, uint32_t length, bool with_types,
                                        const weft_plan_params *params);

/**
 * Makes a plan as weft_model_compile, for sequences of up to `length` tokens, with the further input "lengths" i32
 * [B]. Each sequence has the bits that it has alone in a plan for its own length. WEFT_INVALID_ARGUMENT for a model
 * without takes_lengths.
 */
WEFT_API weft_status weft_model_compile_lengths(weft_plan **plan, weft_model *model,
                                                weft_device *device, uint32_t batch,
                                                uint32_t length, const weft_plan_params *params);

/** Inputs and outputs of a model's plan. */
typedef struct weft_model_shape {
    uint32_t batch;
    uint32_t length;   /**< tokens of the longest sequence */
    bool with_types;   /**< the input "token_types"; only with takes_types */
    bool with_lengths; /**< the input "lengths"; only with takes_lengths */
    /**
     * Outputs "hidden_states.I" f32 [B, n, hidden_size], I = 0 … layers: 0 is the embedding, I the output of layer I
     * - 1, and the last one the last hidden state, behind the final norm. As transformers' output_hidden_states
     */
    bool with_hidden_states;
    /**
     * Outputs "attentions.I" f32 [B, heads, n, n] of each layer I that has softmax attention, over all tokens or in a
     * band: row i has the weights of the values that token i reads, and zeros elsewhere. For an fmmformer they are
     * the near field alone. As transformers' output_attentions. The maps are computed beside the mixer, by the same
     * formula: they may differ from the mixer's own weights by rounding errors
     */
    bool with_attentions;
} weft_model_shape;

#ifndef __cplusplus
#define weft_model_shape(...) (&(weft_model_shape){__VA_ARGS__})
#endif

/**
 * Makes a plan as the two functions above: it may have both token types and lengths, as for pairs of texts, and the
 * layers' results as outputs. The "output" has the same bits with it. Errors: WEFT_UNSUPPORTED for hidden states and
 * attentions of a program, and for attentions of a model none of whose layers has softmax attention.
 */
WEFT_API weft_status weft_model_compile_shape(weft_plan **plan, weft_model *model,
                                              weft_device *device, const weft_model_shape *shape,
                                              const weft_plan_params *params);

/*
 * ---- programs: graphs in model folders, docs/programs.md ---- The functions below work on all programs. A program
 * with a task also runs by the functions above, like other models.
 */

/** A variable in a program's shapes, such as the batch. */
typedef struct weft_symbol_info {
    const char *name; /**< lives as long as the model */
    uint32_t minimum, maximum;
    uint32_t example; /**< value for which loading checked the program */
} weft_symbol_info;

/** Symbols of a program. WEFT_NOT_FOUND past the last one; other models have none. */
WEFT_API weft_status weft_model_get_symbol(const weft_model *model, uint32_t index,
                                           weft_symbol_info *info);

/** An input or output of a program. All texts live as long as the model. */
typedef struct weft_model_port_info {
    const char *name;
    weft_dtype dtype;
    bool is_output;
    weft_shape example; /**< for the symbols' examples */
    /**
     * For inputs: text of each axis in the program, an integer or an expression such as "2 * length"; else null.
     */
    const char *axes[WEFT_MAX_RANK];
} weft_model_port_info;

/** Inputs of a program in its order, then outputs. WEFT_NOT_FOUND past the last one. */
WEFT_API weft_status weft_model_get_port(const weft_model *model, uint32_t index,
                                         weft_model_port_info *info);

/** A value for a symbol. */
typedef struct weft_symbol {
    const char *name;
    uint32_t value;
} weft_symbol;

/**
 * Finds the symbols' values by the shapes of all inputs, in their order: an axis that is a symbol gives its value.
 * `symbols` has an entry for each symbol, in their order. An entry whose name is null gets its value from the shapes;
 * another gives its value. The call sets all names.
 * Errors: WEFT_SHAPE_MISMATCH, naming the input, expected and found, when a shape does not fit;
 * WEFT_INVALID_ARGUMENT for a symbol that no axis gives, or outside its range.
 */
WEFT_API weft_status weft_model_find_symbols(const weft_model *model, weft_symbol *symbols,
                                             uint32_t symbol_count, const weft_shape *shapes,
                                             uint32_t shape_count);

/**
 * Makes the graph of a program for these values of all its symbols, in any order.
 * Errors: WEFT_UNSUPPORTED for another model; WEFT_INVALID_ARGUMENT for a symbol that is missing, unknown, given twice
 * or outside its range; those of the ops.
 */
WEFT_API weft_status weft_model_program_graph(weft_graph **graph, weft_model *model,
                                              const weft_symbol *symbols, uint32_t symbol_count);

/** Compiles the graph that weft_model_program_graph makes. params may be null. */
WEFT_API weft_status weft_model_compile_program(weft_plan **plan, weft_model *model,
                                                weft_device *device, const weft_symbol *symbols,
                                                uint32_t symbol_count,
                                                const weft_plan_params *params);

/**
 * Writes a graph as a program: config.json and model.safetensors in a folder, which is created if it does not exist.
 * Loaded, it gives the same bits. Weights are stored once each, with their own names where these differ, and as f32
 * or i32. Both are written to temporary files and renamed at the end: the folder has the old files or the new ones,
 * and no config.json between the two. One call at a time, of any process, writes into a folder (.weft-save.lock).
 * Replaced files keep their owner, group and mode; temporary files of interrupted calls are removed.
 * Errors: WEFT_UNSUPPORTED, naming the node, for an op that programs cannot have: one of op.h, a step of decode.h, or
 * kernel_attention with GLSL; WEFT_UNSUPPORTED for more nodes, about 25,000, than a config.json can have;
 * WEFT_INVALID_ARGUMENT without outputs; WEFT_NOT_FOUND and WEFT_IO_ERROR for the folder; WEFT_BAD_FILE when a
 * model's file with the weights has become unreadable.
 */
WEFT_API weft_status weft_graph_save(const weft_graph *graph, const char *folder);

/* ---- decoding: causal language models, one token at a time ---- */

typedef enum weft_decoding {
    /**
     * A state of bounded size is carried from token to token: weft/decode.h. Time per token does not depend on the
     * position, except for softmax attention and Toeplitz matrices, which read all earlier tokens.
     */
    WEFT_DECODING_RECURRENT = 0,
    /**
     * Each step runs all tokens so far again, in a plan for the smallest of 64, 128, 256 … tokens that holds them (at
     * most max_length; exact_length if the model has one), padded with token 0 at the end.
     */
    WEFT_DECODING_REEVALUATED = 1
} weft_decoding;

/** "recurrent" or "reevaluated"; never null. */
WEFT_API const char *weft_decoding_name(weft_decoding decoding);

typedef struct weft_decoder_params {
    uint32_t batch; /**< sequences; 0 means 1 */
    /** Most tokens of a sequence; 0: the model's. A smaller number gives smaller states and the same bits */
    uint32_t max_length;
    bool reevaluate;              /**< run all tokens again even if the model has a recurrence */
    const weft_plan_params *plan; /**< or null; its texts must outlive the decoder */
} weft_decoder_params;

#ifndef __cplusplus
#define weft_decoder_params(...) (&(weft_decoder_params){__VA_ARGS__})
#endif

/** Sequences that grow token by token. One thread at a time. Model and device must outlive it. */
typedef struct weft_decoder weft_decoder;

/**
 * Makes a decoder of empty sequences. Models with a recurrence are transformer; the decoders of transformers, but bloom and
 * gemma2 with attn_logit_softcapping; performer, fmmformer, tnn, fd-tnn and hyenadna; flt without an input for positions; spectraformer with features
 * that do not depend on other tokens; cosformer with a fixed length. Their decoders are recurrent, and give the bits
 * of weft_model_compile's plan for the whole prefix, whatever its length. tnn, fd-tnn and hyenadna are an exception:
 * their decoders add by the definition of Toeplitz matrices at every length, with the kernel of the model's longest
 * sequences. The plan has these bits at max_length up to 192, but differs by rounding errors where it takes
 * transforms. A text_to_text model is recurrent, too: its sequences begin with a prompt, which its encoder reads, and
 * have max_length tokens besides. All others are reevaluated.
 * Errors: WEFT_UNSUPPORTED for a model that is neither a causal language model over tokens nor text_to_text, that reads
 * positions, or that cannot be reevaluated;
 * WEFT_INVALID_ARGUMENT for a max_length above the model's; those of weft_model_compile. params may be null.
 */
WEFT_API weft_status weft_decoder_create(weft_decoder **decoder, weft_model *model,
                                         weft_device *device, const weft_decoder_params *params);
WEFT_API void weft_decoder_destroy(weft_decoder **decoder);

#define WEFT_NO_TOKEN (-1) /**< in a step: no token, for a sequence that ends */

/**
 * Appends a token to each sequence, tokens[batch], and writes the logits of the next tokens, f32 [batch, vocabulary].
 * If logits is null, a decoder that reevaluates only records the token. WEFT_NO_TOKEN ends a sequence that has
 * tokens: pass it in all later steps, too, until the decoder is reset. The sequence's logits are then meaningless.
 * Errors: WEFT_INVALID_ARGUMENT for a token outside the vocabulary, or for a sequence that already has max_length
 * tokens or has ended; the decoder is then unchanged. After any other error, reset it.
 */
WEFT_API weft_status weft_decoder_step(weft_decoder *decoder, const int32_t *tokens, float *logits);

/**
 * Begins empty sequences with `count` tokens each, tokens[batch, count], in one run. Writes the logits of the next
 * tokens, f32 [batch, vocabulary], unless logits is null. The bits are those of single steps, in a fraction of their
 * time. A recurrent decoder compiles a plan for this number of tokens, and keeps the newest. The encoder of a text_to_text
 * model reads the tokens, up to the model's max_length: each sequence then has one token, which all its texts begin with.
 * Errors: WEFT_INVALID_ARGUMENT for sequences that are not empty, a count of 0 or above max_length, or a token outside
 * the vocabulary; the decoder is then unchanged. After any other error, reset it.
 */
WEFT_API weft_status weft_decoder_prompt(weft_decoder *decoder, const int32_t *tokens,
                                         uint32_t count, float *logits);

/**
 * Begins sequences of different lengths, as weft_decoder_prompt: sequence b has the first lengths[b] of its `count`
 * tokens, 1 … count; later ones may be any. The logits are those after each sequence's last token, with the bits that
 * it gets alone. Further errors: WEFT_INVALID_ARGUMENT for a length. lengths may be null: all have `count`.
 */
WEFT_API weft_status weft_decoder_prompt_lengths(weft_decoder *decoder, const int32_t *tokens,
                                                 uint32_t count, const int32_t *lengths,
                                                 float *logits);

/** Empties the sequences. */
WEFT_API void weft_decoder_reset(weft_decoder *decoder);

/**
 * Tokens of a sequence so far, those that a state's file has. They live until the decoder's next call.
 * Errors: WEFT_INVALID_ARGUMENT for a sequence that the decoder lacks; WEFT_UNSUPPORTED for a text_to_text model.
 */
WEFT_API weft_status weft_decoder_get_tokens(const weft_decoder *decoder, uint32_t sequence,
                                             const int32_t **tokens, uint32_t *count);

/**
 * Writes the state of a sequence into a file: what weft_decoder_load needs to go on with the bits of the uninterrupted
 * sequence, on any device, in another process, in any sequence of any decoder of the same model with room for its tokens. A
 * safetensors file: the tokens themselves, the states (of caches of keys and values the rows that tokens have filled), and as notes
 * format and version, WEFT_BITS_VERSION, hashes of model, tokens and states, the device's math and weights, and the decoding. It
 * replaces an older file at once, or not at all. The first call hashes the model's tensors.
 * Errors: WEFT_INVALID_ARGUMENT for a sequence that the decoder lacks, that is empty or has ended; WEFT_UNSUPPORTED for a
 * text_to_text model; WEFT_IO_ERROR, WEFT_OUT_OF_HOST_MEMORY. The decoder is unchanged in any case.
 */
WEFT_API weft_status weft_decoder_save(weft_decoder *decoder, uint32_t sequence, const char *path);

/**
 * Puts a sequence where the one of the file was, whatever it had before; other sequences are unchanged. The file may be a
 * stranger's: all of it is checked first, and memory and time are bounded by its size and the decoder's.
 * Errors: WEFT_BAD_FILE naming file, field, expected and found, for a state of another model, math, storage of weights, decoding or
 * version, for more tokens than max_length, and for a file whose hashes do not fit, too; those of weft_decoder_save. The decoder is
 * then unchanged, but after an error of the device or of reading the sequence is empty.
 */
WEFT_API weft_status weft_decoder_load(weft_decoder *decoder, uint32_t sequence, const char *path);

/**
 * Takes back the tokens of a sequence behind the first `length`, for callers that reject some. Always possible to 0 tokens, of decoders
 * that reevaluate, and of caches of keys and values that have overwritten nothing: all layers' of a model without a window, and of
 * sequences within one. A window that has overwritten some gives back the last token alone.
 * Errors: WEFT_UNSUPPORTED naming the state where that is not possible, such as sums of linear attention, gated states and selective scans: save the
 * sequence before, and load it; WEFT_INVALID_ARGUMENT for a length that is larger than the sequence's, and as weft_decoder_save.
 * The decoder is then unchanged.
 */
WEFT_API weft_status weft_decoder_rewind(weft_decoder *decoder, uint32_t sequence, uint32_t length);

typedef struct weft_decoder_info {
    weft_decoding decoding;
    uint32_t batch;
    uint32_t vocabulary;
    uint32_t length;      /**< tokens of the longest sequence so far */
    uint32_t max_length;  /**< the most they can have */
    uint32_t plan_length; /**< tokens of the newest plan: 1 when recurrent; 0: there is none yet */
    uint64_t state_bytes; /**< device memory carried from token to token; 0 when reevaluated */
    weft_plan_info plan;  /**< of the newest plan; zeros when there is none */
} weft_decoder_info;

WEFT_API weft_status weft_decoder_get_info(const weft_decoder *decoder, weft_decoder_info *info);

typedef struct weft_sampling {
    double temperature; /**< of the softmax; 0: the first token of the largest logit */
    /** Choose among this many of the largest logits, of equal ones the first; 0: among all */
    uint32_t top_k;
    uint64_t seed;
    /**
     * Choose among the fewest of these, the likeliest first, whose probabilities reach top_p of their sum; 0 or 1: among
     * all. Holtzman et al., "The curious case of neural text degeneration", ICLR 2020
     */
    double top_p;
} weft_sampling;

/**
 * Chooses the next token by its logits: equal logits give the same token on every machine. `index` numbers the choice:
 * each has its own random number, from Philox. host may be null.
 * Errors: WEFT_INVALID_ARGUMENT for a logit that is NaN or infinite, for a temperature that is NaN, infinite or
 * negative, and for a top_p outside 0 … 1; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_sample(uint32_t *token, const float *logits, uint32_t count,
                                 const weft_sampling *sampling, uint64_t index,
                                 const weft_host *host);

/**
 * Makes tokens that a text already has less likely, before weft_sample. Each token among `tokens` is penalized once:
 * a positive logit is divided by `penalty`, another one multiplied, in float32 and at most to the largest finite
 * number. Keskar et al., "CTRL", 2019, section 4.1, and transformers' repetition_penalty. Tokens outside 0 … count -
 * 1 do nothing.
 * Errors: WEFT_INVALID_ARGUMENT for a penalty that is not finite and above 0; WEFT_OUT_OF_HOST_MEMORY.
 */
WEFT_API weft_status weft_penalize(float *logits, uint32_t count, const int32_t *tokens,
                                   uint32_t token_count, double penalty, const weft_host *host);

#ifdef __cplusplus
}
#endif

#endif
