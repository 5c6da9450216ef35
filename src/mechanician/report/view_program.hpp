#pragma once

/// A view made ready for numbers: every quantity of the picture is a channel.
///
/// A channel is a number, a column of the result, or a value that is computed for each row: an expression, or a
/// component of a turn that is given otherwise than by a quaternion.

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/instant/system.hpp"
#include "mechanician/model/view.hpp"
#include "mechanician/result/columns.hpp"

namespace mechanician {

class JsonWriter;

struct ViewChannel {
  enum class Source { constant, column, value } source = Source::constant;
  double constant = 0.0;
  int index = 0;  ///< of the column, or among values()
};

class ViewProgram {
 public:
  ViewProgram() = default;
  ViewProgram(const View& view, const System& system, const Columns& columns);

  /// Expressions to be evaluated for each row; further values are made from them.
  const std::vector<Expr>& expressions() const { return expressions_; }
  int num_values() const { return static_cast<int>(expressions_.size() + 4 * turns_.size()); }
  /// Adds the further values behind those of expressions().
  void complete(std::vector<double>& values) const;

  const std::vector<ViewChannel>& channels() const { return channels_; }
  /// "dimension", "automatic", "camera", "meshes" and "items" of the report, into an open object. Throws FileError where a mesh cannot be
  /// read.
  void write(JsonWriter& json) const;

 private:
  using Triple = std::array<int, 3>;
  struct Item {
    ViewItem what;
    std::vector<Triple> points;
    Triple vector{};
    int radius = 0, thickness = 0, scale = -1;
    std::array<int, 4> turn{};
  };
  struct Turn {
    ViewTurn::Given given;
    int first;  ///< of its expressions
  };

  int constant(double x);
  int column(int index);
  int expression(const Expr& f);
  bool changes(const Expr& f) const;
  int channel(const Expr& f);
  Triple channels(const ViewVector& v) { return {channel(v[0]), channel(v[1]), channel(v[2])}; }
  std::array<int, 4> turn(const ViewTurn& t);
  double number(const Expr& f) const;
  Item make_item(const ViewItem& item);
  Triple force(const ViewItem& item);
  void add_forces();
  void write_item(JsonWriter& json, const Item& item) const;
  void write_meshes(JsonWriter& json) const;

  View view_;
  const System* system_ = nullptr;
  std::vector<Expr> modes_;
  std::unordered_map<std::string, int> group_begin_;        ///< first column of a quantity
  std::unordered_map<const ExprNode*, int> columns_;        ///< of symbols
  std::unordered_map<const ExprNode*, int> channel_of_;     ///< of expressions
  std::unordered_map<const ExprNode*, int> expression_of_;  ///< index in expressions_
  std::vector<Expr> expressions_;
  std::vector<Turn> turns_;
  std::vector<int> turn_values_;  ///< channels whose index counts from behind the expressions
  std::vector<ViewChannel> channels_;
  std::vector<Item> items_;
  std::unordered_map<std::string, int> mesh_of_;  ///< files, in the order in which they are written
};

}  // namespace mechanician
