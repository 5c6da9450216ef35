// A point mass on a rod of 1 m, held by a constraint, 1000 s from 90 degrees, in Simbody: one line per accuracy.
//
//   g++ -O3 -std=c++17 -I/usr/include/simbody simbody_pendulum.cpp -o simbody_pendulum -lSimTKsimbody -lSimTKmath
//   -lSimTKcommon
//
// Prints: accuracy, whether projected every step, steps, largest rod residual |x² + y² − 1|, largest energy drift, end
// error of x, wall time; x(1000) is the argument.
#include <Simbody.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

using namespace SimTK;

static void run(double accuracy, bool tight, double exact) {
  MultibodySystem system;
  SimbodyMatterSubsystem matter(system);
  GeneralForceSubsystem forces(system);
  Force::UniformGravity gravity(forces, matter, Vec3(0, -9.81, 0));
  Body::Rigid body(MassProperties(1.0, Vec3(0), Inertia(1)));
  MobilizedBody::Translation mass(matter.Ground(), Transform(), body, Transform());
  Constraint::Rod rod(matter.Ground(), Vec3(0), mass, Vec3(0), 1.0);
  system.realizeTopology();
  State start = system.getDefaultState();
  mass.setQToFitTranslation(start, Vec3(1, 0, 0));
  system.realize(start, Stage::Dynamics);
  const double energy = system.calcEnergy(start);
  RungeKuttaMersonIntegrator integrator(system);
  integrator.setAccuracy(accuracy);
  if (tight) integrator.setConstraintTolerance(1e-12), integrator.setProjectEveryStep(true);
  TimeStepper stepper(system, integrator);
  stepper.initialize(start);
  double residual = 0.0, drift = 0.0;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 1; k <= 1000; ++k) {
    stepper.stepTo(k);
    const State& state = integrator.getState();
    system.realize(state, Stage::Dynamics);
    const Vec3 p = mass.getBodyOriginLocation(state);
    residual = std::fmax(residual, std::fabs(p[0] * p[0] + p[1] * p[1] + p[2] * p[2] - 1));
    drift = std::fmax(drift, std::fabs(system.calcEnergy(state) - energy));
  }
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  const Vec3 p = mass.getBodyOriginLocation(integrator.getState());
  std::printf("%g %d %d %.3e %.3e %.3e %.3f\n", accuracy, tight, integrator.getNumStepsTaken(), residual, drift,
              std::fabs(p[0] - exact), wall);
  std::fflush(stdout);
}

int main(int argc, char** argv) {
  const double exact = argc > 1 ? std::atof(argv[1]) : 0.0;
  run(1e-5, false, exact);
  run(1e-5, true, exact);
  run(1e-7, true, exact);
}
