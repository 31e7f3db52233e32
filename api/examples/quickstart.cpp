/* SPDX-License-Identifier: MIT */
/* Opens a device, builds LayerNorm(fourier(GELU(x Wᵀ + b))), and runs it on numbers of the host: quickstart.c in C++17. */
#include <cmath>
#include <cstdio>
#include <vector>

#include <weft/weft.hpp>

namespace {

constexpr std::size_t length = 16, width = 8;

weft::status build(weft::graph &graph) {
    std::vector<float> matrix(width * width), ones(width, 1.0f), zeros(width);
    for (std::size_t i = 0; i < matrix.size(); i++) {
        matrix[i] = std::sin(static_cast<float>(i));
    }
    auto w = weft::weight::of(weft::shape_of(width, width), matrix);
    auto one = weft::weight::of(weft::shape_of(width), ones);
    auto zero = weft::weight::of(weft::shape_of(width), zeros);
    if (const auto status = weft::first_error(w, one, zero); !status.ok()) {
        return status;
    }
    /* An operand may be the result of another op: an error goes through to the end. */
    const auto bias = graph.weight(*zero);
    const auto x = graph.input("x", WEFT_F32, weft::shape_of(1u, length, width));
    const auto hidden = graph.linear(x, graph.weight(*w), bias);
    const auto mixed = graph.fourier(graph.activate(hidden, WEFT_ACTIVATION_GELU_TANH));
    return graph.output("y", graph.layer_norm(mixed, graph.weight(*one), bias, 1e-12f));
}

weft::status run(std::vector<float> &y) {
    auto log = [](weft::log_level level, const char *message) {
        if (level <= WEFT_LOG_WARNING) {
            std::fprintf(stderr, "%s\n", message);
        }
    };
    weft::device_params params = {};
    params.host = weft::log_to(log);
    auto device = weft::device::open(params);
    auto graph = weft::graph::create(&params.host);
    if (const auto status = weft::first_error(device, graph); !status.ok()) {
        return status;
    }
    if (const auto status = build(*graph); !status.ok()) {
        return status;
    }
    auto plan = weft::plan::compile(*device, *graph);
    if (!plan) {
        return plan.status();
    }
    std::vector<float> x(length * width);
    for (std::size_t i = 0; i < x.size(); i++) {
        x[i] = std::cos(static_cast<float>(i));
    }
    const weft::host_tensor tensors[] = {weft::input_of("x", x), weft::output_to("y", y)};
    return plan->execute(tensors);
} /* plan, graph and device are destroyed here, in this order */

} // namespace

int main() {
    std::vector<float> y(length * width);
    const weft::status status = run(y);
    if (status.ok()) {
        std::printf("y[0] = %g %g %g ...\n", static_cast<double>(y[0]), static_cast<double>(y[1]),
                    static_cast<double>(y[2]));
    }
    return status.ok() ? 0 : 1;
}
