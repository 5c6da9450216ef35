#include "mechanician/result/matrix_file.hpp"

#include <algorithm>

#include "mechanician/result/part_file.hpp"

namespace mechanician {

void write_matrices(const std::string& file, const std::vector<NamedMatrix>& matrices,
                    const std::vector<NamedTexts>& texts, const std::vector<Hdf5Attribute>& attributes) {
  std::vector<Hdf5Dataset> datasets;
  std::vector<std::string> bytes;
  for (const NamedMatrix& m : matrices) {
    if (m.values.size() == 0) continue;
    datasets.push_back({.path = m.path,
                        .rows = static_cast<std::uint64_t>(m.values.rows()),
                        .columns = static_cast<std::uint64_t>(m.values.cols()),
                        .matrix = true,
                        .names = m.columns,
                        .about = m.about});
    const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows = m.values;
    bytes.emplace_back(reinterpret_cast<const char*>(rows.data()),
                       static_cast<std::size_t>(rows.size()) * sizeof(double));
  }
  for (const NamedTexts& t : texts) {
    if (t.texts.empty()) continue;
    std::size_t longest = 1;
    for (const std::string& text : t.texts) longest = std::max(longest, text.size());
    datasets.push_back(
        {.path = t.path, .type = Hdf5Type::text, .rows = t.texts.size(), .columns = longest, .names = {}, .about = {}});
    std::string& all = bytes.emplace_back();
    for (const std::string& text : t.texts) all += text, all.resize(all.size() + longest - text.size(), '\0');
  }
  PartFile part(file);
  part.make_scratch();
  const std::vector<std::uint64_t> offsets = create_hdf5(part.scratch(), datasets, attributes);
  {
    OpenFile open(part.scratch(), OpenFile::Mode::write);
    for (std::size_t k = 0; k < datasets.size(); ++k) open.write_at(offsets[k], bytes[k]);
    seal_hdf5(open, {});
    open.sync();
    open.close();
  }
  part.finish_by_scratch();
}

}  // namespace mechanician
