#include "mechanician/motion/bdf.hpp"

#include <cvodes/cvodes.h>
#include <fmt/format.h>
#include <nvector/nvector_serial.h>

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

// Quadratures may have this many times the error of the motion; what is below is rounding of powers.
constexpr double quadrature_slack = 100.0, least_of_quadratures = 1e-11;
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
  if (problem.size < 1 || problem.num_dynamic < 1 || problem.num_dynamic > problem.size || problem.num_positions < 0 ||
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
  void operator()(SUNMatrix m) const { SUNMatFreeEmpty(m); }
};
struct SolverDeleter {
  using pointer = SUNLinearSolver;
  void operator()(SUNLinearSolver s) const { SUNLinSolFreeEmpty(s); }
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
    state_.reset(made(N_VNew_Serial(problem_.num_dynamic, context_.get())));
    state_.get()->ops->nvwrmsnorm = call_norm;  // clones take it over
    filtered_.reset(made(N_VClone(state_.get())));
    if (num_quadratures() > 0) {
      quadratures_.reset(made(N_VNew_Serial(num_quadratures(), context_.get())));
      quadratures_.get()->ops->nvwrmsnorm = call_quadrature_norm;
    }
    for (auto* v : {&y_, &rates_}) v->resize(static_cast<std::size_t>(problem_.size));
    for (auto* v : {&dy_, &noise_, &rated_}) v->resize(static_cast<std::size_t>(problem_.num_dynamic));
    newton_ = problem_.newton;
    if (!newton_)
      newton_ = std::make_shared<DifferenceNewton>(
          problem_.num_dynamic, problem_.num_positions, problem_.size, problem_.by_rates,
          [this](double t, std::span<const double> y, std::span<double> dy) { return evaluate(t, y, dy); });
    // Newton's matrix is not seen by CVODES: it is made and solved with by newton_.
    matrix_.reset(made(SUNMatNewEmpty(context_.get())));
    matrix_.get()->ops->getid = [](SUNMatrix) { return SUNMATRIX_CUSTOM; };
    solver_.reset(made(SUNLinSolNewEmpty(context_.get())));
    solver_.get()->content = this;
    solver_.get()->ops->gettype = [](SUNLinearSolver) { return SUNLINEARSOLVER_DIRECT; };
    solver_.get()->ops->solve = [](SUNLinearSolver self, SUNMatrix, N_Vector x, N_Vector b, realtype) -> int {
      if (x != b) N_VScale(1.0, b, x);
      static_cast<Impl*>(self->content)->newton_->solve(span_of(x));
      return SUNLS_SUCCESS;
    };
  }

  void start(double t, std::span<const double> y, double quadrature_size) {
    assert(static_cast<int>(y.size()) == problem_.size);
    past_ = statistics();
    std::copy(y.begin(), y.end(), y_.begin());
    largest_quadrature_ = quadrature_size;
    measure_quadratures();
    std::copy_n(y.begin(), problem_.num_dynamic, span_of(state_.get()).begin());
    if (quadratures_) std::copy(y.begin() + problem_.num_dynamic, y.end(), span_of(quadratures_.get()).begin());
    newton_->forget();
    t_ = step_begin_ = t;
    rated_t_ = std::numeric_limits<double>::quiet_NaN();
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
    must(CVodeInit(c, call_rhs, t, state_.get()));
    must(CVodeSetUserData(c, this));
    must(CVodeWFtolerances(c, call_weights));
    if (quadratures_) {
      const double tolerance = std::max(quadrature_slack * options_.tolerance, least_of_quadratures);
      must(CVodeQuadInit(c, call_quadratures, quadratures_.get()));
      must(CVodeQuadSStolerances(c, 0.0, tolerance));
      must(CVodeSetQuadErrCon(c, SUNTRUE));
    }
    must(CVodeSetLinearSolver(c, solver_.get(), matrix_.get()));
    must(CVodeSetLinSysFn(c, call_newton));
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
    const int flag = CVode(c, t_stop, state_.get(), &t_reached, CV_ONE_STEP);

    if (thrown_) {
      set_failure(Failure::not_finite, "an evaluation was interrupted");
      std::rethrow_exception(std::exchange(thrown_, nullptr));
    }
    if (flag < 0) return explain(flag);
    if (!(t_reached > t_)) return explain(step_lost);
    ++steps_;
    std::copy_n(span_of(state_.get()).begin(), problem_.num_dynamic, y_.begin());
    if (quadratures_) {
      must(CVodeGetQuad(c, &t_reached, quadratures_.get()));
      std::copy_n(span_of(quadratures_.get()).begin(), num_quadratures(), y_.begin() + problem_.num_dynamic);
      measure_quadratures();
    }
    step_begin_ = std::exchange(t_, t_reached);
    return Outcome::stepped;
  }

  bool interpolate(double t, int derivative, std::span<double> out) const {
    assert(static_cast<int>(out.size()) == problem_.size);
    if (!started_ || !(t >= step_begin_ && t <= t_)) return false;
    if (derivative == 0 && t == t_) {
      std::copy(y_.begin(), y_.end(), out.begin());
      return true;
    }
    if (last_step() == 0.0 || failure_ != Failure::none) return false;
    if (derivative > order()) return std::fill(out.begin(), out.end(), 0.0), true;
    if (CVodeGetDky(cvode_.get(), t, derivative, state_.get()) != CV_SUCCESS) return false;
    std::copy_n(span_of(state_.get()).begin(), problem_.num_dynamic, out.begin());
    if (!quadratures_) return true;
    if (CVodeGetQuadDky(cvode_.get(), t, derivative, quadratures_.get()) != CV_SUCCESS) return false;
    std::copy_n(span_of(quadratures_.get()).begin(), num_quadratures(), out.begin() + problem_.num_dynamic);
    return true;
  }

  double t() const { return t_; }
  double step_begin() const { return step_begin_; }
  std::span<const double> y() const { return y_; }
  std::span<const double> rates() const {
    const bool here = quadratures_ && rated_t_ == t_ && std::equal(rated_.begin(), rated_.end(), y_.begin());
    return here ? std::span<const double>(rates_) : std::span<const double>();
  }
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
    N_VScale(1.0, v, filtered);
    impl->newton_->solve(span_of(filtered));
    return std::max(plain, largest_weighted(filtered, weight));
  }

  // Over the largest so far, not over what they are now: works of an oscillation pass through zero again and again, and steps
  // that follow that meet the motion always in the same phase, so that errors of works add up.
  static double call_quadrature_norm(N_Vector v, N_Vector weight) {
    return largest_weighted(v, weight) / (running_ != nullptr ? running_->largest_quadrature_ : 1.0);
  }

  void measure_quadratures() {
    for (std::size_t i = static_cast<std::size_t>(problem_.num_dynamic); i < y_.size(); ++i)
      largest_quadrature_ = std::max(largest_quadrature_, std::abs(y_[i]));
  }

  bool evaluate(double t, std::span<const double> y, std::span<double> dy) {
    ++evaluations_;
    testing_error_ = false;
    const bool found = all_finite(y) && problem_.rhs(t, y, dy) && all_finite(dy);
    if (!found) refusal_ = {Failure::not_finite, steps_};
    return found;
  }

  int num_quadratures() const { return problem_.size - problem_.num_dynamic; }

  static int call_rhs(double t, N_Vector y, N_Vector dy, void* self) {
    Impl& impl = *static_cast<Impl*>(self);
    return impl.guarded([&] {
      if (!impl.evaluate(t, span_of(y), impl.rates_)) return false;
      std::copy_n(impl.rates_.begin(), impl.dy_.size(), impl.dy_.begin());
      std::copy(impl.dy_.begin(), impl.dy_.end(), span_of(dy).begin());
      return true;
    });
  }

  /// Once a step, where it ends: quadratures need no iteration.
  static int call_quadratures(double t, N_Vector y, N_Vector dq, void* self) {
    Impl& impl = *static_cast<Impl*>(self);
    return impl.guarded([&] {
      const bool testing = impl.testing_error_;  // step and order are still to be chosen
      if (!impl.evaluate(t, span_of(y), impl.rates_)) return false;
      impl.testing_error_ = testing;
      std::copy_n(span_of(y).begin(), impl.problem_.num_dynamic, impl.rated_.begin());
      impl.rated_t_ = t;
      std::copy(impl.rates_.begin() + impl.problem_.num_dynamic, impl.rates_.end(), span_of(dq).begin());
      return true;
    });
  }

  static int call_weights(N_Vector y, N_Vector weights, void* self) {
    Impl& impl = *static_cast<Impl*>(self);
    const auto values = span_of(y), out = span_of(weights);
    impl.calc_noise(values);
    if (impl.problem_.typical)
      impl.problem_.typical(values, out);
    else
      for (std::size_t i = 0; i < values.size(); ++i) out[i] = std::max(1.0, std::abs(values[i]));
    for (std::size_t i = 0; i < values.size(); ++i)
      out[i] = 1.0 / (impl.options_.tolerance * out[i] + noise_slack * impl.noise_[i]);
    return 0;
  }

  // What rounding does to the projection; and what that of the state and of the time does to a step, (I − hβJ)⁻¹δ with |δ_i| = eps (|y_i| + |t y′_i|), the
  // second where f depends on the time: elsewhere it is no matter what the time is. An error estimate below that is no
  // reason to shorten the step, and Newton cannot do better either. The signs of δ are not known; a few patterns stand for all.
  void calc_noise(std::span<const double> y) {
    std::fill(noise_.begin(), noise_.end(), 0.0);
    if (problem_.noise) problem_.noise(t_, y, noise_);
    for (std::size_t i = 0; i < y.size(); ++i) noise_[i] = std::max(noise_[i], eps * std::abs(y[i]));
    if (last_step() == 0.0) return;
    const double time = problem_.depends_on_time ? std::abs(t_) : 0.0;
    N_Vector const delta = filtered_.get();
    for (unsigned pattern = 1; pattern <= 3; ++pattern) {
      unsigned bits = pattern;
      for (std::size_t i = 0; i < y.size(); ++i) {
        bits = bits * 1664525u + 1013904223u;
        const double size = eps * (std::abs(y[i]) + time * std::abs(dy_[i]));
        span_of(delta)[i] = (bits >> 16 & 1u) != 0u ? size : -size;
      }
      newton_->solve(span_of(delta));
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

  static int call_newton(double t, N_Vector y, N_Vector dy, SUNMatrix, booleantype keep_jacobian,
                         booleantype* jacobian_is_new, double gamma, void* self, N_Vector, N_Vector, N_Vector) {
    Impl& impl = *static_cast<Impl*>(self);
    return impl.guarded([&] {
      *jacobian_is_new = keep_jacobian ? SUNFALSE : SUNTRUE;
      if (!keep_jacobian) {
        ++impl.jacobians_;
        if (!impl.newton_->linearise(t, span_of(y), span_of(dy))) return false;
      }
      return impl.newton_->factor(gamma);
    });
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
  std::unique_ptr<void, VectorDeleter> state_, filtered_, quadratures_;
  std::unique_ptr<void, SolverDeleter> solver_;
  std::unique_ptr<void, CvodeDeleter> cvode_;
  std::shared_ptr<NewtonSystem> newton_;
  std::vector<double> y_, rates_;  // the whole state; f of the last evaluation that CVODES asked for
  std::vector<double> rated_;      // where it was, if that was for quadratures
  double largest_quadrature_ = 1.0;
  double rated_t_ = std::numeric_limits<double>::quiet_NaN();
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

void Bdf::start(double t, std::span<const double> y, double quadrature_size) { impl_->start(t, y, quadrature_size); }
Bdf::Outcome Bdf::step(double t_stop) { return impl_->step(t_stop); }
double Bdf::step_begin() const { return impl_->step_begin(); }
double Bdf::t() const { return impl_->t(); }
std::span<const double> Bdf::y() const { return impl_->y(); }
std::span<const double> Bdf::rates() const { return impl_->rates(); }
bool Bdf::interpolate(double t, std::span<double> y) const { return impl_->interpolate(t, 0, y); }
bool Bdf::interpolate_rate(double t, std::span<double> dy, int derivative) const {
  return impl_->interpolate(t, derivative, dy);
}
double Bdf::last_step() const { return impl_->last_step(); }
double Bdf::next_step() const { return impl_->next_step(); }
int Bdf::order() const { return impl_->order(); }
BdfStatistics Bdf::statistics() const { return impl_->statistics(); }
Bdf::Failure Bdf::failure() const { return impl_->failure(); }
const std::string& Bdf::reason() const { return impl_->reason(); }

}  // namespace mechanician
