/// {"columns": […], "rows": [[…], …], "events": [{…}, …], "summary": {…}}

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "mechanician/base/safe_text.hpp"
#include "mechanician/base/text.hpp"
#include "mechanician/plot/json_input.hpp"
#include "mechanician/plot/sources_internal.hpp"

namespace mechanician {

namespace {

class JsonSource final : public ResultSource {
 public:
  explicit JsonSource(std::unique_ptr<TextInput> input) : json_(std::move(input)) {
    json_.open('{');
    while (json_.more('}', first_)) {
      const std::string key = json_.key();
      if (key == "rows") {
        if (columns_.empty()) json_.fail("the rows come before `columns`: whose numbers are they?");
        return;  // read() goes on here
      }
      other(key);
    }
    json_.fail(columns_.empty() ? "this is no result: it has no `columns`" : "this is no result: it has no `rows`");
  }

  ResultRows read(std::span<const std::size_t> wanted) override {
    rows_.columns.resize(wanted.size());
    read_rows(wanted);
    while (json_.more('}', first_)) other(json_.key());
    json_.finish();
    rows_.remark = remark_of(status_, safe_text(message_));
    return std::move(rows_);
  }

 private:
  void read_rows(std::span<const std::size_t> wanted) {
    std::vector<std::vector<std::size_t>> places(columns_.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) places[wanted[i]].push_back(i);
    json_.open('[');
    for (bool first = true; json_.more(']', first);) {
      json_.open('[');
      std::size_t field = 0;
      for (bool first_field = true; json_.more(']', first_field); ++field) {
        if (field >= columns_.size())
          json_.fail(fmt::format("this row has more numbers than there are columns ({})", columns_.size()));
        if (places[field].empty()) {
          json_.skip();
          continue;
        }
        const double value = json_.number();
        for (const std::size_t place : places[field]) rows_.columns[place].push_back(value);
      }
      if (field < columns_.size())
        json_.fail(fmt::format("this row has {}, but there are {}", count_noun(field, "number"),
                               count_noun(columns_.size(), "column")));
    }
  }

  /// A member of the result other than its rows.
  void other(const std::string& key) {
    if (key == "columns") {
      json_.open('[');
      for (bool first = true; json_.more(']', first);) columns_.push_back(json_.string());
    } else if (key == "events" && json_.next_is('[')) {
      json_.open('[');
      for (bool first = true; json_.more(']', first);) read_event();
    } else if (key == "summary" && json_.next_is('{')) {
      json_.open('{');
      for (bool first = true; json_.more('}', first);) {
        const std::string name = json_.key();
        if (name == "status" && json_.next_is('"'))
          status_ = json_.string();
        else if (name == "message" && json_.next_is('"'))
          message_ = json_.string();
        else
          json_.skip();
      }
    } else {
      json_.skip();
    }
  }

  void read_event() {
    ResultEvent event;
    json_.open('{');
    for (bool first = true; json_.more('}', first);) {
      const std::string key = json_.key();
      if (key == "time")
        event.time = json_.number();
      else if (key == "kind")
        event.kind = json_.string();
      else if (key == "name")
        event.name = json_.string();
      else if (key == "position")
        read_vector(event.position);
      else if (key == "velocity_before")
        read_vector(event.velocity_before);
      else if (key == "velocity_after")
        read_vector(event.velocity_after);
      else
        json_.skip();
    }
    rows_.events.push_back(std::move(event));
  }

  /// {"x": 1, "y": 2}, in the order of the coordinates as they first came.
  void read_vector(std::vector<double>& values) {
    json_.open('{');
    std::size_t guess = 0;
    for (bool first = true; json_.more('}', first); ++guess) {
      const std::string name = json_.key();
      auto& names = rows_.coordinates;
      std::size_t at = guess;
      if (at >= names.size() || names[at] != name)
        at = static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (at == names.size()) names.push_back(name);
      if (values.size() <= at) values.resize(names.size(), std::numeric_limits<double>::quiet_NaN());
      values[at] = json_.number();
    }
  }

  JsonInput json_;
  bool first_ = true;
  ResultRows rows_;
  std::string status_, message_;
};

}  // namespace

std::unique_ptr<ResultSource> open_json(std::unique_ptr<TextInput> input) {
  return std::make_unique<JsonSource>(std::move(input));
}

}  // namespace mechanician
