#include "mechanician/equations/unfelt_states.hpp"

#include <algorithm>

namespace mechanician {

namespace {

/// New numbers of what stays; −1 of what does not.
std::vector<int> renumber(const std::vector<char>& leaves) {
  std::vector<int> number;
  int next = 0;
  for (const char gone : leaves) number.push_back(gone ? -1 : next++);
  return number;
}

template <class T>
void keep(std::vector<T>& all, const std::vector<int>& number) {
  std::vector<T> kept;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (number[i] >= 0) kept.push_back(std::move(all[i]));
  all = std::move(kept);
}

void keep(SparseExprMatrix& matrix, const std::vector<int>& rows, const std::vector<int>& cols) {
  std::vector<SparseExprMatrix::Entry> kept;
  for (const auto& e : matrix.entries) {
    const int row = rows[static_cast<std::size_t>(e.row)], col = cols[static_cast<std::size_t>(e.col)];
    if (row >= 0 && col >= 0) kept.push_back({row, col, e.value});
  }
  matrix.entries = std::move(kept);
  const auto count = [](const std::vector<int>& number) {
    return static_cast<int>(std::count_if(number.begin(), number.end(), [](int i) { return i >= 0; }));
  };
  matrix.rows = count(rows), matrix.cols = count(cols);
}

}  // namespace

Equations without_unfelt_states(const Equations& eqs, std::vector<int>& rows) {
  Equations rest = eqs;
  std::vector<char> coordinate(eqs.q.size(), 0), row(eqs.rows.size(), 0);
  for (const StateRow& z : eqs.states)
    if (eqs.rows[static_cast<std::size_t>(z.row)].unfelt)
      coordinate[static_cast<std::size_t>(z.coordinate)] = row[static_cast<std::size_t>(z.row)] = 1;
  const std::vector<int> cols = renumber(coordinate), lines = renumber(row);
  keep(rest.coordinates, cols), keep(rest.q, cols), keep(rest.qd, cols), keep(rest.qdd, cols), keep(rest.ideal, cols);
  keep(rest.Q, cols), keep(rest.C, cols), keep(rest.b, lines), keep(rest.rows, lines);
  keep(rest.M, cols, cols), keep(rest.A, lines, cols);
  std::vector<Expr> multipliers;  // of constraints and rates, which come before control
  for (std::size_t j = 0; j < eqs.multipliers.size(); ++j)
    if (lines[j] >= 0) multipliers.push_back(eqs.multipliers[j]);
  rest.multipliers = std::move(multipliers);
  std::vector<StateRow> states;
  for (const StateRow& z : eqs.states)
    if (lines[static_cast<std::size_t>(z.row)] >= 0)
      states.push_back({cols[static_cast<std::size_t>(z.coordinate)], lines[static_cast<std::size_t>(z.row)]});
  rest.states = std::move(states);
  for (ContactRow& contact : rest.contacts) {
    contact.row = lines[static_cast<std::size_t>(contact.row)];
    std::vector<int> slips;
    for (int k = 0; k < contact.T.rows; ++k) slips.push_back(k);
    keep(contact.T, slips, cols);
  }
  for (int& j : rest.measured) j = lines[static_cast<std::size_t>(j)];
  std::vector<int> kept;
  for (const int j : rows)
    if (lines[static_cast<std::size_t>(j)] >= 0) kept.push_back(lines[static_cast<std::size_t>(j)]);
  rows = std::move(kept);
  return rest;
}

}  // namespace mechanician
