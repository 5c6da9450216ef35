#include "mechanician/result/result_writer.hpp"

#include <cassert>

#include "mechanician/result/hdf5_writer.hpp"
#include "mechanician/result/text_writers.hpp"

namespace mechanician {

std::optional<ResultFormat> format_of(std::string_view file) {
  if (file.ends_with(".csv")) return ResultFormat::csv;
  if (file.ends_with(".json")) return ResultFormat::json;
  if (file.ends_with(".h5")) return ResultFormat::hdf5;
  return std::nullopt;
}

std::unique_ptr<ResultWriter> make_writer(const std::string& file, ResultFormat format, ResultHeader header) {
  switch (format) {
    case ResultFormat::csv:
      return make_csv_writer(make_file_sink(file), std::move(header));
    case ResultFormat::json:
      return make_json_writer(make_file_sink(file), std::move(header));
    case ResultFormat::hdf5:
      break;
  }
  return make_hdf5_writer(file, std::move(header));
}

std::unique_ptr<ResultWriter> make_standard_output_writer(ResultFormat format, ResultHeader header) {
  assert(format != ResultFormat::hdf5);
  auto sink = make_standard_output_sink();
  return format == ResultFormat::json ? make_json_writer(std::move(sink), std::move(header))
                                      : make_csv_writer(std::move(sink), std::move(header));
}

}  // namespace mechanician
