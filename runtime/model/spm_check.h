/* SPDX-License-Identifier: MIT */
/*
 * A SentencePiece model can carry a trie of normalisation rules, which the library follows without
 * looking whether it stays inside: a damaged file would crash the process. This looks first.
 */
#ifndef WEFT_MODEL_SPM_CHECK_H
#define WEFT_MODEL_SPM_CHECK_H

#include "core/host.h"

/**
 * WEFT_BAD_FILE, logged with `path`, unless every walk in the tries of all rule sets
 * (ModelProto.normalizer_spec.precompiled_charsmap: a length, a double-array trie in the layout of
 * Darts-clone, replacement texts) stays within them. Says nothing else about the model.
 */
weft_status weft_spm_check(const uint8_t *model, size_t size, const char *path,
                           const weft_host *host);

#endif
