#pragma once

/// Loops over numbers that lie side by side, one for each lane, for the widest vectors that the processor has. Nothing
/// is contracted: all versions give the same bits.

namespace mechanician::lanes {

/// out = y + h·Σ w_j k_j. h repeats every `lanes` numbers, which divide `size`.
void add_weighted(int size, int lanes, int count, const double* w, const double* const* k, const double* y,
                  const double* h, double* out);
/// The largest |e_i|/s_i of each lane, for e = h·Σ w_j k_j.
void largest_ratio(int size, int lanes, int count, const double* w, const double* const* k, const double* h,
                   const double* scale, double* largest);
/// The largest |x_i|/u_i of each lane, and at least `largest` as it is; with 1/u_i of each number.
void largest_size(int size, int lanes, const double* x, const double* per_unit, double* largest);
/// The largest so far of each number, where x has come to.
void see(int size, int lanes, const double* x, double* seen);
/// What errors count against (step_control::make_scale): of |x|, |y| and what was seen; u_i·least and u_i·noise of each lane.
void make_scale(int size, int lanes, double tolerance, const double* x, const double* y, const double* seen,
                const double* unit, const double* least, const double* noise, double* scale);
/// Where `move` is 1: x += d. The largest |d_i| over max(u_i·extent, |x_i| before and after), of each lane.
void add_and_measure(int size, int lanes, const double* move, const double* d, const double* unit, const double* extent,
                     double* x, double* largest);
/// The cubic through both ends of a step, θ of it after its begin: values x, y and slopes a, b at the ends.
void between(int size, int lanes, double theta, const double* h, const double* x, const double* y, const double* a,
             const double* b, double* out);

}  // namespace mechanician::lanes
