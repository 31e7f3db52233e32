/* SPDX-License-Identifier: MIT */
/* Which layer of the model a dispatch belongs to. */
#ifndef WEFT_CLI_INSPECT_LAYERS_H
#define WEFT_CLI_INSPECT_LAYERS_H

#include <weft/graph.h>

#include "core/host.h"

#define WEFT_CLI_NO_LAYER UINT32_MAX /* embeddings and heads */

/**
 * Fills layers[0 … count-1], count being the plan's dispatches. A dispatch belongs to the layer whose
 * weights ("….layer.3.…" or "layers.3.…") its node names in the pass "choose"; one whose node names no weight, such
 * as a mixer, belongs where the next one that does belongs. WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_cli_dispatch_layers(uint32_t *layers, uint32_t count, const weft_plan *plan,
                                     const weft_host *host);

#endif
