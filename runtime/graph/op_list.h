/* SPDX-License-Identifier: MIT */
/* The ops: one row each. X(name) stands for weft_op_name. */
#ifndef WEFT_GRAPH_OP_LIST_H
#define WEFT_GRAPH_OP_LIST_H

#define WEFT_OPS(X)          \
    X(embedding)             \
    X(matmul)                \
    X(layer_norm)            \
    X(activation)            \
    X(softmax)               \
    X(binary)                \
    X(affine)                \
    X(gather)                \
    X(mask)                  \
    X(gather_last)           \
    X(reshape)               \
    X(permute)               \
    X(slice)                 \
    X(concat)                \
    X(pad)                   \
    X(expand)                \
    X(take)                  \
    X(take_along)            \
    X(convert)               \
    X(unary)                 \
    X(where)                 \
    X(reduce)                \
    X(argmax)                \
    X(argmin)                \
    X(cumsum)                \
    X(softmax_axis)          \
    X(log_softmax)           \
    X(fourier)               \
    X(attention)             \
    X(toeplitz)              \
    X(toeplitz_kernel)       \
    X(positions)             \
    X(toeplitz_attention)    \
    X(toeplitz_fd)           \
    X(toeplitz_fd_kernel)    \
    X(toeplitz_fd_taps)      \
    X(banded_attention)      \
    X(ski_toeplitz)          \
    X(linear_attention)      \
    X(kernel_attention)      \
    X(cosformer)             \
    X(fast_weight)           \
    X(structured_projection) \
    X(random_features)       \
    X(discrete_features)     \
    X(hybrid_features)       \
    X(balance_channels)      \
    X(flt_features)          \
    X(sine_spe)              \
    X(conv_spe)              \
    X(sine_spe_codes)        \
    X(conv_spe_codes)        \
    X(rms_norm)              \
    X(simple_rms_norm)       \
    X(scale_norm)            \
    X(batch_norm)            \
    X(linear_attention_step) \
    X(kernel_attention_step) \
    X(cosformer_step)        \
    X(fast_weight_step)      \
    X(banded_attention_step) \
    X(rope)                  \
    X(conv1d)                \
    X(conv1d_step)           \
    X(toeplitz_step)         \
    X(conv)                  \
    X(pool)                  \
    X(rfft)                  \
    X(irfft)                 \
    X(fft)                   \
    X(ifft)                  \
    X(complex_multiply)

/* The sets of kernels that do the same work. X(name) stands for weft_name_variants. */
#define WEFT_VARIANT_SETS(X)  \
    X(product)                \
    X(panel_product)          \
    X(cooperative_product)    \
    X(matmul_pack)            \
    X(attention_rows)         \
    X(int8_product)           \
    X(band)                   \
    X(band_step)              \
    X(layer_norm)             \
    X(fourier_unfold)         \
    X(softmax)                \
    X(log_softmax)            \
    X(row_sums)               \
    X(row_largest)            \
    X(ski_apply)              \
    X(ski_interpolate)        \
    X(toeplitz_direct)        \
    X(toeplitz_step)          \
    X(linear_attention_state) \
    X(linear_attention_apply) \
    X(fast_weight_normalize)  \
    X(fast_weight_solve)      \
    X(fast_weight_scan)       \
    X(fast_weight_update)     \
    X(circulant)              \
    X(rms_norm)               \
    X(random_row_maximum)     \
    X(random_features)        \
    X(cosformer_features)     \
    X(flt_features)           \
    X(shared_convolution)     \
    X(activation)             \
    X(hadamard)               \
    X(shared_spectrum)        \
    X(toeplitz_attention_direct)

#endif
