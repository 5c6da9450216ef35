"""The N-four-bar ladder: N + 1 cranks and N couplers, uniform rods of length 1 and mass m, all cranks parallel.

    (N + 1)/3 + N   θ''  =  g ((N + 1)/2 + N) sin θ,      θ from the upward vertical

since a crank turns about its end and a coupler only moves with the tips. One pendulum, whatever N."""
from mpmath import mp, mpf, sin

import precise

# Speeds of the tips. From the top: full turns both ways, fast and slow, 0.05 m/s near the separatrix. From the bottom (pi): 6.5 m/s
# swings through the flat positions and back, 3 m/s does not reach them.
STARTS = [(0, 1.0), (0, 0.5), (0, 3.0), (0, 8.0), (0, -2.0), (0, 0.05), ('pi', 6.5), ('pi', 3.0)]
SIZES = (1, 2, 10, 40)


def factor(n):
    return mpf(9.81) * (mpf(n + 1) / 2 + n) / (mpf(n + 1) / 3 + n)


def end(n, angle, speed, to=10):
    """θ, θ', times at which the ladder lies flat, accuracy."""
    k = factor(n)
    y, crossings, accuracy = precise.twice(lambda t, y: [y[1], k * sin(y[0])], [mp.pi if angle == 'pi' else mpf(angle), mpf(speed)],
                                           0, to, {'flat': lambda t, y: mp.cos(y[0])}, longest=0.1)
    return y[0], y[1], [c[0] for c in crossings], accuracy


def crosses(n, speed):
    """Whether a start from the lowest position with this speed reaches the flat position: v² > 2 k."""
    return mpf(speed) ** 2 > 2 * factor(n)



def model(n):
    """The text of models/ladder_N.toml."""
    tips = range(n + 1)
    rod = lambda a, b: f"(x{a}'^2 + x{a}'*x{b}' + x{b}'^2 + y{a}'^2 + y{a}'*y{b}' + y{b}'^2)"  # noqa: E731
    cranks = [f"x{i}'^2 + y{i}'^2" for i in tips]
    rows = [f'crank{i} = "(x{i} - {i})^2 + y{i}^2 = 1"' for i in tips]
    rows += [f'coupler{i} = "(x{i + 1} - x{i})^2 + (y{i + 1} - y{i})^2 = 1"' for i in range(n)]
    count = {1: 'One parallelogram', 2: 'Two parallelograms'}.get(n, f'{n} parallelograms')
    return f"""\
# {count} side by side: uniform rods of one metre and one kilogram stand on pivots one metre apart, each joined to the
# next by a rod of one metre. Coordinates are the tips of the cranks. A push of 1 m/s at the top and the ladder turns over.
#
# See: whenever the ladder lies flat, {n} of its {2 * n + 1} constraints say nothing for an instant, and the motion could go on in other
# ways; the only smooth one keeps the cranks parallel. All of it is one pendulum, θ'' = g ({3 * n + 1}/2)/({4 * n + 1}/3) sin θ.
# Try: run, and look for the events of the kind `singular`

title = "Ladder of {n} four-bar linkage{'s' if n > 1 else ''}"
coordinates = [{', '.join([f'"x{i}"' for i in tips] + [f'"y{i}"' for i in tips])}]

[parameters]
m = 1.0      # kg, of every rod
g = 9.81     # m/s^2

[dynamics]
kinetic = \"\"\"
  m/6*({(" +" + chr(10) + "  ").join(cranks)} +
  {(" +" + chr(10) + "  ").join(rod(i, i + 1) for i in range(n))})\"\"\"
potential = \"m*g/2*({' + '.join(f'{1 + (i > 0) + (i < n)}*y{i}' for i in tips)})\"

[constraints]
{chr(10).join(rows)}

[start]
position = {{ {', '.join([f'x{i} = {i}.0' for i in range(1, n + 1)] + [f'y{i} = 1.0' for i in tips])} }}
velocity = {{ {', '.join(f'x{i} = 1.0' for i in tips)} }}

[run]
to = 10.0
"""


def main():
    """Writes the models and the ends of all starts."""
    import json
    import sys
    from pathlib import Path
    root = Path(__file__).parent.parent.parent
    for n in SIZES:
        (root / 'models' / f'ladder_{n}.toml').write_text(model(n))
    if '--models' in sys.argv:
        return
    ends = []
    for n in SIZES:
        for angle, speed in STARTS:
            theta, omega, times, accuracy = end(n, angle, speed)
            ends.append({'N': n, 'angle': 'bottom' if angle else 'top', 'speed': speed, 'theta': mp.nstr(theta, 20), 'theta_rate': mp.nstr(omega, 20),
                         'crossings': [float(t) for t in times], 'verified_accuracy': float(mp.nstr(accuracy, 2))})
            print(n, angle, speed, mp.nstr(theta, 20), flush=True)
    lines = ',\n'.join(' ' + json.dumps(e) for e in ends)
    (root / 'bench' / 'motion' / 'ladder_exact.json').write_text(f'[\n{lines}\n]\n')


if __name__ == '__main__':
    main()
