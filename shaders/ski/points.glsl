// SPDX-License-Identifier: MIT
//
// Where positions lie between the inducing points, and the Lagrange weights with which they are
// interpolated from DEGREE + 1 neighbouring points: a row of W, made where it is needed. Point k of
// r is at k (n - 1) / (r - 1), so everything but the weights is exact in whole numbers; the host
// makes sure that (r - 1) (n - 1) has 32 bits and n - 1 has 24, which float32 holds.

#ifndef WEFT_SKI_POINTS_GLSL
#define WEFT_SKI_POINTS_GLSL

// A position is rest / span steps behind the point, rest < span.
struct weft_ski_place
{
    uint point;
    uint rest;
};

weft_ski_place weft_ski_place_of(uint position, uint points, uint span)
{
    if (DEGREE == 0) {
        return weft_ski_place(0, 0);
    }
    uint scaled = position * (points - 1);
    return weft_ski_place(scaled / span, scaled % span);
}

// The place of the next position: points - 1 <= span, so at most the next point is reached.
weft_ski_place weft_ski_next(weft_ski_place place, uint points, uint span)
{
    if (DEGREE == 0) {
        return place;
    }
    uint rest = place.rest + (points - 1);
    return rest < span ? weft_ski_place(place.point, rest)
                       : weft_ski_place(place.point + 1, rest - span);
}

// The first of the DEGREE + 1 points around a place, all of them among the r.
uint weft_ski_first(uint point, uint points)
{
    uint before = DEGREE == 3 ? 1 : 0;
    return min(max(point, before) - before, points - 1 - DEGREE);
}

// The weights of the points first, first + 1 ...; at a point it is 1 and the others are 0 exactly.
vec4 weft_ski_weights(weft_ski_place place, uint first, float inverse_span)
{
    if (DEGREE == 0) {
        return vec4(1.0, 0.0, 0.0, 0.0);
    }
    float steps = float(place.point - first);
    float part = float(place.rest) * inverse_span;
    float d0 = steps + part; // distances from the points, each rounded once
    float d1 = (steps - 1.0) + part;
    if (DEGREE == 1) {
        return vec4((1.0 - steps) - part, d0, 0.0, 0.0);
    }
    float d2 = (steps - 2.0) + part;
    if (DEGREE == 2) {
        return vec4(0.5 * (d1 * d2), 0.0 - d0 * d2, 0.5 * (d0 * d1), 0.0);
    }
    float d3 = (steps - 3.0) + part;
    return vec4(-0.166666672 * (d1 * d2 * d3), 0.5 * (d0 * d2 * d3), -0.5 * (d0 * d1 * d3),
                0.166666672 * (d0 * d1 * d2));
}

#endif
