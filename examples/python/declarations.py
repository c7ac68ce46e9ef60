"""Reads gpump.h: its functions, structs, constants and comments, as a binding needs them. No name of gpump.h stands here.

The C preprocessor and pycparser (which cffi brings) read the declarations; the comments are taken from the text. What a
parameter is for follows from its type and from the comment's notation: `*name` is one value that the function sets,
`name[count]` an array.
"""
import os
import re
import subprocess
import tempfile
from collections import namedtuple

from pycparser import c_ast, c_generator, c_parser

PREFIX = 'gpump_'
SYSTEM_HEADERS = ('assert', 'limits', 'stddef', 'stdint', 'stdio', 'stdlib', 'string')
INTEGERS = tuple(sign + 'int%d_t' % bits for sign in ('', 'u') for bits in (8, 16, 32, 64)) + ('size_t', 'uintptr_t')

# kind: scalar, text, diag, out (one value that the function sets), object (a pointer that the caller must have),
# input (const pointer), array (a capacity and a count follow), capacity, count_out, count (of the input before it)
Parameter = namedtuple('Parameter', 'name type kind of')
Function = namedtuple('Function', 'name parameters result comment inline')


def preprocessed(header, compiler='cc'):
    """The declarations of a header as plain C: no system header, no attribute, no implementation."""
    with tempfile.TemporaryDirectory() as empty:
        for name in SYSTEM_HEADERS:
            open(os.path.join(empty, name + '.h'), 'w').close()
        return subprocess.run([compiler, '-E', '-P', '-nostdinc', '-U__GNUC__', '-U__ELF__', '-I', empty, '-x', 'c', header], check=True,
                              stdout=subprocess.PIPE, universal_newlines=True).stdout


def parsed(header, compiler='cc'):
    types = ''.join('typedef int %s;\n' % name for name in INTEGERS)
    return c_parser.CParser().parse(types + preprocessed(header, compiler)).ext[len(INTEGERS):]


def plain_text(comment):
    """A C comment without its stars."""
    lines = re.sub(r'^/\*+ ?|\s*\*/$', '', comment.strip()).split('\n')
    return '\n'.join([lines[0]] + [re.sub(r'^ ?\* ?', '', line.strip()) for line in lines[1:]]).strip()


def comments(text):
    """For each name that begins a declaration: the comment above it, or above the group that it stands in."""
    found, last, fresh = {}, '', False
    pattern = re.compile(r'(?P<comment>/\*.*?\*/)|(?P<blank>\n[ \t]*\n)|^(?:GPUMP_API|GPUMP_INLINE)\b(?P<function>[^;{(]*?)\(|'
                         r'^typedef (?:struct|enum) (?P<type>\w+)|^\} (?P<end>\w+);', re.S | re.M)
    for match in pattern.finditer(text):
        if match.group('comment'):
            line = text.rfind('\n', 0, match.start()) + 1
            if not text[line:match.start()].strip():  # a comment behind code belongs to that code
                last, fresh = plain_text(match.group('comment')), True
        elif match.group('blank'):
            last, fresh = ('', False) if not fresh else (last, fresh)
        elif match.group('function') is not None:
            found.setdefault(re.findall(r'\w+', match.group('function'))[-1], last)
            fresh = False
        elif match.group('type'):
            found.setdefault(match.group('type'), last)
            fresh = False
    return found


class Header:
    """What a header declares."""

    def __init__(self, path, compiler='cc'):
        with open(path, encoding='utf-8') as file:
            whole = file.read()
        text = whole.split('#ifdef GPUMP_IMPLEMENTATION', 1)[0]
        self.comments = comments(text)
        self.generator = c_generator.CGenerator()
        self.structs, self.enums, self.opaque, self.functions, self.components = {}, [], [], [], []
        self.declared = []  # C text for cffi, in order
        seen = set()
        for node in parsed(path, compiler):
            if isinstance(node, c_ast.Typedef):
                self.typedef(node)
            elif isinstance(node, c_ast.FuncDef):
                self.function(node.decl, True, seen)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
                self.function(node, False, seen)
            elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Struct) and node.type.decls:
                self.declared.append(self.generator.visit(node) + ';')
            elif isinstance(node, c_ast.Decl) and node.name and node.name.endswith('_component') and node.name.startswith(PREFIX):
                self.components.append(node.name[len(PREFIX):-len('_component')])
        self.constants = sorted({name for name, value in re.findall(r'^#define (GPUMP_[A-Z0-9_]+) +([^\n/]+)', text, re.M)
                                 if re.fullmatch(r'[\s\d(|<>+\-~*)]+|.*(?:\d|UINT\d+_MAX|UINT\d+_C|GPUMP_[A-Z]).*', value)
                                 and not re.search(r'[a-z_]{4,}|"|,', re.sub(r'UINT\d+_C|uint\d+_t', '', value))})
        self.kinds()

    def typedef(self, node):
        kind = node.type.type if isinstance(node.type, c_ast.TypeDecl) else node.type
        if isinstance(kind, c_ast.Struct):
            if not node.name.startswith(PREFIX):  # private: only its size matters
                self.declared.append('typedef struct %s { ...; } %s;' % (kind.name, node.name) if kind.decls else self.generator.visit(node) + ';')
                return
            if kind.decls is not None:
                self.structs[node.name] = [(field.name, self.generator.visit(field)) for field in kind.decls if field.name]
            elif node.name not in self.structs:
                self.opaque.append(node.name)
        if isinstance(kind, c_ast.Enum) and kind.values:
            self.enums += [value.name for value in kind.values.enumerators]
        if not isinstance(kind, c_ast.ArrayDecl):  # which only asks the compiler for a size
            self.declared.append(self.generator.visit(node) + ';')

    def function(self, node, inline, seen):
        if node.name in seen or not node.name.startswith(PREFIX):
            return
        seen.add(node.name)
        parameters = [p for p in (node.type.args.params if node.type.args else []) if not isinstance(p, c_ast.Typename)]
        result = self.generator.visit(c_ast.Typename(None, [], None, node.type.type))
        result = re.sub(r'\b%s\b' % node.name, '', result).strip()
        self.functions.append((node.name, [(p.name, p.type) for p in parameters], result, inline))

    def kinds(self):
        complete = set(self.structs)
        functions = []
        for name, parameters, result, inline in self.functions:
            comment, listed = self.comments.get(name, ''), []
            names = [p for p, _ in parameters]
            for i, (parameter, node) in enumerate(parameters):
                ctype = self.generator.visit(c_ast.Typename(None, [], None, node)).strip()
                listed.append(self.kind(parameter, node, ctype, comment, names, i, complete))
            for i, p in enumerate(listed):  # counts follow what they count
                before = listed[i - 1] if i else None
                if p.kind == 'out' and p.name.endswith('count') and before and before.kind == 'scalar' and before.name.endswith('capacity') and \
                        i > 1 and listed[i - 2].kind in ('object', 'out'):
                    listed[i - 2], listed[i - 1], listed[i] = (listed[i - 2]._replace(kind='array'), before._replace(kind='capacity'),
                                                               p._replace(kind='count_out'))
                elif p.kind == 'scalar' and re.fullmatch(r'(\w+_)?count', p.name) and before and before.kind == 'input':
                    listed[i] = p._replace(kind='count', of=before.name)
            functions.append(Function(name, listed, result, comment, inline))
        self.functions = functions

    def kind(self, name, node, ctype, comment, names, index, complete):
        if not isinstance(node, (c_ast.PtrDecl, c_ast.ArrayDecl)):
            return Parameter(name, ctype, 'scalar', '')
        target = node.type
        base = ' '.join(target.type.names) if isinstance(target, c_ast.TypeDecl) and isinstance(target.type, c_ast.IdentifierType) else ''
        constant = isinstance(target, c_ast.TypeDecl) and 'const' in target.quals
        if base == 'gpump_diag' and index == len(names) - 1 and not constant:
            return Parameter(name, ctype, 'diag', base)
        if base == 'char' and constant:
            return Parameter(name, ctype, 'text', base)
        if constant:
            return Parameter(name, ctype, 'input', base)
        starred = re.search(r'(?<![\w*])\*%s\b' % re.escape(name), comment)
        if index == 0:  # what a function works on, unless it says that it fills it
            starred = re.search(r'(?:Fills|Sets)(?: \w+){0,4} \*%s\b' % re.escape(name), comment)
        single = (starred or index and not name.endswith('s')) and not re.search(r'\b%s\[' % re.escape(name), comment)
        pointer = isinstance(target, c_ast.PtrDecl)
        makeable = pointer or base in complete or base in INTEGERS or base in ('int', 'double')
        return Parameter(name, ctype, 'out' if single and makeable else 'object', base)

    def batches(self):
        """Functions from one struct to another, which can be asked about many at once in one call."""
        for function in self.functions:
            kinds = [p.kind for p in function.parameters]
            if function.result == 'gpump_result' and kinds in (['input', 'out'], ['input', 'out', 'diag']) and \
                    all(p.of in self.structs for p in function.parameters[:2]):
                yield function

    def batch_source(self):
        """The C text of those loops."""
        text = ''
        for f in self.batches():
            first, second = f.parameters[:2]
            text += '''static gpump_result %s_all(const %s *asked, %s *answers, uint32_t count, uint32_t *done, gpump_diag *diag) {
    gpump_result result = GPUMP_OK;
    (void)diag;
    for (*done = 0; *done < count && !result; *done += !result) result = %s(&asked[*done], &answers[*done]%s);
    return result;
}
''' % (f.name, first.of, second.of, f.name, ', diag' if len(f.parameters) > 2 else '')
        return text

    def cdef(self):
        """What cffi is told: types, public functions, constants and components."""
        lines = list(self.declared)
        for function in self.functions:
            parameters = ', '.join(p.type for p in function.parameters) or 'void'
            lines.append('%s %s(%s);' % (function.result, function.name, parameters))
        lines += ['gpump_result %s_all(const %s *asked, %s *answers, uint32_t count, uint32_t *done, gpump_diag *diag);' %
                  (f.name, f.parameters[0].of, f.parameters[1].of) for f in self.batches()]
        lines += ['#define %s ...' % name for name in self.constants]
        lines += ['extern gpump_component %s%s_component;' % (PREFIX, name) for name in self.components]
        return re.sub(r'\[[^\]]*[^\]\d][^\]]*\]', '[...]', '\n'.join(lines))  # a length that is calculated: the compiler knows it
