/* SPDX-License-Identifier: MIT */
/* Any bytes as what the disk cache kept of a device's pipelines. */
#include "fuzz.h"
#include "shader/pipeline_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const weft_device_info info = {.vendor_id = 0x10005, .uuid = "fuzz"};
    struct weft_digest_map manifest = {0};
    size_t driver_data = 0;
    const char *fault = NULL;
    fuzz_expect(weft_pipeline_manifest_read(&manifest, &driver_data, &fault, data, size, &info,
                                            NULL) == WEFT_OK);
    if (!fault) {
        /* A digest may be listed twice, and counts once. */
        fuzz_expect(driver_data >= 4 + manifest.count * sizeof(weft_digest) && driver_data <= size);
    }
    weft_digest_map_free(&manifest, NULL);
    return 0;
}
