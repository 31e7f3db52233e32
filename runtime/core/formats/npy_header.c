/* SPDX-License-Identifier: MIT */
#include "core/formats/npy_header.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/bytes.h"
#include "core/try.h"

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* A reader of the dict literal. Only what NumPy writes: strings, True, False, tuples. */
struct scanner {
    const char *at;
    const char *end;
    const char *begin;
    const char *name;
    const weft_host *host;
};

static weft_status fail_at(const struct scanner *scan, const char *expected) {
    long offset = (long)(scan->at - scan->begin);
    if (scan->at == scan->end) {
        return weft_fail(scan->host, WEFT_BAD_FILE,
                         "%s: header byte %ld: expected %s, found its end", scan->name, offset,
                         expected);
    }
    return weft_fail(scan->host, WEFT_BAD_FILE, "%s: header byte %ld: expected %s, found \"%.*s\"",
                     scan->name, offset, expected,
                     (int)(scan->end - scan->at > 8 ? 8 : scan->end - scan->at), scan->at);
}

static void skip_space(struct scanner *scan) {
    while (scan->at < scan->end && (*scan->at == ' ' || *scan->at == '\n')) {
        scan->at++;
    }
}

/* Takes `token` and the space before it, if it is next. */
static bool accept(struct scanner *scan, const char *token) {
    skip_space(scan);
    size_t length = strlen(token);
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, token, length) != 0) {
        return false;
    }
    scan->at += length;
    return true;
}

static weft_status expect(struct scanner *scan, const char *token) {
    char expected[16];
    snprintf(expected, sizeof expected, "\"%s\"", token);
    return accept(scan, token) ? WEFT_OK : fail_at(scan, expected);
}

/* A quoted string without escapes, cut to fit into `text`. */
static weft_status scan_string(struct scanner *scan, char *text, size_t capacity) {
    skip_space(scan);
    if (scan->at == scan->end || (*scan->at != '\'' && *scan->at != '"')) {
        return fail_at(scan, "a string");
    }
    const char *begin = scan->at + 1;
    const char *close = memchr(begin, *scan->at, (size_t)(scan->end - begin));
    if (!close) {
        return fail_at(scan, "a string with an end");
    }
    size_t length = (size_t)(close - begin);
    size_t kept = length < capacity ? length : capacity - 1;
    memcpy(text, begin, kept);
    text[kept] = '\0';
    scan->at = close + 1;
    return !memchr(text, 0, kept) ? WEFT_OK : fail_at(scan, "a string without zero bytes");
}

static weft_status scan_extent(struct scanner *scan, uint64_t *extent) {
    skip_space(scan);
    uint64_t value = 0;
    const char *begin = scan->at;
    for (; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; scan->at++) {
        uint64_t digit = (uint64_t)(*scan->at - '0');
        if (value > (UINT64_MAX - digit) / 10) {
            return fail_at(scan, "an integer below 2^64");
        }
        value = value * 10 + digit;
    }
    if (scan->at == begin) {
        return fail_at(scan, "a non-negative integer");
    }
    *extent = value;
    return WEFT_OK;
}

/* "()", "(3,)" or "(3, 4)"; a comma may follow the last extent, and must follow an only one. */
static weft_status scan_shape(struct scanner *scan, struct weft_npy_header *header) {
    weft_status status = expect(scan, "(");
    bool comma = true;
    while (status == WEFT_OK && !accept(scan, ")")) {
        if (!comma) {
            return fail_at(scan, "\",\" or \")\"");
        }
        if (header->rank == WEFT_NPY_MAX_RANK) {
            return fail_at(scan, "at most 8 axes");
        }
        status = scan_extent(scan, &header->shape[header->rank++]);
        comma = status == WEFT_OK && accept(scan, ",");
    }
    if (status == WEFT_OK && header->rank == 1 && !comma) {
        return fail_at(scan, "a tuple, \"(n,)\",");
    }
    return status;
}

static weft_status scan_order(struct scanner *scan) {
    if (accept(scan, "False")) {
        return WEFT_OK;
    }
    skip_space(scan);
    if (accept(scan, "True")) {
        return weft_fail(scan->host, WEFT_BAD_FILE,
                         "%s: fortran_order: expected False, found True (numpy.ascontiguousarray "
                         "changes the order)",
                         scan->name);
    }
    return fail_at(scan, "True or False");
}

enum { KEY_DESCR = 1, KEY_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static weft_status scan_entry(struct scanner *scan, struct weft_npy_header *header,
                              unsigned *seen) {
    char key[32];
    struct scanner before = *scan;
    WEFT_TRY(scan_string(scan, key, sizeof key));
    unsigned bit = strcmp(key, "descr") == 0           ? KEY_DESCR
                   : strcmp(key, "fortran_order") == 0 ? KEY_ORDER
                   : strcmp(key, "shape") == 0         ? KEY_SHAPE
                                                       : 0;
    if (bit == 0 || (*seen & bit) != 0) {
        skip_space(&before);
        return fail_at(&before, "each of 'descr', 'fortran_order' and 'shape' once");
    }
    *seen |= bit;
    WEFT_TRY(expect(scan, ":"));
    return bit == KEY_DESCR   ? scan_string(scan, header->descr, sizeof header->descr)
           : bit == KEY_ORDER ? scan_order(scan)
                              : scan_shape(scan, header);
}

static weft_status scan_dict(struct scanner *scan, struct weft_npy_header *header) {
    unsigned seen = 0;
    bool comma = true;
    weft_status status = expect(scan, "{");
    while (status == WEFT_OK && !accept(scan, "}")) {
        if (!comma) {
            return fail_at(scan, "\",\" or \"}\"");
        }
        status = scan_entry(scan, header, &seen);
        comma = status == WEFT_OK && accept(scan, ",");
    }
    if (status == WEFT_OK && seen != KEY_ALL) {
        return fail_at(scan, "'descr', 'fortran_order' and 'shape' before");
    }
    skip_space(scan);
    return status == WEFT_OK && scan->at != scan->end ? fail_at(scan, "padding") : status;
}

/* Bytes of the length field, or 0 for another version. */
static size_t length_size_of(const uint8_t *bytes) {
    return bytes[7] != 0 ? 0 : bytes[6] == 1 ? 2 : bytes[6] == 2 ? 4 : 0;
}

weft_status weft_npy_header_measure(size_t *size, const uint8_t *start, size_t start_size,
                                    uint64_t total, const char *name, const weft_host *host) {
    if (start_size < sizeof magic + 2 || memcmp(start, magic, sizeof magic) != 0) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected a .npy file, found other contents",
                         name);
    }
    const size_t length_size = length_size_of(start);
    if (length_size == 0) {
        return weft_fail(host, WEFT_BAD_FILE, "%s: expected format version 1.0 or 2.0, found %u.%u",
                         name, (unsigned)start[6], (unsigned)start[7]);
    }
    const size_t begin = sizeof magic + 2 + length_size;
    const uint64_t length =
        begin <= start_size ? weft_load_bytes(start + sizeof magic + 2, length_size) : 0;
    if (begin > start_size || length > total - begin) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: expected %" PRIu64 " bytes of header, found only %" PRIu64, name,
                         length, begin > start_size ? 0 : total - begin);
    }
    if (length > WEFT_NPY_MAX_HEADER - begin) {
        return weft_fail(host, WEFT_BAD_FILE,
                         "%s: expected at most %zu bytes of header, found %" PRIu64, name,
                         WEFT_NPY_MAX_HEADER - begin, length);
    }
    *size = begin + (size_t)length;
    return WEFT_OK;
}

weft_status weft_npy_header_read(struct weft_npy_header *header, const uint8_t *bytes, size_t size,
                                 const char *name, const weft_host *host) {
    const char *text = (const char *)bytes + sizeof magic + 2 + length_size_of(bytes);
    struct scanner scan = {text, (const char *)bytes + size, text, name, host};
    struct weft_npy_header result = {.size = size};
    WEFT_TRY(scan_dict(&scan, &result));
    *header = result;
    return WEFT_OK;
}

size_t weft_npy_header_write(uint8_t out[WEFT_NPY_HEADER_CAPACITY], const char *descr,
                             weft_shape shape) {
    char dict[WEFT_NPY_HEADER_CAPACITY];
    int used =
        snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (uint32_t axis = 0; axis < shape.rank; axis++) {
        const char *after = shape.rank == 1 ? "," : axis + 1 < shape.rank ? ", " : "";
        used += snprintf(dict + used, sizeof dict - (size_t)used, "%" PRIu32 "%s", shape.dim[axis],
                         after);
    }
    used += snprintf(dict + used, sizeof dict - (size_t)used, "), }");
    size_t length = (size_t)used;
    size_t prefix = sizeof magic + 4;
    size_t size = (prefix + length + 1 + 63) / 64 * 64; /* with the newline that ends it */
    memcpy(out, magic, sizeof magic);
    out[6] = 1;
    out[7] = 0;
    out[8] = (uint8_t)((size - prefix) & 0xFF);
    out[9] = (uint8_t)((size - prefix) >> 8);
    memcpy(out + prefix, dict, length);
    memset(out + prefix + length, ' ', size - prefix - length - 1);
    out[size - 1] = '\n';
    return size;
}
