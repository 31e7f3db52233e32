/* SPDX-License-Identifier: MIT */
#include "certify/findings.h"

#include "core/formats/json.h"

static void add(weft_certify_findings *findings, const char *field, const char *found,
                const char *expected, va_list arguments) {
    char text[2 * WEFT_CERTIFY_TEXT_SIZE];
    if (json_array_size(findings->list) >= WEFT_CERTIFY_MOST_FINDINGS) {
        return;
    }
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): every caller has begun it */
    vsnprintf(text, sizeof text, expected, arguments);
    json_t *finding = json_pack("{s:o, s:o, s:o}", "field", weft_cli_json_text(field), "expected",
                                weft_cli_json_text(text), "found", weft_cli_json_text(found));
    findings->failed |= json_array_append_new(findings->list, finding) != 0;
}

void weft_certify_refuse(weft_certify_findings *findings, const char *field, const char *found,
                         const char *expected, ...) {
    va_list arguments;
    va_start(arguments, expected);
    add(findings, field, found, expected, arguments);
    va_end(arguments);
}

void weft_certify_refuse_value(weft_certify_findings *findings, const char *field,
                               const json_t *found, const char *expected, ...) {
    char text[WEFT_JSON_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, expected);
    add(findings, field, weft_json_describe(found, text), expected, arguments);
    va_end(arguments);
}

const char *weft_certify_text(char text[WEFT_CERTIFY_TEXT_SIZE], const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): it is begun above */
    vsnprintf(text, WEFT_CERTIFY_TEXT_SIZE, format, arguments);
    va_end(arguments);
    return text;
}
