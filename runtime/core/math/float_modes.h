/* SPDX-License-Identifier: MIT */
/* The float32 execution modes that a module may declare and a device may support. */
#ifndef WEFT_CORE_FLOAT_MODES_H
#define WEFT_CORE_FLOAT_MODES_H

/** The modes of SPV_KHR_float_controls (Vulkan 1.2, section 47.6) that Weft declares, as flags. */
enum weft_float_mode {
    WEFT_FLOAT_FLUSH = 1,   /* DenormFlushToZero 32 */
    WEFT_FLOAT_SPECIAL = 2, /* SignedZeroInfNanPreserve 32: nothing assumes they do not occur */
    WEFT_FLOAT_NEAREST = 4  /* RoundingModeRTE 32 */
};

#endif
