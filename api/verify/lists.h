/* SPDX-License-Identifier: MIT */
/* What there is: a row for each family of cases (conformance.h), in their order, and for each sheet (sheet.h). */
#ifndef WEFT_VERIFY_LISTS_H
#define WEFT_VERIFY_LISTS_H

/* ROW(name) stands for weft_case_family_name. */
#define WEFT_FAMILIES(ROW)        \
    ROW(embedding)                \
    ROW(matmul)                   \
    ROW(layer_norm)               \
    ROW(activation)               \
    ROW(softmax)                  \
    ROW(binary)                   \
    ROW(affine)                   \
    ROW(gather)                   \
    ROW(reshape)                  \
    ROW(fourier)                  \
    ROW(attention)                \
    ROW(banded_attention)         \
    ROW(ski_toeplitz)             \
    ROW(toeplitz)                 \
    ROW(toeplitz_fd)              \
    ROW(toeplitz_rpe)             \
    ROW(toeplitz_fd_rpe)          \
    ROW(toeplitz_attention)       \
    ROW(linear_attention)         \
    ROW(kernel_attention)         \
    ROW(cosformer)                \
    ROW(fast_weight)              \
    ROW(structured_projection)    \
    ROW(random_features)          \
    ROW(balance_channels)         \
    ROW(discrete_features)        \
    ROW(hybrid_features)          \
    ROW(learned_weights)          \
    ROW(rfa_attention)            \
    ROW(performer_attention)      \
    ROW(sine_spe)                 \
    ROW(conv_spe)                 \
    ROW(flt_features)             \
    ROW(lengths)                  \
    ROW(special_banded_attention) \
    ROW(special_toeplitz)         \
    ROW(special_linear_attention) \
    ROW(special_kernel_attention) \
    ROW(special_cosformer)        \
    ROW(special_fast_weight)      \
    ROW(special_random_features)  \
    ROW(special_rfa_attention)    \
    ROW(special_flt_features)     \
    ROW(rms_norm)                 \
    ROW(simple_rms_norm)          \
    ROW(scale_norm)               \
    ROW(batch_norm)               \
    ROW(linear_attention_step)    \
    ROW(kernel_attention_step)    \
    ROW(cosformer_step)           \
    ROW(fast_weight_step)         \
    ROW(banded_attention_step)    \
    ROW(rope)                     \
    ROW(conv1d)                   \
    ROW(conv1d_step)              \
    ROW(conv)                     \
    ROW(pool)                     \
    ROW(glu)                      \
    ROW(gtu)                      \
    ROW(residual)                 \
    ROW(projections)              \
    ROW(special_rms_norm)         \
    ROW(special_simple_rms_norm)  \
    ROW(special_scale_norm)       \
    ROW(special_batch_norm)       \
    ROW(fused)                    \
    ROW(structure)                \
    ROW(special_binary)           \
    ROW(special_affine)           \
    ROW(special_convert)          \
    ROW(special_activation)       \
    ROW(special_embedding)        \
    ROW(special_copies)           \
    ROW(special_matmul)           \
    ROW(special_layer_norm)       \
    ROW(special_softmax)          \
    ROW(special_fourier)          \
    ROW(special_attention)        \
    ROW(special_chains)           \
    ROW(special_graphs)

/* ROW(name) stands for weft_sheet_name. */
#define WEFT_SHEETS(ROW)       \
    ROW(attention)             \
    ROW(banded_attention)      \
    ROW(linear_attention)      \
    ROW(kernel_attention)      \
    ROW(cosformer)             \
    ROW(fast_weight)           \
    ROW(performer_attention)   \
    ROW(rfa_attention)         \
    ROW(toeplitz_attention)    \
    ROW(toeplitz)              \
    ROW(toeplitz_fd)           \
    ROW(ski_toeplitz)          \
    ROW(fourier)               \
    ROW(random_features)       \
    ROW(random_attention)      \
    ROW(hybrid_features)       \
    ROW(hybrid_attention)      \
    ROW(discrete_features)     \
    ROW(discrete_attention)    \
    ROW(fmm_attention)         \
    ROW(flt_features)          \
    ROW(flt_attention)         \
    ROW(structured_projection) \
    ROW(sine_spe)              \
    ROW(conv_spe)              \
    ROW(gmm_weights)           \
    ROW(dgm_weights)           \
    ROW(rope)                  \
    ROW(conv1d)                \
    ROW(conv)                  \
    ROW(pool)

#endif
