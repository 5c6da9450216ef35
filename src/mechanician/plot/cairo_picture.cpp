#include "mechanician/plot/cairo_picture.hpp"

#include <stdexcept>

#if defined(MECHANICIAN_CAIRO)

#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "mechanician/plot/cairo_library_internal.hpp"
#include "mechanician/plot/text_width.hpp"

namespace mechanician {

namespace {

/// What is to be opened; empty: the library that the system has.
std::string library_asked_for() {
  const char* name = std::getenv("MECHANICIAN_CAIRO");
  return name ? name : "";
}

}  // namespace

const CairoLibrary* cairo_library() {
  static const CairoLibrary* const library = []() -> const CairoLibrary* {
    const std::string asked = library_asked_for();
    if (asked == "off") return nullptr;
    const char* const name = asked.empty() ? "libcairo.so.2" : asked.c_str();
    void* const opened = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!opened) return nullptr;
    static CairoLibrary functions;
#define X(name) functions.name = reinterpret_cast<decltype(functions.name)>(::dlsym(opened, "cairo_" #name));
    MECHANICIAN_CAIRO_FUNCTIONS(X)
#undef X
#define X(name) \
  if (!functions.name) return nullptr;
    MECHANICIAN_CAIRO_FUNCTIONS(X)
#undef X
    return &functions;
  }();
  return library;
}

namespace {

const CairoLibrary& cairo() {
  const CairoLibrary* library = cairo_library();
  if (const std::string asked = library_asked_for(); !library)
    throw std::runtime_error(
        asked.empty()
            ? "PNG and PDF need the library cairo (libcairo.so.2), which cannot be opened: install libcairo2, or "
              "write an SVG"
        : asked == "off" ? "PNG and PDF need the library cairo, which MECHANICIAN_CAIRO=off switches off: write an SVG"
                         : fmt::format("PNG and PDF need the library cairo, and MECHANICIAN_CAIRO names `{}`, which "
                                       "cannot be opened or is not "
                                       "it: take that away, or write an SVG",
                                       asked));
  return *library;
}

cairo_status_t append_bytes(void* out, const unsigned char* bytes, unsigned size) {
  static_cast<std::string*>(out)->append(reinterpret_cast<const char*>(bytes), size);
  return CAIRO_STATUS_SUCCESS;
}

/// A surface and a context on it.
class Canvas {
 public:
  explicit Canvas(cairo_surface_t* surface) : c_(cairo()), surface_(surface), context_(c_.create(surface)) {}
  ~Canvas() {
    c_.destroy(context_);
    c_.surface_destroy(surface_);
  }
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  void draw(const Drawing& drawing, double scale) {
    c_.scale(context_, scale, scale);
    c_.set_source_rgb(context_, 1, 1, 1);
    c_.paint(context_);
    c_.set_line_join(context_, CAIRO_LINE_JOIN_ROUND);
    for (const auto& item : drawing.items) {
      if (const auto* path = std::get_if<DrawnPath>(&item))
        draw_path(*path);
      else
        draw_text(std::get<DrawnText>(item));
    }
    c_.show_page(context_);
    check(c_.status(context_));
  }

  cairo_surface_t* surface() { return surface_; }
  void check(cairo_status_t status) const {
    if (status != CAIRO_STATUS_SUCCESS) throw std::runtime_error(fmt::format("cairo: {}", c_.status_to_string(status)));
  }

 private:
  void set_colour(Colour colour) {
    const auto part = [&](int shift) { return static_cast<double>((colour >> shift) & 0xFFu) / 255.0; };
    c_.set_source_rgb(context_, part(16), part(8), part(0));
  }

  void draw_path(const DrawnPath& path) {
    set_colour(path.colour);
    c_.set_line_width(context_, path.width);
    c_.set_dash(context_, path.dash.data(), static_cast<int>(path.dash.size()), 0.0);
    c_.set_line_cap(context_, path.dots ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    c_.new_path(context_);
    for (const Polyline& line : path.lines) {
      bool first = true;
      for (const Point p : line) {
        if (first || path.dots) c_.move_to(context_, p.x, p.y);
        if (!first || path.dots) c_.line_to(context_, p.x, p.y);
        first = false;
      }
      if (path.filled) c_.close_path(context_);
    }
    path.filled ? c_.fill(context_) : c_.stroke(context_);
  }

  void draw_text(const DrawnText& t) {
    c_.save(context_);
    set_colour(t.colour);
    c_.select_font_face(context_, "Helvetica", CAIRO_FONT_SLANT_NORMAL,
                        t.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    c_.translate(context_, t.at.x, t.at.y);
    if (t.upwards) c_.rotate(context_, -M_PI / 2);
    double width = 0.0;
    for (const TextRun& run : t.text) width += advance(run, t.size);
    double x = t.anchor == Anchor::start ? 0.0 : t.anchor == Anchor::middle ? -width / 2 : -width;
    for (const TextRun& run : t.text) {
      const double wide = advance(run, t.size);
      c_.move_to(context_, x, run.raised ? -raised_by * t.size : 0.0);
      c_.show_text(context_, run.text.c_str());
      x += wide;
    }
    c_.restore(context_);
  }

  double advance(const TextRun& run, double size) {
    c_.set_font_size(context_, run.raised ? raised_size * size : size);
    cairo_text_extents_t extents;
    c_.text_extents(context_, run.text.c_str(), &extents);
    return extents.x_advance;
  }

  const CairoLibrary& c_;
  cairo_surface_t* surface_;
  cairo_t* context_;
};

}  // namespace

std::string png_bytes(const Drawing& drawing, double scale) {
  const CairoLibrary& c = cairo();
  Canvas canvas(c.image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(drawing.width * scale)),
                                       static_cast<int>(std::lround(drawing.height * scale))));
  canvas.draw(drawing, scale);
  std::string bytes;
  canvas.check(c.surface_write_to_png_stream(canvas.surface(), append_bytes, &bytes));
  return bytes;
}

std::string pdf_bytes(const Drawing& drawing) {
  constexpr double points = 0.75;  // in a pixel of 1/96 inch
  const CairoLibrary& c = cairo();
  std::string bytes;
  Canvas canvas(c.pdf_surface_create_for_stream(append_bytes, &bytes, drawing.width * points, drawing.height * points));
  c.pdf_surface_set_metadata(canvas.surface(), CAIRO_PDF_METADATA_TITLE, drawing.title.c_str());
  canvas.draw(drawing, points);
  c.surface_finish(canvas.surface());
  canvas.check(c.surface_status(canvas.surface()));
  return bytes;
}

}  // namespace mechanician

#else  // built without the header of cairo

namespace mechanician {

namespace {
[[noreturn]] void refuse() {
  throw std::runtime_error("this program was built without cairo (package libcairo2-dev): it writes SVG only");
}
}  // namespace

std::string png_bytes(const Drawing&, double) { refuse(); }
std::string pdf_bytes(const Drawing&) { refuse(); }

}  // namespace mechanician

#endif
