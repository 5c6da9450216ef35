"""Models written by hand, third part: mechanisms and textbook systems, larger ones, odd names and numbers."""
from by_hand import case


def chain(n):
    """n particles on rods, hung up, with the rods' rates repeated as further rows."""
    q = [f'{c}{i}' for i in range(1, n + 1) for c in 'xy']
    rods = [f'rod{i} = "(x{i} - {f"x{i-1}" if i > 1 else 0})^2 + (y{i} - {f"y{i-1}" if i > 1 else 0})^2 = 1"' for i in range(1, n + 1)]
    text = f'coordinates = [{", ".join(chr(34) + c + chr(34) for c in q)}]\n[dynamics]\nkinetic = "(' + ' + '.join(f"{c}'^2" for c in q) + ')/2"\n'
    text += 'potential = "9.81*(' + ' + '.join(f'y{i}' for i in range(1, n + 1)) + ')"\n[constraints]\n' + '\n'.join(rods) + '\n'
    p, v, x, y, a, b = {}, {}, 0, 0, 0, 0
    for i in range(1, n + 1):
        s, c = ((3, 4), (4, 3), (0, 5), (-3, 4), (5, 0), (-4, -3))[i % 6]
        x, y = x + s / 5, y - c / 5
        w = (-1)**i * (i % 4)
        a, b = a + w * c / 5, b + w * s / 5
        p |= {f'x{i}': round(x, 10), f'y{i}': round(y, 10)}; v |= {f'x{i}': round(a, 10), f'y{i}': round(b, 10)}
    return text, p, v


for n in (5, 12):
    text, p, v = chain(n)
    case(f'chain_of_{n}', text, (0, p, v), tolerance=1e-11)

case('stewart_like_platform_redundant', '''
title = "Plane plate on four legs of prescribed lengths: one more than it needs"
coordinates = ["x", "y", "f"]
[parameters]
a = 0.5
[define]
px = "x + a*cos(f)"
py = "y + a*sin(f)"
qx = "x - a*cos(f)"
qy = "y - a*sin(f)"
[dynamics]
kinetic = "2*(x'^2 + y'^2)/2 + 0.3*f'^2/2"
potential = "2*9.81*y"
[constraints]
leg1 = "(px - 1)^2 + py^2 = (1 + 0.2*t)^2 + 0.25"
leg2 = "(px - 1)^2 + (py - 2)^2 = (1 - 0.2*t)^2 + 0.25"
leg3 = "(qx + 1)^2 + qy^2 = (1 + 0.2*t)^2 + 0.25"
leg4 = "(qx + 1)^2 + (qy - 2)^2 = (1 - 0.2*t)^2 + 0.25"
''', (0, {'x': 0, 'y': 1, 'f': 0}, {'x': 0, 'y': 0.2, 'f': 0}))

case('four_bar_flat', '''
title = "Parallelogram four-bar lying flat: the rank of A drops"
coordinates = ["a", "b", "c"]
[dynamics]
kinetic = "(a'^2 + b'^2 + c'^2)/6 + a'*b'*cos(a-b)/2"
potential = "9.81*(sin(a) + sin(b)/2 + sin(c)/2)"
[constraints]
cx = "cos(a) + 2*cos(b) - cos(c) = 2"
cy = "sin(a) + 2*sin(b) - sin(c) = 0"
''', (0, {}, {'a': 1, 'c': 1}), (0, {}, {'a': 1, 'b': -1, 'c': -1}), (0, {'a': 1, 'c': 1}, {'a': 1, 'c': 1}), (0, {}, {}))

case('rolling_disk_quaternion_free', '''
title = "Rolling disk in Euler angles with its contact rows doubled in another frame"
coordinates = ["x", "y", "ph", "th", "ps"]
[parameters]
m = 1.3
R = 0.4
A = "m*R^2/4"
C = "m*R^2/2"
[dynamics]
kinetic = "m/2*(x'^2 + y'^2 + (R*cos(th)*th')^2) + A/2*(th'^2 + (ph'*sin(th))^2) + C/2*(ps' + ph'*cos(th))^2"
potential = "m*9.81*R*sin(th)"
[define]
u = "R*(ps' + ph'*cos(th))"
w = "R*sin(th)*th'"
[constraints]
rollx = "x' - w*sin(ph) + u*cos(ph) = 0"
rolly = "y' + w*cos(ph) + u*sin(ph) = 0"
along = "x'*cos(ph) + y'*sin(ph) + u = 0"
''', (0, {'ph': 0.4, 'th': 1.1, 'ps': 2}, {'ph': 0.7, 'th': -0.3, 'ps': 4,
      'x': '-0.4*sin(1.1)*0.3*sin(0.4) - 0.4*(4 + 0.7*cos(1.1))*cos(0.4)', 'y': '0.4*sin(1.1)*0.3*cos(0.4) - 0.4*(4 + 0.7*cos(1.1))*sin(0.4)'}))

case('appell_nonlinear_servo', '''
title = "Speed prescribed by the height, with drag proportional to the reaction"
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 1, z = 1 }
force = { z = "-9.81" }
[constraints]
speed = "x'^2 + y'^2 + z'^2 = 2*9.81*(3 - z)*exp(-t)"
turn = "x'*y'' - y'*x'' = 0.5*(x'^2 + y'^2)^1.5"
[nonideal]
x = "-0.1*abs(multiplier(speed))*x'"
z = "-0.1*ideal(z)"
''', (0, {'z': 1}, {'x': 3, 'y': 4, 'z': 'sqrt(2*9.81*2 - 25)'}))

case('two_link_arm_tip_speed', '''
title = "Two-link arm with a control on the tip, a bearing and friction in the joints"
coordinates = ["a", "b"]
[define]
tx = "cos(a) + 0.8*cos(a + b)"
ty = "sin(a) + 0.8*sin(a + b)"
[dynamics]
kinetic = "(3 + 2*cos(b))*a'^2/2 + (1 + cos(b))*a'*b' + b'^2/2"
potential = "9.81*(2*sin(a) + sin(a + b))"
force = { a = "-0.1*a'", b = "-0.1*b'" }
[control.x]
equation = "tx = 1.2 + 0.1*sin(2*t)"
frequency = 6
damping = 0.9
[control.y]
equation = "ty = 0.4"
frequency = 6
damping = 0.9
''', (0.5, {'a': -0.3, 'b': 1.2}, {'a': 0.5, 'b': -0.2}), (0.5, {'a': 0.4, 'b': 0}, {'a': 0.5, 'b': -0.2}))

case('names_of_constraints_like_coordinates', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
force = { x = "1", y = "1" }
[constraints]
x = "x = y"
sin_ = "2*x = 2*y"
''', (0, {}, {}), may_refuse='a constraint named as a coordinate')

case('names_short', '''
coordinates = ["e", "i", "I", "S"]
[parameters]
E = 2
N = 3
Q = 0.5
C = "E*N"
[define]
O = "e + i"
[dynamics]
mass = { e = "E", i = "N", I = "Q", S = "C" }
force = { e = "O", S = "1e1*E" }
[constraints]
l = "e + I = S"
M = "i - 2*S = t^2"
''', (0.5, {'e': 1, 'i': 0.25}, {'e': 1e-5}))

case('numbers_odd', '''
coordinates = ["x", "y"]
[parameters]
a = 1E3
b = 1e+2
c = 1_000.5
d = -0.0
[dynamics]
mass = { x = "1.e0", y = ".5e1" }
force = { x = "1E-3*a + 2.5e+1 - b", y = "c - 1.0005E3 + d" }
[constraints]
c1 = "x*1e-3 + 0.5E2*y = 0"
''', (1e-05, {'x': 1e-07, 'y': -2e-12}, {'x': 1e16, 'y': -1e-16}))

case('tiny_start_numbers', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
force = { y = "-1" }
[constraints]
c1 = "x^2 + y^2 = 2*y"
''', (0, {'x': 1e-9, 'y': 5e-19}, {'x': 1, 'y': 1e-9}), (0, {'x': 0, 'y': 0}, {'x': 1}))

case('time_large', '''
coordinates = ["x", "y"]
[dynamics]
kinetic = "(x'^2 + y'^2)/2"
[constraints]
moving = "x*cos(t) + y*sin(t) = t/1000"
''', (1e4, {'x': '10*cos(10000)', 'y': '10*sin(10000)'}, {'x': '-10*sin(10000) + cos(10000)/1000', 'y': '10*cos(10000) + sin(10000)/1000'}))

case('far_from_the_origin', '''
title = "A tether of a metre at seven thousand kilometres"
coordinates = ["x1", "y1", "x2", "y2"]
[parameters]
GM = 3.986004418e14
[dynamics]
kinetic = "500*(x1'^2 + y1'^2) + 50*(x2'^2 + y2'^2)"
potential = "-GM*(1000/hypot(x1, y1) + 100/hypot(x2, y2))"
[constraints]
tether = "(x2 - x1)^2 + (y2 - y1)^2 = 1"
''', (0, {'x1': 7000000, 'y1': 0, 'x2': 7000000.75, 'y2': 0.6614378277661477}, {'x1': 0, 'y1': 7546, 'x2': 0.0, 'y2': 7546}), tolerance=1e-9)

case('weights_scaled_rows', '''
title = "Row scale matters for measured rows: the same measurement in other units is another weight"
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 3 }
force = { y = "-3*9.81" }
[constraints]
metres = { equation = "x'' + y'' = 1", weight = 1 }
millimetres = { equation = "1000*x'' + 1000*y'' = 1100", weight = 1 }
other = { equation = "x'' - y'' = 0", weight = 5 }
rail = "x + 2*y = 0"
''', (0, {}, {}))

case('weights_six_rows_three_coordinates', '''
coordinates = ["x", "y", "z"]
[parameters]
s = 0.1
[dynamics]
mass = [["2", "0.3", "0"], ["0.3", "1", "0.2"], ["0", "0.2", "4"]]
force = { x = "sin(t)", z = "-1" }
[constraints]
a = { equation = "x'' = cos(t)", weight = "1/s^2" }
b = { equation = "x'' + y'' = 0.5", weight = "4/s^2" }
c = { equation = "y'' = 0", weight = 10 }
d = { equation = "x'*y'' - y'*x'' = 1 + t", weight = 2 }
e = { equation = "x^2 + y = 1", weight = 3.5 }
[nonideal]
z = "-0.4*z'"
x = "8"
''', (1, {'x': 0.6, 'y': 0.64}, {'x': 1, 'y': -1.2, 'z': 2}))

case('weights_only_one_row_measured', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 3 }
force = { y = "-3*9.81" }
[constraints]
m1 = { equation = "x'' = 2", weight = 0.001 }
hard = "x + y = t^2"
''', (0, {}, {}))

case('conflict_and_redundant_together', '''
coordinates = ["x", "y", "z", "w"]
[dynamics]
mass = { x = 1, y = 1, z = 1, w = 1 }
[constraints]
a1 = "x + y = 0"
a2 = "2*x + 2*y = 0"
b1 = "z = t^2"
b2 = "z = t^2 + t^3"
c1 = "w' = 1"
c2 = "w'' = 0"
c3 = "3*w'' + z'' = 2"
''', (0, {}, {'w': 1}), (1, {'z': 1}, {'z': 2, 'w': 1}))

case('conflict_of_moving_and_still', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 0, y = 1 }
[constraints]
still = "x = 0"
moving = "x = 3*t^2"
line = "x + y = 0"
''', (0, {}, {}))

case('nonunique_with_control', '''
coordinates = ["x", "u", "v"]
[dynamics]
mass = { x = 1 }
force = { x = "1" }
[constraints]
a = "x + u = 0"
[control.b]
equation = "x = sin(t)"
frequency = 2
''', (0, {}, {}))

case('nonunique_combination', '''
title = "Only a combination is undetermined"
coordinates = ["a", "b", "c", "d"]
[dynamics]
kinetic = "(a' + b' + c')^2/2 + d'^2"
[constraints]
k = "a - b = 0"
l = "d = 2*a + 2*b + 2*c"
''', (0, {}, {}))

case('friction_with_stribeck', '''
coordinates = ["x", "y"]
[parameters]
mu0 = 0.3
mu1 = 0.2
vs = 0.1
[define]
v = "sqrt(x'^2 + y'^2)"
mu = "mu1 + (mu0 - mu1)*exp(-(v/vs)^2)"
[dynamics]
mass = { x = 0.5, y = 0.5 }
force = { y = "-4.905" }
[constraints]
wire = "y = 0.3*x^2 - 0.1*x^4"
[nonideal]
x = "-mu*hypot(ideal(x), ideal(y))*x'/max(v, 1e-12)"
y = "-mu*hypot(ideal(x), ideal(y))*y'/max(v, 1e-12)"
''', (0, {'x': 0.5, 'y': 0.06875}, {'x': 0.1, 'y': 0.025}), (0, {'x': -1, 'y': 0.2}, {'x': 2, 'y': -0.4}), (0, {'x': -1, 'y': 0.2}, {}))

case('mass_nearly_singular_but_held', '''
title = "Nearly singular mass matrix; the constraint holds the weak direction"
coordinates = ["x", "y", "z"]
[dynamics]
mass = [["1", "0.9999999", "0"], ["0.9999999", "1", "0"], ["0", "0", "2"]]
force = { x = "1", y = "2", z = "3" }
[constraints]
h = "x - 2*y + z = 0"
g = "x - y = t^2"
''', (0, {}, {}), without=('unconstrained_acceleration', 'gaussian'))

case('mass_light_bead_hard_pushed', '''
title = "A bead of a microgram that is pushed hard, geared to a heavy wheel"
coordinates = ["s", "f"]
[dynamics]
mass = { s = 1e-9, f = 2 }
force = { s = "5", f = "-1" }
[constraints]
gear = "s = 0.3*f"
[nonideal]
s = "-4"
''', (0, {}, {}))

case('mass_light_chain', '''
title = "Light links between heavy ends, loads on the light ones"
coordinates = ["a", "b", "c", "d"]
[dynamics]
mass = { a = 1e3, b = 1e-6, c = 1e-6, d = 1e3 }
force = { a = "1", b = "1e3", c = "-2e3", d = "5" }
[constraints]
ab = "a - 2*b = 0"
bc = "3*b - c + 0.5*d = t^2"
''', (0, {}, {}))

case('project_measured_rows_are_left_alone', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 2 }
[constraints]
ring = "x^2 + y^2 = 25"
[constraints.gauge]
equation = "x = 1"
weight = 2
[start]
position = { x = 3.3, y = 4.4 }
velocity = { x = 1 }
''', project=True, unclear=True)

case('project_onto_sphere_and_plane_moving', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = [["2", "0.5", "0"], ["0.5", "1", "0.2"], ["0", "0.2", "3"]]
[constraints]
sphere = "(x - 0.1*t)^2 + y^2 + z^2 = 4"
plane = "x*cos(t) + y*sin(t) = 1"
skid = "x' - y'*z = 0.2"
[start]
time = 0.7
position = { x = 1.7, y = 0.9, z = 1.4 }
velocity = { x = 0.4, y = 0.3, z = -1 }
''', project=True)

case('project_already_there', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
ring = "x^2 + y^2 = 25"
[start]
position = { x = 3, y = 4 }
velocity = { x = 4, y = -3 }
''', project=True, no_move=True)

case('project_massless', '''
coordinates = ["x", "u", "v"]
[dynamics]
mass = { x = 2 }
[constraints]
a = "u = sin(x) + t"
b = "v - u*x = 1"
[start]
time = 2
position = { x = 0.5, u = 9, v = -4 }
velocity = { x = 1, u = 7, v = 7 }
''', project=True)

case('project_velocity_nonlinear', '''
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 4 }
[constraints]
speed = "x'^2 + y'^2 + z'^2 = 9"
flat = "z' = 0.5*x'"
[start]
velocity = { x = 1, y = 1, z = 1 }
''', project=True)

case('project_redundant_far', '''
coordinates = ["x", "y"]
[dynamics]
mass = { x = 1, y = 1 }
[constraints]
circle = "x^2 + y^2 = 1"
quartic = "(x^2 + y^2)^2 = 1"
square = "(x^2 + y^2 - 1)^2 = 0"
[start]
position = { x = 2, y = 1 }
velocity = { x = 1, y = 1 }
''', project=True)

case('redundant_line_with_no_terms', '''
title = "A straight line and its exponential: b is zero in both, but only one of them has terms to round"
coordinates = ["x", "y", "z"]
[dynamics]
mass = { x = 1, y = 2, z = 1 }
force = { y = "-9.81" }
[constraints]
line = "x = y/3 + z/7"
same = "exp(x - y/3 - z/7) = 1"
product = "(x - y/3 - z/7)*(2 + cos(y)) = 0"
''', (0, {}, {'x': 0.1, 'y': 0.21, 'z': 0.21}), (0, {'x': '0.3/3 + 1.1/7', 'y': 0.3, 'z': 1.1}, {'x': '0.7/3 - 0.4/7', 'y': 0.7, 'z': -0.4}),
   (0, {'x': '0.7/3 + 1.9/7', 'y': 0.7, 'z': 1.9}, {'x': '1.3/3 + 1.7/7', 'y': 1.3, 'z': 1.7}))
