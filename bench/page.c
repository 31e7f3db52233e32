/* SPDX-License-Identifier: MIT */
#include "bench/page.h"

#include <string.h>

#include "bench/page_parts.h"
#include "core/formats/json.h"
#include "core/system/file.h"
#include "core/text.h"
#include "core/try.h"

#define OPEN  "{{"
#define CLOSE "}}"
#define MARK  2 /* characters of each */

static void add(struct weft_text *page, const char *text, size_t size) {
    weft_text_add(page, "%.*s", (int)size, text);
}

/* JSON has '<' in strings only, where the escape means the same. */
static void add_json(struct weft_text *page, const json_t *value) {
    char *json = weft_json_text(value, JSON_COMPACT | JSON_REAL_PRECISION(12), &page->host);
    page->failed = page->failed || (value && !json);
    const char *at = json ? json : "null";
    for (const char *less; (less = strchr(at, '<')); at = less + 1) {
        add(page, at, (size_t)(less - at));
        weft_text_add(page, "\\u003c");
    }
    weft_text_add(page, "%s", at);
    weft_free(&page->host, json);
}

static const weft_page_part *find_part(const char *name, size_t length) {
    for (size_t i = 0; i < weft_page_part_count; i++) {
        const weft_page_part *part = &weft_page_parts[i];
        if (strlen(part->name) == length && memcmp(part->name, name, length) == 0) {
            return part;
        }
    }
    return NULL;
}

static bool is_called(const char *name, size_t length, const char *expected) {
    return strlen(expected) == length && memcmp(name, expected, length) == 0;
}

/* What stands for {{name}} in a frame. */
static weft_status add_named(struct weft_text *page, const char *name, size_t length,
                             const json_t *report, const json_t *comparison) {
    const weft_page_part *part = find_part(name, length);
    if (is_called(name, length, "report")) {
        add_json(page, report);
    } else if (is_called(name, length, "comparison")) {
        add_json(page, comparison);
    } else if (part) {
        add(page, part->text, part->size);
    } else {
        return weft_fail(&page->host, WEFT_NOT_FOUND, "no file of bench/page is called \"%.*s\"",
                         (int)length, name);
    }
    return WEFT_OK;
}

static weft_status add_page(struct weft_text *page, const char *frame, const json_t *report,
                            const json_t *comparison) {
    const char *at = find_part(frame, strlen(frame))->text;
    for (const char *open; (open = strstr(at, OPEN));) {
        const char *close = strstr(open, CLOSE);
        if (!close) {
            return weft_fail(&page->host, WEFT_BAD_FILE, "%s: \"" OPEN "\" is not closed", frame);
        }
        add(page, at, (size_t)(open - at));
        WEFT_TRY(add_named(page, open + MARK, (size_t)(close - open) - MARK, report, comparison));
        at = close + MARK;
    }
    weft_text_add(page, "%s", at);
    return WEFT_OK;
}

static weft_status write_page(const char *path, const char *frame, const json_t *report,
                              const json_t *comparison, const weft_host *host) {
    struct weft_text page = {.host = host ? *host : (weft_host){0}};
    weft_status status = add_page(&page, frame, report, comparison);
    const size_t size = page.length;
    char *text = weft_text_take(&page);
    if (status == WEFT_OK) {
        status = text ? weft_file_write(path, text, size, host)
                      : weft_fail_memory(host, "the page of a report");
    }
    weft_free(host, text);
    return status;
}

weft_status weft_bench_page_write(const char *path, const json_t *report, const json_t *comparison,
                                  const weft_host *host) {
    return write_page(path, "page.html", report, comparison, host);
}

weft_status weft_bench_certificate_page_write(const char *path, const json_t *record,
                                              const weft_host *host) {
    return write_page(path, "certificate.html", record, NULL, host);
}

weft_status weft_bench_index_page_write(const char *path, const json_t *index,
                                        const weft_host *host) {
    return write_page(path, "index.html", index, NULL, host);
}
