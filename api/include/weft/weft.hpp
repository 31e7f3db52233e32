/* SPDX-License-Identifier: MIT */
/*
 * Weft for C++17 and later, over the C headers; api/cpp/generate.py wrote this from them, and ./dev headers writes it anew.
 *
 *   - A handle such as weft::device owns what C calls weft_device *, moves, and destroys it at its end. Declare them in the
 *     order in which they need one another, the device first: they go in the opposite order, which is the right one.
 *   - weft_noun_verb(noun, …) is noun.verb(…), where it makes something weft::noun::verb(…), without `get_`; all others have
 *     their C name in the namespace: weft::math_name. Enumerators, macros and documentation are those of C.
 *   - What can fail returns weft::status or weft::result<T>, which must be looked at. Nothing throws; where WEFT_EXCEPTIONS is
 *     defined, weft::value(result) does.
 *   - Parameters are C's structs, under both names; left out they have their defaults. Lists are spans.
 *
 * Nothing here allocates. Behind every function is one call of the C library, with its thread safety. For embedding: vulkan.hpp.
 */
#ifndef WEFT_WEFT_HPP
#define WEFT_WEFT_HPP

#include <weft/arithmetic.h>
#include <weft/base.hpp>
#include <weft/decode.h>
#include <weft/external.h>
#include <weft/features.h>
#include <weft/flt.h>
#include <weft/generate.h>
#include <weft/inspect.h>
#include <weft/mixers.h>
#include <weft/model.h>
#include <weft/movement.h>
#include <weft/op.h>
#include <weft/receipt.h>
#include <weft/speech.h>
#include <weft/texts.h>

#include <string_view>

/* clang-format off */
namespace weft {

/* ---- what some functions give ---- */

/** Shape and type of a tensor. */
struct tensor_info {
    ::weft_shape shape;
    ::weft_dtype dtype;
};

/** Tokens of a text, in the memory of their model, which outlives them. */
class tokens {
  public:
    tokens() noexcept = default;
    tokens(::weft_model *model, std::int32_t *data, std::uint32_t count) noexcept : model_(model), data_(data), count_(count) {}
    tokens(tokens &&other) noexcept
        : model_(other.model_), data_(std::exchange(other.data_, nullptr)), count_(std::exchange(other.count_, 0U)) {}
    tokens &operator=(tokens &&other) noexcept {
        std::swap(model_, other.model_);
        std::swap(data_, other.data_);
        std::swap(count_, other.count_);
        return *this;
    }
    tokens(const tokens &) = delete;
    tokens &operator=(const tokens &) = delete;
    ~tokens() {
        if (data_) {
            weft_tokens_free(model_, &data_);
        }
    }

    [[nodiscard]] const std::int32_t *data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return count_; }
    const std::int32_t &operator[](std::size_t index) const noexcept { return data_[index]; }
    [[nodiscard]] const std::int32_t *begin() const noexcept { return data_; }
    [[nodiscard]] const std::int32_t *end() const noexcept { return data_ + count_; }

  private:
    ::weft_model *model_ = nullptr;
    std::int32_t *data_ = nullptr;
    std::uint32_t count_ = 0;
};

/** The text of tokens, in the memory of their model, which outlives it. */
class text {
  public:
    text() noexcept = default;
    text(::weft_model *model, char *data, std::size_t size) noexcept : model_(model), data_(data), size_(size) {}
    text(text &&other) noexcept
        : model_(other.model_), data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, std::size_t{0})) {}
    text &operator=(text &&other) noexcept {
        std::swap(model_, other.model_);
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    text(const text &) = delete;
    text &operator=(const text &) = delete;
    ~text() {
        if (data_) {
            weft_text_free(model_, &data_);
        }
    }

    [[nodiscard]] std::string_view view() const noexcept { return {data_ ? data_ : "", size_}; }

  private:
    ::weft_model *model_ = nullptr;
    char *data_ = nullptr;
    std::size_t size_ = 0;
};

/** For plan::execute: what an input reads. */
inline ::weft_host_tensor input_of(const char *name, const_bytes data) noexcept {
    return {name, const_cast<void *>(data.data()), data.bytes()};
}

/** For plan::execute: where an output goes. */
inline ::weft_host_tensor output_to(const char *name, bytes data) noexcept {
    return {name, data.data(), data.bytes()};
}

/* ---- handles ---- */

class device;
class buffer;
class semaphore;
class weight;
class graph;
class plan;
class bindings;
class model;
class decoder;
class generator;
class texts;
class search;
class transcriber;
class receipt;
class proof;
class executable;
class op;
class frame_queue;

/** Owns a weft_device: what it is, and what threads may do with it, is said there. */
class device : public handle<::weft_device, weft_device_destroy> {
  public:
    using handle::handle;

    /** weft_device_open of weft/device.h. */
    static result<weft::device> open(const ::weft_device_params &params) noexcept;
    static result<weft::device> open() noexcept;
    /** weft_device_cancel of weft/device.h. */
    void cancel() noexcept;
    /** weft_device_get_info of weft/device.h. */
    result<::weft_device_info> info() const noexcept;
    /** weft_device_get_math of weft/device.h. */
    [[nodiscard]] ::weft_math math() const noexcept;
    /** weft_device_get_stats of weft/device.h. */
    result<::weft_device_stats> stats() const noexcept;
    /** weft_device_reset_peak of weft/device.h. */
    void reset_peak() noexcept;
    /** weft_device_save_cache of weft/device.h. */
    status save_cache() noexcept;
    /** weft_device_trim of weft/device.h. */
    void trim() noexcept;
    /** weft_device_get_external of weft/external.h. */
    result<::weft_external_info> external(::weft_external_type type) const noexcept;
    /** weft_device_get_external_semaphore of weft/external.h. */
    result<::weft_external_info> external_semaphore(bool timeline) const noexcept;
};

/** Owns a weft_buffer: what it is, and what threads may do with it, is said there. */
class buffer : public handle<::weft_buffer, weft_buffer_destroy> {
  public:
    using handle::handle;

    /** weft_buffer_create of weft/buffer.h. */
    static result<weft::buffer> create(weft::device &device, uint64_t size) noexcept;
    /** weft_buffer_size of weft/buffer.h. */
    [[nodiscard]] uint64_t size() const noexcept;
    /** weft_buffer_create_exportable of weft/external.h. */
    static result<weft::buffer> create_exportable(weft::device &device, uint64_t size,
                                                  ::weft_external_type type) noexcept;
    /** weft_buffer_export_memory of weft/external.h. */
    result<::weft_external_handle> export_memory() noexcept;
    /** weft_buffer_import_memory of weft/external.h. */
    static result<weft::buffer> import_memory(weft::device &device, ::weft_external_type type,
                                              ::weft_external_handle handle,
                                              uint64_t size) noexcept;

    /** weft_buffer_wrap_host of weft/buffer.h. */
    static result<buffer> wrap_host(weft::device &device, bytes memory) noexcept;
    /** weft_buffer_write of weft/buffer.h. */
    status write(std::uint64_t offset, const_bytes data) noexcept {
        return weft_buffer_write(get(), offset, data.data(), data.bytes());
    }
    /** weft_buffer_read of weft/buffer.h. */
    status read(std::uint64_t offset, bytes data) noexcept {
        return weft_buffer_read(get(), offset, data.data(), data.bytes());
    }
};

/** Owns a weft_semaphore: what it is, and what threads may do with it, is said there. */
class semaphore : public handle<::weft_semaphore, weft_semaphore_destroy> {
  public:
    using handle::handle;

    /** weft_semaphore_create_exportable of weft/external.h. */
    static result<weft::semaphore> create_exportable(weft::device &device, bool timeline) noexcept;
    /** weft_semaphore_export_handle of weft/external.h. */
    result<::weft_external_handle> export_handle() noexcept;
    /** weft_semaphore_import_handle of weft/external.h. */
    static result<weft::semaphore> import_handle(weft::device &device, bool timeline,
                                                 ::weft_external_handle handle) noexcept;
};

/** Owns a weft_weight: what it is, and what threads may do with it, is said there. */
class weight : public handle<::weft_weight, weft_weight_destroy> {
  public:
    using handle::handle;

    /** weft_weight_create of weft/graph.h. */
    static result<weft::weight> create(const ::weft_weight_params &params,
                                       const ::weft_host *host = nullptr) noexcept;
    /** weft_weight_quantize of weft/graph.h. */
    result<weft::weight> quantize(::weft_stored stored, bool scale_columns) noexcept;

    /** weft_weight_create of weft/graph.h, for a copy of numbers: as many as the shape has. */
    static result<weight> of(const ::weft_shape &shape, span<const float> data, const ::weft_host *host = nullptr) noexcept {
        return of(WEFT_F32, shape, data.data(), data.size(), host);
    }
    static result<weight> of(const ::weft_shape &shape, span<const std::int32_t> data,
                             const ::weft_host *host = nullptr) noexcept {
        return of(WEFT_I32, shape, data.data(), data.size(), host);
    }

  private:
    static result<weight> of(::weft_dtype dtype, const ::weft_shape &shape, const void *data, std::size_t size,
                             const ::weft_host *host) noexcept {
        if (weft_shape_elements(shape) != size) {
            if (host && host->log) {
                host->log(host->log_user, WEFT_LOG_ERROR, "weft::weight::of: another number of elements than the shape has");
            }
            return WEFT_INVALID_ARGUMENT;
        }
        ::weft_weight_params params = {};
        params.dtype = dtype;
        params.shape = shape;
        params.data = data;
        return create(params, host);
    }

  public:
};

/** Owns a weft_graph: what it is, and what threads may do with it, is said there. */
class graph : public handle<::weft_graph, weft_graph_destroy> {
  public:
    using handle::handle;

    /** weft_graph_create of weft/graph.h. */
    static result<weft::graph> create(const ::weft_host *host = nullptr) noexcept;
    /** weft_graph_input of weft/graph.h. */
    result<::weft_tensor> input(const char *name, ::weft_dtype dtype, ::weft_shape shape) noexcept;
    /** weft_graph_weight of weft/graph.h. */
    result<::weft_tensor> weight(weft::weight &weight) noexcept;
    /** weft_graph_output of weft/graph.h. */
    status output(const char *name, const operand &tensor) noexcept;
    /** weft_graph_embedding of weft/graph.h. */
    result<::weft_tensor> embedding(const ::weft_embedding_params &params) noexcept;
    /** weft_graph_matmul of weft/graph.h. */
    result<::weft_tensor> matmul(const operand &a, const operand &b,
                                 const ::weft_matmul_params &params) noexcept;
    result<::weft_tensor> matmul(const operand &a, const operand &b) noexcept;
    /** weft_graph_linear of weft/graph.h. */
    result<::weft_tensor> linear(const operand &x, const operand &weight,
                                 const operand &bias) noexcept;
    /** weft_graph_expert_linear of weft/graph.h. */
    result<::weft_tensor> expert_linear(const operand &x, const operand &choices,
                                        const operand &weight, uint32_t experts) noexcept;
    /** weft_graph_layer_norm of weft/graph.h. */
    result<::weft_tensor> layer_norm(const operand &x, const operand &gamma, const operand &beta,
                                     float epsilon) noexcept;
    /** weft_graph_activate of weft/graph.h. */
    result<::weft_tensor> activate(const operand &x, ::weft_activation activation) noexcept;
    /** weft_graph_softmax of weft/graph.h. */
    result<::weft_tensor> softmax(const operand &x) noexcept;
    /** weft_graph_binary of weft/graph.h. */
    result<::weft_tensor> binary(::weft_binary op, const operand &a, const operand &b) noexcept;
    /** weft_graph_affine of weft/graph.h. */
    result<::weft_tensor> affine(const operand &x, float scale, float offset) noexcept;
    /** weft_graph_gather of weft/graph.h. */
    result<::weft_tensor> gather(const operand &x, uint32_t position) noexcept;
    /** weft_graph_gather_last of weft/graph.h. */
    result<::weft_tensor> gather_last(const operand &x, const operand &lengths) noexcept;
    /** weft_graph_mask of weft/graph.h. */
    result<::weft_tensor> mask(const operand &x, const operand &lengths) noexcept;
    /** weft_graph_convert of weft/graph.h. */
    result<::weft_tensor> convert(const operand &x, ::weft_dtype dtype) noexcept;
    /** weft_graph_reshape of weft/graph.h. */
    result<::weft_tensor> reshape(const operand &x, ::weft_shape shape) noexcept;
    /** weft_graph_unary of weft/arithmetic.h. */
    result<::weft_tensor> unary(::weft_unary op, const operand &x, float alpha,
                                float beta) noexcept;
    /** weft_graph_clamp of weft/arithmetic.h. */
    result<::weft_tensor> clamp(const operand &x, float low, float high) noexcept;
    /** weft_graph_where of weft/arithmetic.h. */
    result<::weft_tensor> where(const operand &condition, const operand &a,
                                const operand &b) noexcept;
    /** weft_graph_reduce of weft/arithmetic.h. */
    result<::weft_tensor> reduce(::weft_reduction op, const operand &x,
                                 const ::weft_reduce_params &params) noexcept;
    result<::weft_tensor> reduce(::weft_reduction op, const operand &x) noexcept;
    /** weft_graph_argmax of weft/arithmetic.h. */
    result<::weft_tensor> argmax(const operand &x, uint32_t axis, bool keep_axis) noexcept;
    /** weft_graph_argmin of weft/arithmetic.h. */
    result<::weft_tensor> argmin(const operand &x, uint32_t axis, bool keep_axis) noexcept;
    /** weft_graph_top_k of weft/arithmetic.h. */
    result<::weft_tensor> top_k(const operand &x, uint32_t axis, uint32_t count,
                                bool smallest) noexcept;
    /** weft_graph_cumsum of weft/arithmetic.h. */
    result<::weft_tensor> cumsum(const operand &x, uint32_t axis, bool exclusive,
                                 bool reverse) noexcept;
    /** weft_graph_softmax_axis of weft/arithmetic.h. */
    result<::weft_tensor> softmax_axis(const operand &x, uint32_t axis) noexcept;
    /** weft_graph_log_softmax of weft/arithmetic.h. */
    result<::weft_tensor> log_softmax(const operand &x, uint32_t axis) noexcept;
    /** weft_graph_permute of weft/movement.h. */
    result<::weft_tensor> permute(const operand &x, ::weft_shape axes) noexcept;
    /** weft_graph_slice of weft/movement.h. */
    result<::weft_tensor> slice(const operand &x, uint32_t axis, uint32_t start, uint32_t count,
                                int32_t step) noexcept;
    /** weft_graph_concat of weft/movement.h. */
    result<::weft_tensor> concat(span<const ::weft_tensor> xs, uint32_t axis) noexcept;
    /** weft_graph_pad of weft/movement.h. */
    result<::weft_tensor> pad(const operand &x, uint32_t axis, uint32_t before, uint32_t after,
                              float value) noexcept;
    /** weft_graph_expand of weft/movement.h. */
    result<::weft_tensor> expand(const operand &x, ::weft_shape shape) noexcept;
    /** weft_graph_take of weft/movement.h. */
    result<::weft_tensor> take(const operand &x, const operand &indices, uint32_t axis) noexcept;
    /** weft_graph_take_along of weft/movement.h. */
    result<::weft_tensor> take_along(const operand &x, const operand &indices,
                                     uint32_t axis) noexcept;
    /** weft_graph_attention of weft/mixers/attention.h. */
    result<::weft_tensor> attention(const operand &q, const operand &k, const operand &v,
                                    const ::weft_attention_params &params) noexcept;
    result<::weft_tensor> attention(const operand &q, const operand &k, const operand &v) noexcept;
    /** weft_graph_banded_attention of weft/mixers/attention.h. */
    result<::weft_tensor> banded_attention(const operand &q, const operand &k, const operand &v,
                                           const ::weft_banded_attention_params &params) noexcept;
    result<::weft_tensor> banded_attention(const operand &q, const operand &k,
                                           const operand &v) noexcept;
    /** weft_graph_rms_norm of weft/mixers/blocks.h. */
    result<::weft_tensor> rms_norm(const operand &x, const operand &gain, float epsilon) noexcept;
    /** weft_graph_simple_rms_norm of weft/mixers/blocks.h. */
    result<::weft_tensor> simple_rms_norm(const operand &x) noexcept;
    /** weft_graph_scale_norm of weft/mixers/blocks.h. */
    result<::weft_tensor> scale_norm(const operand &x, const operand &gain, float epsilon) noexcept;
    /** weft_graph_batch_norm of weft/mixers/blocks.h. */
    result<::weft_tensor> batch_norm(const operand &x,
                                     const ::weft_batch_norm_params &params) noexcept;
    /** weft_graph_norm of weft/mixers/blocks.h. */
    result<::weft_tensor> norm(const operand &x, const ::weft_norm_params &params) noexcept;
    /** weft_graph_add_norm of weft/mixers/blocks.h. */
    result<::weft_tensor> add_norm(const operand &x, const operand &y,
                                   const ::weft_norm_params &params) noexcept;
    result<::weft_tensor> add_norm(const operand &x, const operand &y) noexcept;
    /** weft_graph_project_qkv of weft/mixers/blocks.h. */
    result<std::array<::weft_tensor, 3>> project_qkv(const operand &x, const operand &memory,
                                                     const ::weft_project_qkv_params &params) noexcept;
    /** weft_graph_glu of weft/mixers/blocks.h. */
    result<::weft_tensor> glu(const operand &x, const ::weft_glu_params &params) noexcept;
    result<::weft_tensor> glu(const operand &x) noexcept;
    /** weft_graph_conv1d of weft/mixers/conv.h. */
    result<::weft_tensor> conv1d(const operand &x, const operand &weight,
                                 const ::weft_conv1d_params &params) noexcept;
    result<::weft_tensor> conv1d(const operand &x, const operand &weight) noexcept;
    /** weft_graph_conv of weft/mixers/conv.h. */
    result<::weft_tensor> conv(const operand &x, const operand &weight,
                               const ::weft_conv_params &params) noexcept;
    result<::weft_tensor> conv(const operand &x, const operand &weight) noexcept;
    /** weft_graph_pool of weft/mixers/conv.h. */
    result<::weft_tensor> pool(::weft_pool_op op, const operand &x,
                               const ::weft_pool_params &params) noexcept;
    result<::weft_tensor> pool(::weft_pool_op op, const operand &x) noexcept;
    /** weft_graph_fourier of weft/mixers/fourier.h. */
    result<::weft_tensor> fourier(const operand &x) noexcept;
    /** weft_graph_rfft of weft/mixers/fourier.h. */
    result<::weft_tensor> rfft(const operand &x) noexcept;
    /** weft_graph_irfft of weft/mixers/fourier.h. */
    result<::weft_tensor> irfft(const operand &x, uint32_t n) noexcept;
    /** weft_graph_fft of weft/mixers/fourier.h. */
    result<::weft_tensor> fft(const operand &x) noexcept;
    /** weft_graph_ifft of weft/mixers/fourier.h. */
    result<::weft_tensor> ifft(const operand &x) noexcept;
    /** weft_graph_complex_multiply of weft/mixers/fourier.h. */
    result<::weft_tensor> complex_multiply(const operand &a, const operand &b) noexcept;
    /** weft_graph_linear_attention of weft/mixers/kernels.h. */
    result<::weft_tensor> linear_attention(const operand &q_features, const operand &k_features,
                                           const operand &v,
                                           const ::weft_linear_attention_params &params) noexcept;
    result<::weft_tensor> linear_attention(const operand &q_features, const operand &k_features,
                                           const operand &v) noexcept;
    /** weft_graph_kernel_attention of weft/mixers/kernels.h. */
    result<::weft_tensor> kernel_attention(const operand &q, const operand &k, const operand &v,
                                           const ::weft_kernel_attention_params &params) noexcept;
    result<::weft_tensor> kernel_attention(const operand &q, const operand &k,
                                           const operand &v) noexcept;
    /** weft_graph_cosformer of weft/mixers/kernels.h. */
    result<::weft_tensor> cosformer(const operand &q, const operand &k, const operand &v,
                                    const ::weft_cosformer_params &params) noexcept;
    result<::weft_tensor> cosformer(const operand &q, const operand &k, const operand &v) noexcept;
    /** weft_graph_fast_weight of weft/mixers/kernels.h. */
    result<::weft_tensor> fast_weight(const operand &q, const operand &k, const operand &v,
                                      const operand &beta,
                                      const ::weft_fast_weight_params &params) noexcept;
    result<::weft_tensor> fast_weight(const operand &q, const operand &k, const operand &v,
                                      const operand &beta) noexcept;
    /** weft_graph_fmm_attention of weft/mixers/kernels.h. */
    result<::weft_tensor> fmm_attention(const operand &q, const operand &k, const operand &v,
                                        const ::weft_fmm_attention_params &params) noexcept;
    result<::weft_tensor> fmm_attention(const operand &q, const operand &k,
                                        const operand &v) noexcept;
    /** weft_graph_flt_features of weft/mixers/positions.h. */
    result<::weft_tensor> flt_features(const operand &x, const operand &frequencies,
                                       const operand &weights,
                                       const ::weft_flt_features_params &params) noexcept;
    result<::weft_tensor> flt_features(const operand &x, const operand &frequencies,
                                       const operand &weights) noexcept;
    /** weft_graph_sine_spe of weft/mixers/positions.h. */
    result<::weft_tensor> sine_spe(const operand &x, const operand &noise,
                                   const ::weft_sine_spe_params &params) noexcept;
    result<::weft_tensor> sine_spe(const operand &x, const operand &noise) noexcept;
    /** weft_graph_conv_spe of weft/mixers/positions.h. */
    result<::weft_tensor> conv_spe(const operand &x, const operand &noise,
                                   const ::weft_conv_spe_params &params) noexcept;
    result<::weft_tensor> conv_spe(const operand &x, const operand &noise) noexcept;
    /** weft_graph_toeplitz_attention of weft/mixers/positions.h. */
    result<::weft_tensor> toeplitz_attention(const operand &q_features, const operand &k_features,
                                             const operand &v, const operand &bias,
                                             const ::weft_toeplitz_attention_params &params) noexcept;
    result<::weft_tensor> toeplitz_attention(const operand &q_features, const operand &k_features,
                                             const operand &v, const operand &bias) noexcept;
    /** weft_graph_rope of weft/mixers/positions.h. */
    result<::weft_tensor> rope(const operand &x, const ::weft_rope_params &params) noexcept;
    result<::weft_tensor> rope(const operand &x) noexcept;
    /** weft_graph_random_features of weft/mixers/random_features.h. */
    result<::weft_tensor> random_features(const operand &x, const operand &w,
                                          const ::weft_random_features_params &params) noexcept;
    result<::weft_tensor> random_features(const operand &x, const operand &w) noexcept;
    /** weft_graph_balance_channels of weft/mixers/random_features.h. */
    result<::weft_tensor> balance_channels(const operand &x, const operand &other) noexcept;
    /** weft_graph_discrete_features of weft/mixers/random_features.h. */
    result<::weft_tensor> discrete_features(const operand &x, const operand &w,
                                            const operand &coefficients,
                                            const ::weft_discrete_features_params &params) noexcept;
    result<::weft_tensor> discrete_features(const operand &x, const operand &w,
                                            const operand &coefficients) noexcept;
    /** weft_graph_hybrid_features of weft/mixers/random_features.h. */
    result<::weft_tensor> hybrid_features(const operand &x, const operand &w,
                                          const operand &directions,
                                          const ::weft_hybrid_features_params &params) noexcept;
    result<::weft_tensor> hybrid_features(const operand &x, const operand &w,
                                          const operand &directions) noexcept;
    /** weft_graph_structured_projection of weft/mixers/random_features.h. */
    result<::weft_tensor> structured_projection(const operand &x, const operand &diagonals,
                                                const ::weft_structured_projection_params &params) noexcept;
    result<::weft_tensor> structured_projection(const operand &x,
                                                const operand &diagonals) noexcept;
    /** weft_graph_gmm_weights of weft/mixers/random_features.h. */
    result<::weft_tensor> gmm_weights(const operand &noise, const operand &sigma,
                                      const operand &mu) noexcept;
    /** weft_graph_dgm_weights of weft/mixers/random_features.h. */
    result<::weft_tensor> dgm_weights(const operand &noise,
                                      const ::weft_dgm_weights_params &params) noexcept;
    /** weft_graph_performer_attention of weft/mixers/random_features.h. */
    result<::weft_tensor> performer_attention(const operand &q, const operand &k, const operand &v,
                                              const operand &w,
                                              const ::weft_performer_attention_params &params) noexcept;
    result<::weft_tensor> performer_attention(const operand &q, const operand &k, const operand &v,
                                              const operand &w) noexcept;
    /** weft_graph_rfa_attention of weft/mixers/random_features.h. */
    result<::weft_tensor> rfa_attention(const operand &q, const operand &k, const operand &v,
                                        const operand &w,
                                        const ::weft_rfa_attention_params &params) noexcept;
    result<::weft_tensor> rfa_attention(const operand &q, const operand &k, const operand &v,
                                        const operand &w) noexcept;
    /** weft_graph_recurrence of weft/mixers/recurrent.h. */
    result<::weft_tensor> recurrence(const operand &gates, const operand &weight,
                                     const ::weft_recurrence_params &params) noexcept;
    result<::weft_tensor> recurrence(const operand &gates, const operand &weight) noexcept;
    /** weft_graph_gated_state of weft/mixers/recurrent.h. */
    result<::weft_tensor> gated_state(const operand &q, const operand &k, const operand &v,
                                      const ::weft_gated_state_params &params) noexcept;
    result<::weft_tensor> gated_state(const operand &q, const operand &k,
                                      const operand &v) noexcept;
    /** weft_graph_gated_state_with_last of weft/mixers/recurrent.h. */
    result<std::array<::weft_tensor, 2>> gated_state_with_last(const operand &q, const operand &k,
        const operand &v, const ::weft_gated_state_params &params) noexcept;
    result<std::array<::weft_tensor, 2>> gated_state_with_last(const operand &q, const operand &k,
        const operand &v) noexcept;
    /** weft_graph_selective_scan of weft/mixers/recurrent.h. */
    result<::weft_tensor> selective_scan(const operand &x, const operand &delta, const operand &a,
                                         const operand &b, const operand &c,
                                         const ::weft_selective_scan_params &params) noexcept;
    result<::weft_tensor> selective_scan(const operand &x, const operand &delta, const operand &a,
                                         const operand &b, const operand &c) noexcept;
    /** weft_graph_selective_scan_with_last of weft/mixers/recurrent.h. */
    result<std::array<::weft_tensor, 2>> selective_scan_with_last(const operand &x,
        const operand &delta, const operand &a, const operand &b, const operand &c,
        const ::weft_selective_scan_params &params) noexcept;
    result<std::array<::weft_tensor, 2>> selective_scan_with_last(const operand &x,
        const operand &delta, const operand &a, const operand &b, const operand &c) noexcept;
    /** weft_graph_toeplitz of weft/mixers/toeplitz.h. */
    result<::weft_tensor> toeplitz(const operand &x, const operand &coefficients,
                                   const ::weft_toeplitz_params &params) noexcept;
    result<::weft_tensor> toeplitz(const operand &x, const operand &coefficients) noexcept;
    /** weft_graph_toeplitz_fd of weft/mixers/toeplitz.h. */
    result<::weft_tensor> toeplitz_fd(const operand &x, const operand &response,
                                      const ::weft_toeplitz_fd_params &params) noexcept;
    result<::weft_tensor> toeplitz_fd(const operand &x, const operand &response) noexcept;
    /** weft_graph_toeplitz_fd_taps of weft/mixers/toeplitz.h. */
    result<::weft_tensor> toeplitz_fd_taps(const operand &response) noexcept;
    /** weft_graph_ski_toeplitz of weft/mixers/toeplitz.h. */
    result<::weft_tensor> ski_toeplitz(const operand &x,
                                       const ::weft_ski_toeplitz_params &params) noexcept;
    /** weft_graph_toeplitz_rpe of weft/mixers/toeplitz.h. */
    result<::weft_tensor> toeplitz_rpe(uint32_t n, const ::weft_rpe_params &rpe,
                                       const ::weft_toeplitz_rpe_params &params) noexcept;
    result<::weft_tensor> toeplitz_rpe(uint32_t n, const ::weft_rpe_params &rpe) noexcept;
    /** weft_graph_toeplitz_decay of weft/mixers/toeplitz.h. */
    result<::weft_tensor> toeplitz_decay(const operand &theta, float lambda) noexcept;
    /** weft_graph_toeplitz_fd_rpe of weft/mixers/toeplitz.h. */
    result<::weft_tensor> toeplitz_fd_rpe(uint32_t grid, const ::weft_rpe_params &rpe,
                                          ::weft_rpe_frequency input) noexcept;
    /** weft_graph_gtu of weft/mixers/toeplitz.h. */
    result<::weft_tensor> gtu(const operand &x, const ::weft_gtu_params &params) noexcept;
    /** weft_graph_linear_attention_step of weft/decode.h. */
    result<::weft_tensor> linear_attention_step(const operand &q_features,
                                                const operand &k_features, const operand &v,
                                                const ::weft_step &step,
                                                const ::weft_linear_attention_params &params) noexcept;
    result<::weft_tensor> linear_attention_step(const operand &q_features,
                                                const operand &k_features, const operand &v,
                                                const ::weft_step &step) noexcept;
    /** weft_graph_kernel_attention_step of weft/decode.h. */
    result<::weft_tensor> kernel_attention_step(const operand &q, const operand &k,
                                                const operand &v, const ::weft_step &step,
                                                const ::weft_kernel_attention_params &params) noexcept;
    result<::weft_tensor> kernel_attention_step(const operand &q, const operand &k,
                                                const operand &v, const ::weft_step &step) noexcept;
    /** weft_graph_cosformer_step of weft/decode.h. */
    result<::weft_tensor> cosformer_step(const operand &q, const operand &k, const operand &v,
                                         const ::weft_step &step,
                                         const ::weft_cosformer_params &params) noexcept;
    result<::weft_tensor> cosformer_step(const operand &q, const operand &k, const operand &v,
                                         const ::weft_step &step) noexcept;
    /** weft_graph_fast_weight_step of weft/decode.h. */
    result<::weft_tensor> fast_weight_step(const operand &q, const operand &k, const operand &v,
                                           const operand &beta, const ::weft_step &step,
                                           const ::weft_fast_weight_params &params) noexcept;
    result<::weft_tensor> fast_weight_step(const operand &q, const operand &k, const operand &v,
                                           const operand &beta, const ::weft_step &step) noexcept;
    /** weft_graph_banded_attention_step of weft/decode.h. */
    result<::weft_tensor> banded_attention_step(const operand &q, const operand &k,
                                                const operand &v, const ::weft_step &step,
                                                const ::weft_banded_attention_params &params) noexcept;
    result<::weft_tensor> banded_attention_step(const operand &q, const operand &k,
                                                const operand &v, const ::weft_step &step) noexcept;
    /** weft_graph_conv1d_step of weft/decode.h. */
    result<::weft_tensor> conv1d_step(const operand &x, const operand &weight,
                                      const ::weft_step &step,
                                      const ::weft_conv1d_params &params) noexcept;
    result<::weft_tensor> conv1d_step(const operand &x, const operand &weight,
                                      const ::weft_step &step) noexcept;
    /** weft_graph_gated_state_step of weft/decode.h. */
    result<::weft_tensor> gated_state_step(const operand &q, const operand &k, const operand &v,
                                           const ::weft_step &step,
                                           const ::weft_gated_state_params &params) noexcept;
    result<::weft_tensor> gated_state_step(const operand &q, const operand &k, const operand &v,
                                           const ::weft_step &step) noexcept;
    /** weft_graph_selective_scan_step of weft/decode.h. */
    result<::weft_tensor> selective_scan_step(const operand &x, const operand &delta,
                                              const operand &a, const operand &b, const operand &c,
                                              const ::weft_step &step,
                                              const ::weft_selective_scan_params &params) noexcept;
    result<::weft_tensor> selective_scan_step(const operand &x, const operand &delta,
                                              const operand &a, const operand &b, const operand &c,
                                              const ::weft_step &step) noexcept;
    /** weft_graph_toeplitz_step of weft/decode.h. */
    result<::weft_tensor> toeplitz_step(const operand &x, const operand &coefficients,
                                        const ::weft_step &step,
                                        const ::weft_toeplitz_params &params) noexcept;
    result<::weft_tensor> toeplitz_step(const operand &x, const operand &coefficients,
                                        const ::weft_step &step) noexcept;
    /** weft_graph_gtu_step of weft/decode.h. */
    result<::weft_tensor> gtu_step(const operand &x, const ::weft_step &step,
                                   const ::weft_gtu_params &params) noexcept;
    result<::weft_tensor> gtu_step(const operand &x, const ::weft_step &step) noexcept;
    /** weft_graph_save of weft/model.h. */
    status save(const char *folder) const noexcept;

    /** weft_graph_get_tensor of weft/graph.h. */
    [[nodiscard]] result<tensor_info> info(::weft_tensor tensor) const noexcept {
        tensor_info made = {};
        const weft_status code = weft_graph_get_tensor(get(), tensor, &made.shape, &made.dtype);
        if (code != WEFT_OK) {
            return code;
        }
        return made;
    }
    /** weft_graph_add of weft/op.h, with a struct of parameters. */
    template <class Params>
    result<::weft_tensor> add(const weft::op &op, span<const ::weft_tensor> inputs, const Params &params) noexcept;
    /** weft_graph_add of weft/op.h, of an op without parameters. */
    result<::weft_tensor> add(const weft::op &op, span<const ::weft_tensor> inputs) noexcept;
};

/** Owns a weft_plan: what it is, and what threads may do with it, is said there. */
class plan : public handle<::weft_plan, weft_plan_destroy> {
  public:
    using handle::handle;

    /** weft_plan_compile of weft/graph.h. */
    static result<weft::plan> compile(weft::device &device, const weft::graph &graph,
                                      const ::weft_plan_params &params) noexcept;
    static result<weft::plan> compile(weft::device &device, const weft::graph &graph) noexcept;
    /** weft_plan_get_info of weft/graph.h. */
    result<::weft_plan_info> info() const noexcept;
    /** weft_plan_get_dispatch of weft/graph.h. */
    result<::weft_dispatch_info> dispatch(uint32_t index) const noexcept;
    /** weft_plan_get_port of weft/graph.h. */
    result<::weft_port_info> port(uint32_t index) const noexcept;
    /** weft_plan_submit of weft/graph.h. */
    result<uint64_t> submit(weft::bindings &bindings) noexcept;
    /** weft_plan_wait of weft/graph.h. */
    result<bool> wait(uint64_t ticket, uint64_t timeout_ns) noexcept;
    /** weft_plan_run of weft/graph.h. */
    status run(weft::bindings &bindings) noexcept;
    /** weft_plan_execute of weft/graph.h. */
    status execute(span<const ::weft_host_tensor> tensors) noexcept;
    /** weft_plan_get_stats of weft/graph.h. */
    result<::weft_plan_stats> stats() noexcept;
    /** weft_plan_describe of weft/graph.h. */
    result<const char *> describe(const char *pass) const noexcept;
    /** weft_plan_get_storage of weft/inspect.h. */
    result<::weft_storage_info> storage(uint32_t storage) const noexcept;
    /** weft_plan_read_constant of weft/inspect.h. */
    status read_constant(uint32_t storage, void *data) const noexcept;
    /** weft_plan_get_kernel of weft/inspect.h. */
    result<::weft_kernel_info> kernel(uint32_t dispatch) const noexcept;
    /** weft_plan_get_operand of weft/inspect.h. */
    result<::weft_operand_info> operand(uint32_t dispatch, uint32_t binding) const noexcept;
    /** weft_plan_get_executable of weft/inspect.h. */
    result<weft::executable> executable(uint32_t dispatch) const noexcept;

    /** weft_plan_get_timings of weft/graph.h: as many as fit; gives how many there are. */
    result<std::uint32_t> timings(span<::weft_timing> timings) noexcept {
        auto count = static_cast<std::uint32_t>(timings.size());
        const weft_status code = weft_plan_get_timings(get(), timings.data(), &count);
        if (code != WEFT_OK) {
            return code;
        }
        return count;
    }
    /** weft_plan_get_module of weft/inspect.h: gives how many words it has; `words` may be empty. */
    result<std::size_t> module_words(std::uint32_t dispatch, ::weft_module_form form, span<std::uint32_t> words) const noexcept {
        std::size_t size = words.size() * sizeof(std::uint32_t);
        const weft_status code = weft_plan_get_module(get(), dispatch, form, words.empty() ? nullptr : words.data(), &size);
        if (code != WEFT_OK) {
            return code;
        }
        return size / sizeof(std::uint32_t);
    }
};

/** Owns a weft_bindings: what it is, and what threads may do with it, is said there. */
class bindings : public handle<::weft_bindings, weft_bindings_destroy> {
  public:
    using handle::handle;

    /** weft_bindings_create of weft/graph.h. */
    static result<weft::bindings> create(weft::plan &plan) noexcept;
    /** weft_bindings_create_concurrent of weft/graph.h. */
    static result<weft::bindings> create_concurrent(weft::plan &plan) noexcept;
    /** weft_bindings_set of weft/graph.h. */
    status set(const char *name, weft::buffer &buffer) noexcept;

    /** weft_bindings_get_timings of weft/graph.h: as many as fit; gives how many there are. */
    result<std::uint32_t> timings(span<::weft_timing> timings) noexcept {
        auto count = static_cast<std::uint32_t>(timings.size());
        const weft_status code = weft_bindings_get_timings(get(), timings.data(), &count);
        if (code != WEFT_OK) {
            return code;
        }
        return count;
    }
};

/** Owns a weft_model: what it is, and what threads may do with it, is said there. */
class model : public handle<::weft_model, weft_model_destroy> {
  public:
    using handle::handle;

    /** weft_model_load of weft/model.h. */
    static result<weft::model> load(const char *folder, const ::weft_host *host = nullptr) noexcept;
    /** weft_model_load_memory of weft/model.h. */
    static result<weft::model> load_memory(const ::weft_model_memory &memory,
                                           const ::weft_host *host = nullptr) noexcept;
    /** weft_model_create_random of weft/model.h. */
    static result<weft::model> create_random(const char *config_json, uint64_t seed,
                                             const ::weft_host *host = nullptr) noexcept;
    /** weft_model_get_info of weft/model.h. */
    result<::weft_model_info> info() const noexcept;
    /** weft_model_get_output_shape of weft/model.h. */
    status output_shape(uint32_t batch, uint32_t length, ::weft_shape &shape) const noexcept;
    /** weft_model_config of weft/model.h. */
    [[nodiscard]] const char *config() const noexcept;
    /** weft_model_without_head of weft/model.h. */
    result<weft::model> without_head() noexcept;
    /** weft_model_image_tower of weft/model.h. */
    result<weft::model> image_tower() noexcept;
    /** weft_model_set_embedding of weft/model.h. */
    status set_embedding(const ::weft_embed_params &params) noexcept;
    /** weft_model_set_max_length of weft/model.h. */
    status set_max_length(uint32_t length) noexcept;
    /** weft_model_set_state of weft/model.h. */
    status set_state(::weft_dtype dtype) noexcept;
    /** weft_model_get_embedding of weft/model.h. */
    result<::weft_embed_info> embedding() const noexcept;
    /** weft_model_get_prompt of weft/model.h. */
    result<::weft_prompt_info> prompt(uint32_t index) const noexcept;
    /** weft_model_label of weft/model.h. */
    [[nodiscard]] const char *label(uint32_t index) const noexcept;
    /** weft_model_encode of weft/model.h. */
    status encode(::weft_encoding &encoding, const ::weft_encode_params &params) noexcept;
    /** weft_model_answers_questions of weft/model.h. */
    [[nodiscard]] bool answers_questions() const noexcept;
    /** weft_model_find_answer of weft/model.h. */
    status find_answer(::weft_text_span &answer, const ::weft_encoding &encoding,
                       const float *logits, uint32_t max_tokens) noexcept;
    /** weft_model_build of weft/model.h. */
    result<::weft_tensor> build(weft::graph &graph, const ::weft_model_inputs &inputs) noexcept;
    /** weft_model_compile of weft/model.h. */
    result<weft::plan> compile(weft::device &device, uint32_t batch, uint32_t length,
                               bool with_types, const ::weft_plan_params &params) noexcept;
    result<weft::plan> compile(weft::device &device, uint32_t batch, uint32_t length,
                               bool with_types) noexcept;
    /** weft_model_compile_lengths of weft/model.h. */
    result<weft::plan> compile_lengths(weft::device &device, uint32_t batch, uint32_t length,
                                       const ::weft_plan_params &params) noexcept;
    result<weft::plan> compile_lengths(weft::device &device, uint32_t batch,
                                       uint32_t length) noexcept;
    /** weft_model_compile_shape of weft/model.h. */
    result<weft::plan> compile_shape(weft::device &device, const ::weft_model_shape &shape,
                                     const ::weft_plan_params &params) noexcept;
    result<weft::plan> compile_shape(weft::device &device,
                                     const ::weft_model_shape &shape) noexcept;
    /** weft_model_get_symbol of weft/model.h. */
    result<::weft_symbol_info> symbol(uint32_t index) const noexcept;
    /** weft_model_get_port of weft/model.h. */
    result<::weft_model_port_info> port(uint32_t index) const noexcept;
    /** weft_model_program_graph of weft/model.h. */
    result<weft::graph> program_graph(span<const ::weft_symbol> symbols) noexcept;
    /** weft_model_compile_program of weft/model.h. */
    result<weft::plan> compile_program(weft::device &device, span<const ::weft_symbol> symbols,
                                       const ::weft_plan_params &params) noexcept;
    result<weft::plan> compile_program(weft::device &device,
                                       span<const ::weft_symbol> symbols) noexcept;
    /** weft_model_role_prompt of weft/texts.h. */
    [[nodiscard]] const char *role_prompt(::weft_text_role role) const noexcept;
    /** weft_model_set_vectors of weft/texts.h. */
    result<const char *> set_vectors(const ::weft_vectors_params &params) noexcept;
    result<const char *> set_vectors() noexcept;
    /** weft_model_pair_score of weft/texts.h. */
    [[nodiscard]] double pair_score(float value) const noexcept;

    /** weft_model_find_symbols of weft/model.h. */
    status find_symbols(span<weft_symbol> symbols, span<const weft_shape> shapes) const noexcept {
        return weft_model_find_symbols(get(), symbols.data(), static_cast<std::uint32_t>(symbols.size()),
                                       shapes.data(), static_cast<std::uint32_t>(shapes.size()));
    }

    /** weft_model_tokenize of weft/model.h. The model outlives the tokens, and stays the same object. */
    result<tokens> tokenize(std::string_view text) noexcept {
        std::int32_t *made = nullptr;
        std::uint32_t count = 0;
        const weft_status code = weft_model_tokenize(get(), text.data(), text.size(), &made, &count);
        if (code != WEFT_OK) {
            return code;
        }
        return tokens(get(), made, count);
    }
    /** weft_model_detokenize of weft/model.h. The model outlives the text. */
    result<text> detokenize(span<const std::int32_t> tokens) noexcept {
        char *made = nullptr;
        std::size_t size = 0;
        const weft_status code =
            weft_model_detokenize(get(), tokens.data(), static_cast<std::uint32_t>(tokens.size()), &made, &size);
        if (code != WEFT_OK) {
            return code;
        }
        return text(get(), made, size);
    }
    /** weft_model_get_piece of weft/model.h. The model outlives the text. */
    result<text> piece(std::int32_t token) noexcept {
        char *made = nullptr;
        std::size_t size = 0;
        const weft_status code = weft_model_get_piece(get(), token, &made, &size);
        if (code != WEFT_OK) {
            return code;
        }
        return text(get(), made, size);
    }
    /** weft_model_find_entities of weft/model.h: calls take(const weft_text_span &) for each, in their order. */
    template <typename Take>
    status find_entities(const ::weft_encoding &encoding, const float *logits, Take &&take) {
        weft_text_span *made = nullptr;
        std::uint32_t count = 0;
        const weft_status code = weft_model_find_entities(&made, &count, get(), &encoding, logits);
        for (std::uint32_t i = 0; code == WEFT_OK && i < count; i++) {
            take(static_cast<const weft_text_span &>(made[i]));
        }
        weft_spans_free(get(), &made);
        return code;
    }
    /** weft_model_weights of weft/model.h. The model outlives the bytes. */
    result<text> weights() noexcept {
        char *made = nullptr;
        std::size_t size = 0;
        const weft_status code = weft_model_weights(get(), &made, &size);
        if (code != WEFT_OK) {
            return code;
        }
        return text(get(), made, size);
    }
};

/** Owns a weft_decoder: what it is, and what threads may do with it, is said there. */
class decoder : public handle<::weft_decoder, weft_decoder_destroy> {
  public:
    using handle::handle;

    /** weft_decoder_create of weft/model.h. */
    static result<weft::decoder> create(weft::model &model, weft::device &device,
                                        const ::weft_decoder_params &params) noexcept;
    static result<weft::decoder> create(weft::model &model, weft::device &device) noexcept;
    /** weft_decoder_reset of weft/model.h. */
    void reset() noexcept;
    /** weft_decoder_save of weft/model.h. */
    status save(uint32_t sequence, const char *path) noexcept;
    /** weft_decoder_load of weft/model.h. */
    status load(uint32_t sequence, const char *path) noexcept;
    /** weft_decoder_rewind of weft/model.h. */
    status rewind(uint32_t sequence, uint32_t length) noexcept;
    /** weft_decoder_get_info of weft/model.h. */
    result<::weft_decoder_info> info() const noexcept;

    /** weft_decoder_step of weft/model.h. WEFT_INVALID_ARGUMENT, which is not logged, for other sizes than it asks for; no
     * logits: none are wanted. */
    status step(span<const std::int32_t> tokens, span<float> logits) noexcept {
        const result<::weft_decoder_info> known = info();
        if (!known.ok() || tokens.size() != known->batch || !fits(*known, logits)) {
            return known.ok() ? status(WEFT_INVALID_ARGUMENT) : known.status();
        }
        return weft_decoder_step(get(), tokens.data(), logits.empty() ? nullptr : logits.data());
    }
    /** weft_decoder_prompt of weft/model.h: as many tokens for each sequence. Sizes as for step. */
    status prompt(span<const std::int32_t> tokens, span<float> logits) noexcept {
        const result<::weft_decoder_info> known = info();
        if (!known.ok() || known->batch == 0 || tokens.size() % known->batch != 0 || !fits(*known, logits)) {
            return known.ok() ? status(WEFT_INVALID_ARGUMENT) : known.status();
        }
        return weft_decoder_prompt(get(), tokens.data(), static_cast<std::uint32_t>(tokens.size() / known->batch),
                                   logits.empty() ? nullptr : logits.data());
    }
    /** weft_decoder_prompt_lengths of weft/model.h: a length for each sequence. Sizes as for step. */
    status prompt_lengths(span<const std::int32_t> tokens, span<const std::int32_t> lengths,
                          span<float> logits) noexcept {
        const result<::weft_decoder_info> known = info();
        if (!known.ok() || known->batch == 0 || tokens.size() % known->batch != 0 ||
            lengths.size() != known->batch || !fits(*known, logits)) {
            return known.ok() ? status(WEFT_INVALID_ARGUMENT) : known.status();
        }
        return weft_decoder_prompt_lengths(get(), tokens.data(),
                                           static_cast<std::uint32_t>(tokens.size() / known->batch), lengths.data(),
                                           logits.empty() ? nullptr : logits.data());
    }
    /** weft_decoder_get_tokens of weft/model.h: until the next call. */
    result<span<const std::int32_t>> tokens(std::uint32_t sequence) const noexcept {
        const std::int32_t *first = nullptr;
        std::uint32_t count = 0;
        const weft_status code = weft_decoder_get_tokens(get(), sequence, &first, &count);
        if (code != WEFT_OK) {
            return status(code);
        }
        return span<const std::int32_t>(first, count);
    }

  private:
    static bool fits(const ::weft_decoder_info &info, span<const float> logits) noexcept {
        return logits.empty() || logits.size() == std::size_t{info.batch} * info.vocabulary;
    }
};

/** Owns a weft_generator: what it is, and what threads may do with it, is said there. */
class generator : public handle<::weft_generator, weft_generator_destroy> {
  public:
    using handle::handle;

    /** weft_generator_create of weft/generate.h. */
    static result<weft::generator> create(weft::model &model, weft::device &device,
                                          const ::weft_generator_params &params) noexcept;
    /** weft_generator_step of weft/generate.h. */
    result<bool> step() noexcept;
    /** weft_generator_end of weft/generate.h. */
    status end(uint32_t prompt) noexcept;
    /** weft_generator_save of weft/generate.h. */
    status save(uint32_t prompt, const char *path) noexcept;
    /** weft_generator_get_text of weft/generate.h. */
    status text(uint32_t prompt, ::weft_generated &generated) const noexcept;
    /** weft_generator_get_decoder_info of weft/generate.h. */
    result<::weft_decoder_info> decoder_info() const noexcept;
};

/** Owns a weft_texts: what it is, and what threads may do with it, is said there. */
class texts : public handle<::weft_texts, weft_texts_destroy> {
  public:
    using handle::handle;

    /** weft_texts_create of weft/texts.h. */
    static result<weft::texts> create(weft::model &model, weft::device &device,
                                      const ::weft_texts_params &params) noexcept;
    static result<weft::texts> create(weft::model &model, weft::device &device) noexcept;
    /** weft_texts_run of weft/texts.h. */
    status run(const ::weft_texts_run_params &params) noexcept;
    /** weft_texts_get_info of weft/texts.h. */
    result<::weft_texts_info> info() const noexcept;
    /** weft_texts_rank of weft/texts.h. */
    status rank(::weft_ranked &ranked, const ::weft_rank_params &params) noexcept;
};

/** Owns a weft_search: what it is, and what threads may do with it, is said there. */
class search : public handle<::weft_search, weft_search_destroy> {
  public:
    using handle::handle;

    /** weft_search_create of weft/texts.h. */
    static result<weft::search> create(const ::weft_search_params &params,
                                       const ::weft_host *host = nullptr) noexcept;
    /** weft_search_add of weft/texts.h. */
    status add(span<const float> vectors) noexcept;
    /** weft_search_best of weft/texts.h. */
    status best(uint32_t query, ::weft_ranked &ranked, uint32_t *count) const noexcept;
};

/** Owns a weft_transcriber: what it is, and what threads may do with it, is said there. */
class transcriber : public handle<::weft_transcriber, weft_transcriber_destroy> {
  public:
    using handle::handle;

    /** weft_transcriber_create of weft/speech.h. */
    static result<weft::transcriber> create(weft::model &model, weft::device &device,
                                            const ::weft_plan_params &plan) noexcept;
    /** weft_transcriber_get_info of weft/speech.h. */
    result<::weft_transcriber_info> info() const noexcept;
    /** weft_transcriber_language of weft/speech.h. */
    [[nodiscard]] const char *language(uint32_t index) const noexcept;
    /** weft_transcriber_begin of weft/speech.h. */
    status begin(const ::weft_transcript_params &params) noexcept;
    /** weft_transcriber_step of weft/speech.h. */
    result<bool> step() noexcept;
    /** weft_transcriber_get_segment of weft/speech.h. */
    status segment(uint32_t index, ::weft_segment &segment) const noexcept;
    /** weft_transcriber_spectrum of weft/speech.h. */
    status spectrum(span<const float> samples, float *features) noexcept;
};

/** Owns a weft_receipt: what it is, and what threads may do with it, is said there. */
class receipt : public handle<::weft_receipt, weft_receipt_destroy> {
  public:
    using handle::handle;

    /** weft_receipt_create of weft/receipt.h. */
    static result<weft::receipt> create(weft::device &device,
                                        const ::weft_receipt_params &params) noexcept;
    /** weft_receipt_read of weft/receipt.h. */
    static result<weft::receipt> read(std::string_view json,
                                      const ::weft_host *host = nullptr) noexcept;
    /** weft_receipt_execute of weft/receipt.h. */
    status execute(weft::plan &plan, span<const ::weft_host_tensor> tensors) noexcept;
    /** weft_receipt_json of weft/receipt.h. */
    [[nodiscard]] const char *json() noexcept;
    /** weft_receipt_command of weft/receipt.h. */
    [[nodiscard]] const char *command() const noexcept;
    /** weft_receipt_maker of weft/receipt.h. */
    [[nodiscard]] const char *maker() const noexcept;
    /** weft_receipt_note of weft/receipt.h. */
    status note(::weft_record_kind kind, const char *name, const char *type, const void *data,
                size_t size) noexcept;
    /** weft_receipt_get_record of weft/receipt.h. */
    result<::weft_record_info> record(uint32_t index) const noexcept;
    /** weft_receipt_compare of weft/receipt.h. */
    status compare(uint32_t *index, const weft::receipt &other) const noexcept;
    /** weft_receipt_root of weft/receipt.h. */
    [[nodiscard]] const char *root() noexcept;
    /** weft_receipt_proof of weft/receipt.h. */
    [[nodiscard]] const char *proof(uint32_t index) noexcept;
    /** weft_receipt_compile_part of weft/receipt.h. */
    result<weft::plan> compile_part(uint32_t record, weft::plan &plan) const noexcept;
    /** weft_receipt_open of weft/receipt.h. */
    status open(::weft_receipt_opened &opened, uint32_t record, weft::plan &plan, weft::plan &part,
                span<const ::weft_host_tensor> tensors) const noexcept;
    /** weft_receipt_check_tensors of weft/receipt.h. */
    status check_tensors(uint32_t *other, const weft::model &model) const noexcept;
    /** weft_receipt_statement of weft/receipt.h. */
    [[nodiscard]] const char *statement(const char *name, const char *sha256,
                                        bool envelope) noexcept;
};

/** Owns a weft_proof: what it is, and what threads may do with it, is said there. */
class proof : public handle<::weft_proof, weft_proof_destroy> {
  public:
    using handle::handle;

    /** weft_proof_read of weft/receipt.h. */
    static result<weft::proof> read(std::string_view json, const char *root,
                                    const ::weft_host *host = nullptr) noexcept;
    /** weft_proof_get_info of weft/receipt.h. */
    result<::weft_proof_info> info() const noexcept;
};

/** Owns a weft_executable: what it is, and what threads may do with it, is said there. */
class executable : public handle<::weft_executable, weft_executable_destroy> {
  public:
    using handle::handle;

};

/** Owns a weft_op: what it is, and what threads may do with it, is said there. */
class op : public handle<::weft_op, weft_op_destroy> {
  public:
    using handle::handle;

    /** weft_op_create of weft/op.h. */
    static result<weft::op> create(const ::weft_op_params &params,
                                   const ::weft_host *host = nullptr) noexcept;
};

/* ---- their members ---- */

inline result<weft::device> device::open(const ::weft_device_params &params) noexcept {
    ::weft_device *made = nullptr;
    const weft_status code = weft_device_open(&made, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::device(made);
}

inline result<weft::device> device::open() noexcept {
    ::weft_device *made = nullptr;
    const weft_status code = weft_device_open(&made, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::device(made);
}

inline void device::cancel() noexcept {
    weft_device_cancel(get());
}

inline result<::weft_device_info> device::info() const noexcept {
    ::weft_device_info made{};
    const weft_status code = weft_device_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline ::weft_math device::math() const noexcept {
    return weft_device_get_math(get());
}

inline result<::weft_device_stats> device::stats() const noexcept {
    ::weft_device_stats made{};
    const weft_status code = weft_device_get_stats(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline void device::reset_peak() noexcept {
    weft_device_reset_peak(get());
}

inline status device::save_cache() noexcept {
    return weft_device_save_cache(get());
}

inline void device::trim() noexcept {
    weft_device_trim(get());
}

inline result<weft::buffer> buffer::create(weft::device &device, uint64_t size) noexcept {
    ::weft_buffer *made = nullptr;
    const weft_status code = weft_buffer_create(&made, device.get(), size);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::buffer(made);
}

inline uint64_t buffer::size() const noexcept {
    return weft_buffer_size(get());
}

inline result<::weft_external_info> device::external(::weft_external_type type) const noexcept {
    ::weft_external_info made{};
    const weft_status code = weft_device_get_external(get(), type, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::buffer> buffer::create_exportable(weft::device &device, uint64_t size,
                                                      ::weft_external_type type) noexcept {
    ::weft_buffer *made = nullptr;
    const weft_status code = weft_buffer_create_exportable(&made, device.get(), size, type);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::buffer(made);
}

inline result<::weft_external_handle> buffer::export_memory() noexcept {
    ::weft_external_handle made{};
    const weft_status code = weft_buffer_export_memory(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::buffer> buffer::import_memory(weft::device &device, ::weft_external_type type,
                                                  ::weft_external_handle handle,
                                                  uint64_t size) noexcept {
    ::weft_buffer *made = nullptr;
    const weft_status code = weft_buffer_import_memory(&made, device.get(), type, handle, size);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::buffer(made);
}

inline result<::weft_external_info> device::external_semaphore(bool timeline) const noexcept {
    ::weft_external_info made{};
    const weft_status code = weft_device_get_external_semaphore(get(), timeline, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::semaphore> semaphore::create_exportable(weft::device &device,
                                                            bool timeline) noexcept {
    ::weft_semaphore *made = nullptr;
    const weft_status code = weft_semaphore_create_exportable(&made, device.get(), timeline);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::semaphore(made);
}

inline result<::weft_external_handle> semaphore::export_handle() noexcept {
    ::weft_external_handle made{};
    const weft_status code = weft_semaphore_export_handle(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::semaphore> semaphore::import_handle(weft::device &device, bool timeline,
                                                        ::weft_external_handle handle) noexcept {
    ::weft_semaphore *made = nullptr;
    const weft_status code = weft_semaphore_import_handle(&made, device.get(), timeline, handle);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::semaphore(made);
}

inline result<weft::weight> weight::create(const ::weft_weight_params &params,
                                           const ::weft_host *host) noexcept {
    ::weft_weight *made = nullptr;
    const weft_status code = weft_weight_create(&made, &params, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::weight(made);
}

inline result<weft::weight> weight::quantize(::weft_stored stored, bool scale_columns) noexcept {
    ::weft_weight *made = nullptr;
    const weft_status code = weft_weight_quantize(&made, get(), stored, scale_columns);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::weight(made);
}

inline result<weft::graph> graph::create(const ::weft_host *host) noexcept {
    ::weft_graph *made = nullptr;
    const weft_status code = weft_graph_create(&made, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::graph(made);
}

inline result<::weft_tensor> graph::input(const char *name, ::weft_dtype dtype,
                                          ::weft_shape shape) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_input(&made, get(), name, dtype, shape);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::weight(weft::weight &weight) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_weight(&made, get(), weight.get());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status graph::output(const char *name, const operand &tensor) noexcept {
    if (const weft_status code = error_of(tensor); code != WEFT_OK) {
        return code;
    }
    return weft_graph_output(get(), name, tensor.tensor());
}

inline result<::weft_tensor> graph::embedding(const ::weft_embedding_params &params) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_embedding(&made, get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::matmul(const operand &a, const operand &b,
                                           const ::weft_matmul_params &params) noexcept {
    if (const weft_status code = error_of(a, b); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_matmul(&made, get(), a.tensor(), b.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::matmul(const operand &a, const operand &b) noexcept {
    if (const weft_status code = error_of(a, b); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_matmul(&made, get(), a.tensor(), b.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::linear(const operand &x, const operand &weight,
                                           const operand &bias) noexcept {
    if (const weft_status code = error_of(x, weight, bias); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_linear(&made, get(), x.tensor(), weight.tensor(),
                                               bias.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::expert_linear(const operand &x, const operand &choices,
                                                  const operand &weight,
                                                  uint32_t experts) noexcept {
    if (const weft_status code = error_of(x, choices, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_expert_linear(&made, get(), x.tensor(), choices.tensor(),
                                                      weight.tensor(), experts);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::layer_norm(const operand &x, const operand &gamma,
                                               const operand &beta, float epsilon) noexcept {
    if (const weft_status code = error_of(x, gamma, beta); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_layer_norm(&made, get(), x.tensor(), gamma.tensor(),
                                                   beta.tensor(), epsilon);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::activate(const operand &x,
                                             ::weft_activation activation) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_activate(&made, get(), x.tensor(), activation);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::softmax(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_softmax(&made, get(), x.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::binary(::weft_binary op, const operand &a,
                                           const operand &b) noexcept {
    if (const weft_status code = error_of(a, b); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_binary(&made, get(), op, a.tensor(), b.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::affine(const operand &x, float scale, float offset) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_affine(&made, get(), x.tensor(), scale, offset);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gather(const operand &x, uint32_t position) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gather(&made, get(), x.tensor(), position);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gather_last(const operand &x, const operand &lengths) noexcept {
    if (const weft_status code = error_of(x, lengths); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gather_last(&made, get(), x.tensor(), lengths.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::mask(const operand &x, const operand &lengths) noexcept {
    if (const weft_status code = error_of(x, lengths); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_mask(&made, get(), x.tensor(), lengths.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::convert(const operand &x, ::weft_dtype dtype) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_convert(&made, get(), x.tensor(), dtype);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::reshape(const operand &x, ::weft_shape shape) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_reshape(&made, get(), x.tensor(), shape);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::plan> plan::compile(weft::device &device, const weft::graph &graph,
                                        const ::weft_plan_params &params) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_plan_compile(&made, device.get(), graph.get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> plan::compile(weft::device &device, const weft::graph &graph) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_plan_compile(&made, device.get(), graph.get(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<::weft_plan_info> plan::info() const noexcept {
    ::weft_plan_info made{};
    const weft_status code = weft_plan_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_dispatch_info> plan::dispatch(uint32_t index) const noexcept {
    ::weft_dispatch_info made{};
    const weft_status code = weft_plan_get_dispatch(get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_port_info> plan::port(uint32_t index) const noexcept {
    ::weft_port_info made{};
    const weft_status code = weft_plan_get_port(get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::bindings> bindings::create(weft::plan &plan) noexcept {
    ::weft_bindings *made = nullptr;
    const weft_status code = weft_bindings_create(&made, plan.get());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::bindings(made);
}

inline result<weft::bindings> bindings::create_concurrent(weft::plan &plan) noexcept {
    ::weft_bindings *made = nullptr;
    const weft_status code = weft_bindings_create_concurrent(&made, plan.get());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::bindings(made);
}

inline status bindings::set(const char *name, weft::buffer &buffer) noexcept {
    return weft_bindings_set(get(), name, buffer.get());
}

inline result<uint64_t> plan::submit(weft::bindings &bindings) noexcept {
    uint64_t made{};
    const weft_status code = weft_plan_submit(get(), bindings.get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<bool> plan::wait(uint64_t ticket, uint64_t timeout_ns) noexcept {
    bool made{};
    const weft_status code = weft_plan_wait(get(), ticket, timeout_ns, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status plan::run(weft::bindings &bindings) noexcept {
    return weft_plan_run(get(), bindings.get());
}

inline status plan::execute(span<const ::weft_host_tensor> tensors) noexcept {
    return weft_plan_execute(get(), tensors.data(), static_cast<uint32_t>(tensors.size()));
}

inline result<::weft_plan_stats> plan::stats() noexcept {
    ::weft_plan_stats made{};
    const weft_status code = weft_plan_get_stats(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<const char *> plan::describe(const char *pass) const noexcept {
    const char *made{};
    const weft_status code = weft_plan_describe(get(), pass, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::unary(::weft_unary op, const operand &x, float alpha,
                                          float beta) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_unary(&made, get(), op, x.tensor(), alpha, beta);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::clamp(const operand &x, float low, float high) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_clamp(&made, get(), x.tensor(), low, high);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::where(const operand &condition, const operand &a,
                                          const operand &b) noexcept {
    if (const weft_status code = error_of(condition, a, b); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_where(&made, get(), condition.tensor(), a.tensor(),
                                              b.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::reduce(::weft_reduction op, const operand &x,
                                           const ::weft_reduce_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_reduce(&made, get(), op, x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::reduce(::weft_reduction op, const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_reduce(&made, get(), op, x.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::argmax(const operand &x, uint32_t axis,
                                           bool keep_axis) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_argmax(&made, get(), x.tensor(), axis, keep_axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::argmin(const operand &x, uint32_t axis,
                                           bool keep_axis) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_argmin(&made, get(), x.tensor(), axis, keep_axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::top_k(const operand &x, uint32_t axis, uint32_t count,
                                          bool smallest) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_top_k(&made, get(), x.tensor(), axis, count, smallest);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::cumsum(const operand &x, uint32_t axis, bool exclusive,
                                           bool reverse) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_cumsum(&made, get(), x.tensor(), axis, exclusive, reverse);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::softmax_axis(const operand &x, uint32_t axis) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_softmax_axis(&made, get(), x.tensor(), axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::log_softmax(const operand &x, uint32_t axis) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_log_softmax(&made, get(), x.tensor(), axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::permute(const operand &x, ::weft_shape axes) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_permute(&made, get(), x.tensor(), axes);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::slice(const operand &x, uint32_t axis, uint32_t start,
                                          uint32_t count, int32_t step) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_slice(&made, get(), x.tensor(), axis, start, count, step);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::concat(span<const ::weft_tensor> xs, uint32_t axis) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_concat(&made, get(), xs.data(),
                                               static_cast<uint32_t>(xs.size()), axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::pad(const operand &x, uint32_t axis, uint32_t before,
                                        uint32_t after, float value) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_pad(&made, get(), x.tensor(), axis, before, after, value);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::expand(const operand &x, ::weft_shape shape) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_expand(&made, get(), x.tensor(), shape);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::take(const operand &x, const operand &indices,
                                         uint32_t axis) noexcept {
    if (const weft_status code = error_of(x, indices); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_take(&made, get(), x.tensor(), indices.tensor(), axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::take_along(const operand &x, const operand &indices,
                                               uint32_t axis) noexcept {
    if (const weft_status code = error_of(x, indices); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_take_along(&made, get(), x.tensor(), indices.tensor(),
                                                   axis);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::attention(const operand &q, const operand &k, const operand &v,
                                              const ::weft_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_attention(&made, get(), q.tensor(), k.tensor(), v.tensor(),
                                                  &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::attention(const operand &q, const operand &k,
                                              const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_attention(&made, get(), q.tensor(), k.tensor(), v.tensor(),
                                                  nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::banded_attention(const operand &q, const operand &k,
                                                     const operand &v,
                                                     const ::weft_banded_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_banded_attention(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::banded_attention(const operand &q, const operand &k,
                                                     const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_banded_attention(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::rms_norm(const operand &x, const operand &gain,
                                             float epsilon) noexcept {
    if (const weft_status code = error_of(x, gain); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_rms_norm(&made, get(), x.tensor(), gain.tensor(), epsilon);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::simple_rms_norm(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_simple_rms_norm(&made, get(), x.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::scale_norm(const operand &x, const operand &gain,
                                               float epsilon) noexcept {
    if (const weft_status code = error_of(x, gain); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_scale_norm(&made, get(), x.tensor(), gain.tensor(),
                                                   epsilon);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::batch_norm(const operand &x,
                                               const ::weft_batch_norm_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_batch_norm(&made, get(), x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::norm(const operand &x,
                                         const ::weft_norm_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_norm(&made, get(), x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::add_norm(const operand &x, const operand &y,
                                             const ::weft_norm_params &params) noexcept {
    if (const weft_status code = error_of(x, y); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_add_norm(&made, get(), x.tensor(), y.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::add_norm(const operand &x, const operand &y) noexcept {
    if (const weft_status code = error_of(x, y); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_add_norm(&made, get(), x.tensor(), y.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<std::array<::weft_tensor, 3>> graph::project_qkv(const operand &x,
    const operand &memory, const ::weft_project_qkv_params &params) noexcept {
    if (const weft_status code = error_of(x, memory); code != WEFT_OK) {
        return code;
    }
    std::array<::weft_tensor, 3> made{};
    const weft_status code = weft_graph_project_qkv(made.data(), get(), x.tensor(), memory.tensor(),
                                                    &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::glu(const operand &x,
                                        const ::weft_glu_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_glu(&made, get(), x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::glu(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_glu(&made, get(), x.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv1d(const operand &x, const operand &weight,
                                           const ::weft_conv1d_params &params) noexcept {
    if (const weft_status code = error_of(x, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv1d(&made, get(), x.tensor(), weight.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv1d(const operand &x, const operand &weight) noexcept {
    if (const weft_status code = error_of(x, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv1d(&made, get(), x.tensor(), weight.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv(const operand &x, const operand &weight,
                                         const ::weft_conv_params &params) noexcept {
    if (const weft_status code = error_of(x, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv(&made, get(), x.tensor(), weight.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv(const operand &x, const operand &weight) noexcept {
    if (const weft_status code = error_of(x, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv(&made, get(), x.tensor(), weight.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::pool(::weft_pool_op op, const operand &x,
                                         const ::weft_pool_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_pool(&made, get(), op, x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::pool(::weft_pool_op op, const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_pool(&made, get(), op, x.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fourier(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fourier(&made, get(), x.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::rfft(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_rfft(&made, get(), x.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::irfft(const operand &x, uint32_t n) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_irfft(&made, get(), x.tensor(), n);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fft(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fft(&made, get(), x.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::ifft(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_ifft(&made, get(), x.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::complex_multiply(const operand &a, const operand &b) noexcept {
    if (const weft_status code = error_of(a, b); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_complex_multiply(&made, get(), a.tensor(), b.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::linear_attention(const operand &q_features,
                                                     const operand &k_features, const operand &v,
                                                     const ::weft_linear_attention_params &params) noexcept {
    if (const weft_status code = error_of(q_features, k_features, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_linear_attention(&made, get(), q_features.tensor(),
                                                         k_features.tensor(), v.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::linear_attention(const operand &q_features,
                                                     const operand &k_features,
                                                     const operand &v) noexcept {
    if (const weft_status code = error_of(q_features, k_features, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_linear_attention(&made, get(), q_features.tensor(),
                                                         k_features.tensor(), v.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::kernel_attention(const operand &q, const operand &k,
                                                     const operand &v,
                                                     const ::weft_kernel_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_kernel_attention(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::kernel_attention(const operand &q, const operand &k,
                                                     const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_kernel_attention(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::cosformer(const operand &q, const operand &k, const operand &v,
                                              const ::weft_cosformer_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_cosformer(&made, get(), q.tensor(), k.tensor(), v.tensor(),
                                                  &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::cosformer(const operand &q, const operand &k,
                                              const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_cosformer(&made, get(), q.tensor(), k.tensor(), v.tensor(),
                                                  nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fast_weight(const operand &q, const operand &k,
                                                const operand &v, const operand &beta,
                                                const ::weft_fast_weight_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v, beta); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fast_weight(&made, get(), q.tensor(), k.tensor(),
                                                    v.tensor(), beta.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fast_weight(const operand &q, const operand &k,
                                                const operand &v, const operand &beta) noexcept {
    if (const weft_status code = error_of(q, k, v, beta); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fast_weight(&made, get(), q.tensor(), k.tensor(),
                                                    v.tensor(), beta.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fmm_attention(const operand &q, const operand &k,
                                                  const operand &v,
                                                  const ::weft_fmm_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fmm_attention(&made, get(), q.tensor(), k.tensor(),
                                                      v.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fmm_attention(const operand &q, const operand &k,
                                                  const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fmm_attention(&made, get(), q.tensor(), k.tensor(),
                                                      v.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::flt_features(const operand &x, const operand &frequencies,
                                                 const operand &weights,
                                                 const ::weft_flt_features_params &params) noexcept {
    if (const weft_status code = error_of(x, frequencies, weights); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_flt_features(&made, get(), x.tensor(), frequencies.tensor(),
                                                     weights.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::flt_features(const operand &x, const operand &frequencies,
                                                 const operand &weights) noexcept {
    if (const weft_status code = error_of(x, frequencies, weights); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_flt_features(&made, get(), x.tensor(), frequencies.tensor(),
                                                     weights.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::sine_spe(const operand &x, const operand &noise,
                                             const ::weft_sine_spe_params &params) noexcept {
    if (const weft_status code = error_of(x, noise); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_sine_spe(&made, get(), x.tensor(), noise.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::sine_spe(const operand &x, const operand &noise) noexcept {
    if (const weft_status code = error_of(x, noise); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_sine_spe(&made, get(), x.tensor(), noise.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv_spe(const operand &x, const operand &noise,
                                             const ::weft_conv_spe_params &params) noexcept {
    if (const weft_status code = error_of(x, noise); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv_spe(&made, get(), x.tensor(), noise.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv_spe(const operand &x, const operand &noise) noexcept {
    if (const weft_status code = error_of(x, noise); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv_spe(&made, get(), x.tensor(), noise.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_attention(const operand &q_features,
                                                       const operand &k_features, const operand &v,
                                                       const operand &bias,
                                                       const ::weft_toeplitz_attention_params &params) noexcept {
    if (const weft_status code = error_of(q_features, k_features, v, bias); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_attention(&made, get(), q_features.tensor(),
                                                           k_features.tensor(), v.tensor(),
                                                           bias.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_attention(const operand &q_features,
                                                       const operand &k_features, const operand &v,
                                                       const operand &bias) noexcept {
    if (const weft_status code = error_of(q_features, k_features, v, bias); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_attention(&made, get(), q_features.tensor(),
                                                           k_features.tensor(), v.tensor(),
                                                           bias.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::rope(const operand &x,
                                         const ::weft_rope_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_rope(&made, get(), x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::rope(const operand &x) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_rope(&made, get(), x.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::random_features(const operand &x, const operand &w,
                                                    const ::weft_random_features_params &params) noexcept {
    if (const weft_status code = error_of(x, w); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_random_features(&made, get(), x.tensor(), w.tensor(),
                                                        &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::random_features(const operand &x, const operand &w) noexcept {
    if (const weft_status code = error_of(x, w); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_random_features(&made, get(), x.tensor(), w.tensor(),
                                                        nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::balance_channels(const operand &x,
                                                     const operand &other) noexcept {
    if (const weft_status code = error_of(x, other); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_balance_channels(&made, get(), x.tensor(), other.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::discrete_features(const operand &x, const operand &w,
                                                      const operand &coefficients,
                                                      const ::weft_discrete_features_params &params) noexcept {
    if (const weft_status code = error_of(x, w, coefficients); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_discrete_features(&made, get(), x.tensor(), w.tensor(),
                                                          coefficients.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::discrete_features(const operand &x, const operand &w,
                                                      const operand &coefficients) noexcept {
    if (const weft_status code = error_of(x, w, coefficients); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_discrete_features(&made, get(), x.tensor(), w.tensor(),
                                                          coefficients.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::hybrid_features(const operand &x, const operand &w,
                                                    const operand &directions,
                                                    const ::weft_hybrid_features_params &params) noexcept {
    if (const weft_status code = error_of(x, w, directions); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_hybrid_features(&made, get(), x.tensor(), w.tensor(),
                                                        directions.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::hybrid_features(const operand &x, const operand &w,
                                                    const operand &directions) noexcept {
    if (const weft_status code = error_of(x, w, directions); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_hybrid_features(&made, get(), x.tensor(), w.tensor(),
                                                        directions.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::structured_projection(const operand &x,
                                                          const operand &diagonals,
                                                          const ::weft_structured_projection_params &params) noexcept {
    if (const weft_status code = error_of(x, diagonals); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_structured_projection(&made, get(), x.tensor(),
        diagonals.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::structured_projection(const operand &x,
                                                          const operand &diagonals) noexcept {
    if (const weft_status code = error_of(x, diagonals); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_structured_projection(&made, get(), x.tensor(),
        diagonals.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gmm_weights(const operand &noise, const operand &sigma,
                                                const operand &mu) noexcept {
    if (const weft_status code = error_of(noise, sigma, mu); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gmm_weights(&made, get(), noise.tensor(), sigma.tensor(),
                                                    mu.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::dgm_weights(const operand &noise,
                                                const ::weft_dgm_weights_params &params) noexcept {
    if (const weft_status code = error_of(noise); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_dgm_weights(&made, get(), noise.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::performer_attention(const operand &q, const operand &k,
                                                        const operand &v, const operand &w,
                                                        const ::weft_performer_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v, w); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_performer_attention(&made, get(), q.tensor(), k.tensor(),
                                                            v.tensor(), w.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::performer_attention(const operand &q, const operand &k,
                                                        const operand &v,
                                                        const operand &w) noexcept {
    if (const weft_status code = error_of(q, k, v, w); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_performer_attention(&made, get(), q.tensor(), k.tensor(),
                                                            v.tensor(), w.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::rfa_attention(const operand &q, const operand &k,
                                                  const operand &v, const operand &w,
                                                  const ::weft_rfa_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v, w); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_rfa_attention(&made, get(), q.tensor(), k.tensor(),
                                                      v.tensor(), w.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::rfa_attention(const operand &q, const operand &k,
                                                  const operand &v, const operand &w) noexcept {
    if (const weft_status code = error_of(q, k, v, w); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_rfa_attention(&made, get(), q.tensor(), k.tensor(),
                                                      v.tensor(), w.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::recurrence(const operand &gates, const operand &weight,
                                               const ::weft_recurrence_params &params) noexcept {
    if (const weft_status code = error_of(gates, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_recurrence(&made, get(), gates.tensor(), weight.tensor(),
                                                   &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::recurrence(const operand &gates,
                                               const operand &weight) noexcept {
    if (const weft_status code = error_of(gates, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_recurrence(&made, get(), gates.tensor(), weight.tensor(),
                                                   nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gated_state(const operand &q, const operand &k,
                                                const operand &v,
                                                const ::weft_gated_state_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gated_state(&made, get(), q.tensor(), k.tensor(),
                                                    v.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gated_state(const operand &q, const operand &k,
                                                const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gated_state(&made, get(), q.tensor(), k.tensor(),
                                                    v.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<std::array<::weft_tensor, 2>> graph::gated_state_with_last(const operand &q,
    const operand &k, const operand &v, const ::weft_gated_state_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    std::array<::weft_tensor, 2> made{};
    const weft_status code = weft_graph_gated_state_with_last(made.data(), get(), q.tensor(),
        k.tensor(), v.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<std::array<::weft_tensor, 2>> graph::gated_state_with_last(const operand &q,
    const operand &k, const operand &v) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    std::array<::weft_tensor, 2> made{};
    const weft_status code = weft_graph_gated_state_with_last(made.data(), get(), q.tensor(),
        k.tensor(), v.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::selective_scan(const operand &x, const operand &delta,
                                                   const operand &a, const operand &b,
                                                   const operand &c,
                                                   const ::weft_selective_scan_params &params) noexcept {
    if (const weft_status code = error_of(x, delta, a, b, c); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_selective_scan(&made, get(), x.tensor(), delta.tensor(),
                                                       a.tensor(), b.tensor(), c.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::selective_scan(const operand &x, const operand &delta,
                                                   const operand &a, const operand &b,
                                                   const operand &c) noexcept {
    if (const weft_status code = error_of(x, delta, a, b, c); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_selective_scan(&made, get(), x.tensor(), delta.tensor(),
                                                       a.tensor(), b.tensor(), c.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<std::array<::weft_tensor, 2>> graph::selective_scan_with_last(const operand &x,
    const operand &delta, const operand &a, const operand &b, const operand &c,
    const ::weft_selective_scan_params &params) noexcept {
    if (const weft_status code = error_of(x, delta, a, b, c); code != WEFT_OK) {
        return code;
    }
    std::array<::weft_tensor, 2> made{};
    const weft_status code = weft_graph_selective_scan_with_last(made.data(), get(), x.tensor(),
        delta.tensor(), a.tensor(), b.tensor(), c.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<std::array<::weft_tensor, 2>> graph::selective_scan_with_last(const operand &x,
    const operand &delta, const operand &a, const operand &b, const operand &c) noexcept {
    if (const weft_status code = error_of(x, delta, a, b, c); code != WEFT_OK) {
        return code;
    }
    std::array<::weft_tensor, 2> made{};
    const weft_status code = weft_graph_selective_scan_with_last(made.data(), get(), x.tensor(),
        delta.tensor(), a.tensor(), b.tensor(), c.tensor(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz(const operand &x, const operand &coefficients,
                                             const ::weft_toeplitz_params &params) noexcept {
    if (const weft_status code = error_of(x, coefficients); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz(&made, get(), x.tensor(), coefficients.tensor(),
                                                 &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz(const operand &x,
                                             const operand &coefficients) noexcept {
    if (const weft_status code = error_of(x, coefficients); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz(&made, get(), x.tensor(), coefficients.tensor(),
                                                 nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_fd(const operand &x, const operand &response,
                                                const ::weft_toeplitz_fd_params &params) noexcept {
    if (const weft_status code = error_of(x, response); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_fd(&made, get(), x.tensor(), response.tensor(),
                                                    &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_fd(const operand &x,
                                                const operand &response) noexcept {
    if (const weft_status code = error_of(x, response); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_fd(&made, get(), x.tensor(), response.tensor(),
                                                    nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_fd_taps(const operand &response) noexcept {
    if (const weft_status code = error_of(response); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_fd_taps(&made, get(), response.tensor());
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::ski_toeplitz(const operand &x,
                                                 const ::weft_ski_toeplitz_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_ski_toeplitz(&made, get(), x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_rpe(uint32_t n, const ::weft_rpe_params &rpe,
                                                 const ::weft_toeplitz_rpe_params &params) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_rpe(&made, get(), n, &rpe, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_rpe(uint32_t n,
                                                 const ::weft_rpe_params &rpe) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_rpe(&made, get(), n, &rpe, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_decay(const operand &theta, float lambda) noexcept {
    if (const weft_status code = error_of(theta); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_decay(&made, get(), theta.tensor(), lambda);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_fd_rpe(uint32_t grid, const ::weft_rpe_params &rpe,
                                                    ::weft_rpe_frequency input) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_fd_rpe(&made, get(), grid, &rpe, input);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gtu(const operand &x,
                                        const ::weft_gtu_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gtu(&made, get(), x.tensor(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::linear_attention_step(const operand &q_features,
                                                          const operand &k_features,
                                                          const operand &v, const ::weft_step &step,
                                                          const ::weft_linear_attention_params &params) noexcept {
    if (const weft_status code = error_of(q_features, k_features, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_linear_attention_step(&made, get(), q_features.tensor(),
        k_features.tensor(), v.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::linear_attention_step(const operand &q_features,
                                                          const operand &k_features,
                                                          const operand &v,
                                                          const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(q_features, k_features, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_linear_attention_step(&made, get(), q_features.tensor(),
        k_features.tensor(), v.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::kernel_attention_step(const operand &q, const operand &k,
                                                          const operand &v, const ::weft_step &step,
                                                          const ::weft_kernel_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_kernel_attention_step(&made, get(), q.tensor(), k.tensor(),
        v.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::kernel_attention_step(const operand &q, const operand &k,
                                                          const operand &v,
                                                          const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_kernel_attention_step(&made, get(), q.tensor(), k.tensor(),
        v.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::cosformer_step(const operand &q, const operand &k,
                                                   const operand &v, const ::weft_step &step,
                                                   const ::weft_cosformer_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_cosformer_step(&made, get(), q.tensor(), k.tensor(),
                                                       v.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::cosformer_step(const operand &q, const operand &k,
                                                   const operand &v,
                                                   const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_cosformer_step(&made, get(), q.tensor(), k.tensor(),
                                                       v.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fast_weight_step(const operand &q, const operand &k,
                                                     const operand &v, const operand &beta,
                                                     const ::weft_step &step,
                                                     const ::weft_fast_weight_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v, beta); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fast_weight_step(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), beta.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::fast_weight_step(const operand &q, const operand &k,
                                                     const operand &v, const operand &beta,
                                                     const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(q, k, v, beta); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_fast_weight_step(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), beta.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::banded_attention_step(const operand &q, const operand &k,
                                                          const operand &v, const ::weft_step &step,
                                                          const ::weft_banded_attention_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_banded_attention_step(&made, get(), q.tensor(), k.tensor(),
        v.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::banded_attention_step(const operand &q, const operand &k,
                                                          const operand &v,
                                                          const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_banded_attention_step(&made, get(), q.tensor(), k.tensor(),
        v.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv1d_step(const operand &x, const operand &weight,
                                                const ::weft_step &step,
                                                const ::weft_conv1d_params &params) noexcept {
    if (const weft_status code = error_of(x, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv1d_step(&made, get(), x.tensor(), weight.tensor(),
                                                    &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::conv1d_step(const operand &x, const operand &weight,
                                                const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(x, weight); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_conv1d_step(&made, get(), x.tensor(), weight.tensor(),
                                                    &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gated_state_step(const operand &q, const operand &k,
                                                     const operand &v, const ::weft_step &step,
                                                     const ::weft_gated_state_params &params) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gated_state_step(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gated_state_step(const operand &q, const operand &k,
                                                     const operand &v,
                                                     const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(q, k, v); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gated_state_step(&made, get(), q.tensor(), k.tensor(),
                                                         v.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::selective_scan_step(const operand &x, const operand &delta,
                                                        const operand &a, const operand &b,
                                                        const operand &c, const ::weft_step &step,
                                                        const ::weft_selective_scan_params &params) noexcept {
    if (const weft_status code = error_of(x, delta, a, b, c); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_selective_scan_step(&made, get(), x.tensor(),
                                                            delta.tensor(), a.tensor(), b.tensor(),
                                                            c.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::selective_scan_step(const operand &x, const operand &delta,
                                                        const operand &a, const operand &b,
                                                        const operand &c,
                                                        const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(x, delta, a, b, c); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_selective_scan_step(&made, get(), x.tensor(),
                                                            delta.tensor(), a.tensor(), b.tensor(),
                                                            c.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_step(const operand &x, const operand &coefficients,
                                                  const ::weft_step &step,
                                                  const ::weft_toeplitz_params &params) noexcept {
    if (const weft_status code = error_of(x, coefficients); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_step(&made, get(), x.tensor(),
                                                      coefficients.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::toeplitz_step(const operand &x, const operand &coefficients,
                                                  const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(x, coefficients); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_toeplitz_step(&made, get(), x.tensor(),
                                                      coefficients.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gtu_step(const operand &x, const ::weft_step &step,
                                             const ::weft_gtu_params &params) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gtu_step(&made, get(), x.tensor(), &step, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::gtu_step(const operand &x, const ::weft_step &step) noexcept {
    if (const weft_status code = error_of(x); code != WEFT_OK) {
        return code;
    }
    ::weft_tensor made{};
    const weft_status code = weft_graph_gtu_step(&made, get(), x.tensor(), &step, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::model> model::load(const char *folder, const ::weft_host *host) noexcept {
    ::weft_model *made = nullptr;
    const weft_status code = weft_model_load(&made, folder, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::model(made);
}

inline result<weft::model> model::load_memory(const ::weft_model_memory &memory,
                                              const ::weft_host *host) noexcept {
    ::weft_model *made = nullptr;
    const weft_status code = weft_model_load_memory(&made, &memory, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::model(made);
}

inline result<weft::model> model::create_random(const char *config_json, uint64_t seed,
                                                const ::weft_host *host) noexcept {
    ::weft_model *made = nullptr;
    const weft_status code = weft_model_create_random(&made, config_json, seed, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::model(made);
}

inline result<::weft_model_info> model::info() const noexcept {
    ::weft_model_info made{};
    const weft_status code = weft_model_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status model::output_shape(uint32_t batch, uint32_t length,
                                  ::weft_shape &shape) const noexcept {
    return weft_model_get_output_shape(get(), batch, length, &shape);
}

inline const char *model::config() const noexcept {
    return weft_model_config(get());
}

inline result<weft::model> model::without_head() noexcept {
    ::weft_model *made = nullptr;
    const weft_status code = weft_model_without_head(&made, get());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::model(made);
}

inline result<weft::model> model::image_tower() noexcept {
    ::weft_model *made = nullptr;
    const weft_status code = weft_model_image_tower(&made, get());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::model(made);
}

inline status model::set_embedding(const ::weft_embed_params &params) noexcept {
    return weft_model_set_embedding(get(), &params);
}

inline status model::set_max_length(uint32_t length) noexcept {
    return weft_model_set_max_length(get(), length);
}

inline status model::set_state(::weft_dtype dtype) noexcept {
    return weft_model_set_state(get(), dtype);
}

inline result<::weft_embed_info> model::embedding() const noexcept {
    ::weft_embed_info made{};
    const weft_status code = weft_model_get_embedding(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_prompt_info> model::prompt(uint32_t index) const noexcept {
    ::weft_prompt_info made{};
    const weft_status code = weft_model_get_prompt(get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline const char *model::label(uint32_t index) const noexcept {
    return weft_model_label(get(), index);
}

inline status model::encode(::weft_encoding &encoding,
                            const ::weft_encode_params &params) noexcept {
    return weft_model_encode(&encoding, get(), &params);
}

inline bool model::answers_questions() const noexcept {
    return weft_model_answers_questions(get());
}

inline status model::find_answer(::weft_text_span &answer, const ::weft_encoding &encoding,
                                 const float *logits, uint32_t max_tokens) noexcept {
    return weft_model_find_answer(&answer, get(), &encoding, logits, max_tokens);
}

inline result<::weft_tensor> model::build(weft::graph &graph,
                                          const ::weft_model_inputs &inputs) noexcept {
    ::weft_tensor made{};
    const weft_status code = weft_model_build(&made, get(), graph.get(), &inputs);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::plan> model::compile(weft::device &device, uint32_t batch, uint32_t length,
                                         bool with_types,
                                         const ::weft_plan_params &params) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile(&made, get(), device.get(), batch, length,
                                                with_types, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> model::compile(weft::device &device, uint32_t batch, uint32_t length,
                                         bool with_types) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile(&made, get(), device.get(), batch, length,
                                                with_types, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> model::compile_lengths(weft::device &device, uint32_t batch,
                                                 uint32_t length,
                                                 const ::weft_plan_params &params) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile_lengths(&made, get(), device.get(), batch, length,
                                                        &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> model::compile_lengths(weft::device &device, uint32_t batch,
                                                 uint32_t length) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile_lengths(&made, get(), device.get(), batch, length,
                                                        nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> model::compile_shape(weft::device &device,
                                               const ::weft_model_shape &shape,
                                               const ::weft_plan_params &params) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile_shape(&made, get(), device.get(), &shape, &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> model::compile_shape(weft::device &device,
                                               const ::weft_model_shape &shape) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile_shape(&made, get(), device.get(), &shape, nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<::weft_symbol_info> model::symbol(uint32_t index) const noexcept {
    ::weft_symbol_info made{};
    const weft_status code = weft_model_get_symbol(get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_model_port_info> model::port(uint32_t index) const noexcept {
    ::weft_model_port_info made{};
    const weft_status code = weft_model_get_port(get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::graph> model::program_graph(span<const ::weft_symbol> symbols) noexcept {
    ::weft_graph *made = nullptr;
    const weft_status code = weft_model_program_graph(&made, get(), symbols.data(),
                                                      static_cast<uint32_t>(symbols.size()));
    if (code != WEFT_OK) {
        return code;
    }
    return weft::graph(made);
}

inline result<weft::plan> model::compile_program(weft::device &device,
                                                 span<const ::weft_symbol> symbols,
                                                 const ::weft_plan_params &params) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile_program(&made, get(), device.get(), symbols.data(),
                                                        static_cast<uint32_t>(symbols.size()),
                                                        &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline result<weft::plan> model::compile_program(weft::device &device,
                                                 span<const ::weft_symbol> symbols) noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_model_compile_program(&made, get(), device.get(), symbols.data(),
                                                        static_cast<uint32_t>(symbols.size()),
                                                        nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline status graph::save(const char *folder) const noexcept {
    return weft_graph_save(get(), folder);
}

inline result<weft::decoder> decoder::create(weft::model &model, weft::device &device,
                                             const ::weft_decoder_params &params) noexcept {
    ::weft_decoder *made = nullptr;
    const weft_status code = weft_decoder_create(&made, model.get(), device.get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::decoder(made);
}

inline result<weft::decoder> decoder::create(weft::model &model, weft::device &device) noexcept {
    ::weft_decoder *made = nullptr;
    const weft_status code = weft_decoder_create(&made, model.get(), device.get(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::decoder(made);
}

inline void decoder::reset() noexcept {
    weft_decoder_reset(get());
}

inline status decoder::save(uint32_t sequence, const char *path) noexcept {
    return weft_decoder_save(get(), sequence, path);
}

inline status decoder::load(uint32_t sequence, const char *path) noexcept {
    return weft_decoder_load(get(), sequence, path);
}

inline status decoder::rewind(uint32_t sequence, uint32_t length) noexcept {
    return weft_decoder_rewind(get(), sequence, length);
}

inline result<::weft_decoder_info> decoder::info() const noexcept {
    ::weft_decoder_info made{};
    const weft_status code = weft_decoder_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::generator> generator::create(weft::model &model, weft::device &device,
                                                 const ::weft_generator_params &params) noexcept {
    ::weft_generator *made = nullptr;
    const weft_status code = weft_generator_create(&made, model.get(), device.get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::generator(made);
}

inline result<bool> generator::step() noexcept {
    bool made{};
    const weft_status code = weft_generator_step(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status generator::end(uint32_t prompt) noexcept {
    return weft_generator_end(get(), prompt);
}

inline status generator::save(uint32_t prompt, const char *path) noexcept {
    return weft_generator_save(get(), prompt, path);
}

inline status generator::text(uint32_t prompt, ::weft_generated &generated) const noexcept {
    return weft_generator_get_text(get(), prompt, &generated);
}

inline result<::weft_decoder_info> generator::decoder_info() const noexcept {
    ::weft_decoder_info made{};
    const weft_status code = weft_generator_get_decoder_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline const char *model::role_prompt(::weft_text_role role) const noexcept {
    return weft_model_role_prompt(get(), role);
}

inline result<const char *> model::set_vectors(const ::weft_vectors_params &params) noexcept {
    const char *made{};
    const weft_status code = weft_model_set_vectors(&made, get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<const char *> model::set_vectors() noexcept {
    const char *made{};
    const weft_status code = weft_model_set_vectors(&made, get(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::texts> texts::create(weft::model &model, weft::device &device,
                                         const ::weft_texts_params &params) noexcept {
    ::weft_texts *made = nullptr;
    const weft_status code = weft_texts_create(&made, model.get(), device.get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::texts(made);
}

inline result<weft::texts> texts::create(weft::model &model, weft::device &device) noexcept {
    ::weft_texts *made = nullptr;
    const weft_status code = weft_texts_create(&made, model.get(), device.get(), nullptr);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::texts(made);
}

inline status texts::run(const ::weft_texts_run_params &params) noexcept {
    return weft_texts_run(get(), &params);
}

inline result<::weft_texts_info> texts::info() const noexcept {
    ::weft_texts_info made{};
    const weft_status code = weft_texts_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline double model::pair_score(float value) const noexcept {
    return weft_model_pair_score(get(), value);
}

inline status texts::rank(::weft_ranked &ranked, const ::weft_rank_params &params) noexcept {
    return weft_texts_rank(&ranked, get(), &params);
}

inline result<weft::search> search::create(const ::weft_search_params &params,
                                           const ::weft_host *host) noexcept {
    ::weft_search *made = nullptr;
    const weft_status code = weft_search_create(&made, &params, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::search(made);
}

inline status search::add(span<const float> vectors) noexcept {
    return weft_search_add(get(), vectors.data(), static_cast<uint32_t>(vectors.size()));
}

inline status search::best(uint32_t query, ::weft_ranked &ranked, uint32_t *count) const noexcept {
    return weft_search_best(get(), query, &ranked, count);
}

inline result<weft::transcriber> transcriber::create(weft::model &model, weft::device &device,
                                                     const ::weft_plan_params &plan) noexcept {
    ::weft_transcriber *made = nullptr;
    const weft_status code = weft_transcriber_create(&made, model.get(), device.get(), &plan);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::transcriber(made);
}

inline result<::weft_transcriber_info> transcriber::info() const noexcept {
    ::weft_transcriber_info made{};
    const weft_status code = weft_transcriber_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline const char *transcriber::language(uint32_t index) const noexcept {
    return weft_transcriber_language(get(), index);
}

inline status transcriber::begin(const ::weft_transcript_params &params) noexcept {
    return weft_transcriber_begin(get(), &params);
}

inline result<bool> transcriber::step() noexcept {
    bool made{};
    const weft_status code = weft_transcriber_step(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status transcriber::segment(uint32_t index, ::weft_segment &segment) const noexcept {
    return weft_transcriber_get_segment(get(), index, &segment);
}

inline status transcriber::spectrum(span<const float> samples, float *features) noexcept {
    return weft_transcriber_spectrum(get(), samples.data(), static_cast<uint64_t>(samples.size()),
                                     features);
}

inline result<weft::receipt> receipt::create(weft::device &device,
                                             const ::weft_receipt_params &params) noexcept {
    ::weft_receipt *made = nullptr;
    const weft_status code = weft_receipt_create(&made, device.get(), &params);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::receipt(made);
}

inline result<weft::receipt> receipt::read(std::string_view json,
                                           const ::weft_host *host) noexcept {
    ::weft_receipt *made = nullptr;
    const weft_status code = weft_receipt_read(&made, json.data(), json.size(), host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::receipt(made);
}

inline status receipt::execute(weft::plan &plan, span<const ::weft_host_tensor> tensors) noexcept {
    return weft_receipt_execute(get(), plan.get(), tensors.data(),
                                static_cast<uint32_t>(tensors.size()));
}

inline const char *receipt::json() noexcept {
    return weft_receipt_json(get());
}

inline const char *receipt::command() const noexcept {
    return weft_receipt_command(get());
}

inline const char *receipt::maker() const noexcept {
    return weft_receipt_maker(get());
}

inline status receipt::note(::weft_record_kind kind, const char *name, const char *type,
                            const void *data, size_t size) noexcept {
    return weft_receipt_note(get(), kind, name, type, data, size);
}

inline result<::weft_record_info> receipt::record(uint32_t index) const noexcept {
    ::weft_record_info made{};
    const weft_status code = weft_receipt_get_record(get(), index, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status receipt::compare(uint32_t *index, const weft::receipt &other) const noexcept {
    return weft_receipt_compare(index, get(), other.get());
}

inline const char *receipt::root() noexcept {
    return weft_receipt_root(get());
}

inline const char *receipt::proof(uint32_t index) noexcept {
    return weft_receipt_proof(get(), index);
}

inline result<weft::proof> proof::read(std::string_view json, const char *root,
                                       const ::weft_host *host) noexcept {
    ::weft_proof *made = nullptr;
    const weft_status code = weft_proof_read(&made, json.data(), json.size(), root, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::proof(made);
}

inline result<::weft_proof_info> proof::info() const noexcept {
    ::weft_proof_info made{};
    const weft_status code = weft_proof_get_info(get(), &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::plan> receipt::compile_part(uint32_t record, weft::plan &plan) const noexcept {
    ::weft_plan *made = nullptr;
    const weft_status code = weft_receipt_compile_part(&made, get(), record, plan.get());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::plan(made);
}

inline status receipt::open(::weft_receipt_opened &opened, uint32_t record, weft::plan &plan,
                            weft::plan &part,
                            span<const ::weft_host_tensor> tensors) const noexcept {
    return weft_receipt_open(&opened, get(), record, plan.get(), part.get(), tensors.data(),
                             static_cast<uint32_t>(tensors.size()));
}

inline status receipt::check_tensors(uint32_t *other, const weft::model &model) const noexcept {
    return weft_receipt_check_tensors(other, get(), model.get());
}

inline const char *receipt::statement(const char *name, const char *sha256,
                                      bool envelope) noexcept {
    return weft_receipt_statement(get(), name, sha256, envelope);
}

inline result<::weft_storage_info> plan::storage(uint32_t storage) const noexcept {
    ::weft_storage_info made{};
    const weft_status code = weft_plan_get_storage(get(), storage, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline status plan::read_constant(uint32_t storage, void *data) const noexcept {
    return weft_plan_read_constant(get(), storage, data);
}

inline result<::weft_kernel_info> plan::kernel(uint32_t dispatch) const noexcept {
    ::weft_kernel_info made{};
    const weft_status code = weft_plan_get_kernel(get(), dispatch, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_operand_info> plan::operand(uint32_t dispatch,
                                                 uint32_t binding) const noexcept {
    ::weft_operand_info made{};
    const weft_status code = weft_plan_get_operand(get(), dispatch, binding, &made);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<weft::executable> plan::executable(uint32_t dispatch) const noexcept {
    ::weft_executable *made = nullptr;
    const weft_status code = weft_plan_get_executable(&made, get(), dispatch);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::executable(made);
}

inline result<weft::op> op::create(const ::weft_op_params &params,
                                   const ::weft_host *host) noexcept {
    ::weft_op *made = nullptr;
    const weft_status code = weft_op_create(&made, &params, host);
    if (code != WEFT_OK) {
        return code;
    }
    return weft::op(made);
}

inline result<buffer> buffer::wrap_host(weft::device &device, bytes memory) noexcept {
    ::weft_buffer *made = nullptr;
    const weft_status code = weft_buffer_wrap_host(&made, device.get(), memory.data(), memory.bytes());
    if (code != WEFT_OK) {
        return code;
    }
    return weft::buffer(made);
}

template <class Params>
result<::weft_tensor> graph::add(const weft::op &op, span<const ::weft_tensor> inputs, const Params &params) noexcept {
    static_assert(std::is_trivially_copyable_v<Params>, "an op's parameters are plain data");
    ::weft_tensor made{};
    const weft_status code = weft_graph_add(&made, get(), op.get(), inputs.data(), static_cast<std::uint32_t>(inputs.size()),
                                            &params, sizeof params);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

inline result<::weft_tensor> graph::add(const weft::op &op, span<const ::weft_tensor> inputs) noexcept {
    ::weft_tensor made{};
    const weft_status code =
        weft_graph_add(&made, get(), op.get(), inputs.data(), static_cast<std::uint32_t>(inputs.size()), nullptr, 0);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

/* ---- functions ---- */

/** weft_device_list of weft/device.h: as many as fit; gives how many there are. */
inline result<std::uint32_t> device_list(span<::weft_device_info> infos, const ::weft_host *host = nullptr) noexcept {
    auto count = static_cast<std::uint32_t>(infos.size());
    const weft_status code = weft_device_list(infos.data(), &count, host);
    if (code != WEFT_OK) {
        return code;
    }
    return count;
}

/** weft_version of weft/weft.h. */
[[nodiscard]] inline const char *version() noexcept {
    return weft_version();
}

/** weft_build of weft/weft.h. */
[[nodiscard]] inline const char *build() noexcept {
    return weft_build();
}

/** weft_dtype_name of weft/weft.h. */
[[nodiscard]] inline const char *dtype_name(::weft_dtype dtype) noexcept {
    return weft_dtype_name(dtype);
}

/** weft_dtype_size of weft/weft.h. */
[[nodiscard]] inline uint32_t dtype_size(::weft_dtype dtype) noexcept {
    return weft_dtype_size(dtype);
}

/** weft_shape_equal of weft/weft.h. */
[[nodiscard]] inline bool shape_equal(::weft_shape a, ::weft_shape b) noexcept {
    return weft_shape_equal(a, b);
}

/** weft_math_name of weft/device.h. */
[[nodiscard]] inline const char *math_name(::weft_math math) noexcept {
    return weft_math_name(math);
}

/** weft_weight_storage_name of weft/device.h. */
[[nodiscard]] inline const char *weight_storage_name(::weft_weight_storage storage) noexcept {
    return weft_weight_storage_name(storage);
}

/** weft_device_type_name of weft/device.h. */
[[nodiscard]] inline const char *device_type_name(::weft_device_type type) noexcept {
    return weft_device_type_name(type);
}

/** weft_fma_name of weft/device.h. */
[[nodiscard]] inline const char *fma_name(::weft_fma fma) noexcept {
    return weft_fma_name(fma);
}

/** weft_external_type_name of weft/external.h. */
[[nodiscard]] inline const char *external_type_name(::weft_external_type type) noexcept {
    return weft_external_type_name(type);
}

/** weft_activation_name of weft/graph.h. */
[[nodiscard]] inline const char *activation_name(::weft_activation activation) noexcept {
    return weft_activation_name(activation);
}

/** weft_binary_name of weft/graph.h. */
[[nodiscard]] inline const char *binary_name(::weft_binary binary) noexcept {
    return weft_binary_name(binary);
}

/** weft_unary_name of weft/arithmetic.h. */
[[nodiscard]] inline const char *unary_name(::weft_unary unary) noexcept {
    return weft_unary_name(unary);
}

/** weft_reduction_name of weft/arithmetic.h. */
[[nodiscard]] inline const char *reduction_name(::weft_reduction reduction) noexcept {
    return weft_reduction_name(reduction);
}

/** weft_features_name of weft/features.h. */
[[nodiscard]] inline const char *features_name(::weft_features_kind kind) noexcept {
    return weft_features_name(kind);
}

/** weft_features_fill of weft/features.h. */
inline status features_fill(float *w, float *weights, const ::weft_features_params &params,
                            const ::weft_host *host = nullptr) noexcept {
    return weft_features_fill(w, weights, &params, host);
}

/** weft_features_get_structure of weft/features.h. */
inline status features_get_structure(::weft_features_structure &structure,
                                     const ::weft_features_params &params,
                                     const ::weft_host *host = nullptr) noexcept {
    return weft_features_get_structure(&structure, &params, host);
}

/** weft_features_parts of weft/features.h. */
inline status features_parts(float *diagonals, uint32_t *permutation,
                             const ::weft_features_params &params,
                             const ::weft_host *host = nullptr) noexcept {
    return weft_features_parts(diagonals, permutation, &params, host);
}

/** weft_features_expand of weft/features.h. */
inline status features_expand(float *w, const float *diagonals, const uint32_t *permutation,
                              const ::weft_features_params &params,
                              const ::weft_host *host = nullptr) noexcept {
    return weft_features_expand(w, diagonals, permutation, &params, host);
}

/** weft_features_square_norms of weft/features.h. */
inline status features_square_norms(float *square_norms, const float *diagonals,
                                    const uint32_t *permutation,
                                    const ::weft_features_params &params,
                                    const ::weft_host *host = nullptr) noexcept {
    return weft_features_square_norms(square_norms, diagonals, permutation, &params, host);
}

/** weft_feature_map_name of weft/mixers/kernels.h. */
[[nodiscard]] inline const char *feature_map_name(::weft_feature_map map) noexcept {
    return weft_feature_map_name(map);
}

/** weft_component_name of weft/mixers/random_features.h. */
[[nodiscard]] inline const char *component_name(::weft_component component) noexcept {
    return weft_component_name(component);
}

/** weft_stabilizer_name of weft/mixers/random_features.h. */
[[nodiscard]] inline const char *stabilizer_name(::weft_stabilizer stabilizer) noexcept {
    return weft_stabilizer_name(stabilizer);
}

/** weft_flt_name of weft/flt.h. */
[[nodiscard]] inline const char *flt_name(::weft_flt_kind kind) noexcept {
    return weft_flt_name(kind);
}

/** weft_flt_fill of weft/flt.h. */
inline status flt_fill(float *frequencies, float *weights, const ::weft_flt_params &params,
                       const ::weft_host *host = nullptr) noexcept {
    return weft_flt_fill(frequencies, weights, &params, host);
}

/** weft_flt_weights of weft/flt.h. */
inline status flt_weights(float *weights, const float *frequencies, const ::weft_flt_params &params,
                          const ::weft_host *host = nullptr) noexcept {
    return weft_flt_weights(weights, frequencies, &params, host);
}

/** weft_flt_transform of weft/flt.h. */
inline status flt_transform(double *transform, const float *frequencies,
                            const ::weft_flt_params &params,
                            const ::weft_host *host = nullptr) noexcept {
    return weft_flt_transform(transform, frequencies, &params, host);
}

/** weft_model_draw of weft/model.h. */
inline status model_draw(float *out, const char *name, ::weft_shape shape, uint64_t seed) noexcept {
    return weft_model_draw(out, name, shape, seed);
}

/** weft_model_quantize of weft/model.h. */
inline status model_quantize(::weft_quantize_info &info, const char *folder, const char *out,
                             ::weft_quantization to, const ::weft_host *host = nullptr) noexcept {
    return weft_model_quantize(&info, folder, out, to, host);
}

/** weft_task_name of weft/model.h. */
[[nodiscard]] inline const char *task_name(::weft_task task) noexcept {
    return weft_task_name(task);
}

/** weft_image_rules_read of weft/model.h. */
inline status image_rules_read(::weft_image_rules &rules, const char *folder,
                               const ::weft_host *host = nullptr) noexcept {
    return weft_image_rules_read(&rules, folder, host);
}

/** weft_encoding_free of weft/model.h. */
inline void encoding_free(weft::model &model, ::weft_encoding &encoding) noexcept {
    weft_encoding_free(model.get(), &encoding);
}

/** weft_decoding_name of weft/model.h. */
[[nodiscard]] inline const char *decoding_name(::weft_decoding decoding) noexcept {
    return weft_decoding_name(decoding);
}

/** weft_sample of weft/model.h. */
inline result<uint32_t> sample(span<const float> logits, const ::weft_sampling &sampling,
                               uint64_t index, const ::weft_host *host = nullptr) noexcept {
    uint32_t made{};
    const weft_status code = weft_sample(&made, logits.data(), static_cast<uint32_t>(logits.size()),
                                         &sampling, index, host);
    if (code != WEFT_OK) {
        return code;
    }
    return made;
}

/** weft_penalize of weft/model.h. */
inline status penalize(float *logits, uint32_t count, span<const int32_t> tokens, double penalty,
                       const ::weft_host *host = nullptr) noexcept {
    return weft_penalize(logits, count, tokens.data(), static_cast<uint32_t>(tokens.size()),
                         penalty, host);
}

/** weft_ending_name of weft/generate.h. */
[[nodiscard]] inline const char *ending_name(::weft_ending ending) noexcept {
    return weft_ending_name(ending);
}

/** weft_pooling_named of weft/texts.h. */
inline status pooling_named(uint32_t *pooling, const char *name,
                            const ::weft_host *host = nullptr) noexcept {
    return weft_pooling_named(pooling, name, host);
}

/** weft_pooling_names of weft/texts.h. */
[[nodiscard]] inline const char *pooling_names() noexcept {
    return weft_pooling_names();
}

/** weft_vector_similarity of weft/texts.h. */
[[nodiscard]] inline double vector_similarity(const char *similarity, const float *a,
                                              const float *b, uint32_t width) noexcept {
    return weft_vector_similarity(similarity, a, b, width);
}

/** weft_vectors_similarity of weft/texts.h. */
[[nodiscard]] inline double vectors_similarity(const char *similarity,
                                               const ::weft_vector_list &query,
                                               const ::weft_vector_list &text,
                                               uint32_t width) noexcept {
    return weft_vectors_similarity(similarity, &query, &text, width);
}

/** weft_rank of weft/texts.h. */
inline void rank(::weft_ranked &ranked, uint32_t count) noexcept {
    weft_rank(&ranked, count);
}

/** weft_vector_terms of weft/texts.h. */
[[nodiscard]] inline uint32_t vector_terms(::weft_term &terms, uint32_t most, const float *vector,
                                           uint32_t width) noexcept {
    return weft_vector_terms(&terms, most, vector, width);
}

/** weft_text_find_part of weft/texts.h. */
[[nodiscard]] inline ::weft_text_part text_find_part(std::string_view text, size_t begin,
                                                     size_t end) noexcept {
    return weft_text_find_part(text.data(), text.size(), begin, end);
}

/** weft_sound_read of weft/speech.h. */
inline status sound_read(::weft_sound &sound, const char *path,
                         const ::weft_host *host = nullptr) noexcept {
    return weft_sound_read(&sound, path, host);
}

/** weft_sound_read_memory of weft/speech.h. */
inline status sound_read_memory(::weft_sound &sound, const void *data, size_t size,
                                const char *name, const ::weft_host *host = nullptr) noexcept {
    return weft_sound_read_memory(&sound, data, size, name, host);
}

/** weft_sound_resample of weft/speech.h. */
inline status sound_resample(::weft_sound &sound, uint32_t rate,
                             const ::weft_host *host = nullptr) noexcept {
    return weft_sound_resample(&sound, rate, host);
}

/** weft_sound_clear of weft/speech.h. */
inline void sound_clear(::weft_sound &sound, const ::weft_host *host = nullptr) noexcept {
    weft_sound_clear(&sound, host);
}

/** weft_record_kind_name of weft/receipt.h. */
[[nodiscard]] inline const char *record_kind_name(::weft_record_kind kind) noexcept {
    return weft_record_kind_name(kind);
}

/** weft_receipt_referee of weft/receipt.h. */
inline status receipt_referee(::weft_referee_finding &finding, const ::weft_referee_params &params,
                              const ::weft_host *host = nullptr) noexcept {
    return weft_receipt_referee(&finding, &params, host);
}

/* ---- C's structs and enums, behind what has parameters of the same names ---- */

using log_level = ::weft_log_level;
using dtype = ::weft_dtype;
using math = ::weft_math;
using weight_storage = ::weft_weight_storage;
using device_type = ::weft_device_type;
using fma = ::weft_fma;
using external_type = ::weft_external_type;
using stored = ::weft_stored;
using activation = ::weft_activation;
using binary = ::weft_binary;
using checkpoints = ::weft_checkpoints;
using opening = ::weft_opening;
using unary = ::weft_unary;
using reduction = ::weft_reduction;
using norm = ::weft_norm;
using pool_op = ::weft_pool_op;
using features_kind = ::weft_features_kind;
using features_norm = ::weft_features_norm;
using features_sequence = ::weft_features_sequence;
using features_transform = ::weft_features_transform;
using feature_map = ::weft_feature_map;
using flt_side = ::weft_flt_side;
using component = ::weft_component;
using stabilizer = ::weft_stabilizer;
using cell = ::weft_cell;
using interpolation = ::weft_interpolation;
using rpe_lag = ::weft_rpe_lag;
using rpe_frequency = ::weft_rpe_frequency;
using gtu_mixer = ::weft_gtu_mixer;
using flt_kind = ::weft_flt_kind;
using quantization = ::weft_quantization;
using task = ::weft_task;
using resampling = ::weft_resampling;
using embed_pooling = ::weft_embed_pooling;
using embed_task = ::weft_embed_task;
using decoding = ::weft_decoding;
using ending = ::weft_ending;
using text_role = ::weft_text_role;
using record_kind = ::weft_record_kind;
using storage_kind = ::weft_storage_kind;
using module_form = ::weft_module_form;
using device_kind = ::weft_device_kind;
using arg_kind = ::weft_arg_kind;
using host = ::weft_host;
using shape = ::weft_shape;
using matrix_shape = ::weft_matrix_shape;
using device_info = ::weft_device_info;
using device_params = ::weft_device_params;
using device_stats = ::weft_device_stats;
using external_info = ::weft_external_info;
using weight_params = ::weft_weight_params;
using tensor = ::weft_tensor;
using embedding_params = ::weft_embedding_params;
using matmul_params = ::weft_matmul_params;
using plan_params = ::weft_plan_params;
using plan_info = ::weft_plan_info;
using dispatch_info = ::weft_dispatch_info;
using port_info = ::weft_port_info;
using host_tensor = ::weft_host_tensor;
using timing = ::weft_timing;
using plan_stats = ::weft_plan_stats;
using reduce_params = ::weft_reduce_params;
using attention_params = ::weft_attention_params;
using banded_attention_params = ::weft_banded_attention_params;
using batch_norm_params = ::weft_batch_norm_params;
using norm_params = ::weft_norm_params;
using project_qkv_params = ::weft_project_qkv_params;
using glu_params = ::weft_glu_params;
using conv1d_params = ::weft_conv1d_params;
using conv_params = ::weft_conv_params;
using pool_params = ::weft_pool_params;
using features_params = ::weft_features_params;
using features_structure = ::weft_features_structure;
using linear_attention_params = ::weft_linear_attention_params;
using kernel = ::weft_kernel;
using kernel_attention_params = ::weft_kernel_attention_params;
using cosformer_params = ::weft_cosformer_params;
using fast_weight_params = ::weft_fast_weight_params;
using fmm_attention_params = ::weft_fmm_attention_params;
using flt_features_params = ::weft_flt_features_params;
using sine_spe_params = ::weft_sine_spe_params;
using conv_spe_params = ::weft_conv_spe_params;
using toeplitz_attention_params = ::weft_toeplitz_attention_params;
using rope_params = ::weft_rope_params;
using random_features_params = ::weft_random_features_params;
using discrete_features_params = ::weft_discrete_features_params;
using hybrid_features_params = ::weft_hybrid_features_params;
using structured_projection_params = ::weft_structured_projection_params;
using dgm_weights_params = ::weft_dgm_weights_params;
using performer_attention_params = ::weft_performer_attention_params;
using rfa_attention_params = ::weft_rfa_attention_params;
using recurrence_params = ::weft_recurrence_params;
using gated_state_params = ::weft_gated_state_params;
using selective_scan_params = ::weft_selective_scan_params;
using toeplitz_params = ::weft_toeplitz_params;
using toeplitz_fd_params = ::weft_toeplitz_fd_params;
using ski_toeplitz_params = ::weft_ski_toeplitz_params;
using rpe_layer = ::weft_rpe_layer;
using rpe_params = ::weft_rpe_params;
using toeplitz_rpe_params = ::weft_toeplitz_rpe_params;
using gtu_params = ::weft_gtu_params;
using step = ::weft_step;
using flt_params = ::weft_flt_params;
using model_memory = ::weft_model_memory;
using quantize_info = ::weft_quantize_info;
using model_info = ::weft_model_info;
using image_rules = ::weft_image_rules;
using embed_params = ::weft_embed_params;
using embed_info = ::weft_embed_info;
using prompt_info = ::weft_prompt_info;
using encoding = ::weft_encoding;
using encode_params = ::weft_encode_params;
using text_span = ::weft_text_span;
using model_inputs = ::weft_model_inputs;
using model_shape = ::weft_model_shape;
using symbol_info = ::weft_symbol_info;
using model_port_info = ::weft_model_port_info;
using symbol = ::weft_symbol;
using decoder_params = ::weft_decoder_params;
using decoder_info = ::weft_decoder_info;
using sampling = ::weft_sampling;
using prompt = ::weft_prompt;
using generator_params = ::weft_generator_params;
using generated = ::weft_generated;
using vectors_params = ::weft_vectors_params;
using text_input = ::weft_text_input;
using text_output = ::weft_text_output;
using text_batch = ::weft_text_batch;
using texts_params = ::weft_texts_params;
using texts_run_params = ::weft_texts_run_params;
using texts_info = ::weft_texts_info;
using vector_list = ::weft_vector_list;
using ranked = ::weft_ranked;
using rank_params = ::weft_rank_params;
using term = ::weft_term;
using search_params = ::weft_search_params;
using text_part = ::weft_text_part;
using sound = ::weft_sound;
using transcriber_info = ::weft_transcriber_info;
using transcript_params = ::weft_transcript_params;
using segment = ::weft_segment;
using receipt_params = ::weft_receipt_params;
using record_info = ::weft_record_info;
using proof_info = ::weft_proof_info;
using referee_params = ::weft_referee_params;
using referee_finding = ::weft_referee_finding;
using receipt_opened = ::weft_receipt_opened;
using storage_info = ::weft_storage_info;
using kernel_info = ::weft_kernel_info;
using operand_info = ::weft_operand_info;
using statistic = ::weft_statistic;
using listing = ::weft_listing;
using needs = ::weft_needs;
using cost = ::weft_cost;
using implementation = ::weft_implementation;
using op_params = ::weft_op_params;
using op_include = ::weft_op_include;
using op_kernel = ::weft_op_kernel;
using arg = ::weft_arg;
using launch = ::weft_launch;

} // namespace weft
/* clang-format on */

#endif
