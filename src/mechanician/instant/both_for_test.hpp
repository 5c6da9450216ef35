#pragma once

// One model with families, its numbers from equations written out and from kernels.

#include <string>

#include "mechanician/instant/system.hpp"

namespace mechanician {

struct Both {
  explicit Both(const std::string& text, const ParameterOverrides& set = {})
      : written(read_family_model_text(text, "m.toml", set), System::Numbers::written_out),
        kernels(read_family_model_text(text, "m.toml", set), System::Numbers::kernels),
        start(written.start()) {}
  System written, kernels;
  State start;
};

}  // namespace mechanician
