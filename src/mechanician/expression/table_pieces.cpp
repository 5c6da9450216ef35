#include "mechanician/expression/table_pieces.hpp"

#include "mechanician/expression/table_content_internal.hpp"

namespace mechanician {

std::optional<TablePieces> find_pieces(double key) {
  const TableContent* table = TableStore::instance().find(key);
  const TableView view = view_of(key);
  if (!table || view.kind == TableView::Kind::size) return {};
  TablePieces pieces;
  pieces.name = table->name();
  pieces.num_arguments = table->num_arguments();
  pieces.interpolation = table->interpolation();
  pieces.outside = table->outside();
  for (int i = 0; i < pieces.num_arguments; ++i) pieces.points[i] = table->axis(i).points();
  pieces.stride = table->stride();
  pieces.coefficients = table->coefficients();
  pieces.values = table->values();
  pieces.nodes = table->nodes();
  pieces.order_x = view.order_x, pieces.order_y = view.order_y;
  pieces.side[0] = view.side_x, pieces.side[1] = view.side_y, pieces.fine = view.fine;
  pieces.guard = view.kind == TableView::Kind::guard_x ? 1 : view.kind == TableView::Kind::guard_y ? 2 : 0;
  for (int i = 0; i < pieces.num_arguments; ++i) {
    const TableContent::Regions r = table->regions(table->axis(i), view.fine);
    pieces.regions[i] = {r.first, r.count, r.apart};
  }
  return pieces;
}

}  // namespace mechanician
