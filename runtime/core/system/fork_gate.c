/* SPDX-License-Identifier: MIT */
#include "core/system/fork_gate.h"

#include "core/system/system.h"

#define COUNT UINT64_C(0xffffffff)

weft_status weft_fork_gate_enter(weft_fork_gate *gate, const char *what, const weft_host *host) {
    const uint64_t here = (uint64_t)weft_system_process() << 32;
    uint64_t inside = atomic_load(&gate->inside), more = 0;
    do {
        const bool is_ours = (inside & ~COUNT) == here;
        if (!is_ours && (inside & COUNT) != 0) {
            return weft_fail(host, WEFT_UNSUPPORTED,
                             "this process was forked while another thread was %s, so it cannot do "
                             "the same: start it by spawn or exec",
                             what);
        }
        more = (is_ours ? inside : here) + 1;
    } while (!atomic_compare_exchange_weak(&gate->inside, &inside, more));
    return WEFT_OK;
}

void weft_fork_gate_leave(weft_fork_gate *gate) {
    atomic_fetch_sub(&gate->inside, 1);
}
