/* SPDX-License-Identifier: MIT */
/*
 * FD-TNN: Moreno et al., "SKI to go faster: Accelerating Toeplitz neural networks via asymmetric kernels", 2023,
 * section 3.3: the relative position encoder gives the kernel's frequency response.
 */
#include "model/network/architecture.h"
#include "model/network/network.h"
#include "model/network/toeplitz_family.h"

enum grid { GRID_POWER_OF_TWO, GRID_LENGTH };

struct fd_tnn {
    struct weft_gtu_config gtu;
    struct weft_rpe_config rpe;
    uint32_t grid;  /* enum grid */
    uint32_t input; /* weft_rpe_frequency */
};

static const char *const grid_names[] = {"power_of_two", "length", NULL};
static const char *const input_names[] = {"frequency", "cosine", NULL};

static const weft_field fields[] = {
    WEFT_FIELDS_GTU(struct fd_tnn),
    WEFT_FIELDS_RPE(struct fd_tnn),
    {WEFT_CHOICE("fd_grid", struct fd_tnn, grid, grid_names)},
    {WEFT_CHOICE("fd_input", struct fd_tnn, input, input_names)},
};

static void set_defaults(void *config) {
    struct fd_tnn *fd_tnn = config;
    weft_gtu_defaults(&fd_tnn->gtu);
    weft_rpe_defaults(&fd_tnn->rpe);
}

/* N. Half of the next power of two from 2n on is the next from n on. */
static uint32_t grid_of(const struct fd_tnn *fd_tnn, uint32_t n) {
    uint32_t grid = 1;
    while (grid < n) {
        grid *= 2; /* n is 2^24 at most */
    }
    return fd_tnn->grid == GRID_LENGTH ? n : grid;
}

static weft_tensor response(struct weft_builder *builder, const struct fd_tnn *fd_tnn) {
    uint32_t e = weft_gtu_channels(builder, &fd_tnn->gtu);
    struct weft_rpe rpe;
    weft_build_rpe(&rpe, builder, &fd_tnn->rpe, builder->network->config.causal ? e : 2 * e);
    weft_tensor out = {0};
    return WEFT_BUILT(builder, out,
                      weft_graph_toeplitz_fd_rpe(&out, builder->graph,
                                                 grid_of(fd_tnn, weft_kernel_length(builder)),
                                                 &rpe.params, (weft_rpe_frequency)fd_tnn->input));
}

static void make_operator(struct weft_gtu_operator *made, struct weft_builder *builder,
                          const void *config) {
    made->params = (weft_gtu_params){.mixer = WEFT_GTU_FD, .fd = &made->fd};
    made->params.kernel = response(builder, config);
    made->fd.causal = builder->network->config.causal;
}

static weft_tensor mix(struct weft_builder *builder, weft_tensor x, const void *config) {
    return weft_build_gtu(builder, x, make_operator, config);
}

static weft_status check(void *config, const weft_network_config *network,
                         const weft_json_fields *json) {
    return weft_gtu_check(&((const struct fd_tnn *)config)->gtu, network, json);
}

const struct weft_model_family weft_family_fd_tnn = {
    .model_type = "fd-tnn",
    .fields = {fields, sizeof fields / sizeof fields[0]},
    .config_size = sizeof(struct fd_tnn),
    WEFT_TOEPLITZ_PARTS,
    .set_defaults = set_defaults,
    .check = check,
    .exact_length = weft_gtu_exact_length,
    .recurrent = weft_gtu_is_recurrent,
    .mix = mix,
};
