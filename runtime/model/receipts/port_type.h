/* SPDX-License-Identifier: MIT */
/* How a receipt names the type of what a plan reads or gives. */
#ifndef WEFT_MODEL_RECEIPT_PORT_TYPE_H
#define WEFT_MODEL_RECEIPT_PORT_TYPE_H

#include "plan/port_digest.h"

#define WEFT_PORT_TYPE_SIZE (WEFT_SHAPE_TEXT_SIZE + 32)

/** "f32 [32, 128, 384]", with " before lengths" where only those rows count. */
void weft_receipt_port_type(char type[WEFT_PORT_TYPE_SIZE], const struct weft_port *port,
                            const struct weft_row_lengths *rows);

#endif
