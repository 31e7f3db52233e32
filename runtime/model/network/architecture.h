/* SPDX-License-Identifier: MIT */
/* The model families, one file each in architectures/, and what decoding asks of a model. */
#ifndef WEFT_MODEL_ARCHITECTURE_H
#define WEFT_MODEL_ARCHITECTURE_H

#include <weft/model.h>

#include "model/network/family.h"

/* The families in the order of api/MODELS.md: one row each. X(name) stands for weft_family_name. */
#define WEFT_MODEL_FAMILIES(X) \
    X(fnet)                    \
    X(bert)                    \
    X(ernie)                   \
    X(distilbert)              \
    X(roberta)                 \
    X(xlm_roberta)             \
    X(camembert)               \
    X(data2vec_text)           \
    X(xlm_roberta_xl)          \
    X(electra)                 \
    X(albert)                  \
    X(mpnet)                   \
    X(modernbert)              \
    X(nomic_bert)              \
    X(deberta_v2)              \
    X(t5)                      \
    X(mt5)                     \
    X(umt5)                    \
    X(whisper)                 \
    X(clip_text_model)         \
    X(clip_vision_model)       \
    X(siglip_text_model)       \
    X(siglip_vision_model)     \
    X(vit)                     \
    X(dinov2)                  \
    X(gpt2)                    \
    X(gptj)                    \
    X(gpt_neo)                 \
    X(gpt_neox)                \
    X(opt)                     \
    X(bloom)                   \
    X(falcon)                  \
    X(llama)                   \
    X(mistral)                 \
    X(qwen2)                   \
    X(qwen3)                   \
    X(granite)                 \
    X(smollm3)                 \
    X(arcee)                   \
    X(seed_oss)                \
    X(ernie4_5)                \
    X(helium)                  \
    X(exaone4)                 \
    X(glm)                     \
    X(glm4)                    \
    X(nemotron)                \
    X(mixtral)                 \
    X(granitemoe)              \
    X(olmoe)                   \
    X(qwen2_moe)               \
    X(qwen3_moe)               \
    X(gpt_oss)                 \
    X(phi)                     \
    X(phi3)                    \
    X(gemma)                   \
    X(gemma2)                  \
    X(gemma3_text)             \
    X(olmo2)                   \
    X(olmo3)                   \
    X(cohere)                  \
    X(cohere2)                 \
    X(starcoder2)              \
    X(stablelm)                \
    X(mamba)                   \
    X(falcon_mamba)            \
    X(mamba2)                  \
    X(falcon_h1)               \
    X(bamba)                   \
    X(granitemoehybrid)        \
    X(lfm2)                    \
    X(lfm2_moe)                \
    X(recurrent_gemma)         \
    X(rwkv7)                   \
    X(retnet)                  \
    X(gla)                     \
    X(delta_net)               \
    X(gated_deltanet)          \
    X(qwen3_next)              \
    X(qwen3_5_text)            \
    X(qwen3_5_moe_text)        \
    X(hyenadna)                \
    X(model2vec)               \
    X(transformer)             \
    X(performer)               \
    X(cosformer)               \
    X(fmmformer)               \
    X(flt)                     \
    X(spectraformer)           \
    X(tnn)                     \
    X(ski_tnn)                 \
    X(fd_tnn)

#define WEFT_DECLARE_FAMILY(name) extern const struct weft_model_family weft_family_##name;
WEFT_MODEL_FAMILIES(WEFT_DECLARE_FAMILY)

/** In that order; null behind the last. */
const struct weft_model_family *weft_model_family_at(uint32_t index);

struct weft_program;
struct weft_network;

/** The model's program, or null: then it has a network. */
struct weft_program *weft_model_program(const weft_model *model);
struct weft_network *weft_model_network(const weft_model *model);

struct weft_checkpoint;
struct weft_embedding;

/** Parts of a model, which takes ownership. */
/** A pair's score by a language model's logits for the token that comes next: that of `yes`, less that of `no`. */
struct weft_logit_score {
    bool is_there;
    uint32_t yes;
    int64_t no;       /* or -1: nothing is subtracted */
    bool by_template; /* pairs are put into the folder's chat template, which somebody else does */
};

struct weft_model_parts {
    const char *config;
    const struct weft_checkpoint *checkpoint;
    const weft_tokenizer *tokenizer;
    const struct weft_embedding *embedding; /* or null */
    struct weft_logit_score score;
    bool headless;
};
struct weft_model_parts weft_model_parts(const weft_model *model);

/* ---- for decoder.c and generator.c ---- */

const weft_host *weft_model_host(const weft_model *model);

/**
 * The shape that the model's output has for so many sequences of that length: what weft_model_build holds every graph to, so
 * that its readers can rely on it.
 */
weft_shape weft_model_output_shape(const weft_model_info *info, uint32_t batch, uint32_t length);

/** True if the model makes texts, token by token. */
static inline bool weft_model_writes(const weft_model_info *info) {
    return (info->task == WEFT_TASK_CAUSAL_LM || info->task == WEFT_TASK_TEXT_TO_TEXT) &&
           info->vocabulary > 0;
}

/** Positions of the texts that a model makes. */
uint32_t weft_model_text_positions(const weft_model *model);

/** True if the model can take its tokens one by one. */
bool weft_model_is_recurrent(const weft_model *model);

/** weft_model_tokenize without a limit. A text may have no tokens: *tokens is then null. */
weft_status weft_model_tokenize_prompt(weft_model *model, const char *text, size_t size,
                                       int32_t **tokens, uint32_t *count);

struct weft_model_step {
    uint32_t batch;
    uint32_t tokens; /* of each sequence */
    uint32_t length; /* positions stay below it */
};

/**
 * A plan for one token of each sequence of a recurrent model: inputs "tokens" i32 [B, 1], "position" i32 [B], perhaps
 * "position_number" f32 [B, 1, 1], and states; output "output" f32 [B, 1, V]. Or for several that the sequences begin with: inputs
 * "tokens" i32 [B, n], "lengths" i32 [B], how many of them each has, "position" i32 [B], one less, and states of the same
 * names; the output is that of each sequence's last one.
 */
weft_status weft_model_compile_step(weft_plan **plan, weft_model *model, weft_device *device,
                                    const struct weft_model_step *step,
                                    const weft_plan_params *params);

#endif
