#!/usr/bin/env python3
"""Writes reference cases: models and what is true of them, computed in 50 digits without any code of this project.

usage: generate_cases.py [--all] [--only PATTERN] FOLDER

Needs mpmath; not part of the tests, which read what it wrote into tests/cases_generated. Without --all only the cases
that the project keeps are written. The formulas are in generated_cases/oracle.py, the models beside it."""
import argparse
import fnmatch
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / 'generated_cases'))
from mpmath import mp, mpf  # noqa: E402
import oracle  # noqa: E402
import projection  # noqa: E402
from expressions import Evaluator, Parser  # noqa: E402
import by_hand  # noqa: E402
import by_hand_more  # noqa: E402, F401
import by_hand_third  # noqa: E402, F401
import at_random  # noqa: E402

# What the project keeps: names or patterns.
KEEP = '''
energy_rotating_frame energy_linear_only_gyro energy_mass_depends_on_time energy_force_and_potential_and_time two_quaternion_bodies
quaternion_singular_* redundant_scales redundant_squares_are_zero_rows redundant_nonholonomic_duplicates redundant_holonomic_and_its_rate
redundant_order_matters redundant_line_with_no_terms redundant_loop_of_six_bars redundant_at_a_singular_configuration singular_cone_apex near_dependent_1e-6 near_dependent_three
units_nano units_giga mass_* mixed_units massless_all massless_rank_one_mass massless_nonunique_* massless_force_blocked_by_row
massless_nonideal_makes_unsolvable massless_with_redundant_rows_and_C full_column_rank nonlinear_mixed_levels acceleration_row_in_parentheses
functions_all_in_a_constraint functions_piecewise functions_branch_not_taken_has_no_value functions_powers define_chain unicode_names
nonideal_friction_by_ideal nonideal_multiplier_* nonideal_quadratic_drag_wire_rheonomic control_* measured_beside_hard measured_full_matrix_and_hard
measured_singular_mass measured_extreme_weights measured_hard_rows_contradict conflict_several_sets conflict_zero_row conflict_by_state
conflict_with_scales conflict_and_nonunique conflict_off_the_constraint refuse_start_position_1e-7 refuse_start_velocity_1e-7
refuse_negative_tiny_mass toml_dotted_keys toml_long_forms project_ellipse_far project_redundant project_rheonomic project_nonholonomic
project_singular_mass_two project_mass_depends_on_place project_four_bar chain_of_12 four_bar_flat nonunique_combination weights_scaled_rows
weights_six_rows_three_coordinates
'''.split()
RANDOM = {'linear': (3, 60, 105), 'nonlinear': (7, 12, 51)}


def number(x):
    """A double of a number or of an expression in quotes."""
    return float(Evaluator({})(Parser(x).whole()).x) if isinstance(x, str) else float(x)


def onto(case, model):
    """The start state moved onto the rows that the others are made of, then rounded."""
    rows = '\n'.join(f'b{k} = "{b} = 0"' for k, b in enumerate(case['onto']))
    head, tail = case['text'].split('[constraints]')
    base = oracle.Model(head + '[constraints]\n' + rows + '\n[start]' + tail.split('[start]')[1])
    found = projection.project(base)
    return [(float(model.start['time']), found['position'], found['velocity'])]


def states_of(case, model):
    if 'onto' in case: return onto(case, model)
    if not case['states']:
        s = model.start
        return [(float(s['time']), {k: float(v) for k, v in s['position'].items()}, {k: float(v) for k, v in s['velocity'].items()})]
    return [(float(t), {c: number(q.get(c, 0)) for c in model.q}, {c: number(v.get(c, 0)) for c in model.q}) for t, q, v in case['states']]


def exact(x): return mpf(repr(x))


def build(case):
    """The expected object of a case."""
    expected = {'title': case['name'].replace('_', ' '), 'source': '50-digit evaluation of the formulas', 'tolerance': {'accelerations_rel': case.get('tolerance', 1e-11)}}
    if 'expect' in case: return expected | case['expect']
    model = oracle.Model(case['text'])
    if 'project' in case:
        return expected | {'project': projection.project(model)}
    expected['instants'] = []
    for t, q, v in states_of(case, model):
        i = oracle.Instant(model, exact(t), [exact(q[c]) for c in model.q], [exact(v[c]) for c in model.q], tiny=case.get('tiny', False))
        if i.indefinite: return {**expected, 'refuse': 'the mass matrix has a negative eigenvalue', 'says': '(?i)mass|definite|eigenvalue'}
        if i.grey: print('  GREY MASS', case['name'], [mp.nstr(x, 3) for x in i.grey])
        out = oracle.plain(i.out)
        if 'only' in case: out = {k: out[k] for k in case['only']}
        out = {k: x for k, x in out.items() if k not in case.get('without', ())}     # what the last bit of the data decides
        instant = {'time': t, 'position': q, 'velocity': v, **out}
        if i.weighted and 'acceleration' in out:
            expected.setdefault('weighted_instants', []).append({k: instant[k] for k in ('time', 'position', 'velocity', 'acceleration', 'constraint_force')})
        else:
            if not (out['unique'] and out['consistent']): instant.pop('multipliers_unique', None)
            if not out['consistent']: instant.pop('solvable', None)
            expected['instants'].append(instant)
    if not expected['instants']: del expected['instants']
    return expected


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('folder', type=Path)
    parser.add_argument('--all', action='store_true')
    parser.add_argument('--only', default='*')
    o = parser.parse_args()
    o.folder.mkdir(parents=True, exist_ok=True)
    drawn = [getattr(at_random, kind)(seed) for kind, seeds in RANDOM.items() for seed in seeds]
    for case in by_hand.CASES + drawn:
        if not fnmatch.fnmatch(case['name'], o.only): continue
        if not o.all and case not in drawn and not any(fnmatch.fnmatch(case['name'], k) for k in KEEP): continue
        try: expected = build(case)
        except Exception as e:
            print('ORACLE FAILS', case['name'], type(e).__name__, e); continue
        (o.folder / f"{case['name']}.toml").write_text(case['text'])
        (o.folder / f"{case['name']}.expected.json").write_text(json.dumps(expected, indent=1, ensure_ascii=False) + '\n')


if __name__ == '__main__':
    main()
