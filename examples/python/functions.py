"""Writes gpump/_functions.py: one Python function per C function, a factory per struct, an object per component, and the
constants, all from what declarations.py has read."""
import re

from declarations import PREFIX

HEAD = '''"""Generated from gpump.h; do not edit."""
from ._runtime import (CAPACITY, CData, Component, NULL, Struct, array_of, c_text, fail, ffi, fitted, length, lib, owned, pointer, python_text)

'''
KEYWORDS = {'from', 'lambda', 'in', 'is', 'not', 'pass', 'class', 'def', 'global', 'if', 'for', 'while', 'with', 'as', 'or', 'and', 'del'}


def safe(name):
    return name + '_' if name in KEYWORDS else name


def documentation(function):
    text = function.comment.replace('\\', '\\\\').replace('"""', "'''")
    c = '%s %s(%s)' % (function.result, function.name, ', '.join(p.type for p in function.parameters))
    return (text + '\n\n' if text else '') + 'In C: ' + re.sub(r'\s+', ' ', c)


def target_of(parameter):
    """The C type that a pointer parameter points at."""
    text = re.sub(r'\b%s\b(\[[^\]]*\])?$' % re.escape(parameter.name), '*' if parameter.type.rstrip().endswith(']') else '', parameter.type).strip()
    return re.sub(r'\bconst\b', '', text[:text.rindex('*')]).strip()


def one_function(function, destroys, structs):
    """The text of one function. Counts, capacities and diagnostics are filled in; what it sets is returned."""
    required, optional, before, arguments, results, after = [], [], [], [], [], []
    array = None
    for p in function.parameters:
        name = safe(p.name)
        if p.kind == 'scalar':
            required.append(name)
            arguments.append(name)
        elif p.kind == 'text':
            required.append(name)
            before.append('%s = c_text(%s)' % (name, name))
            arguments.append(name)
        elif p.kind in ('input', 'object'):
            required.append(name)
            before.append("if not isinstance(%s, CData): %s = pointer('%s', %s)" % (name, name, target_of(p), name))
            arguments.append(name)
        elif p.kind == 'count':
            before.append('%s = length(%s)' % (name, safe(p.of)))
            arguments.append(name)
            # the length is taken before the array becomes a pointer
            before.insert(next(i for i, line in enumerate(before) if 'CData): %s =' % safe(p.of) in line), before.pop())
        elif p.kind == 'out':
            optional.append(name)
            before.append("if %s is None: %s = ffi.new('%s *')" % (name, name, target_of(p)))
            arguments.append(name)
            target = target_of(p)
            single = target.endswith('*') or not target.startswith(PREFIX)
            value = '%s[0]' % name if single else name
            if target.rstrip('* ') + '_destroy' in destroys and target.endswith('*'):
                value = 'ffi.gc(%s, lib.%s_destroy)' % (value, target.rstrip('* '))
            if target == 'const char *':
                value = 'python_text(%s)' % value
            results.append(value)
        elif p.kind == 'array':
            array = (name, target_of(p))
            arguments.append(name)
            results.append(name)
        elif p.kind == 'capacity':
            arguments.append('capacity')
        elif p.kind == 'count_out':
            arguments.append('found')
        elif p.kind == 'diag':
            before.append('diag = Component.diag')
            arguments.append('diag')
    has_diag = any(p.kind == 'diag' for p in function.parameters)
    call = 'lib.%s(%s)' % (function.name, ', '.join(arguments))
    pointers = any(p.kind in ('input', 'object') or p.type.split(' ')[0] in structs for p in function.parameters)

    def called(result):
        """The lines of the call; a struct and its address are the same to a caller."""
        if not pointers:
            return [result + call]
        return ['try: ' + result + call, 'except TypeError: %slib.%s(*fitted(lib.%s, %s))' % (result, function.name, function.name, ', '.join(arguments))]
    lines = ['def %s(%s):' % (safe(function.name[len(PREFIX):]), ', '.join(required + (['*'] + [n + '=None' for n in optional] if optional else []))),
             '    """%s"""' % documentation(function).replace('\n', '\n    ')]
    body = list(before)
    if array:
        body += ["found, capacity, %s = ffi.new('uint32_t *'), 0, NULL" % array[0]] + called('result = ')
        body += ['if result == CAPACITY:', "    capacity, %s = found[0], ffi.new('%s[]', found[0])" % array, '    result = ' + call,
                 'if %s == NULL: %s = array_of(\'%s\', 0)' % (array[0], array[0], array[1])]
    returned = ', '.join(results)
    if function.result == 'gpump_result':
        if not array:
            body += called('result = ')
        body.append('if result:')
        body.append("    return fail('%s', result, %s)" % (function.name, 'diag' if has_diag else 'NULL'))
        if returned:
            body.append('return ' + returned)
    elif function.result == 'void':
        body += called('')
        if returned:
            body.append('return ' + returned)
    else:
        body += called('value = ')
        value = 'python_text(value)' if function.result == 'const char *' else "owned('%s', value)" % function.result if function.result in structs else 'value'
        body.append('return ' + value + (', ' + returned if returned else ''))
    return '\n'.join(lines + ['    ' + line for line in body]) + '\n'


def batch(function):
    """The text of a function that asks about many structs in one call."""
    name, asked, answer = function.name, function.parameters[0].of, function.parameters[1].of
    return '''def %s_all(asked):
    """What %s says of each struct of an array, as an array of %s."""
    count = length(asked)
    if not isinstance(asked, CData): asked = pointer('%s', asked)
    answers, done = array_of('%s', count), ffi.new('uint32_t *')
    result = lib.%s_all(asked, answers, count, done, Component.diag)
    if result:
        return fail('%s of entry %%d' %% done[0], result, Component.diag)
    return answers
''' % (name[len(PREFIX):], name, answer, asked, answer, name, name)


def python_text(header):
    """The whole file."""
    destroys = {f.name for f in header.functions if f.name.endswith('_destroy')}
    verbs = {f.name for f in header.functions if f.parameters and 'gpump_component' in f.parameters[0].type}
    names = {f.name[len(PREFIX):] for f in header.functions}
    parts = [HEAD]
    for function in header.functions:
        if function.name not in verbs:  # the verbs that all components share are written by hand: _runtime.Component
            parts.append(one_function(function, destroys, header.structs))
    parts += [batch(function) for function in header.batches()]
    for name, fields in header.structs.items():
        short = name[len(PREFIX):]
        if short in names or short in header.components:
            continue
        parts.append('%s = Struct(%r, %r)' % (safe(short), name, header.comments.get(name, '')))
    structs = set(header.structs) | set(header.opaque)
    for name in header.components:
        full = PREFIX + name
        config = full + '_config' if full + '_config' in structs else full
        has_object = full in structs and config != full
        parts.append('%s = Component(%r, %r, %r, %r, %r)' % (name, name, config, full if has_object else None,
                     full + '_statistics' if full + '_statistics' in structs else None, full + '_storage' if full + '_storage' in structs else None))
    parts += ['%s = lib.%s' % (name[len('GPUMP_'):], name) for name in header.constants + header.enums]
    everything = [f.name for f in header.functions]
    parts.append('FUNCTIONS = ' + repr(everything))
    parts.append('VERBS = ' + repr(sorted(verbs)))
    return '\n'.join(parts) + '\n'
