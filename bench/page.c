/* SPDX-License-Identifier: MIT */
#include "bench/page.h"

#include <stdlib.h>
#include <string.h>

#include "bench/page_parts.h"
#include "core/file.h"
#include "core/try.h"

#define OPEN  "{{"
#define CLOSE "}}"
#define MARK  2 /* characters of each */

/* Text that grows, in memory of the host. */
struct page {
    char *text;
    size_t size, capacity;
    const weft_host *host;
};

static weft_status append(struct page *page, const char *text, size_t size) {
    if (!page->text || size > page->capacity - page->size) {
        size_t capacity = 2 * (page->size + size);
        char *grown = weft_realloc(page->host, page->text, capacity);
        if (!grown) {
            return weft_fail_memory(page->host, "the page of a report");
        }
        page->text = grown;
        page->capacity = capacity;
    }
    memcpy(page->text + page->size, text, size);
    page->size += size;
    return WEFT_OK;
}

/* JSON has '<' in strings only, where the escape means the same. */
static weft_status append_json(struct page *page, const json_t *value) {
    if (!value) {
        return append(page, "null", strlen("null"));
    }
    char *json = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (!json) {
        return weft_fail_memory(page->host, "the JSON of a report");
    }
    weft_status status = WEFT_OK;
    const char *at = json;
    for (const char *less; status == WEFT_OK && (less = strchr(at, '<')); at = less + 1) {
        status = append(page, at, (size_t)(less - at));
        if (status == WEFT_OK) {
            status = append(page, "\\u003c", strlen("\\u003c"));
        }
    }
    if (status == WEFT_OK) {
        status = append(page, at, strlen(at));
    }
    free(json);
    return status;
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

/* What stands for {{name}} in page.html. */
static weft_status append_named(struct page *page, const char *name, size_t length,
                                const json_t *report, const json_t *comparison) {
    if (is_called(name, length, "report")) {
        return append_json(page, report);
    }
    if (is_called(name, length, "comparison")) {
        return append_json(page, comparison);
    }
    const weft_page_part *part = find_part(name, length);
    if (!part) {
        return weft_fail(page->host, WEFT_NOT_FOUND, "page.html: no file is called \"%.*s\"",
                         (int)length, name);
    }
    return append(page, part->text, part->size);
}

static weft_status append_page(struct page *page, const json_t *report, const json_t *comparison) {
    const weft_page_part *frame = find_part("page.html", strlen("page.html"));
    const char *at = frame->text;
    for (const char *open; (open = strstr(at, OPEN));) {
        const char *close = strstr(open, CLOSE);
        if (!close) {
            return weft_fail(page->host, WEFT_BAD_FILE, "page.html: \"" OPEN "\" is not closed");
        }
        WEFT_TRY(append(page, at, (size_t)(open - at)));
        WEFT_TRY(
            append_named(page, open + MARK, (size_t)(close - open) - MARK, report, comparison));
        at = close + MARK;
    }
    return append(page, at, strlen(at));
}

weft_status weft_bench_page_write(const char *path, const json_t *report, const json_t *comparison,
                                  const weft_host *host) {
    struct page page = {.host = host};
    weft_status status = append_page(&page, report, comparison);
    if (status == WEFT_OK) {
        status = weft_file_write(path, page.text, page.size, host);
    }
    weft_free(host, page.text);
    return status;
}
