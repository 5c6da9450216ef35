"""Model files as text, from keyword arguments."""
from mpmath import mp, mpf


def value(x):
    if isinstance(x, str):
        return f'"{x}"'
    if isinstance(x, mpf):
        return mp.nstr(x, 25)
    return repr(x)


def inline(table):
    return '{ ' + ', '.join(f'{k} = {value(v)}' for k, v in table.items()) + ' }'


def model(title, coordinates, *, parameters=None, define=None, kinetic=None, potential=None, mass=None, force=None, constraints=None, nonideal=None,
          control=None, measured=None, events=None, position=None, velocity=None, time=None, to=1.0, extra=''):
    """Constraints are texts or tables; everything else as in the model language."""
    coordinates = coordinates.split()
    lines = [f'title = "{title}"', f'coordinates = [{", ".join(map(value, coordinates))}]']
    for section, table in (('parameters', parameters), ('define', define)):
        if table:
            lines += [f'[{section}]', *(f'{k} = {value(v)}' for k, v in table.items())]
    lines.append('[dynamics]')
    if kinetic is not None:
        lines.append(f'kinetic = "{kinetic}"')
    if potential is not None:
        lines.append(f'potential = "{potential}"')
    if isinstance(mass, dict):
        lines.append(f'mass = {inline(mass)}')
    elif mass:
        lines.append('mass = [' + ', '.join('[' + ', '.join(map(value, row)) + ']' for row in mass) + ']')
    if force:
        lines.append(f'force = {inline(force)}')
    short = {k: v for k, v in (constraints or {}).items() if isinstance(v, str)}
    if short:
        lines += ['[constraints]', *(f'{k} = "{v}"' for k, v in short.items())]
    for k, v in (constraints or {}).items():
        if not isinstance(v, str):
            lines += [f'[constraints.{k}]', *(f'{a} = {value(b)}' for a, b in v.items())]
    for k, v in (control or {}).items():
        lines += [f'[control.{k}]', *(f'{a} = {value(b)}' for a, b in v.items())]
    if nonideal:
        lines += ['[nonideal]', *(f'{k} = "{v}"' for k, v in nonideal.items())]
    if events:
        lines += ['[events]', *(f'{k} = {inline(v)}' for k, v in events.items())]
    lines.append('[start]')
    if time is not None:
        lines.append(f'time = {time!r}')
    lines += [f'position = {inline(position or {})}', f'velocity = {inline(velocity or {})}', '[run]', f'to = {to!r}']
    return '\n'.join(lines) + '\n' + extra
