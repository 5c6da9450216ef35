#pragma once

/// What the sources of the layer of bodies share. See bodies.hpp.

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "mechanician/model/bodies.hpp"
#include "mechanician/model/bodies_formula.hpp"
#include "mechanician/model/parts.hpp"

namespace mechanician::bodies {

/// Bytes of the file.
struct Span {
  std::size_t begin = 0, end = 0;
};

struct Pose {
  Vector p;             ///< origin, in the world
  Matrix R;             ///< body to world
  Vector w, u;          ///< angular velocity and velocity of the origin, in the axes of the body
  Quaternion q;         ///< body to world
  Formula angle = 0.0;  ///< in the plane
};

/// What resists being moved: in the axes of a body, inertia about the centre of mass.
struct Load {
  Formula mass = 0.0;
  Vector centre{0.0, 0.0, 0.0};
  Matrix inertia{};
};

struct Body {
  std::string name;
  Span span;
  Formula mass = 0.0;
  Vector centre{0.0, 0.0, 0.0};
  Matrix inertia{};
  bool has_inertia = false;
  const TomlValue* shape = nullptr;
  Vector middle{0.0, 0.0, 0.0};                 ///< of the shape
  Quaternion shape_turned{1.0, 0.0, 0.0, 0.0};  ///< of a mesh, in the axes of the body
  bool turns = true;                            ///< false: a point mass of whose orientation nothing asks
  // `start`: of the origin, in the world; spin in the axes of the body.
  Vector at{0.0, 0.0, 0.0}, velocity{0.0, 0.0, 0.0}, spin{0.0, 0.0, 0.0};
  Quaternion turned{1.0, 0.0, 0.0, 0.0};
  Matrix R{};        ///< of turned
  Matrix given_R{};  ///< before [start] moves joints
  std::vector<std::string> fixed = {};
  Formula angle = 0.0, given_angle = 0.0;
  // of the tree
  int parent = -1;  ///< body; −1: has coordinates of its own
  int joint = -1;
  Pose pose = {};
  Load load = {};        ///< its own mass, and that of what is fixed to it
  bool carries = false;  ///< something is
  bool carried = false;  ///< its mass counts in another body's load
};

/// A point or a direction on a body, in its axes.
struct Mark {
  std::string name;
  Span span;
  int body = 0;
  Vector local;
};

enum class JointType {
  fixed,
  revolute,
  prismatic,
  cylindrical,
  spherical,
  planar,
  universal,
  screw,
  distance,
  point_on_line,
  point_on_plane,
  parallel,
  perpendicular,
  rolling,
};

/// One coordinate of a joint: a turn about or a way along an axis of its frame.
struct JointCoordinate {
  std::string key;   ///< "angle"
  std::string name;  ///< "hinge.angle"
  bool turns = false;
  bool used = false;     ///< has a coordinate in the model
  Formula symbol, rate;  ///< as they stand in expressions
  Formula
      direct;  ///< the same by way of the bodies: a row of it acts on these, and not on the row that ties the symbol
  Formula start = 0.0, start_rate = 0.0;
  bool given = false, rate_given = false;  ///< in [start]
};

struct Joint {
  std::string name;
  Span span;
  const TomlValue* table = nullptr;
  JointType type = JointType::fixed;
  int first = 0, second = 0;
  Vector r1, r2;  ///< its points, in the axes of the bodies
  Matrix F1, F2;  ///< its frames there, columns e, f and the axis; they coincide where `start` puts the bodies
  Formula pitch = 0.0, length = 0.0, radius = 0.0, edge = 0.0;
  bool ball = true;
  Vector plane_at, normal;  ///< of the plane that is rolled on, in the axes of the first body
  std::vector<JointCoordinate> coordinates;
  Quaternion q{1.0, 0.0, 0.0, 0.0}, q_rate{0.0, 0.0, 0.0, 0.0};  ///< of a ball joint, as they stand in expressions
  Formula rest = 1.0;                                            ///< 2 − |q|²
  double side = 1.0;  ///< of the quaternion from frame 1 to frame 2: as `turned` of the bodies has it
  bool in_tree = false;
  bool asked = false;    ///< for its reactions
  bool drawn = false;    ///< its force, as an arrow
  bool engaged = true;   ///< as the motion begins
  bool changes = false;  ///< an event releases or engages it
  std::vector<std::string> rows = {};
  // in the world, by names
  Vector P1, P2;
  Matrix G1, G2;
};

class Layer {
 public:
  Layer(TomlValue& root, FieldReader& fields, const EvaluateField& evaluate, const JoinedParts& parts,
        const ParameterOverrides& overrides)
      : root_(root), fields_(fields), evaluate_(evaluate), parts_(parts), overrides_(overrides) {}
  bool lower();

 private:
  // bodies_reader.cpp: what the sections say
  void read();
  void read_world();
  void read_placements();
  /// Where the part stands that a name belongs to: x in the world is at + R x.
  struct Placement {
    std::string prefix;
    Vector at{0.0, 0.0, 0.0};
    Quaternion turned{1.0, 0.0, 0.0, 0.0};
    Matrix R = identity();
    Vector point(const Vector& x) const { return at + R * x; }
    Vector direction(const Vector& x) const { return R * x; }
  };
  Placement placement_of(const std::string& name) const;
  void read_body(const TomlMember& field);
  void read_start(Body& body, const TomlMember& field);
  std::optional<Quaternion> read_turned(const TomlMember& field, const std::string& path);
  std::optional<Mark> read_mark(const TomlMember& field, const char* key, const std::string& path);
  void read_shape(Body& body, const TomlMember& field, bool has_centre, bool has_inertia, bool has_mass);
  void read_mesh_shape(Body& body, const TomlMember& field, const TomlMember& mesh);
  void check_inertia(const Body& body, const TomlMember& field);
  void check_mass();
  void read_starts_of_joints();
  // bodies_joint_reader.cpp
  void read_joint(const TomlMember& field);
  bool read_frames(Joint& joint, const TomlMember& field);
  bool read_rolling(Joint& joint, const TomlMember& field);
  // fields
  /// `unit`: in SI, of what is asked for: what has a unit has one of that dimension. Null: any.
  std::optional<Formula> formula(const TomlValue& value, const std::string& path, const char* unit);
  std::optional<Vector> vector(const TomlMember& field, const std::string& path, const char* unit);
  /// A vector of length one.
  std::optional<Vector> direction(const TomlMember& field, const std::string& path);
  std::optional<int> body_named(const TomlValue& value, const char* what);
  /// A point that was named, or the origin of a body.
  std::optional<Mark> point_named(const TomlValue& value);
  bool take_name(const TomlMember& field, const char* what);
  template <class At>
  void report(const At& at, std::string_view message, std::string_view hint = {}) {
    fields_.report(at, message, hint);
    good_ = false;
  }

  // bodies_tree.cpp: where the bodies are
  void plant();
  void grow_tree(bool asked);
  double work_of_tree() const;
  void find_rates(Joint& joint);
  void move_along_tree();
  void turn_away(const Joint& joint);
  bool leaves_open(bool reactions) const;
  void mark_open();
  void mark_apart();

  // bodies_stress.cpp: what joints can carry against each other
  struct OpenForces {
    bool reaction = false, extra = false;  ///< that of its rows; that of its drives and limits
  };
  std::vector<OpenForces> find_open_forces() const;

  // bodies_held.cpp: what stays where it is when a start is moved
  void find_held();
  void write_held();
  void find_start_of(Joint& joint, bool rates);
  void shorten(const std::string& name, Pose& pose, Span span);
  void place_bodies();
  void half_turned(Body& body);
  void make_root(Body& body);
  void make_child(Body& body);
  struct Relative {
    Matrix R;          ///< frame 2 to frame 1
    Vector d, d_rate;  ///< from P1 to P2 and its rate, along the axes of frame 1
    Vector w;          ///< of frame 2 against frame 1, along the axes of frame 2
    Quaternion q;      ///< of R
  };
  Relative relative(const Joint& joint) const;
  /// The pose of a body by way of a joint from the one at its other end.
  Pose pose_behind(const Joint& joint, const Pose& from, bool to_second, const std::string& name, Span span);
  struct Opening {
    double way = 0.0, turn = 0.0, rate = 0.0, spin = 0.0;  ///< zero: closed
  };
  Opening opening(const Joint& joint) const;
  void check_closed(const Body& body);
  std::vector<std::string> held() const;
  void add_coordinates(Joint& joint);
  /// Bodies that are fixed to others are part of the load of these: one energy instead of many.
  void find_loads();
  Formula kinetic_of(const Body& body, const Load& load, const Formula& along) const;
  void finish_body(Body& body);
  Vector point(int body, const Vector& local) const;
  Vector world(int body, const Vector& local) const;

  // bodies_rows.cpp: joints that are constraints; what acts along joints
  void write_joint(Joint& joint);
  void write_rows(Joint& joint);
  bool is_aligned(const Joint& joint) const;
  void check_aligned(const Joint& joint);
  void write_rolling(Joint& joint);
  void write_ties(Joint& joint);
  void write_found(const Joint& joint);
  void write_extras(Joint& joint);
  struct Row {
    std::string name;
    Formula phi;
    Vector force{0.0, 0.0, 0.0}, torque{0.0, 0.0, 0.0};  ///< on the second body at its point, for a multiplier of one
  };
  void write(Joint& joint, std::vector<Row> rows);

  // bodies_changes.cpp: joints that events release and engage
  void find_changes();
  void put_changes();

  // bodies_loads.cpp: springs, forces, contacts
  void write_spring(const TomlMember& field);
  void write_force(const TomlMember& field);
  void write_contact(const TomlMember& field);
  /// A force at a point and a torque, on a body, in the world.
  void apply(int body, const Vector& at, const Vector& force, const Vector& torque, Span span);

  // bodies_statements.cpp: the plain model
  Formula define(const std::string& name, const Formula& f, Span span);
  Vector define(const std::string& name, const Vector& v, Span span);  ///< name.x, name.y, name.z
  void define_as_written(const std::string& name, const TomlValue& value);
  /// A long expression of parameters under a name, so that texts made of it do not grow with every turn.
  Formula shorten(const std::string& name, const Formula& f, Span span);
  void shorten(const std::string& name, Vector& v, Span span);
  void shorten(const std::string& name, Matrix& A, Span span);
  void add_coordinate(const std::string& name, const Formula& start, const Formula& start_rate, Span span);
  void add_force(const std::string& coordinate, const Formula& f, Span span);
  struct Statement {
    std::string name;
    std::string text;
    Span span;
    const TomlValue* as_written = nullptr;
    std::vector<std::pair<std::string, TomlValue>> parts = {};  ///< of a constraint: restitution, friction, slip
  };
  void put_statements();
  void put_scales(Span span);
  void masses_as_energy(Span span);
  // bodies_view.cpp: what is drawn of bodies, beside what the file draws
  void draw();
  bool drawn_by_file(const std::string& name) const;
  bool is_left_out(const char* key) const;
  void draw_body(const Body& body);
  void draw_joint(const Joint& joint, double unit);
  void draw_reaction(const Joint& joint);
  double size_of_mechanism() const;
  void find_drawn_reactions();
  TomlValue components(const Vector& v, Span span) const;
  void put_view(const char* kind, const std::string& name, std::vector<std::pair<std::string, TomlValue>> parts,
                Span span);
  TomlValue text_value(std::string text, Span span) const;
  TomlValue& table_of(TomlValue& in, const std::string& name, Span span);
  void note_names(const TomlValue& value);
  bool is_mentioned(const std::string& name) const { return mentioned_.contains(name); }

  TomlValue& root_;
  FieldReader& fields_;
  const EvaluateField& evaluate_;
  const JoinedParts& parts_;
  const ParameterOverrides& overrides_;
  bool good_ = true;

  // world
  Vector gravity_{0.0, 0.0, 0.0};
  enum class Formulation { automatic, joint, free } formulation_ = Formulation::automatic;
  int plane_[2] = {-1, -1};  ///< axes of the plane
  Vector normal_{0.0, 0.0, 0.0};
  bool is_planar() const { return plane_[0] >= 0; }
  bool assemble_ = false;
  bool by_itself_ = false;  ///< every body

  std::vector<Placement> placements_;
  std::vector<Body> bodies_;  ///< the ground is the first
  std::vector<Joint> joints_;
  std::vector<Mark> points_, directions_;
  std::map<std::string, std::string> taken_;  ///< names, and what they are
  /// Where in a list names stand, as far as it was looked at.
  struct Numbers {
    std::unordered_map<std::string, int> of;
    std::size_t seen = 0;
    template <class List>
    const int* find(const List& list, const std::string& name) {
      for (; seen < list.size(); ++seen) of.emplace(list[seen].name, static_cast<int>(seen));
      const auto found = of.find(name);
      return found == of.end() ? nullptr : &found->second;
    }
  };
  Numbers body_numbers_, point_numbers_;
  std::vector<int> order_;                             ///< bodies, each behind its parent
  std::vector<Pose> starts_;                           ///< of all bodies
  std::vector<std::pair<std::string, Formula>> held_;  ///< what is held, and what it is where the file puts the bodies
  std::set<std::string> mentioned_;                    ///< names in all texts of the file

  std::vector<Statement> coordinates_, definitions_, constraints_, positions_, velocities_, parameters_;
  std::vector<std::string> kinetic_, potential_;  ///< names of definitions
  std::set<std::string> short_names_;             ///< of long expressions of parameters
  std::map<std::string, const char*> own_units_;  ///< of definitions whose names do not tell
  std::map<std::string, Statement> forces_;
  TomlValue view_;
};

std::string component(const std::string& name, int k);  ///< "name.x"
std::string_view in_words(JointType type);

}  // namespace mechanician::bodies
