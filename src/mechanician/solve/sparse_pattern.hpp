// Where M and A may have entries. The values of an evaluation come in the same order: M[k] belongs to pattern.M[k].
#pragma once

#include <vector>

namespace mechanician {

struct SparseEntry {
  int row = 0, col = 0;
};

struct SparsePattern {
  int n = 0, m = 0;
  std::vector<SparseEntry> M;  // lower triangle: row ≥ col, each once
  std::vector<SparseEntry> A;  // m×n, each once
};

/// Lists of lists in one array: those of i are items[begin[i]] … items[begin[i+1]−1].
struct SparseLists {
  std::vector<int> begin = {0};
  std::vector<int> items;

  int size() const { return static_cast<int>(begin.size()) - 1; }
  int count(int i) const { return begin[i + 1] - begin[i]; }
  const int* first(int i) const { return items.data() + begin[i]; }
  const int* last(int i) const { return items.data() + begin[i + 1]; }
};

}  // namespace mechanician
