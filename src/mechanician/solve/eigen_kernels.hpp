// The loops of Eigen's products, for matrices of doubles of any size, compiled once: two dozen sources multiply matrices, and
// a compiler takes seconds over these loops. To be included in place of Eigen/Core; what is computed is the same.
#pragma once

#include <Eigen/Core>

namespace Eigen::internal {

/// EXTERN: `extern` here, nothing in eigen_kernels.cpp.
#define MECHANICIAN_EIGEN_KERNELS(EXTERN)                                                                              \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, ColMajor>, \
                                                       ColMajor, false, double,                                        \
                                                       const_blas_data_mapper<double, Index, RowMajor>, false, 0>;     \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, ColMajor>, \
                                                       ColMajor, false, double,                                        \
                                                       const_blas_data_mapper<double, Index, ColMajor>, false, 0>;     \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, RowMajor>, \
                                                       RowMajor, false, double,                                        \
                                                       const_blas_data_mapper<double, Index, ColMajor>, false, 0>;     \
  EXTERN template struct general_matrix_vector_product<Index, double, const_blas_data_mapper<double, Index, RowMajor>, \
                                                       RowMajor, false, double,                                        \
                                                       const_blas_data_mapper<double, Index, RowMajor>, false, 1>;     \
  EXTERN template struct gebp_kernel<double, double, Index, blas_data_mapper<double, Index, ColMajor>,                 \
                                     gebp_traits<double, double>::mr, gebp_traits<double, double>::nr, false, false>;  \
  EXTERN template struct gemm_pack_lhs<double, Index, const_blas_data_mapper<double, Index, ColMajor>,                 \
                                       gebp_traits<double, double>::mr, gebp_traits<double, double>::LhsProgress,      \
                                       gebp_traits<double, double>::LhsPacket4Packing, ColMajor>;                      \
  EXTERN template struct gemm_pack_lhs<double, Index, const_blas_data_mapper<double, Index, RowMajor>,                 \
                                       gebp_traits<double, double>::mr, gebp_traits<double, double>::LhsProgress,      \
                                       gebp_traits<double, double>::LhsPacket4Packing, RowMajor>;                      \
  EXTERN template struct gemm_pack_rhs<double, Index, const_blas_data_mapper<double, Index, ColMajor>,                 \
                                       gebp_traits<double, double>::nr, ColMajor>;                                     \
  EXTERN template struct gemm_pack_rhs<double, Index, const_blas_data_mapper<double, Index, RowMajor>,                 \
                                       gebp_traits<double, double>::nr, RowMajor>;                                     \
  EXTERN template struct general_matrix_matrix_product<Index, double, ColMajor, false, double, ColMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template struct general_matrix_matrix_product<Index, double, ColMajor, false, double, RowMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template struct general_matrix_matrix_product<Index, double, RowMajor, false, double, ColMajor, false,        \
                                                       ColMajor, 1>;                                                   \
  EXTERN template void evaluateProductBlockingSizesHeuristic<double, double, 1, Index>(Index&, Index&, Index&, Index); \
  EXTERN template void evaluateProductBlockingSizesHeuristic<double, double, 4, Index>(Index&, Index&, Index&, Index); \
  EXTERN template struct triangular_solve_vector<double, double, Index, OnTheLeft, Upper, false, ColMajor>;            \
  EXTERN template struct triangular_solve_vector<double, double, Index, OnTheLeft, Lower, false, ColMajor>;

MECHANICIAN_EIGEN_KERNELS(extern)

}  // namespace Eigen::internal
