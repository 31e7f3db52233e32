/* SPDX-License-Identifier: MIT */
/* What the fuzzers share. Each fuzz_NAME.c is a libFuzzer entry, and corpus/NAME has inputs for it. */
#ifndef WEFT_FUZZ_H
#define WEFT_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <weft/device.h>

#include "core/host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/** Aborts unless `holds`: what a fuzzer finds beside errors of memory. */
void fuzz_expect(bool holds);

/** The path of a file of these bytes, for readers that take no memory; the next call writes over it. */
const char *fuzz_file(const uint8_t *data, size_t size);

/** Writes a file of the fuzzer's folder; its path, until the next call. `name` may have folders that are there. */
const char *fuzz_write(const char *name, const void *data, size_t size);

/** A folder for this process alone, without anything in it but what the fuzzer puts there. */
const char *fuzz_folder(void);

/** A host that has no more than `bytes` to give away at a time, and whose memory is out beyond that. */
weft_host fuzz_small_host(size_t *left, size_t bytes);

/**
 * The process's device that runs nothing but copies, and checks ranges, or its processor, which runs kernels; with so much memory, as the
 * first call has it.
 */
weft_device *fuzz_device(bool processor, uint64_t memory_limit);

#endif
