#pragma once

#include <array>
#include <string_view>

namespace mechanician {

/// What results keep of each row, in the order of the columns: the state with its time comes first, works come last.
inline constexpr std::array<std::string_view, 25> quantity_names = {"t",
                                                                    "q",
                                                                    "qd",
                                                                    "qdd",
                                                                    "Qc",
                                                                    "Qi",
                                                                    "Qni",
                                                                    "Qcontrol",
                                                                    "lambda",
                                                                    "normal",
                                                                    "friction",
                                                                    "tau",
                                                                    "e",
                                                                    "cost",
                                                                    "outputs",
                                                                    "modes",
                                                                    "engaged",
                                                                    "residual",
                                                                    "power",
                                                                    "work_given",
                                                                    "work_ideal",
                                                                    "work_nonideal",
                                                                    "work_control",
                                                                    "work",
                                                                    "work_of_actuators"};

}  // namespace mechanician
