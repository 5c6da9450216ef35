#include "mechanician/result/text_writers.hpp"

#include <fmt/format.h>

#include <cmath>

#include "mechanician/base/csv.hpp"
#include "mechanician/output/json_writer.hpp"

namespace mechanician {

namespace {

constexpr std::size_t largest_buffer = std::size_t{1} << 20;

class CsvWriter final : public ResultWriter {
 public:
  CsvWriter(std::unique_ptr<TextSink> sink, const ResultHeader& header) : sink_(std::move(sink)) {
    for (const std::string& name : header.columns.names()) {
      if (!buffer_.empty()) buffer_ += ',';
      buffer_ += csv_field(name);
    }
    buffer_ += '\n';
  }

  void row(std::span<const double> row) override {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) buffer_ += ',';
      append_number(buffer_, row[i]);
    }
    buffer_ += '\n';
    if (buffer_.size() > largest_buffer) write();
  }

  void flush(const RunState&) override { write(); }

  void finish(const RunState& state) override {
    const Summary& s = state.summary;
    if (s.status != RunStatus::done && s.status != RunStatus::stopped) {
      std::string why = s.status == RunStatus::suspect ? trust_line(s) : s.message;
      for (char& c : why)
        if (c == '\n') c = ' ';
      buffer_ += fmt::format("# {}: {}\n", name_of(s.status), why);
    }
    write();
    sink_->finish();
  }

 private:
  void write() {
    if (buffer_.empty()) return;
    sink_->append(buffer_);
    buffer_.clear();
  }

  std::unique_ptr<TextSink> sink_;
  std::string buffer_;
};

class JsonResultWriter final : public ResultWriter {
 public:
  JsonResultWriter(std::unique_ptr<TextSink> sink, ResultHeader header)
      : sink_(std::move(sink)), header_(std::move(header)) {
    JsonWriter json;
    json.begin_object();
    json.key("columns").list(header_.columns.names());
    json.key("rows").begin_array();
    buffer_ = json.text();
    buffer_.pop_back();  // the newline
    tail_ = closing({});
  }

  void row(std::span<const double> row) override {
    buffer_ += first_ ? "\n    [" : ",\n    [";
    first_ = false;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) buffer_ += ", ";
      if (std::isfinite(row[i]))
        append_number(buffer_, row[i]);
      else
        buffer_ += "null";
    }
    buffer_ += ']';
    if (buffer_.size() > largest_buffer) write();
  }

  void flush(const RunState& state) override {
    tail_ = closing(state);
    write();
  }

  void finish(const RunState& state) override {
    buffer_ += closing(state);
    sink_->append(buffer_);
    sink_->finish();
  }

 private:
  void write() {
    sink_->append_with_tail(buffer_, tail_);
    buffer_.clear();
  }

  /// From the end of the rows to the end of the object.
  std::string closing(const RunState& state) const {
    JsonWriter json;
    json.begin_object();
    json.key("events").array(state.events, [&](const MotionEvent& e) { write_event(json, e, header_.columns); });
    json.key("summary");
    write_summary(json, state.summary, state.events, header_.columns);
    json.end_object();
    return "],\n" + json.text().substr(2);
  }

  std::unique_ptr<TextSink> sink_;
  ResultHeader header_;
  std::string buffer_, tail_;
  bool first_ = true;
};

}  // namespace

std::unique_ptr<ResultWriter> make_csv_writer(std::unique_ptr<TextSink> sink, ResultHeader header) {
  return std::make_unique<CsvWriter>(std::move(sink), header);
}

std::unique_ptr<ResultWriter> make_json_writer(std::unique_ptr<TextSink> sink, ResultHeader header) {
  return std::make_unique<JsonResultWriter>(std::move(sink), std::move(header));
}

}  // namespace mechanician
