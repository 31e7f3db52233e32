/* SPDX-License-Identifier: MIT */
/*
 * Functions of doubles with the same bits on every host, whatever its C library: made from + − × ÷ in a fixed order, and
 * frexp and ldexp, which are exact. (IEEE 754 has sqrt rounded correctly, so the C library's will do. For sines and
 * cosines see core/math/trig.h.)
 */
#ifndef WEFT_CORE_PORTABLE_MATH_H
#define WEFT_CORE_PORTABLE_MATH_H

/** The natural logarithm of a positive, normal x, to about 2e-16 relative or absolute, whichever is larger. */
double weft_portable_log(double x);

/** eˣ, for |x| ≤ 700 to about 4e-16 relative; 0 and ∞ where eˣ is beyond the doubles, NaN of NaN. */
double weft_portable_exp(double x);

#endif
