#!/usr/bin/env python3
"""The ladder of four-bars with SciPy's DOP853 on the exact accelerations, without projection: which runs stay on the branch? Prints Markdown.

usage: bench/motion/ladder_peer.py [--sizes 1,2]

Needs NumPy, SciPy and SymPy. The accelerations are derived by SymPy from the model file and solved with their multipliers as one linear system
(work_precision.py). `stops`: the step size comes down to nothing. Exact angles are in ladder_exact.json."""
import argparse
import json
import math
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
TOLERANCES = ['1e-6', '1e-8', '1e-10', '1e-12']


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--sizes', default='1,2')
    options = parser.parse_args()
    try:
        import numpy as np
        from scipy.integrate import solve_ivp
        from work_precision import Equations
    except ImportError as error:
        print(f'skipped: {error}')
        return 0
    exact = {e['N']: e for e in json.loads((HERE / 'ladder_exact.json').read_text()) if e['angle'] == 'top' and e['speed'] == 1.0}
    print(f'| N | {" | ".join(TOLERANCES)} |\n|--:|' + '--:|' * len(TOLERANCES))
    for n in map(int, options.sizes.split(',')):
        f = Equations(HERE.parent.parent / 'models' / f'ladder_{n}.toml')
        names = [str(q) for q in f.system.model.q]
        cells = []
        for tolerance in map(float, TOLERANCES):
            try:
                done = solve_ivp(f, (0.0, 10.0), f.start, method='DOP853', rtol=tolerance, atol=tolerance, t_eval=np.linspace(0.0, 10.0, 501))
            except np.linalg.LinAlgError as error:
                cells.append(str(error))
                continue
            if not done.success:
                cells.append('stops')
                continue
            at = {name: k for k, name in enumerate(names)}
            angles = np.array([np.arctan2(done.y[at[f'x{i}']] - i, done.y[at[f'y{i}']]) for i in range(n + 1)])
            apart = max(abs(math.remainder(a - b, 2 * math.pi)) for row in angles for a, b in zip(row, angles[0]))
            error = abs(np.unwrap(angles[0])[-1] - float(exact[n]['theta']))
            cells.append('leaves the branch' if apart > 0.1 or error > 1 else f'{error:.0e}')
        print(f'| {n} | {" | ".join(cells)} |', flush=True)
    return 0


if __name__ == '__main__':
    sys.exit(main())
