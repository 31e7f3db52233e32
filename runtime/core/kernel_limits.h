/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_KERNEL_LIMITS_H
#define WEFT_CORE_KERNEL_LIMITS_H

#define WEFT_MAX_BINDINGS       12 /* storage buffers of a kernel */
#define WEFT_MAX_SPECIALIZATION 24
#define WEFT_MAX_PUSH_BYTES     128 /* of push constants: what every Vulkan device has */

#endif
