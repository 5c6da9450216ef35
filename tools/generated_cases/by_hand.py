"""Models written by hand, each with the states at which it is asked."""

CASES = []


def case(name, text, *states, **more):
    """A state is (time, position, velocity); numbers may be expressions in quotes. No state: the start of the file."""
    CASES.append({'name': name, 'text': text.strip() + '\n', 'states': states, **more})


# --- energies ----------------------------------------------------------------------------------------------------------

case('energy_rotating_frame', '''
title = "Particle in a frame that turns at a varying rate: T has terms linear and constant in the velocities"
coordinates = ["x", "y"]
[parameters]
m = 1.7
k = 3
[define]
rate = "1 + 0.3*sin(2*t)"
[dynamics]
kinetic = "m/2*((x' - rate*y)^2 + (y' + rate*x)^2)"
potential = "k/2*(x^2 + y^2)"
[constraints]
slot = "y = 0.2*x^2 + 0.1*t"
''', (0.3, {'x': 0.7, 'y': 0.128}, {'x': 0.4, 'y': 0.212}), (1.9, {'x': -0.4, 'y': 0.5}, {'x': 2, 'y': -1}))

case('energy_linear_only_gyro', '''
title = "Velocity-linear terms with position and time dependence"
coordinates = ["a", "b", "c"]
[parameters]
B = 2.5
[dynamics]
kinetic = "(a'^2 + 2*b'^2 + 3*c'^2)/2 + B*(a*b' - b*a')*exp(-t) + t^2*c'*a + sin(t)*cos(a)"
potential = "a^2*b + log(2 + c^2)"
force = { a = "-0.1*a'", c = "tanh(b')" }
''', (0.7, {'a': 0.3, 'b': -1.2, 'c': 0.8}, {'a': 1, 'b': -0.5, 'c': 2}))

case('energy_mass_depends_on_time', '''
title = "Leaking bucket and a growing drop: masses depend on time and place"
coordinates = ["x", "θ"]
[parameters]
m0 = 3
[define]
m = "m0*exp(-t/4) + x^2"
[dynamics]
kinetic = "m/2*(x'^2 + (x*θ')^2) + x'*θ'*cos(θ)*t"
potential = "-m0*9.81*x*cos(θ)"
''', (0, {'x': 1, 'θ': 0.3}, {'x': 0.5, 'θ': -1}), (2.5, {'x': 0.4, 'θ': 2}, {'x': -0.5, 'θ': 3}))

case('energy_double_pendulum_on_moving_cart', '''
title = "Double pendulum in angles on a cart that is driven"
coordinates = ["s", "p", "q"]
[parameters]
M = 5
m1 = 1
m2 = 0.5
l1 = "sqrt(2)/2"
l2 = "l1/3"
g = 9.80665
[define]
x1 = "s + l1*sin(p)"
y1 = "-l1*cos(p)"
vx1 = "s' + l1*p'*cos(p)"
vy1 = "l1*p'*sin(p)"
vx2 = "vx1 + l2*q'*cos(q)"
vy2 = "vy1 + l2*q'*sin(q)"
y2 = "y1 - l2*cos(q)"
[dynamics]
kinetic = "M/2*s'^2 + m1/2*(vx1^2 + vy1^2) + m2/2*(vx2^2 + vy2^2)"
potential = "m1*g*y1 + m2*g*y2"
[constraints]
drive = "s = 0.2*sin(3*t)"
''', (0.4, {'s': '0.2*sin(1.2)', 'p': 1, 'q': -2}, {'s': '0.6*cos(1.2)', 'p': 3, 'q': 4}))

case('energy_foucault', '''
title = "Foucault pendulum in Cartesian coordinates of the turning Earth"
coordinates = ["x", "y", "z"]
[parameters]
m = 28
L = 67
W = 7.292115e-5
lat = "48.85*pi/180"
[define]
wx = "0"
wy = "W*cos(lat)"
wz = "W*sin(lat)"
vx = "x' + wy*z - wz*y"
vy = "y' + wz*x - wx*z"
vz = "z' + wx*y - wy*x"
[dynamics]
kinetic = "m/2*(vx^2 + vy^2 + vz^2)"
potential = "m*9.81*z"
[constraints]
wire = "x^2 + y^2 + z^2 = L^2"
''', (100, {'x': 3, 'y': 4, 'z': '-sqrt(67^2-25)'}, {'x': 1, 'y': -0.75, 'z': 0}))

case('energy_constant_in_velocity', '''
title = "A kinetic energy with a term without velocities acts as a potential"
coordinates = ["r"]
[dynamics]
kinetic = "r'^2/2 + 2*r^2*(1+t)^2 - 3*r'*t*r"
''', (1.5, {'r': 0.4}, {'r': -2}))

case('energy_force_and_potential_and_time', '''
coordinates = ["x"]
[dynamics]
kinetic = "(2+cos(x))*x'^2/2"
potential = "x^4/4 - x^2*t + exp(-x*t)"
force.x = "-0.2*x'*abs(x') + if(x > 0, sqrt(x), 0)"
''', (1, {'x': -1}, {'x': 2}), (1, {'x': 1}, {'x': -2}), (0, {'x': 0}, {'x': 0}))

case('two_quaternion_bodies', '''
title = "Two rigid bodies by quaternions, joined at a point, unit length as constraints"
coordinates = ["x1","y1","z1","a0","a1","a2","a3","x2","y2","z2","b0","b1","b2","b3"]
[parameters]
m1 = 2
m2 = 3
I1 = 0.1
I2 = 0.2
I3 = 0.25
J1 = 0.3
J2 = 0.35
J3 = 0.15
g = 9.81
h = 0.5
[define]
wa1 = "2*(-a1*a0' + a0*a1' + a3*a2' - a2*a3')"
wa2 = "2*(-a2*a0' - a3*a1' + a0*a2' + a1*a3')"
wa3 = "2*(-a3*a0' + a2*a1' - a1*a2' + a0*a3')"
wb1 = "2*(-b1*b0' + b0*b1' + b3*b2' - b2*b3')"
wb2 = "2*(-b2*b0' - b3*b1' + b0*b2' + b1*b3')"
wb3 = "2*(-b3*b0' + b2*b1' - b1*b2' + b0*b3')"
[dynamics]
kinetic = """
m1/2*(x1'^2 + y1'^2 + z1'^2) + (I1*wa1^2 + I2*wa2^2 + I3*wa3^2)/2
 + m2/2*(x2'^2 + y2'^2 + z2'^2) + (J1*wb1^2 + J2*wb2^2 + J3*wb3^2)/2"""
potential = "m1*g*z1 + m2*g*z2"
[constraints]
unit_a = "a0^2 + a1^2 + a2^2 + a3^2 = 1"
unit_b = "b0^2 + b1^2 + b2^2 + b3^2 = 1"
joint_x = "x1 + h*2*(a1*a3 + a0*a2) = x2 - h*2*(b1*b3 + b0*b2)"
joint_y = "y1 + h*2*(a2*a3 - a0*a1) = y2 - h*2*(b2*b3 - b0*b1)"
joint_z = "z1 + h*(a0^2 - a1^2 - a2^2 + a3^2) = z2 - h*(b0^2 - b1^2 - b2^2 + b3^2)"
''', (0, {'a0': 0.5, 'a1': 0.5, 'a2': -0.5, 'a3': 0.5, 'b0': 0.8, 'b2': 0.6, 'z2': 1},
      {'a0': 0.3, 'a1': 0.3, 'a2': 0.6, 'a3': 0, 'b0': 0.6, 'b1': 1, 'b2': -0.8, 'b3': 0.2, 'x1': 0.4}))

# --- quaternion without its constraint: T alone is singular along the quaternion ------------------------------------------
case('quaternion_singular_alone', '''
title = "A quaternion body whose length is not held: the mass matrix is singular along it"
coordinates = ["a0","a1","a2","a3"]
[define]
w1 = "2*(-a1*a0' + a0*a1' + a3*a2' - a2*a3')"
w2 = "2*(-a2*a0' - a3*a1' + a0*a2' + a1*a3')"
w3 = "2*(-a3*a0' + a2*a1' - a1*a2' + a0*a3')"
[dynamics]
kinetic = "(w1^2 + 2*w2^2 + 3*w3^2)/2"
''', (0, {'a0': 1}, {'a1': 0.3, 'a2': -0.2}), (0, {'a0': 0.8, 'a3': 0.6}, {'a1': 0.3, 'a2': -0.2}))

case('quaternion_singular_held', '''
coordinates = ["a0","a1","a2","a3"]
[define]
w1 = "2*(-a1*a0' + a0*a1' + a3*a2' - a2*a3')"
w2 = "2*(-a2*a0' - a3*a1' + a0*a2' + a1*a3')"
w3 = "2*(-a3*a0' + a2*a1' - a1*a2' + a0*a3')"
[dynamics]
kinetic = "(w1^2 + 2*w2^2 + 3*w3^2)/2"
[constraints]
unit = "a0^2+a1^2+a2^2+a3^2 = 1"
also = "sqrt(a0^2+a1^2+a2^2+a3^2) = 1"
[nonideal]
a1 = "-0.1*a1'"
a0 = "3"
''', (0, {'a0': 0.8, 'a3': 0.6}, {'a0': -0.3, 'a3': 0.4, 'a1': 1, 'a2': -2}), (0, {'a0': 0.5, 'a1': 0.5, 'a2': 0.5, 'a3': -0.5}, {'a0': 0.1, 'a1': 0.2, 'a2': 0.3, 'a3': 0.6}))

# --- redundancy ----------------------------------------------------------------------------------------------------------
case('redundant_scales', '''
title = "The same circle at scales 1e6 and 1e-6, cubed and under a root, in any order"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 2, y = 3 }
force = { x = "1", y = "-9.81*3" }
[constraints]
tiny = "1e-6*(x^2 + y^2) = 1e-6"
huge = "1e6*x^2 + 1e6*y^2 = 1e6"
root = "hypot(x, y) = 1"
cube = "(x^2 + y^2)^3 = 1"
angle_free = "log(x^2 + y^2) = 0"
''', (0, {'x': 0.6, 'y': 0.8}, {'x': -0.8, 'y': 0.6}), (0, {'x': 'cos(0.3)', 'y': 'sin(0.3)'}, {'x': '-2*sin(0.3)', 'y': '2*cos(0.3)'}))

case('redundant_squares_are_zero_rows', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 1, z = 1 }
force = { z = "-9.81" }
[constraints]
square = "(x^2 + y^2 + z^2 - 1)^2 = 0"
sphere = "x^2 + y^2 + z^2 = 1"
fourth = "(x^2 + y^2 + z^2 - 1)^4 = 0"
nothing = "0*z = 0"
nothing_else = "x - x = 0"
''', (0, {'x': 'sin(1)*cos(2)', 'y': 'sin(1)*sin(2)', 'z': 'cos(1)'}, {'x': '-0.5*sin(1)*sin(2)', 'y': '0.5*sin(1)*cos(2)', 'z': 0}),
   (0, {'x': 0.6, 'y': 0, 'z': -0.8}, {'x': 0.8, 'y': 1, 'z': 0.6}))

case('redundant_nonholonomic_duplicates', '''
title = "A skate with its row thrice: as it is, multiplied by a speed-free factor, and rotated into itself"
coordinates = ["x", "y", "th"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2 + th'^2/4"
force = { x = "1", th = "0.3" }
[constraints]
skate = "x'*sin(th) = y'*cos(th)"
twice = "2*y'*cos(th) - 2*x'*sin(th) = 0"
times = "exp(x)*(x'*sin(th) - y'*cos(th)) = 0"
level = "x''*sin(th) - y''*cos(th) + th'*(x'*cos(th) + y'*sin(th)) = 0"
''', (0, {'x': 0.3, 'th': 0.5}, {'x': '2*cos(0.5)', 'y': '2*sin(0.5)', 'th': 1.5}), (1, {'x': 0.3, 'th': 0}, {'x': 2, 'y': 0, 'th': -1}))

case('redundant_holonomic_and_its_rate', '''
title = "A constraint at position, velocity and acceleration level at once"
coordinates = ["x", "y"]
[dynamics]
mass = [["2", "x"], ["x", "1 + x^2"]]
force = { y = "-5" }
[constraints]
rate = "2*x*x' + 2*y*y' = 0"
place = "x^2 + y^2 = 25"
accel = "x*x'' + y*y'' + x'^2 + y'^2 = 0"
''', (0, {'x': 3, 'y': 4}, {'x': 4, 'y': -3}), (0, {'x': 0, 'y': -5}, {'x': 4, 'y': 0}))

case('redundant_order_matters', '''
coordinates = ["a", "b", "c", "d"]
[dynamics]
mass = { a = 1, b = 2, c = 3, d = 4 }
force = { a = "1", b = "2", c = "3", d = "4" }
[constraints]
zero = "0*a = 0"
sum = "a + b + c + d = 0"
sum2 = "3*a + 3*b + 3*c + 3*d = 0"
ab = "a - b = 0"
mix = "5*a + 3*b + 4*c + 4*d = 0"
cd = "c = d"
last = "a + b - c - d = 0"
all = "7*a + 5*b + 3*c + 2*d = 0"
''', (0, {}, {}), (0, {'a': 1, 'b': 2, 'c': 3, 'd': 4}, {'a': 1}))

case('redundant_loop_of_six_bars', '''
title = "Parallelogram with three cranks and a diagonal-free loop, in absolute coordinates"
coordinates = ["x1","y1","x2","y2","x3","y3"]
[parameters]
m = 0.7
[dynamics]
kinetic = "m/2*(x1'^2+y1'^2+x2'^2+y2'^2+x3'^2+y3'^2)"
potential = "m*9.81*(y1+y2+y3)"
[constraints]
c1 = "x1^2 + y1^2 = 1"
c2 = "(x2-1)^2 + y2^2 = 1"
c3 = "(x3-2)^2 + y3^2 = 1"
b12 = "(x2-x1)^2 + (y2-y1)^2 = 1"
b23 = "(x3-x2)^2 + (y3-y2)^2 = 1"
b13 = "(x3-x1)^2 + (y3-y1)^2 = 4"
''', (0, {'x1': 0.6, 'y1': -0.8, 'x2': 1.6, 'y2': -0.8, 'x3': 2.6, 'y3': -0.8}, {'x1': 0.8, 'y1': 0.6, 'x2': 0.8, 'y2': 0.6, 'x3': 0.8, 'y3': 0.6}),
   (0, {'x1': 1, 'y1': 0, 'x2': 2, 'y2': 0, 'x3': 3, 'y3': 0}, {'y1': 1, 'y2': 1, 'y3': 1}))

case('redundant_more_rows_than_coordinates', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
r1 = "x = t^2"
r2 = "y = x"
r3 = "x + y = 2*t^2"
r4 = "x - 3*y = -2*t^2"
r5 = "1e5*x + y = 100001*t^2"
''', (2, {'x': 4, 'y': 4}, {'x': 4, 'y': 4}))

case('redundant_at_a_singular_configuration', '''
title = "Slider-crank at both dead centres"
coordinates = ["x", "y", "s"]
[dynamics]
mass = { x = 1, y = 1, s = 2 }
force = { y = "-9.81", s = "-3" }
[constraints]
crank = "x^2 + y^2 = 1"
rod = "(s - x)^2 + y^2 = 1"
''', (0, {'x': 1, 'y': 0, 's': 2}, {'y': 1, 'x': 0, 's': 0}), (0, {'x': 0, 'y': 1, 's': 0}, {'x': 1, 'y': 0, 's': 2}),
   (0, {'x': 0, 'y': 1, 's': 0}, {'x': 1, 'y': 0, 's': 0}), (0, {'x': 0, 'y': 1, 's': 0}, {'x': 0, 'y': 0, 's': 0}))

case('singular_cone_apex', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 1, z = 1 }
force = { z = "-1" }
[constraints]
cone = "x^2 + y^2 = z^2"
''', (0, {}, {}), (0, {}, {'x': 1, 'z': 1}), (0, {}, {'x': 1}), (0, {'x': 1e-3, 'z': 1e-3}, {'x': 1, 'z': 1}))

case('singular_product', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 4 }
force = { x = "2", y = "-3" }
[constraints]
cross = "x*y = 0"
''', (0, {}, {'x': 1}), (0, {'x': 2}, {'x': 1}), (0, {'y': 1}, {'y': -2}), (0, {}, {'x': 1, 'y': 1}))

# --- near dependence ------------------------------------------------------------------------------------------------------
for e, tol in ((4, 1e-10), (5, 1e-9), (6, 1e-8), (7, 1e-7), (8, 1e-6)):
    case(f'near_dependent_1e-{e}', f'''
title = "Two rows at an angle of 1e-{e}"
coordinates = ["x", "y", "z"]
[dynamics]
mass = {{ x = 1, y = 2, z = 3 }}
force = {{ x = "1", y = "-2", z = "0.5" }}
[constraints]
one = "x + y + z = 1"
other = "x + y + (1 + 1e-{e})*z = 1 + 2e-{e}"
''', (0, {'x': 1, 'y': -2, 'z': 2}, {'x': 1, 'y': -1, 'z': 0}), tolerance=tol)

case('near_dependent_three', '''
coordinates = ["x", "y", "z", "u"]
[parameters]
d = 1e-5
[dynamics]
mass = [["2","1","0","0"],["1","2","1","0"],["0","1","2","1"],["0","0","1","2"]]
force = { x = "1", u = "-1" }
[constraints]
h1 = "x + y = t"
h2 = "y + z = 2*t"
h3 = "x - z + d*u = -t + d*t^2"
''', (0.5, {'x': 0.25, 'y': 0.25, 'z': 0.75, 'u': 0.25}, {'x': 0.5, 'y': 0.5, 'z': 1.5, 'u': 1}), tolerance=1e-9)

# --- mass ratios and units ------------------------------------------------------------------------------------------------
case('units_nano', '''
title = "A mote of 1e-9 kg on a rod of 1e-6 m"
coordinates = ["x", "y"]
[parameters]
m = 1e-9
L = 1e-6
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*9.81*y"
[constraints]
rod = "x^2 + y^2 = L^2"
[start]
position = { x = 6e-7, y = -8e-7 }
velocity = { x = 8e-4, y = 6e-4 }
''', tiny=True)

case('units_giga', '''
coordinates = ["x", "y"]
[parameters]
m = 1e9
L = 1e6
[dynamics]
kinetic = "m/2*(x'^2 + y'^2)"
potential = "m*9.81*y"
force = { x = "1e9" }
[constraints]
rod = "x^2 + y^2 = L^2"
same = "x*x' + y*y' = 0"
[start]
position = { x = 600000.0, y = -800000.0 }
velocity = { x = 800, y = 600 }
''')

case('units_tiny_forces', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1e-9, y = 2e-9 }
force = { x = "1e-9", y = "-3e-9" }
[constraints]
tie = "x + 2*y = 0"
[nonideal]
x = "1e-10"
''', (0, {}, {}), tiny=True)

case('mass_ratio_1e8', '''
coordinates = ["x1","y1","x2","y2"]
[parameters]
big = 1e8
[dynamics]
kinetic = "big/2*(x1'^2 + y1'^2) + (x2'^2 + y2'^2)/2"
potential = "9.81*(big*y1 + y2)"
[constraints]
upper = "x1^2 + y1^2 = 1"
lower = "(x2-x1)^2 + (y2-y1)^2 = 1"
''', (0, {'x1': 0.6, 'y1': -0.8, 'x2': 1.4, 'y2': -1.4}, {'x1': 0.8, 'y1': 0.6, 'x2': 1.4, 'y2': 1.4}),
   (0, {'x1': 0, 'y1': -1, 'x2': 0, 'y2': -2}, {'x1': 1, 'y1': 0, 'x2': -3, 'y2': 0}))

case('mass_ratio_1e-8', '''
coordinates = ["x1","y1","x2","y2"]
[parameters]
big = 1e-8
[dynamics]
kinetic = "big/2*(x1'^2 + y1'^2) + (x2'^2 + y2'^2)/2"
potential = "9.81*(big*y1 + y2)"
[constraints]
upper = "x1^2 + y1^2 = 1"
lower = "(x2-x1)^2 + (y2-y1)^2 = 1"
''', (0, {'x1': 0.6, 'y1': -0.8, 'x2': 1.4, 'y2': -1.4}, {'x1': 0.8, 'y1': 0.6, 'x2': 1.4, 'y2': 1.4}),
   (0, {'x1': 0, 'y1': -1, 'x2': 0, 'y2': -2}, {'x1': 1, 'y1': 0, 'x2': -3, 'y2': 0}))

case('mass_ratio_in_full_matrix', '''
title = "A mass matrix of condition 1e8, not by units"
coordinates = ["x", "y"]
[dynamics]
mass = [["1", "0.99999999"], ["0.99999999", "1"]]
force = { x = "1", y = "2" }
[constraints]
h = "x - 2*y = 0"
''', (0, {}, {}), without=('unconstrained_acceleration', 'gaussian'))

case('mixed_units', '''
title = "Millimetres beside radians beside kilometres"
coordinates = ["mm", "rad", "km"]
[dynamics]
mass = [["1e-6", "1e-4", "0"], ["1e-4", "0.5", "100"], ["0", "100", "1e6"]]
force = { mm = "1e-3", rad = "1", km = "1e3" }
[constraints]
gear = "mm = 1000*rad"
pull = "km*1e6 - mm = 0"
''', (0, {'mm': 500, 'rad': 0.5, 'km': 5e-4}, {'mm': 500, 'rad': 0.5, 'km': 5e-4}))

# --- singular mass -------------------------------------------------------------------------------------------------------
case('massless_rope_node', '''
title = "A massless node between springs, held by equilibrium constraints in two directions"
coordinates = ["x", "y", "u", "v"]
[dynamics]
mass = { x = 1, y = 1 }
force = { x = "-3*(x-u)", y = "-3*(y-v) - 9.81", u = "3*(x-u) - 2*u", v = "3*(y-v) - 2*v" }
[constraints]
eq_u = "3*(x-u) = 2*u"
eq_v = "3*(y-v) = 2*v"
''', (0, {'x': 1, 'y': 2, 'u': 0.6, 'v': 1.2}, {'x': 1, 'u': 0.6}))

case('massless_all', '''
title = "No mass at all; the constraints say everything"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 0, y = 0 }
force = { x = "1", y = "2" }
[constraints]
a = "x = sin(t)"
b = "x + y = cos(t)"
''', (0.4, {'x': 'sin(0.4)', 'y': 'cos(0.4)-sin(0.4)'}, {'x': 'cos(0.4)', 'y': '-sin(0.4)-cos(0.4)'}))

case('massless_rank_one_mass', '''
title = "Rank-one mass matrix of a direction that turns"
coordinates = ["x", "y"]
[dynamics]
mass = [["cos(t)^2", "sin(t)*cos(t)"], ["sin(t)*cos(t)", "sin(t)^2"]]
force = { x = "1", y = "-1" }
[constraints]
line = "x - 2*y = t^3"
[nonideal]
x = "-0.5*x'"
y = "0.25"
''', (0.5, {'x': 0.125, 'y': 0}, {'x': 0.75, 'y': 0}), (1.2, {'x': 1.728}, {'x': 4.32}))

case('massless_kinetic_of_difference', '''
title = "Only the relative motion has inertia"
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a' - b')^2 + (b' - c')^2/2"
potential = "a^2 + b^2"
[constraints]
frame = "a + b + c = 3*t"
[nonideal]
b = "-0.2*b'"
c = "7"
''', (1, {'a': 1, 'b': 1, 'c': 1}, {'a': 2, 'b': 1, 'c': 0}))

case('massless_nonunique_solvable', '''
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a' - b')^2 + (b' - c')^2/2"
potential = "(a - b)^2"
''', (1, {'a': 1, 'b': 2, 'c': 1}, {'a': 2, 'b': 1, 'c': 0}))

case('massless_nonunique_unsolvable', '''
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a' - b')^2 + (b' - c')^2/2"
force = { c = "1" }
''', (1, {'a': 1, 'b': 2, 'c': 1}, {'a': 2, 'b': 1, 'c': 0}))

case('massless_nonunique_some_coordinates', '''
title = "One part is determined, the other is not, and a constraint ties two free ones"
coordinates = ["x", "y", "u", "v", "w"]
[dynamics]
mass = { x = 1, y = 2 }
force = { x = "1" }
[constraints]
tie = "u + 2*v = t"
rail = "y = 3*x"
''', (0, {}, {'u': 1}))

case('massless_force_blocked_by_row', '''
title = "A force on a massless coordinate that a constraint carries; another that nothing carries"
coordinates = ["x", "u", "v"]
[dynamics]
mass = { x = 1 }
force = { u = "5", v = "if(t > 1, 1, 0)" }
[constraints]
wall = "u = 0"
''', (0, {}, {}), (2, {}, {}))

case('massless_nonideal_makes_unsolvable', '''
coordinates = ["x", "u"]
[dynamics]
mass = { x = 1, u = 0 }
force = { x = "1" }
[constraints]
c = "x = 0"
[nonideal]
u = "1"
''', (0, {}, {}))

case('massless_with_redundant_rows_and_C', '''
coordinates = ["s", "th", "p"]
[parameters]
R = 0.4
[dynamics]
mass = [["0", "0", "0"], ["0", "0.7", "0.1"], ["0", "0.1", "0.2"]]
force = { s = "14", p = "-1" }
[constraints]
roll = "s = R*th"
roll2 = "5*s - 2*th = 0"
couple = "p' = 0.3*th'*th"
[nonideal]
s = "-0.6*s'"
p = "0.2*ideal(s)"
''', (0, {'s': 0.4, 'th': 1}, {'s': 0.8, 'th': 2, 'p': 0.6}))

# --- full column rank ----------------------------------------------------------------------------------------------------
case('full_column_rank', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["2", "1"], ["1", "2"]]
force = { x = "1e3", y = "-1e3" }
[constraints]
a = "x = t"
b = "y = t^2"
c = "x + y = t + t^2"
[nonideal]
x = "17"
''', (1, {'x': 1, 'y': 1}, {'x': 1, 'y': 2}), (3, {'x': 3, 'y': 9}, {'x': 1, 'y': 6}))

# --- nonlinear nonholonomic ----------------------------------------------------------------------------------------------
case('nonlinear_speed_quartic', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 1 }
force = { z = "-9.81", x = "x*y" }
[constraints]
speed = "x'^4 + y'^4 + z'^4 = (1 + t)^2"
ratio = "x'*y = atan2(y', 1 + z'^2)"
''', (0.5, {'x': 1, 'y': 0.3}, {'x': 1, 'y': 0.7, 'z': 0.4}))

case('nonlinear_mixed_levels', '''
title = "Holonomic, nonholonomic and acceleration rows side by side"
coordinates = ["x", "y", "z", "w"]
[dynamics]
kinetic = "(x'^2 + y'^2 + z'^2 + w'^2)/2 + 0.3*x'*y'*sin(w) + x*z'"
potential = "cosh(x) + y*z*w"
[constraints]
h = "x*y + z = 1 + t"
n = "sqrt(x'^2 + y'^2) = 2"
s = "w'' + 0.4*w' + 9*w + x'' = sin(t)"
''', (0.2, {'x': 1, 'y': 0.5, 'z': 0.7, 'w': 0.3}, {'x': 1.2, 'y': 1.6, 'z': -1.2, 'w': 0.4}))

case('acceleration_rows_with_state', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
one = "x*x'' + y'*y'' = x'*y' - t"
two = "(x'' + y'')*cos(x) - 3 = x''"
''', (1, {'x': 0.5, 'y': 1}, {'x': 2, 'y': 3}), (0, {'x': 0, 'y': 1}, {'x': 2, 'y': 0}))

case('acceleration_row_in_parentheses', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 3 }
force = { y = "-1" }
[constraints]
s = "-(2*(x'' - 3*(y'' - t)))/(1 + x^2) = -x''/2 + (1+t)*(1-y'')"
''', (1, {'x': 0.5, 'y': 1}, {'x': 2, 'y': 3}))

# --- functions -----------------------------------------------------------------------------------------------------------
case('functions_all_in_a_constraint', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 1, z = 1 }
force = { x = "sin(x)+cos(y)*tan(z)+asin(x/2)", y = "acos(y/3)-atan(z)+sinh(x)*cosh(y)", z = "tanh(z)+asinh(x)+acosh(2+y)-atanh(z/4)" }
[constraints]
a = "sin(x)*cosh(y) + atan2(y, x) + hypot(x, z) + exp(-z)*log(2 + x) = asinh(z) + tanh(x*y)"
b = "asin(x/2) + acos(y/2)*tan(z/3) + acosh(2 + x^2) + atanh(y/5) = sinh(z)/2 + sqrt(1 + x^2 + z^4)"
''', (0, {'x': 0.5, 'y': 0.8, 'z': -0.4}, {'x': 1, 'y': -2, 'z': 0.3}), (0, {'x': -0.5, 'y': -0.8, 'z': -0.4}, {'x': 1, 'y': -2, 'z': 0.3}))

case('functions_piecewise', '''
coordinates = ["x", "y"]
[parameters]
k = 40
[define]
gap = "max(0, 0.1 - x, -x)"
stop = "if(x < 0.1 and not (x' > 5), k*gap, 0)"
[dynamics]
mass = { x = "if(x >= 0, 1, 2)", y = "max(1, abs(x), 3)" }
force = { x = "stop - sign(x')*min(1, abs(x'))", y = "if(x == 0 or y > 1, -1, if(t >= 2, 1, 1/2))" }
[constraints]
c = "abs(x)*y + min(x, y)^2 = if(t < 1, t^2, 2*t - 1)"
''', (0.5, {'x': 0.05, 'y': 2}, {'x': 1, 'y': -1}), (3, {'x': -0.5, 'y': 0.3}, {'x': -0.2, 'y': 0.6}), (3, {'x': 2, 'y': -1}, {'x': 6, 'y': 0.6}))

case('functions_branch_not_taken_has_no_value', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
force = { x = "if(x > 0, log(x), -1)", y = "if(abs(y) < 1, sqrt(1 - y^2), 1/(y - 1))" }
[constraints]
c = "if(x > 0, sqrt(x), -x) + y = 3"
''', (0, {'x': -2, 'y': 0.5}, {'x': 1, 'y': 1}), (0, {'x': 4, 'y': 1.5}, {'x': 1, 'y': -0.25}))

case('functions_powers', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { x = "-x^2^0.5 + 2^-1*y - -x", y = "(-x)^3 + x^-2 - y^(x+1) - 2^3^2/512 + x^0 + .5 + 5. - 1e-3" }
[constraints]
c = "x^2.5 + y^x = 4 + -x^2"
''', (0, {'x': 1.5, 'y': 2}, {'x': 1, 'y': -0.5}))

case('functions_power_at_zero', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = "1 + x^2", y = 1 }
potential = "x^3 + x^4*y + y^2"
force = { y = "x^1 + x^0" }
[constraints]
c = "x^3 + x^2*y + y = t^3"
''', (0, {}, {'x': 2}), (0, {}, {'x': 2, 'y': 1}))

case('define_chain', '''
coordinates = ["q"]
[parameters]
a = "b + 1"
b = "c*2"
c = "d^2"
d = "pi/3"
[define]
z5 = "z4 + q'"
z4 = "z3*z3"
z3 = "z2 + z1"
z2 = "z1*cos(z1)"
z1 = "sin(a*q) + t"
[dynamics]
kinetic = "(1 + z4)*q'^2/2"
force = { q = "-z5" }
''', (0.3, {'q': 0.4}, {'q': 1.5}))

case('unicode_names', '''
title = "Имена и буквы: θ, φ, ωₓ"
coordinates = ["θ", "φ", "größe"]
[parameters]
"ω" = 2
"μ_1" = 0.3
_k = 5
[define]
"Δ" = "θ - φ"
[dynamics]
kinetic = "(θ'^2 + φ'^2 + größe'^2)/2 + 0.5*θ'*φ'*cos(Δ)"
potential = "_k/2*Δ^2"
[constraints]
"связь" = "größe = sin(θ) + ω*t"
"кол" = "φ' = μ_1*größe'"
''', (0.1, {'θ': 0.2, 'φ': 0.1, 'größe': 'sin(0.2)+0.2'}, {'θ': 1, 'größe': 'cos(0.2)+2', 'φ': '0.3*(cos(0.2)+2)'}))

# --- non-ideal -------------------------------------------------------------------------------------------------------------
case('nonideal_friction_by_ideal', '''
title = "Coulomb friction on a curved wire from the size of the ideal force"
coordinates = ["x", "y", "z"]
[parameters]
mu = 0.2
[define]
speed = "sqrt(x'^2 + y'^2 + z'^2)"
[dynamics]
mass = { x = 2, y = 2, z = 2 }
force = { z = "-2*9.81" }
[constraints]
cyl = "x^2 + y^2 = 1"
helix = "z = 0.3*atan2(y, x)"
[nonideal]
x = "-mu*sqrt(ideal(x)^2 + ideal(y)^2 + ideal(z)^2)*x'/speed"
y = "-mu*sqrt(ideal(x)^2 + ideal(y)^2 + ideal(z)^2)*y'/speed"
z = "-mu*sqrt(ideal(x)^2 + ideal(y)^2 + ideal(z)^2)*z'/speed"
''', (0, {'x': 'cos(1)', 'y': 'sin(1)', 'z': 0.3}, {'x': '-2*sin(1)', 'y': '2*cos(1)', 'z': 0.6}))

case('nonideal_multiplier_beside_redundant', '''
title = "The multiplier of one row is unique although two others are dependent"
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 3 }
force = { x = "1", y = "-9.81", z = "2" }
[constraints]
floor = "y = 0"
wall = "x + z = 0"
wall2 = "2*x + 2*z = 0"
[nonideal]
x = "-0.3*abs(multiplier(floor))"
z = "0.1*ideal(x) + max(multiplier(floor), 0)"
''', (0, {}, {'x': 1, 'z': -1}))

case('nonideal_multiplier_not_unique', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { y = "-9.81" }
[constraints]
floor = "y = 0"
floor2 = "2*y = 0"
[nonideal]
x = "-0.3*abs(multiplier(floor))"
''', expect={'refuse': 'multiplier(floor) is not unique', 'says': 'ideal'})

case('nonideal_C_in_row_space_only', '''
title = "C along the constraint does nothing at all"
coordinates = ["x", "y"]
[dynamics]
mass = [["2","0.3"],["0.3","1"]]
[constraints]
c = "x^2 + y = t"
[nonideal]
x = "2*x*10"
y = "10"
''', (0.5, {'x': 0.5, 'y': 0.25}, {'x': 1, 'y': 0}))

case('nonideal_without_constraints', '''
coordinates = ["x", "y"]
[dynamics]
mass = [["2","0.3"],["0.3","1"]]
force = { x = "1" }
[nonideal]
x = "-x'"
y = "3"
''', (0.5, {'x': 0.5}, {'x': 1, 'y': 0}))

case('nonideal_quadratic_drag_wire_rheonomic', '''
coordinates = ["x", "y", "z"]
[parameters]
a0 = 0.4
[dynamics]
mass = { x = 1, y = 1, z = 1 }
force = { z = "-9.81" }
[constraints]
helix1 = "x = cos(z + t)"
helix2 = "y = sin(z + t)"
[nonideal]
x = "-a0*hypot(x', hypot(y', z'))*x'"
y = "-a0*hypot(x', hypot(y', z'))*y'"
z = "-a0*hypot(x', hypot(y', z'))*z'"
''', (0.5, {'x': 'cos(1.5)', 'y': 'sin(1.5)', 'z': 1}, {'x': '-3*sin(1.5)', 'y': '3*cos(1.5)', 'z': 2}))
