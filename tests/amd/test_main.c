/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "test_amd.h"

static struct machine machine;

struct machine *machine_begin(uint32_t lanes) {
    static const struct amd_gpu gpus[2] = {{.name = "of 32", .wave_size = 32},
                                           {.name = "of 64", .wave_size = 64}};
    memset(&machine, 0, sizeof machine);
    machine.program =
        (struct amd_program){.gpu = &gpus[lanes / 64], .instructions = machine.instructions};
    machine.dispatch = (struct amd_dispatch){.program = &machine.program};
    machine.dispatch.regions[AMD_REGION_BUFFERS] =
        (struct amd_region){machine.memory, sizeof machine.memory, true};
    machine.wave.dispatch = &machine.dispatch;
    machine.wave.program = &machine.program;
    machine.wave.error = machine.dispatch.error;
    machine.wave.lanes = lanes;
    machine.wave.vgprs = 64;
    machine.wave.local = machine.local;
    machine.wave.local_size = sizeof machine.local;
    machine.wave.private_bytes = machine.private_bytes;
    machine.wave.private_size = 256;
    machine.wave.s[AMD_EXEC] = UINT32_MAX;
    machine.wave.s[AMD_EXEC + 1] = lanes == 64 ? UINT32_MAX : 0;
    amd_mode_set(&machine.wave, 0x300 | 0xc0); /* f32 flushed, f64 not; IEEE, clamp as DirectX 10 */
    return &machine;
}

static void run(struct machine *m, const char *lines) {
    char line[256], error[AMD_TEXT];
    m->program.count = 0;
    while (*lines != '\0') {
        const size_t length = strcspn(lines, "\n");
        assert_true(length < sizeof line && m->program.count < 62);
        memcpy(line, lines, length);
        line[length] = '\0';
        if (!amd_parse(&m->instructions[m->program.count++], line, error)) {
            fail_msg("%s", error);
        }
        lines += length + (lines[length] == '\n');
    }
    assert_true(amd_parse(&m->instructions[m->program.count++], "s_endpgm", error));
    m->wave.at = 0;
    m->wave.done = m->wave.named = false;
    m->dispatch.error[0] = '\0';
    amd_wave_run(&m->wave);
}

void machine_run(struct machine *m, const char *lines) {
    run(m, lines);
    if (m->dispatch.error[0] != '\0') {
        fail_msg("%s: %s", lines, m->dispatch.error);
    }
}

void machine_refuses(struct machine *m, const char *lines, const char *part) {
    run(m, lines);
    if (!strstr(m->dispatch.error, part)) {
        fail_msg("%s: \"%s\" does not say \"%s\"", lines, m->dispatch.error, part);
    }
}

int main(void) {
    const struct CMUnitTest *const lists[] = {amd_vector_tests, amd_scalar_tests, amd_memory_tests,
                                              amd_code_tests};
    const size_t counts[] = {amd_vector_count, amd_scalar_count, amd_memory_count, amd_code_count};
    int failed = 0;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        failed += _cmocka_run_group_tests("amd", lists[i], counts[i], NULL, NULL);
    }
    return failed;
}
