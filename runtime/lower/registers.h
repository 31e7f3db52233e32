/* SPDX-License-Identifier: MIT */
/* What rows of variants ask of a GPU's registers, as bench/compilers found it. */
#ifndef WEFT_LOWER_REGISTERS_H
#define WEFT_LOWER_REGISTERS_H

#include <weft/device.h>

/** Not on a Raspberry Pi's GPU and on Arm's, whose compilers look for minutes for a way to put tiles into fewer. */
bool weft_has_over_64_registers(const weft_device_info *info);

/** Whether an invocation's 64 sums and what they are made of are in registers: compilers for Intel's GPUs spill some. */
bool weft_has_registers_for_tiles(const weft_device_info *info);

/** As AMD's and NVIDIA's: compilers for Qualcomm's spill of the largest tiles, too, or hold fewer subgroups at once than without. */
bool weft_has_many_registers(const weft_device_info *info);

/** The `needs` of a row that is for devices of which `predicate`, one of these or a mixer's own, is true. */
#define WEFT_NEEDS_REGISTERS(predicate) \
    { .also = (predicate), .also_text = "wants more registers" }

#endif
