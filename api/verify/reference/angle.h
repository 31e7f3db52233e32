/* SPDX-License-Identifier: MIT */
/*
 * Sines and cosines of large angles. Some C libraries, such as Windows', reduce them by a π of 66 bits, and are wrong from 2^20 on.
 */
#ifndef WEFT_REFERENCE_ANGLE_H
#define WEFT_REFERENCE_ANGLE_H

/** Of a number that float32 holds. */
double weft_reference_sin(double x);
double weft_reference_cos(double x);

#endif
