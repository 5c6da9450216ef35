#pragma once

/// Results as text.
///
/// CSV: a line of column names, a line per row. A result that is not done ends with a line `# STATUS: why`, so that it
/// is not taken for a whole one.
/// JSON: {"columns": […], "rows": [[…]], "events": […], "summary": {…}}, valid after every flush, with the status
/// "incomplete" until the end. Numbers that are not finite are null.

#include <memory>

#include "mechanician/result/result_writer.hpp"
#include "mechanician/result/text_sink.hpp"

namespace mechanician {

std::unique_ptr<ResultWriter> make_csv_writer(std::unique_ptr<TextSink> sink, ResultHeader header);
std::unique_ptr<ResultWriter> make_json_writer(std::unique_ptr<TextSink> sink, ResultHeader header);

}  // namespace mechanician
