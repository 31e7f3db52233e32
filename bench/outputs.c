/* SPDX-License-Identifier: MIT */
#include "bench/outputs.h"

#include <math.h>

#include "core/host.h"
#include "core/try.h"

static bool all_finite(const void *data, const weft_port_info *info) {
    const float *values = data;
    const size_t count = info->dtype == WEFT_F32 ? (size_t)info->bytes / sizeof *values : 0;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(values[i])) {
            return false;
        }
    }
    return true;
}

weft_status weft_bench_digest_outputs(char text[WEFT_DIGEST_TEXT_SIZE], bool *finite,
                                      const weft_bench_ports *ports, const weft_host *host) {
    weft_sha256 hash;
    weft_sha256_begin(&hash);
    *finite = true;
    for (uint32_t i = 0; i < ports->count; i++) {
        const weft_bench_port *port = &ports->list[i];
        if (!port->info.is_output) {
            continue;
        }
        void *data = NULL;
        WEFT_TRY(weft_bench_read_port(&data, port, host));
        *finite = *finite && all_finite(data, &port->info);
        weft_sha256_add(&hash, data, (size_t)port->info.bytes);
        weft_free(host, data);
    }
    const weft_digest digest = weft_sha256_end(&hash);
    weft_digest_text(&digest, text);
    return WEFT_OK;
}
