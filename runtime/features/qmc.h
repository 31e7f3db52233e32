/* SPDX-License-Identifier: MIT */
/* Low-discrepancy points made normal, for QMC and MM. */
#ifndef WEFT_FEATURES_QMC_H
#define WEFT_FEATURES_QMC_H

#include "features/family.h"

/** Points 1 … rows of params->sequence through Φ⁻¹, coordinate by coordinate, into out [rows, columns]. */
weft_status weft_qmc_points(double *out, const weft_features_params *params, const weft_host *host);

#endif
