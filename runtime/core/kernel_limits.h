/* SPDX-License-Identifier: MIT */
#ifndef WEFT_CORE_KERNEL_LIMITS_H
#define WEFT_CORE_KERNEL_LIMITS_H

#define WEFT_MAX_BINDINGS \
    12 /* storage buffers of a kernel that a program brings; the device may have fewer */
#define WEFT_OWN_MAX_BINDINGS   8 /* of a kernel of ours, which every device has to have */
#define WEFT_MAX_SPECIALIZATION 24
#define WEFT_MAX_PUSH_BYTES     128 /* of push constants: what every Vulkan device has */

#endif
