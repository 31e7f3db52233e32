/* SPDX-License-Identifier: MIT */
/* Three example models, which are in the program, and the bits of their logits. */
#ifndef WEFT_CLI_CERTIFY_MODELS_H
#define WEFT_CLI_CERTIFY_MODELS_H

#include "certify/job.h"

#define WEFT_CERTIFY_MODELS   3
#define WEFT_CERTIFY_EXAMPLES 12 /* of the test set, evenly spread */

/** The name of a model, or null behind the last. */
const char *weft_certify_model_name(uint32_t index);

/** The committed SHA-256 of its logits in a mode, in text; false where the program lacks it. */
bool weft_certify_model_known(char text[WEFT_DIGEST_TEXT_SIZE], const char *name, weft_math math);

/** Adds a row for each model to `rows`; those for which there is no time until `end_ms` are skipped. Only memory can fail. */
weft_status weft_certify_models_run(json_t *rows, weft_certify_job *job, weft_math math,
                                    double end_ms);

#endif
