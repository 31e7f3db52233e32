/* SPDX-License-Identifier: MIT */
/* Shape of a model's output: the only definition, for the model and for readers of its outputs. */
#include "model/network/architecture.h"

weft_shape weft_model_output_shape(const weft_model_info *info, uint32_t batch, uint32_t length) {
    switch (info->task) {
    case WEFT_TASK_HIDDEN:
        return weft_shape_of(batch, length, info->hidden_size);
    case WEFT_TASK_MASKED_LM:
    case WEFT_TASK_CAUSAL_LM:
        return weft_shape_of(batch, length, info->vocabulary);
    case WEFT_TASK_CLASSIFY_TOKENS:
        return weft_shape_of(batch, length, info->label_count);
    case WEFT_TASK_EMBED:
        return info->multi_vector ? weft_shape_of(batch, length, info->embedding_size)
                                  : weft_shape_of(batch, info->embedding_size);
    case WEFT_TASK_RETRIEVE:
        return weft_shape_of(batch / 2, info->label_count);
    default:
        return weft_shape_of(batch, info->label_count);
    }
}
