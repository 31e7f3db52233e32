/* SPDX-License-Identifier: MIT */
/*
 * SentencePiece's normalisation rules, NormalizerSpec.precompiled_charsmap: the size of a trie in four bytes, the trie as a
 * double array in the layout of Darts-clone, and the texts that its values are places in, each with a zero behind it.
 */
#ifndef WEFT_TOKENIZER_SPM_RULES_H
#define WEFT_TOKENIZER_SPM_RULES_H

#include "core/host.h"

/** Limits of a set of rules, and of one rule. */
#define WEFT_MAX_RULES \
    ((size_t)4 << 20) /* bytes of all; the library's own have a quarter of a MiB */
#define WEFT_MAX_RULE_SOURCE       1024u /* bytes that a rule replaces */
#define WEFT_MAX_RULE_TARGET       4096u /* bytes that it puts there */
#define WEFT_MAX_RULES_OF_ONE_TEXT 32u   /* that begin a text; as in the library */

/** Borrowed. Without units: no rules. */
struct weft_spm_rules {
    const uint8_t *units;
    size_t count;
    const char *texts; /* the last byte is zero */
    size_t texts_size;
};

/**
 * Finds the parts, and checks that every walk in the trie stays inside, ends, and keeps the limits, and that all texts are
 * UTF-8 and keep theirs. WEFT_BAD_FILE, logged with `path` and `spec`, the name of the NormalizerSpec;
 * WEFT_OUT_OF_HOST_MEMORY.
 */
weft_status weft_spm_rules_open(struct weft_spm_rules *rules, const uint8_t *bytes, size_t size,
                                const char *path, const char *spec, const weft_host *host);

/** How many bytes of the text the longest rule replaces, and by what; 0 when no rule does. *steps: the bytes that it looks at. */
size_t weft_spm_rules_match(const struct weft_spm_rules *rules, const char *text, size_t size,
                            const char **target, size_t *steps);

/** Matches the shortest rule. */
size_t weft_spm_rules_match_first(const struct weft_spm_rules *rules, const char *text, size_t size,
                                  const char **target);

#endif
