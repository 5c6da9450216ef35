#pragma once

#include <cairo-pdf.h>
#include <cairo.h>

namespace mechanician {

// The functions of cairo that we use, without their prefix.
// clang-format off
#define MECHANICIAN_CAIRO_FUNCTIONS(X)                                                                                 \
  X(create) X(destroy) X(status) X(status_to_string)                                                                   \
  X(image_surface_create) X(pdf_surface_create_for_stream) X(pdf_surface_set_metadata)                                 \
  X(surface_destroy) X(surface_finish) X(surface_status) X(surface_write_to_png_stream)                                \
  X(save) X(restore) X(scale) X(translate) X(rotate) X(paint) X(show_page)                                             \
  X(set_source_rgb) X(set_line_width) X(set_dash) X(set_line_cap) X(set_line_join)                                     \
  X(move_to) X(line_to) X(close_path) X(stroke) X(fill) X(new_path)                                                    \
  X(select_font_face) X(set_font_size) X(text_extents) X(show_text)
// clang-format on

struct CairoLibrary {
#define X(name) decltype(&::cairo_##name) name = nullptr;
  MECHANICIAN_CAIRO_FUNCTIONS(X)
#undef X
};

/// Null where it cannot be opened. Opened at the first call.
const CairoLibrary* cairo_library();

}  // namespace mechanician
