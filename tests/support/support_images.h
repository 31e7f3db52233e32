/* SPDX-License-Identifier: MIT */
/* Images of a test's own, on a device's VkDevice. */
#ifndef WEFT_TESTS_SUPPORT_IMAGES_H
#define WEFT_TESTS_SUPPORT_IMAGES_H

#include <weft/vulkan.h>

#include "support.h"

struct weft_test_image {
    VkImage image;
    VkDeviceMemory memory;
    VkFormat format;
    uint32_t width, height, layers; /* of level `mip` */
    uint32_t mip;
    uint64_t bytes; /* of that level */
};

/** The processor device has none. */
bool weft_test_has_images(const weft_device *device);
/** Level `mip` of that size, {width, height, layers}, in the middle layers of more. */
struct weft_test_image weft_test_image_create(weft_device *device, VkFormat format,
                                              uint32_t texel_bytes, const uint32_t size[3],
                                              uint32_t mip);
void weft_test_image_destroy(weft_device *device, struct weft_test_image *image);
/** That level as a port that is in layout `before` and gets into `after`. */
weft_image_params weft_test_image_params(const struct weft_test_image *image, VkImageLayout before,
                                         VkImageLayout after);
/** Writes all texels, whatever was there; the layout becomes `to`. */
void weft_test_image_upload(weft_device *device, const struct weft_test_image *image,
                            const void *texels, VkImageLayout to);
/** Reads all texels; the layout stays `from`. */
void weft_test_image_download(weft_device *device, const struct weft_test_image *image,
                              void *texels, VkImageLayout from);

#endif
