/* SPDX-License-Identifier: MIT */
/* Vector operations: operands, the lanes of the operation, output modifiers, the result. */
#include <fenv.h>
#include <string.h>

#include "lanes.h"
#include "vector.h"

/* ---- rounding ---- */

static int host_rounding(uint32_t rounding) {
    static const int modes[4] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    return modes[rounding & 3u];
}

static void compute(uint32_t *to, const uint32_t *const from[3], struct amd_wave *wave,
                    const struct amd_operation *operation) {
    const uint32_t rounding = operation->to_words == 2 || operation->from_words[0] == 2
                                  ? wave->mode.round64
                                  : wave->mode.round32;
    if (rounding == 0 || operation->float_bits == 0) {
        operation->lanes(to, from[0], from[1], from[2], wave->lanes, &wave->mode);
        return;
    }
    const int before = fegetround();
    (void)fesetround(host_rounding(rounding));
    operation->lanes(to, from[0], from[1], from[2], wave->lanes, &wave->mode);
    (void)fesetround(before);
}

/* ---- output modifiers ---- */

/* Times 2, 4 or 1/2, where results have no subnormals; then between 0 and 1, a NaN 0 by the rule of DirectX 10. */
static void modify(struct amd_wave *wave, const struct amd_instruction *instruction, uint32_t *to) {
    static const float factors[4] = {1.0F, 2.0F, 4.0F, 0.5F};
    const struct amd_modifiers *with = &instruction->with;
    if (instruction->operation->float_bits != 32 || instruction->operation->to_words != 1) {
        amd_fail(wave, "%s: clamp or a factor of what is no 32-bit float",
                 instruction->operation->name);
        return;
    }
    for (uint32_t i = 0; i < wave->lanes; i++) {
        if (with->omod != 0) {
            to[i] = amd_narrow_of((double)amd_f32(to[i]) * (double)factors[with->omod], to[i],
                                  to[i], &wave->mode);
        }
        const float value = amd_f32(to[i]);
        if (with->clamp && !(value <= 1.0F && value > 0.0F)) {
            to[i] = value > 1.0F                               ? amd_bits(1.0F)
                    : value != value && !wave->mode.dx10_clamp ? to[i]
                                                               : 0;
        }
    }
}

/* ---- all of it ---- */

static void run(struct amd_wave *wave, const struct amd_instruction *instruction,
                const struct amd_operand *third) {
    const struct amd_operation *operation = instruction->operation;
    uint32_t rooms[3][2 * AMD_LANES], to[2 * AMD_LANES];
    const uint32_t *from[3] = {rooms[0], rooms[0], rooms[0]};
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t words = operation->from_words[i];
        const bool is_third = third && i == 2;
        from[i] = words == 0 ? from[0]
                  : is_third ? amd_vector_row(wave, third, words)
                             : amd_vector_read(wave, instruction, i + 1, words,
                                               operation->float_bits, rooms[i], i);
    }
    if (wave->done) {
        return;
    }
    const bool of_integers = instruction->with.clamp && operation->float_bits == 0;
    if (!of_integers) {
        compute(to, from, wave, operation);
    } else if (!amd_saturate(to, from[0], from[1], wave->lanes, operation->detail)) {
        amd_fail(wave, "%s with clamp", operation->name);
        return;
    }
    if ((instruction->with.clamp && !of_integers) || instruction->with.omod != 0) {
        modify(wave, instruction, to);
    }
    amd_vector_write(wave, instruction, &instruction->operands[0], to, operation->to_words);
}

void amd_run_vector(struct amd_wave *wave, const struct amd_instruction *instruction) {
    run(wave, instruction, NULL);
}

void amd_run_accumulate(struct amd_wave *wave, const struct amd_instruction *instruction) {
    run(wave, instruction, &instruction->operands[0]);
}
