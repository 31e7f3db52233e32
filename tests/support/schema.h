/* SPDX-License-Identifier: MIT */
/* Holds JSON documents against a JSON Schema, draft 4. */
#ifndef WEFT_TESTS_SCHEMA_H
#define WEFT_TESTS_SCHEMA_H

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Null when the document meets the schema, both as JSON text. Otherwise what does not, in malloc's memory: the place in
 * the document and the schema's rule, or that one of both is no JSON.
 */
char *weft_test_schema_check(const char *schema, const char *document);

#ifdef __cplusplus
}
#endif

#endif
