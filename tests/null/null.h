/* SPDX-License-Identifier: MIT */
/* Between null.c and the calls that generate.py makes of the headers. */
#ifndef WEFT_TESTS_NULL_H
#define WEFT_TESTS_NULL_H

#include <weft/arithmetic.h>
#include <weft/decode.h>
#include <weft/external.h>
#include <weft/features.h>
#include <weft/flt.h>
#include <weft/generate.h>
#include <weft/inspect.h>
#include <weft/mixers.h>
#include <weft/model.h>
#include <weft/movement.h>
#include <weft/op.h>
#include <weft/opencl.h>
#include <weft/receipt.h>
#include <weft/speech.h>
#include <weft/texts.h>
#include <weft/vulkan.h>

enum { WEFT_NULL_PARAMETERS = 12 };

enum weft_null_kind {
    NO_POINTER,
    OPTIONAL, /* may be null */
    NEEDED,   /* the message names it */
    LIST,     /* the same, unless it has no elements */
    OBJECT    /* needed, but without it there may be nobody to tell */
};

/* Where a call has all that it needs: functions of callbacks are called in one. */
enum weft_null_where { ANYWHERE, IN_INFER, IN_LOWER };

struct weft_null_call {
    const char *name;
    /* The function with the parameter of this index null, and all numbers this one: a weft_status, or -1. */
    int (*call)(int null, uint64_t number);
    enum weft_null_where where;
    int count;
    struct {
        const char *name;
        enum weft_null_kind kind;
    } parameters[WEFT_NULL_PARAMETERS];
};

/* A function with a struct that has a count, but not the list. */
struct weft_null_list {
    const char *name;
    int (*call)(int null, uint64_t number);
};

extern const struct weft_null_call weft_null_calls[]; /* to one without a name */
extern const struct weft_null_list weft_null_lists[];

/* A living object of that type, a text, or zeros. */
void *weft_null_object(const char *type);
/* The address of a null handle, for what is made, or destroyed; one for each index. */
void *weft_null_address(const char *type, int index);
void weft_null_function(void);
extern void *weft_null_handle; /* of the driver's */

#endif
