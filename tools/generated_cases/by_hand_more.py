"""Models written by hand: control, measured rows, contradictions, refusals, projection, spellings of TOML."""
from by_hand import case

# --- control ---------------------------------------------------------------------------------------------------------------
case('control_bare_position', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["2","0.3"],["0.3","1"]]
force = { x = "-x", y = "-9.81" }
[control.path]
equation = "x^2 + 4*y^2 = 4 + sin(t)"
''', (0.3, {'x': 1, 'y': 0.5}, {'x': 1, 'y': -1}), (0, {'x': 2, 'y': 0}, {'x': '1/4'}))

case('control_velocity_level', '''
coordinates = ["x", "y", "th"]
[dynamics]
mass = { x = 1, y = 1, th = 0.2 }
force = { x = "0.5" }
[constraints]
skate = "x'*sin(th) = y'*cos(th)"
[control.speed]
equation = "x'*cos(th) + y'*sin(th) = 2 + t"
frequency = 4
[control.turn]
equation = "th' = 0.5"
[nonideal]
th = "-0.1*th'"
x = "-0.2*x'"
y = "-0.2*y'"
''', (0.5, {'th': 0.7}, {'x': 'cos(0.7)', 'y': 'sin(0.7)', 'th': 0.4}))

case('control_dependent_on_constraint', '''
title = "The requirement repeats a constraint, which holds anyway: no control force"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { x = "3", y = "-4" }
[constraints]
line = "x + 2*y = 0"
[control.same]
equation = "3*x + 6*y = 0"
[nonideal]
x = "0.5"
y = "1.5"
''', (0, {}, {}), (0, {'x': 2, 'y': -1}, {'x': 2, 'y': -1}))

case('control_dependent_rows_among_themselves', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = [["2","0.1","0"],["0.1","1","0.2"],["0","0.2","3"]]
force = { x = "1", y = "-1", z = "0.5" }
[constraints]
plane = "x + y + z = 1"
[control.a]
equation = "x = t"
[control.b]
equation = "2*x = 2*t"
[nonideal]
y = "-0.3*y'"
z = "ideal(x)*0.1"
''', (1, {'x': 1, 'y': 0, 'z': 0}, {'x': 1, 'y': -0.5, 'z': -0.5}))

case('control_three_kinds_dependent', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 3 }
force = { x = "1", y = "-1", z = "0.5" }
[constraints]
one = "x + y = t"
two = "y + z = 2*t"
[control.three]
equation = "x - z = -t"
frequency = 2.0
damping = 0.5
[nonideal]
x = "1"
''', (1, {'x': 0, 'y': 1, 'z': 1}, {'x': 0.5, 'y': 0.5, 'z': 1.5}))

case('control_contradicts_constraint', '''
title = "Off the requirement a stabilised copy of a constraint contradicts it"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
[constraints]
line = "x = 0"
[control.off]
equation = "x = 1"
frequency = 2.0
''', (0, {}, {}))

case('control_singular_mass', '''
coordinates = ["s", "th"]
[dynamics]
mass = { s = 0, th = 0.7 }
force = { s = "14.7" }
[constraints]
roll = "s = 0.4*th"
[control.drive]
equation = "th = sin(t)"
frequency = 3
damping = 0.7
[nonideal]
s = "-0.6*s'"
''', (0.5, {'s': 0.2, 'th': 0.5}, {'s': 0.32, 'th': 0.8}))

case('control_acceleration_level', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { y = "-9.81" }
[control.a]
equation = "x'' + y'' + 2*x' + 5*x = sin(t)"
''', (0.7, {'x': 0.3, 'y': 1}, {'x': -1}))

case('control_expression_frequency', '''
coordinates = ["x", "y"]
[parameters]
w = "2*pi"
[dynamics]
kinetic = "(x'^2 + y'^2)/2 + x'*y'*x/4"
potential = "9.81*y"
[control.circle]
equation = "hypot(x, y) = 1 + t/10"
frequency = "w/2"
damping = "1/sqrt(2)"
''', (0.7, {'x': 0.3, 'y': 1}, {'x': -1, 'y': 0.2}))

case('control_first_in_file', '''
title = "Control before the constraints in the file"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { x = "3", y = "-4" }
[control.same]
equation = "3*x + 6*y = 0"
[constraints]
line = "x + 2*y = 0"
''', (0, {}, {}), order=True)

case('control_full_column_rank', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { x = "3", y = "-4" }
[constraints]
a = "x = 0"
b = "y = 0"
[control.c]
equation = "x + y = 0"
[nonideal]
x = "1"
y = "2"
''', (0, {}, {}))

case('control_two_rows_at_odds', '''
title = "Two requirements that contradict each other beside a third that can be met"
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 3 }
[constraints]
line = "x + y = 0"
[control.a]
equation = "x = 1"
frequency = 2
[control.b]
equation = "y = 1"
frequency = 2
[control.c]
equation = "z = sin(t)"
''', (0, {}, {}))

case('control_actuators_fewer_than_freedoms', '''
coordinates = ["trolley", "x", "y"]
[dynamics]
kinetic = "5*trolley'^2 + (x'^2 + y'^2)/2"
potential = "9.81*y"
[constraints]
rope = "(x - trolley)^2 + y^2 = 4"
[actuators]
winch = { trolley = "1" }
[control.load]
equation = "x = 0.5*t"
frequency = 2
''', (0, {'x': -1.2, 'y': -1.6}, {}), (0.3, {'trolley': 0.5, 'x': 1.7, 'y': -1.6}, {'trolley': 0.1, 'x': 0.9, 'y': 0.6}))

case('control_actuators_costs', '''
title = "More actuators than requirements: the least cost, of a matrix"
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "a'^2 + b'^2/2 + 2*c'^2 + cos(a - b)*a'*b'/2"
potential = "sin(a) + cos(b)"
[constraints]
tie = "b + 2*c = 1 - a^2/4"
[actuators]
first = { a = "1", b = "-1" }
second = { on = "c - a*b" }
third = { b = "2 + sin(a)", c = "t" }
[control]
cost = [[2, 0.5, 0], [0.5, 1, 0.1], [0, 0.1, 3]]
[control.want]
equation = "a*c = 0.2*cos(t)"
frequency = 3
damping = 0.6
''', (0.5, {'a': 0, 'b': 0.4, 'c': 0.3}, {'a': 0.2, 'b': -0.1, 'c': 0.05}))

case('control_actuators_redundant_constraints', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = [["2","0.1","0"],["0.1","1","0.2"],["0","0.2","3"]]
force = { x = "1", y = "-1", z = "0.5" }
[constraints]
plane = "x + y + z = 1"
twice = "2*x + 2*y + 2*z = 2"
[actuators]
push = { x = "1", cost = 2 }
pull = { y = "1", z = "-1", cost = 0.5 }
[control.a]
equation = "x = t"
[nonideal]
y = "-0.3*y'"
''', (1, {'x': 1, 'y': 0, 'z': 0}, {'x': 1, 'y': -0.5, 'z': -0.5}))

case('control_free_force', '''
title = "A free force: what the requirement would feel of it is taken off, and the wire feels the rest"
coordinates = ["x", "y", "z"]
[dynamics]
mass = [["2","0.3","0"],["0.3","1","0"],["0","0","1.5"]]
force = { x = "-x", z = "-9.81" }
[constraints]
wire = "x^2 + y^2 + z^2 = 9"
[control]
free = { y = "-0.4*y' + 1", z = "2*x" }
[control.level]
equation = "z = 2 + 0.1*t"
frequency = 2
''', (0, {'x': 1, 'y': 2, 'z': 2}, {'x': 0.2, 'y': 0.1, 'z': -0.2}))

case('control_actuators_singular_mass', '''
coordinates = ["s", "th", "w"]
[dynamics]
mass = { s = 0, th = 0.7, w = 2 }
force = { s = "14.7", w = "-w" }
[constraints]
roll = "s = 0.4*th"
[actuators]
motor = { s = "1", w = "0.3" }
other = { th = "1" }
[control.drive]
equation = "th + w = sin(t)"
frequency = 3
damping = 0.7
''', (0.5, {'s': 0.2, 'th': 0.5, 'w': 0.1}, {'s': 0.32, 'th': 0.8, 'w': -0.2}))

# --- measured rows ----------------------------------------------------------------------------------------------------------
case('measured_diagonal', '''
coordinates = ["x", "y"]
[parameters]
s = 0.25
[dynamics]
mass = [["2","0.5"],["0.5","1"]]
force = { x = "1", y = "-1" }
[constraints.a]
equation = "x'' = 1"
weight = "1/s^2"
[constraints.b]
equation = "x'' + y'' = 3"
weight = 2
[constraints.c]
equation = "2*x'' + 2*y'' = 5"
weight = "1 + t"
''', (1, {}, {}))

case('measured_beside_hard', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 3 }
force = { x = "1", z = "-9.81" }
[constraints]
rail = "z = 0.5*x"
[constraints.g1]
equation = "x'' = 1"
weight = 4
[constraints.g2]
equation = "z'' = 1"
weight = 1
[constraints.g3]
equation = "x'' + y'' = 0"
weight = 1e-3
[nonideal]
y = "-0.5"
x = "2"
''', (0, {}, {'y': 1}))

case('measured_full_matrix_and_hard', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = [["2","0.5","0"],["0.5","1","0.1"],["0","0.1","1"]]
force = { x = "1", y = "-1", z = "4" }
[constraints]
hard = "x + y + z = 0"
s1 = "x'' = 1"
s2 = "x'' = 1.2"
s3 = "2*x'' + y'' = 1.9"
s4 = "y'' = 1"
[measured]
constraints = ["s1", "s2", "s3", "s4"]
weight = [[2, 0.5, 0, 0.1], [0.5, "1 + t", 0.3, 0], [0, 0.3, 5, "-0.2"], [0.1, 0, -0.2, 1]]
''', (0, {}, {}), (1, {}, {}))

case('measured_singular_mass', '''
coordinates = ["x", "u", "v"]
[dynamics]
mass = { x = 2 }
force = { x = "1" }
[constraints]
tie = "u = 2*v"
[constraints.p]
equation = "x'' + u'' = 1"
weight = 3
[constraints.q]
equation = "x'' + u'' = 2"
weight = 1
''', (0, {}, {}))

case('measured_consistent_anyway', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
force = { x = "1" }
[constraints.p]
equation = "x'' + y'' = 1"
weight = 3
[constraints.q]
equation = "2*x'' + 2*y'' = 2"
weight = 1e6
''', (0, {}, {}))

case('measured_extreme_weights', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
force = { x = "1" }
[constraints.p]
equation = "x'' + y'' = 1"
weight = 1e8
[constraints.q]
equation = "x'' + y'' = 2"
weight = 1e-8
[constraints.r]
equation = "x'' = 3"
weight = 1e-3
[constraints.s]
equation = "x'' = 4"
weight = 2e-3
''', (0, {}, {}))

case('measured_hard_rows_contradict', '''
title = "Weights on some rows do not help where the others contradict each other"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
[constraints]
h1 = "x'' = 0"
h2 = "x'' = 1"
[constraints.m1]
equation = "y'' = 1"
weight = 1
[constraints.m2]
equation = "y'' = 2"
weight = 1
''', (0, {}, {}))

case('measured_hard_beats_measured', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
force = { y = "5" }
[constraints]
h1 = "x'' = 0"
[constraints.m1]
equation = "x'' = 1"
weight = 1e12
''', (0, {}, {}))

case('measured_full_column_rank', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
force = { y = "5" }
[constraints]
s1 = { equation = "x'' = 1", weight = 1 }
s2 = { equation = "y'' = 2", weight = 2 }
s3 = { equation = "x'' + y'' = 4", weight = 3 }
s4 = { equation = "x'' - y'' = 0", weight = "4" }
[nonideal]
x = "100"
''', (0, {}, {}))

case('measured_positions', '''
title = "Measured holonomic rows: a gauge that disagrees with the clock"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
force = { y = "-9.81" }
[constraints.gauge]
equation = "x + y = 1.02*t^2"
weight = 4.0
[constraints.ruler]
equation = "x + y = t^2"
weight = 1.0
[constraints.third]
equation = "x' - y' = t^3"
weight = 1.0
''', (1, {'x': 0.5, 'y': 0.5}, {'x': 1.5, 'y': 0.5}))

case('measured_with_control', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 2, y = 1, z = 3 }
force = { y = "-9.81", x = "1" }
[constraints.m1]
equation = "x'' + y'' = 1"
weight = 1
[constraints.m2]
equation = "x'' + y'' = 2"
weight = 3
[control.drive]
equation = "z = sin(t) + x"
frequency = 2
''', (1, {'x': 0.5, 'y': 0.5}, {'x': 1.5, 'y': 0.5}), unclear=True)

# --- contradictions --------------------------------------------------------------------------------------------------------
case('conflict_several_sets', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 1, z = 1 }
[constraints]
a = "x'' = 1"
b = "x'' = 2"
c = "x'' = 3"
d = "y'' + z'' = 0"
e = "y'' - z'' = 2"
f = "y'' = 0"
g = "z'' = -1"
''', (0, {}, {}))

case('conflict_zero_row', '''
title = "A row without accelerations that cannot hold"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
fine = "x = 0"
bad = "0*x'' = 1"
also = "0*x' + 0*y' = t"
''', (0, {}, {}))

case('conflict_overlapping_triples', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 5 }
[constraints]
r1 = "x'' = 1"
r2 = "y'' = 1"
r3 = "x'' + y'' = 3"
r4 = "x'' - y'' = 1"
r5 = "2*x'' + y'' = 3"
''', (0, {}, {}))

case('conflict_by_state', '''
title = "Consistent where the speeds agree and contradictory where they do not"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
circle = "x^2 + y^2 = 25"
square = "x^2 + y^2 + (x*y - 12)^2 = 25"
line = "4*x - 3*y = 0"
flat = "x = 3"
''', (0, {'x': 3, 'y': 4}, {}), (0, {'x': 3, 'y': 4}, {'x': 4, 'y': -3}))

case('conflict_with_scales', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
a = "1e6*x'' + 1e6*y'' = 1e6"
b = "1e-6*x'' + 1e-6*y'' = 1.001e-6"
c = "x'' - y'' = 0"
''', (0, {}, {}))

case('conflict_tiny_not_a_conflict', '''
title = "A difference of 1e-12 is rounding"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
a = "x'' + y'' = 1"
b = "x'' + y'' = 1.000000000001"
''', (0, {}, {}), only=('consistent', 'unique', 'rank', 'redundant', 'conflicts'))

case('conflict_and_nonunique', '''
coordinates = ["x", "y", "u"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
a = "x'' = 1"
b = "x'' = 2"
''', (0, {}, {}))

case('conflict_five_rods_moving', '''
title = "Redundant moving rods that agree in place but not in time"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
a = "x = sin(t)"
b = "y = cos(t)"
c = "x + y = sin(t) + cos(t)"
d = "x - y = t"
e = "x*y = sin(t)*cos(t)"
''', (0.3, {'x': 'sin(0.3)', 'y': 'cos(0.3)'}, {'x': 'cos(0.3)', 'y': '-sin(0.3)'}))

case('conflict_off_the_constraint', '''
title = "Off the circle the circle and its square disagree in b, though their rows are parallel"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
circle = "x^2 + y^2 = 1"
quartic = "(x^2 + y^2)^2 = 1"
''', (0, {'x': 1, 'y': 0.5}, {'x': 1, 'y': 1}), (0, {'x': 1, 'y': 0.5}, {'x': -0.5, 'y': 1}), (0, {'x': 1, 'y': 0.5}, {}))

# --- refusals ---------------------------------------------------------------------------------------------------------------
START = '''
coordinates = ["x", "y"]
[dynamics]
mass = {{ x = 1, y = 1 }}
[constraints]
h1 = "x^2 + y^2 = 1"
{more}
[start]
time = 0.5
position = {{ x = {x}, y = {y} }}
velocity = {{ x = {u}, y = {v} }}
'''
for name, more, x, y, u, v in (('position_1e-7', '', 0.60000012, 0.8, 0.8, -0.6), ('velocity_1e-7', '', 0.6, 0.8, 0.8000003, -0.6),
                               ('velocity', '', 0.6, 0.8, 0.8, 0.6)):
    case(f'refuse_start_{name}', START.format(more=more, x=x, y=y, u=u, v=v), expect={'refuse': 'start off the constraint', 'says': 'h1'})
case('refuse_start_nonholonomic', START.format(more='n1 = "x\'*y\' = t"', x=0.6, y=0.8, u=0.8, v=-0.6), expect={'refuse': 'start off n1', 'says': 'n1'})
case('refuse_start_rheonomic_velocity', START.format(more='moving = "x = 0.6 + (t - 0.5)"', x=0.6, y=0.8, u=0, v=0), expect={'refuse': 'speed of the moving constraint', 'says': 'moving'})

for name, x, u in (('position_1e-10', 0.6000000001, 0.8), ('velocity_1e-10', 0.6, 0.8000000001), ('rounding', 0.6, 0.8)):
    case(f'accept_start_{name}', START.format(more='', x=x, y=0.8, u=u, v=-0.6), accept=True)

case('refuse_indefinite_at_start_only', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["1", "x"], ["x", "1"]]
[constraints]
h1 = "y = 0"
[start]
position = { x = 1.5 }
''', expect={'refuse': 'indefinite', 'says': '(?i)mass|definite|eigenvalue'})
case('refuse_indefinite_energy', '''
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 - y'^2/2"
''', expect={'refuse': 'indefinite', 'says': '(?i)mass|definite|eigenvalue'})
case('refuse_slightly_indefinite', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["1", "1.000001"], ["1.000001", "1"]]
[constraints]
h1 = "x + y = 0"
''', expect={'refuse': 'indefinite', 'says': '(?i)mass|definite|eigenvalue'})
case('refuse_negative_tiny_mass', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1e9, y = -1e-3 }
''', expect={'refuse': 'indefinite', 'says': '(?i)mass|definite|eigenvalue'})
case('refuse_contradiction', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
push = "x'' = 1"
pull = "x'' = 2"
''', expect={'refuse': 'contradiction', 'says': 'push|pull'})
case('refuse_nonunique', '''
coordinates = ["x", "free"]
[dynamics]
mass = { x = 1, free = 0 }
''', expect={'refuse': 'not unique', 'says': 'free'})
case('refuse_unsolvable', '''
coordinates = ["x", "free"]
[dynamics]
mass = { x = 1, free = 0 }
force = { free = "1" }
''', expect={'refuse': 'no acceleration', 'says': 'free'})
case('refuse_asymmetric', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["1", "0.1"], ["0.2", "1"]]
''', expect={'refuse': 'not symmetric', 'says': '(?i)symmetric'})
case('refuse_mass_with_velocity', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = "1 + y'^2", y = 1 }
''', expect={'refuse': 'velocity in the mass', 'says': '(?i)velocit'})
case('refuse_kinetic_cubic', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2 + 0.1*x'^3"
''', expect={'refuse': 'not quadratic', 'says': '(?i)quadratic'})
case('refuse_kinetic_abs', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2 + abs(x')"
''', expect={'refuse': 'not quadratic', 'says': '(?i)quadratic'})
case('refuse_potential_with_velocity', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
potential = "x*x'"
''', expect={'refuse': 'velocity in the potential', 'says': '(?i)velocit'})
case('refuse_acceleration_in_force', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "-x''" }
''', expect={'refuse': 'acceleration in a force', 'says': '(?i)accelerat'})
case('refuse_acceleration_nonlinear', '''
coordinates = ["x", "y"]
[dynamics]
kinetic = "x'^2/2 + y'^2/2"
[constraints]
s1 = "x''^2 = 1"
''', expect={'refuse': 'not linear in accelerations', 'says': '(?i)linear'})
case('refuse_acceleration_in_kinetic_by_define', '''
coordinates = ["x"]
[define]
jerk = "x''"
[dynamics]
kinetic = "x'^2/2 + 0*jerk"
''', expect={'refuse': 'acceleration in an energy', 'says': '(?i)accelerat'})
case('refuse_no_coordinate_in_constraint', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
h1 = "t = t"
''', expect={'refuse': 'no coordinate', 'says': 'coordinate'})
case('refuse_cycle', '''
coordinates = ["x"]
[define]
aa = "bb + 1"
bb = "aa*2"
[dynamics]
kinetic = "aa*x'^2/2"
''', expect={'refuse': 'cycle', 'says': 'aa|bb'})
case('refuse_parameter_cycle', '''
coordinates = ["x"]
[parameters]
aa = "bb + 1"
bb = "aa*2"
[dynamics]
kinetic = "aa*x'^2/2"
''', expect={'refuse': 'cycle', 'says': 'aa|bb'})
case('refuse_unknown_name', '''
coordinates = ["x"]
[parameters]
mass = 1
[dynamics]
kinetic = "mas*x'^2/2"
''', expect={'refuse': 'unknown name', 'says': '`?mass`?'})
case('refuse_unknown_key', '''
coordinates = ["x"]
[dynamics]
kinetik = "x'^2/2"
''', expect={'refuse': 'unknown key', 'says': 'kinetic'})
case('refuse_force_on_unknown_coordinate', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { y = "1" }
''', expect={'refuse': 'no such coordinate', 'says': 'y'})
case('refuse_division_by_zero_at_start', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
force = { x = "1/x" }
''', expect={'refuse': 'division by zero', 'says': '1/x|zero|finite'})
case('refuse_toml_error', '''
coordinates = ["x"
[dynamics]
kinetic = "x'^2/2"
''', expect={'refuse': 'TOML', 'says': '.'})
case('refuse_duplicate_coordinate', '''
coordinates = ["x", "x"]
[dynamics]
kinetic = "x'^2/2"
''', expect={'refuse': 'twice', 'says': 'x'})
case('refuse_name_clash', '''
coordinates = ["x"]
[parameters]
x = 1
[dynamics]
kinetic = "x'^2/2"
''', expect={'refuse': 'twice', 'says': 'x'})
case('refuse_negative_weight', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints.w]
equation = "x'' = 1"
weight = -1
''', expect={'refuse': 'negative weight', 'says': '(?i)weight'})
case('refuse_asymmetric_weight', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
a = "x'' = 1"
b = "x'' = 2"
[measured]
constraints = ["a", "b"]
weight = [[1, 0.5], [0.4, 1]]
''', expect={'refuse': 'weight not symmetric', 'says': '(?i)weight|symmetric'})
case('refuse_indefinite_weight', '''
coordinates = ["x"]
[dynamics]
kinetic = "x'^2/2"
[constraints]
a = "x'' = 1"
b = "x'' = 2"
[measured]
constraints = ["a", "b"]
weight = [[1, 2], [2, 1]]
''', expect={'refuse': 'weight not definite', 'says': '(?i)weight|definite'})

# --- TOML ---------------------------------------------------------------------------------------------------------------------
PENDULUM_STATE = (0, {'x': 0.6, 'y': -0.8}, {'x': 0.8, 'y': 0.6})
case('toml_dotted_keys', '''
title = 'literal "quotes" inside'
coordinates = [ "x",
  'y', # a comment in an array
]
parameters.m = 2
parameters.g = 981e-2
dynamics.kinetic = "m/2*(x'^2 + y'^2)"
dynamics.potential = 'm*g*y'
constraints.rod = """x^2 + y^2
   = 1"""
start.position.x = 0.6
start.position.y = -8.0e-1
start.velocity = {x = 0.8, y = 0.6}
run.to = 1
''', PENDULUM_STATE)
case('toml_long_forms', r'''
"coordinates" = ["x", "y"]
[parameters]
m = 0x10
g = 1_0
h = 0b11
k = 0o17
big = +5
[dynamics]
mass = [ ["m", 0], [0, "m"] ]
[dynamics.force]
"y" = "-m*g + h - k - big"
x = """\u0078 + 1 \
   - 1"""
[constraints.rod]
equation = """
x^2 + y^2 = 1"""
[constraints."ring_two"]
equation = "2*(x^2 + y^2) = 2"
''', PENDULUM_STATE)
case('toml_mixed_constraint_forms', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = "1", z = 3.0, y = 2 }
force = { x = 1, y = -2.5, z = "3" }
[constraints]
a = "x = t"
b = { equation = "y = 2*t" }
[constraints.c]
equation = "x + y = 3*t"
[nonideal]
z = -0.5
''', (1, {'x': 1, 'y': 2}, {'x': 1, 'y': 2, 'z': 4}))
case('toml_start_expressions', '''
coordinates = ["x", "y"]
[parameters]
a = 0.3
L = "sqrt(4)"
[dynamics]
mass = { x = 1, y = 1 }
force = { y = "-9.81" }
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
time = 1
position = { x = "L*sin(a)", y = "-L*cos(a)" }
velocity = { x = "cos(a)", y = "sin(a)" }
''')
case('toml_crlf', '''coordinates = ["x", "y"]\r
[dynamics]\r
kinetic = """\r
(x'^2\r
 + y'^2)/2"""\r
potential = "9.81*y" # comment\r
[constraints]\r
rod = "x^2 + y^2 = 1"\r
''', PENDULUM_STATE)
case('toml_whitespace_in_expressions', '''
coordinates = ["x", "y"]
[dynamics]
kinetic = " ( x'^2+y'^2 ) / 2 "
potential = "9.81 * y"
[constraints]
rod = "\\tx ^ 2 + y^2=1"
''', PENDULUM_STATE)
case('toml_no_constraints_table', '''
coordinates = ["x"]
[dynamics]
mass = [[2]]
force.x = 3
[constraints]
[nonideal]
[control]
''', (0, {'x': 1}, {'x': 0}))
case('toml_title_and_outputs', '''
title = "t = 0"
coordinates = ["x"]
[dynamics]
mass = { x = 2 }
[outputs]
e = "x'^2"
power = "x''*x'"
[events]
up = { when = "x", direction = "up", do = "stop" }
[run]
to = 10
every = 1
tolerance = 1e-8
method = "auto"
''', (0, {'x': 1}, {'x': 0}), may_refuse='outputs with accelerations')

# --- projection ---------------------------------------------------------------------------------------------------------------
case('project_ellipse_far', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 1 }
[constraints]
ellipse = "x^2/4 + y^2 = 1"
[start]
position = { x = 2.5, y = 1.5 }
velocity = { x = 1, y = 1 }
''', project=True)
case('project_redundant', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 3, z = 0.5 }
[constraints]
sphere = "x^2 + y^2 + z^2 = 4"
again = "3*(x^2 + y^2 + z^2) = 12"
root = "sqrt(x^2 + y^2 + z^2) = 2"
plane = "x + y = z"
[start]
position = { x = 1.5, y = 0.3, z = 1.2 }
velocity = { x = 1, y = -1, z = 2 }
''', project=True)
case('project_rheonomic', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["2", "0.5"], ["0.5", "1"]]
[constraints]
moving = "(x - t)^2 + y^2 = (1 + t)^2"
[start]
time = 0.5
position = { x = 1.8, y = 1.1 }
velocity = { x = 0.2, y = -0.4 }
''', project=True)
case('project_nonholonomic', '''
coordinates = ["x", "y", "th"]
[dynamics]
mass = { x = 1, y = 1, th = 0.1 }
[constraints]
skate = "x'*sin(th) = y'*cos(th)"
speed = "x'^2 + y'^2 = 4"
[start]
position = { th = 0.4 }
velocity = { x = 1.5, y = 1.2, th = 3 }
''', project=True)
case('project_singular_mass', '''
coordinates = ["x", "u"]
[dynamics]
mass = { x = 2, u = 0 }
[constraints]
node = "5*u = 2*x + 0.1*x^3"
[start]
position = { x = 1, u = 1 }
velocity = { x = 1, u = -3 }
''', project=True)
case('project_singular_mass_two', '''
coordinates = ["x", "y", "u"]
[dynamics]
mass = [["1", "1", "0"], ["1", "1", "0"], ["0", "0", "0"]]
[constraints]
a = "x - y = t"
b = "u = x*y"
c = "x + y = 1"
[start]
time = 1
position = { x = 1.2, y = 0.1, u = 1 }
velocity = { x = 1, y = 1, u = -3 }
''', project=True)
case('project_mass_depends_on_place', '''
coordinates = ["r", "f"]
[dynamics]
kinetic = "(r'^2 + r^2*f'^2)/2"
[constraints]
spiral = "r = 1 + f/2"
[start]
position = { r = 1.5, f = 0.2 }
velocity = { r = 1, f = 1 }
''', project=True, unclear=True)
case('project_velocity_only', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 4 }
[constraints]
line = "x + y = 1 + 2*t"
[start]
position = { x = 0.5, y = 0.5 }
velocity = { x = 0, y = 0 }
''', project=True)
case('project_two_curves_far', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 1, z = 1 }
[constraints]
cyl = "x^2 + y^2 = 1"
wave = "z = sin(3*x)"
[start]
position = { x = 1.4, y = 0.9, z = 0.6 }
velocity = { x = 1, y = 0, z = 1 }
''', project=True)
case('project_ignores_control_and_acceleration_rows', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 4 }
[constraints]
line = "x + y = 1"
acc = "x'' - y'' = 4"
[control.want]
equation = "x = 7"
frequency = 2
[start]
position = { x = 1, y = 1 }
velocity = { x = 1, y = 0 }
''', project=True)
case('project_four_bar', '''
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "a'^2/2 + b'^2 + 2*c'^2 + 0.5*a'*b'"
[constraints]
cx = "cos(a) + 2*cos(b) - 1.5*cos(c) = 2"
cy = "sin(a) + 2*sin(b) - 1.5*sin(c) = 0"
[start]
position = { a = 1.0, b = 0.3, c = 1.2 }
velocity = { a = 1 }
''', project=True)
