#include "mechanician/motion/bdf.hpp"

#include <cvode/cvode.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_dense.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <exception>
#include <limits>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace mechanician {

namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

// Quadratures may have this many times the error of the motion.
constexpr double quadrature_slack = 100.0;
// Predictor and error constant magnify rounding by about so much.
constexpr double noise_slack = 2.0;
// Newton stops when its error is this part of what the error test allows.
constexpr double newton_part = 0.1;
// Newton failures quarter the step: 25 of them take it from any size to rounding.
constexpr int most_convergence_failures = 25;
constexpr int most_projection_failures = 25;
constexpr int most_error_failures = 20;
constexpr long steps_to_blame = 100;
// Growth of the step, as for one-step methods: CVODE's tenfold often has to be taken back.
constexpr double most_growth = 1.5;
// Beside SUNDIALS' flags: a step that does not change the time.
constexpr int step_lost = -1000;

std::span<double> span_of(N_Vector v) { return {NV_DATA_S(v), static_cast<std::size_t>(NV_LENGTH_S(v))}; }

bool all_finite(std::span<const double> v) {
  return std::all_of(v.begin(), v.end(), [](double x) { return std::isfinite(x); });
}

double largest_weighted(N_Vector v, N_Vector weight) {
  double largest = 0.0;
  for (sunindextype i = 0; i < NV_LENGTH_S(v); ++i) {
    const double x = std::abs(NV_Ith_S(v, i) * NV_Ith_S(weight, i));
    if (std::isnan(x)) return x;
    largest = std::max(largest, x);
  }
  return largest;
}

void check(const BdfProblem& problem, const BdfOptions& options) {
  if (problem.size < 1 || problem.num_dynamic < 0 || problem.num_dynamic > problem.size || problem.num_positions < 0 ||
      2 * problem.num_positions > problem.num_dynamic)
    throw std::invalid_argument(fmt::format("bdf: sizes do not fit: size {}, num_dynamic {}, num_positions {}",
                                            problem.size, problem.num_dynamic, problem.num_positions));
  if (!problem.rhs) throw std::invalid_argument("bdf: rhs is missing");
  if (!(options.tolerance > 0.0) || !(options.largest_step >= 0.0) || !(options.first_step >= 0.0))
    throw std::invalid_argument(
        fmt::format("bdf: tolerance {} must be positive, largest step {} and first step {} not "
                    "negative",
                    options.tolerance, options.largest_step, options.first_step));
  if (options.largest_order < 1 || options.largest_order > 5)
    throw std::invalid_argument(fmt::format("bdf: largest order {} is not in 1 … 5", options.largest_order));
}

// Owners of what SUNDIALS allocates; all of them die before the context.
struct ContextDeleter {
  using pointer = SUNContext;
  void operator()(SUNContext c) const { SUNContext_Free(&c); }
};
struct VectorDeleter {
  using pointer = N_Vector;
  void operator()(N_Vector v) const { N_VDestroy(v); }
};
struct MatrixDeleter {
  using pointer = SUNMatrix;
  void operator()(SUNMatrix m) const { SUNMatDestroy(m); }
};
struct SolverDeleter {
  using pointer = SUNLinearSolver;
  void operator()(SUNLinearSolver s) const { SUNLinSolFree(s); }
};
struct CvodeDeleter {
  using pointer = void*;
  void operator()(void* c) const { CVodeFree(&c); }
};

template <class T>
T made(T pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

void must(int flag) {
  if (flag == CV_MEM_FAIL || flag == CVLS_MEM_FAIL) throw std::bad_alloc();
  assert(flag >= 0);
  (void)flag;
}

SUNContext make_context() {
  SUNContext context = nullptr;
  if (SUNContext_Create(nullptr, &context) != 0) throw std::bad_alloc();
  return context;
}

}  // namespace

class Bdf::Impl {
 public:
  Impl(BdfProblem problem, BdfOptions options)
      : problem_(std::move(problem)), options_(options), context_(make_context()) {
    y_.reset(made(N_VNew_Serial(problem_.size, context_.get())));
    y_.get()->ops->nvwrmsnorm = call_norm;  // clones take it over
    scratch_.reset(made(N_VClone(y_.get())));
    filtered_.reset(made(N_VClone(y_.get())));
    matrix_.reset(made(SUNDenseMatrix(problem_.size, problem_.size, context_.get())));
    solver_.reset(made(SUNLinSol_Dense(y_.get(), matrix_.get(), context_.get())));
    for (auto* v : {&dy_, &noise_}) v->resize(problem_.size);
    shifted_.resize(problem_.size);
    shifted_dy_.resize(problem_.size);
  }

  void start(double t, std::span<const double> y) {
    assert(static_cast<int>(y.size()) == problem_.size);
    past_ = statistics();
    std::copy(y.begin(), y.end(), span_of(y_.get()).begin());
    t_ = step_begin_ = t;
    failure_ = Failure::none;
    reason_.clear();
    refusal_ = {};
    steps_ = 0;
    started_ = true;

    // A new integrator each time: CVodeReInit promises nothing about what it keeps.
    cvode_.reset(made(CVodeCreate(CV_BDF, context_.get())));
    void* const c = cvode_.get();
    must(CVodeSetErrHandlerFn(
        c, [](int, const char*, const char*, char*, void*) {}, nullptr));
    must(CVodeInit(c, call_rhs, t, y_.get()));
    must(CVodeSetUserData(c, this));
    must(CVodeWFtolerances(c, call_weights));
    must(CVodeSetLinearSolver(c, solver_.get(), matrix_.get()));
    must(CVodeSetJacFn(c, call_jacobian));
    must(CVodeSetMaxOrd(c, options_.largest_order));
    must(CVodeSetMaxStep(c, options_.largest_step));
    must(CVodeSetInitStep(c, options_.first_step));
    must(CVodeSetNonlinConvCoef(c, newton_part));
    must(CVodeSetMaxConvFails(c, most_convergence_failures));
    must(CVodeSetMaxErrTestFails(c, most_error_failures));
    must(CVodeSetMaxHnilWarns(c, -1));
    must(CVodeSetEtaMax(c, most_growth));
    // Also where there is nothing to project: it marks the beginning of the error test, see call_norm().
    must(CVodeSetProjFn(c, call_projection));
    must(CVodeSetProjErrEst(c, SUNTRUE));
    must(CVodeSetMaxNumProjFails(c, most_projection_failures));
  }

  Outcome step(double t_stop) {
    assert(started_ && t_stop > t_);
    if (failure_ != Failure::none) return Outcome::failed;
    void* const c = cvode_.get();
    thrown_ = nullptr;
    const Running guard(*this);

    // The search for a first step refuses intervals of a few units in the last place.
    const bool first = last_step() == 0.0;
    if (first && t_stop - t_ <= 1e3 * eps * std::max(std::abs(t_), std::abs(t_stop)))
      must(CVodeSetInitStep(c, t_stop - t_));
    must(CVodeSetStopTime(c, t_stop));
    double t_reached = t_;
    const int flag = CVode(c, t_stop, scratch_.get(), &t_reached, CV_ONE_STEP);

    if (thrown_) {
      set_failure(Failure::not_finite, "an evaluation was interrupted");
      std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    if (flag < 0) return explain(flag);
    if (!(t_reached > t_)) return explain(step_lost);
    ++steps_;
    std::swap(y_, scratch_);
    step_begin_ = std::exchange(t_, t_reached);
    return Outcome::stepped;
  }

  bool interpolate(double t, int derivative, std::span<double> out) const {
    assert(static_cast<int>(out.size()) == problem_.size);
    if (!started_ || !(t >= step_begin_ && t <= t_)) return false;
    if (derivative == 0 && t == t_) {
      const auto y = span_of(y_.get());
      std::copy(y.begin(), y.end(), out.begin());
      return true;
    }
    if (last_step() == 0.0 || failure_ != Failure::none) return false;
    if (CVodeGetDky(cvode_.get(), t, derivative, scratch_.get()) != CV_SUCCESS) return false;
    const auto values = span_of(scratch_.get());
    std::copy(values.begin(), values.end(), out.begin());
    return true;
  }

  double t() const { return t_; }
  double step_begin() const { return step_begin_; }
  std::span<const double> y() const { return span_of(y_.get()); }
  Failure failure() const { return failure_; }
  const std::string& reason() const { return reason_; }

  double last_step() const {
    double h = 0.0;
    if (cvode_) must(CVodeGetLastStep(cvode_.get(), &h));
    return h;
  }
  double next_step() const {
    double h = 0.0;
    if (last_step() > 0.0) must(CVodeGetCurrentStep(cvode_.get(), &h));
    return h;
  }
  int order() const {
    int k = 0;
    if (cvode_) must(CVodeGetLastOrder(cvode_.get(), &k));
    return k;
  }

  BdfStatistics statistics() const {
    BdfStatistics s = past_;
    s.evaluations = evaluations_;
    s.jacobians = jacobians_;
    s.projections = projections_;
    s.projection_failures = projection_failures_;
    if (!cvode_) return s;
    void* const c = cvode_.get();
    const auto add = [&](int (*get)(void*, long*), long& sum) {
      long count = 0;
      if (get(c, &count) == CV_SUCCESS) sum += count;
    };
    add(CVodeGetNumSteps, s.steps);
    add(CVodeGetNumLinSolvSetups, s.factorisations);
    add(CVodeGetNumErrTestFails, s.error_failures);
    add(CVodeGetNumStepSolveFails, s.convergence_failures);
    return s;
  }

 private:
  // Nothing that a callback throws may pass through C: it is kept, and thrown again by step().
  template <class Work>
  int guarded(Work&& work) {
    try {
      return work() ? 0 : 1;
    } catch (...) {
      thrown_ = std::current_exception();
      return -1;
    }
  }

  // The object whose step() runs in this thread: SUNDIALS' norms know of vectors only.
  struct Running {
    explicit Running(Impl& impl) : before(std::exchange(running_, &impl)) { impl.testing_error_ = false; }
    ~Running() { running_ = before; }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    Impl* before;
  };

  // Takes the place of SUNDIALS' root mean square, in which many idle components would hide the error of one.
  //
  // Between the projection and the next evaluation of f it measures error estimates: there it also looks at
  // (I − hβJ)⁻¹v, for the local error is (I − hβJ)⁻¹(const·h^(k+1) y^(k+1)). Predictor minus corrector alone misses what
  // the error of a position does to a velocity that stiff forces bind to it (q̇ = −(k/c)q: a factor k/c), and then sees
  // it all at once whenever step or order change, so that neither ever does: a spring-damper with k/c = 100 took 10⁶
  // steps at order 1, and its error was 10⁴ times the tolerance. The filtered estimate alone would miss components that
  // the stiff forces damp within the step (error up to 10³ times the tolerance): the larger one counts.
  static double call_norm(N_Vector v, N_Vector weight) {
    Impl* const impl = running_;
    const double plain = largest_weighted(v, weight);
    if (impl == nullptr || !impl->testing_error_) return plain;
    N_Vector const filtered = impl->filtered_.get();
    if (SUNLinSolSolve(impl->solver_.get(), impl->matrix_.get(), filtered, v, 0.0) != SUNLS_SUCCESS) return plain;
    return std::max(plain, largest_weighted(filtered, weight));
  }

  bool evaluate(double t, std::span<const double> y, std::span<double> dy) {
    ++evaluations_;
    testing_error_ = false;
    const bool found = all_finite(y) && problem_.rhs(t, y, dy) && all_finite(dy);
    if (!found) refusal_ = {Failure::not_finite, steps_};
    return found;
  }

  static int call_rhs(double t, N_Vector y, N_Vector dy, void* self) {
    Impl& impl = *static_cast<Impl*>(self);
    return impl.guarded([&] {
      if (!impl.evaluate(t, span_of(y), span_of(dy))) return false;
      std::copy(span_of(dy).begin(), span_of(dy).end(), impl.dy_.begin());
      return true;
    });
  }

  static int call_weights(N_Vector y, N_Vector weights, void* self) {
    Impl& impl = *static_cast<Impl*>(self);
    const auto values = span_of(y), out = span_of(weights);
    impl.calc_noise(values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double slack = static_cast<int>(i) < impl.problem_.num_dynamic ? 1.0 : quadrature_slack;
      const double typical = impl.problem_.typical ? impl.problem_.typical(static_cast<int>(i), values[i])
                                                   : std::max(1.0, std::abs(values[i]));
      out[i] = 1.0 / (slack * impl.options_.tolerance * typical + noise_slack * impl.noise_[i]);
    }
    return 0;
  }

  // What rounding of the state and of the time does to a step, (I − hβJ)⁻¹δ with |δ_i| = eps (|y_i| + |t y′_i|): an error
  // estimate below that is no reason to shorten the step, and Newton cannot do better either. The signs of δ are not
  // known; a few patterns stand for all.
  void calc_noise(std::span<const double> y) {
    std::fill(noise_.begin(), noise_.end(), 0.0);
    if (last_step() == 0.0) return;
    N_Vector const delta = filtered_.get();
    for (unsigned pattern = 1; pattern <= 3; ++pattern) {
      unsigned bits = pattern;
      for (std::size_t i = 0; i < y.size(); ++i) {
        bits = bits * 1664525u + 1013904223u;
        const double size = eps * (std::abs(y[i]) + std::abs(t_ * dy_[i]));
        span_of(delta)[i] = (bits >> 16 & 1u) != 0u ? size : -size;
      }
      if (SUNLinSolSolve(solver_.get(), matrix_.get(), delta, delta, 0.0) != SUNLS_SUCCESS) return;
      for (std::size_t i = 0; i < y.size(); ++i) noise_[i] = std::max(noise_[i], std::abs(span_of(delta)[i]));
    }
  }

  static int call_projection(double t, N_Vector y, N_Vector correction, double, N_Vector, void* self) {
    Impl& impl = *static_cast<Impl*>(self);
    return impl.guarded([&] {
      impl.testing_error_ = true;
      const auto given = span_of(y), moved = span_of(correction);
      if (!impl.problem_.project) {
        std::fill(moved.begin(), moved.end(), 0.0);
        return true;
      }
      std::copy(given.begin(), given.end(), moved.begin());
      ++impl.projections_;
      if (!impl.problem_.project(t, moved) || !all_finite(moved)) {
        ++impl.projection_failures_;
        impl.refusal_ = {Failure::projection, impl.steps_};
        return false;
      }
      for (std::size_t i = 0; i < moved.size(); ++i) moved[i] -= given[i];
      return true;
    });
  }

  static int call_jacobian(double t, N_Vector y, N_Vector dy, SUNMatrix J, void* self, N_Vector, N_Vector, N_Vector) {
    Impl& impl = *static_cast<Impl*>(self);
    return impl.guarded([&] { return impl.calc_jacobian(t, span_of(y), span_of(dy), J); });
  }

  // Columns of ∂f/∂y by one-sided differences; those of the quadratures are zero.
  bool calc_jacobian(double t, std::span<const double> y, std::span<const double> dy, SUNMatrix J) {
    ++jacobians_;
    SUNMatZero(J);
    const int n = problem_.num_positions;
    for (int i = 0; i < n; ++i) SM_ELEMENT_D(J, i, n + i) = 1.0;  // q′ = q̇
    std::copy(y.begin(), y.end(), shifted_.begin());
    for (int j = 0; j < problem_.num_dynamic; ++j) {
      // Rounding of f against its curvature. The typical size 1 is that of the error weights. Along the motion first:
      // what is behind may be out of the domain of f, what is ahead will be needed.
      double increment = std::copysign(std::sqrt(eps) * std::max(std::abs(y[j]), 1.0), dy[j]);
      bool found = false;
      for (int attempt = 0; attempt < 2 && !found; ++attempt, increment = -increment) {
        shifted_[j] = y[j] + increment;
        found = evaluate(t, shifted_, shifted_dy_);
      }
      if (!found) return false;
      const double difference = shifted_[j] - y[j];
      double* const column = SM_COLUMN_D(J, j);
      for (int i = n; i < problem_.size; ++i) column[i] = (shifted_dy_[i] - dy[i]) / difference;
      shifted_[j] = y[j];
    }
    return true;
  }

  void set_failure(Failure failure, std::string reason) {
    failure_ = failure;
    reason_ = std::move(reason);
  }

  Outcome explain(int flag) {
    // Steps that became shorter and shorter were driven there by what refused them last.
    if (flag == step_lost || flag == CV_CONV_FAILURE || flag == CV_ERR_FAILURE) {
      const bool recent = steps_ - refusal_.step <= steps_to_blame;
      if (recent && refusal_.kind == Failure::projection) flag = CV_REPTD_PROJFUNC_ERR;
      if (recent && refusal_.kind == Failure::not_finite) flag = CV_REPTD_RHSFUNC_ERR;
    }
    const auto report = [&](Failure failure, std::string_view what) {
      set_failure(failure, fmt::format("{} at t = {:.10g}", what, t_));
    };
    switch (flag) {
      case CV_PROJFUNC_FAIL:
      case CV_REPTD_PROJFUNC_ERR:
        report(Failure::projection, "the constraints cannot be reached, however short the step,");
        break;
      case CV_FIRST_RHSFUNC_ERR:
        report(Failure::not_finite, "the start has no finite acceleration");
        break;
      case CV_RHSFUNC_FAIL:
      case CV_REPTD_RHSFUNC_ERR:
      case CV_UNREC_RHSFUNC_ERR:
        report(Failure::not_finite, "no finite acceleration, however short the step,");
        break;
      case CV_ERR_FAILURE:
        report(Failure::step_too_small, "the tolerance cannot be met, however short the step,");
        break;
      case CV_TOO_MUCH_ACC:
        report(Failure::step_too_small, "the tolerance is below rounding");
        break;
      case step_lost:
        report(Failure::step_too_small, "the step is lost in the rounding of the time");
        break;
      default:
        report(Failure::step_too_small, "Newton's iteration does not converge, however short the step,");
    }
    return Outcome::failed;
  }

  BdfProblem problem_;
  BdfOptions options_;
  std::unique_ptr<void, ContextDeleter> context_;
  std::unique_ptr<void, MatrixDeleter> matrix_;
  std::unique_ptr<void, VectorDeleter> y_, scratch_, filtered_;
  std::unique_ptr<void, SolverDeleter> solver_;
  std::unique_ptr<void, CvodeDeleter> cvode_;
  std::vector<double> shifted_, shifted_dy_;
  std::vector<double> dy_, noise_;  // the last value of f; what rounding does to a step

  double t_ = 0.0, step_begin_ = 0.0;
  bool started_ = false;
  Failure failure_ = Failure::none;
  std::string reason_;
  // What last made a step shorter, and after how many steps.
  struct Refusal {
    Failure kind = Failure::none;
    long step = 0;
  };
  Refusal refusal_;
  long steps_ = 0;
  std::exception_ptr thrown_;
  BdfStatistics past_;
  long evaluations_ = 0, jacobians_ = 0, projections_ = 0, projection_failures_ = 0;

  bool testing_error_ = false;
  static thread_local Impl* running_;
};

thread_local Bdf::Impl* Bdf::Impl::running_ = nullptr;

Bdf::Bdf(BdfProblem problem, BdfOptions options) {
  check(problem, options);
  impl_ = std::make_unique<Impl>(std::move(problem), options);
}
Bdf::~Bdf() = default;
Bdf::Bdf(Bdf&&) noexcept = default;
Bdf& Bdf::operator=(Bdf&&) noexcept = default;

void Bdf::start(double t, std::span<const double> y) { impl_->start(t, y); }
Bdf::Outcome Bdf::step(double t_stop) { return impl_->step(t_stop); }
double Bdf::step_begin() const { return impl_->step_begin(); }
double Bdf::t() const { return impl_->t(); }
std::span<const double> Bdf::y() const { return impl_->y(); }
bool Bdf::interpolate(double t, std::span<double> y) const { return impl_->interpolate(t, 0, y); }
bool Bdf::interpolate_rate(double t, std::span<double> dy) const { return impl_->interpolate(t, 1, dy); }
double Bdf::last_step() const { return impl_->last_step(); }
double Bdf::next_step() const { return impl_->next_step(); }
int Bdf::order() const { return impl_->order(); }
BdfStatistics Bdf::statistics() const { return impl_->statistics(); }
Bdf::Failure Bdf::failure() const { return impl_->failure(); }
const std::string& Bdf::reason() const { return impl_->reason(); }

}  // namespace mechanician
