/* SPDX-License-Identifier: MIT */
/*
 * The example's rows in the op table and in the table of conformance families. A mixer of the library writes them into
 * runtime/graph/op_list.h and api/verify/conformance.h; the example's build includes this file there instead.
 */
#define WEFT_MORE_OPS(X)        X(moving_average)
#define WEFT_MORE_FAMILIES(ROW) ROW(moving_average)
