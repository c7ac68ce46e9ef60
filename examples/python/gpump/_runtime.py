"""What all functions of the binding share: pointers from Python values, structs by keyword, errors, components."""
import threading
import weakref

from ._gpump import ffi, lib

CData, NULL, CAPACITY = ffi.CData, ffi.NULL, lib.GPUMP_ERROR_CAPACITY
_kept = weakref.WeakKeyDictionary()  # what a struct points at lives as long as the struct


# ---- errors ----

class Error(Exception):
    """A call failed and changed nothing. `code` is the gpump_result; the text names the argument and the remedy."""
    code = 0


class NotNow(Exception):
    """The call is right and cannot be carried out now (GPUMP_BUSY): ask again later. `code` is the gpump_result."""
    code = lib.GPUMP_BUSY


def _class_of(code):
    """One class per error: GPUMP_ERROR_CONFIG is gpump.ConfigError."""
    name = ffi.string(lib.gpump_result_name(code)).decode()
    words = name.replace('GPUMP_ERROR_', '').split('_')
    return type(''.join(word.capitalize() for word in words) + 'Error', (Error,), {'code': code, '__doc__': ffi.string(lib.gpump_result_text(code)).decode()})


ERRORS = {code: _class_of(code) for code, name in ffi.typeof('gpump_result').elements.items() if code < 0}


def fail(name, result, diag):
    """Raises the exception of a result; GPUMP_EMPTY is no error, but None."""
    raise_later()
    if result == lib.GPUMP_EMPTY:
        return None
    if diag != NULL and diag.code == result:
        text = ffi.new('char[512]')
        lib.gpump_diag_text(diag, text, 512)
        words = ffi.string(text).decode()
    else:
        words = ffi.string(lib.gpump_result_text(result)).decode()
    error = (NotNow if result > 0 else ERRORS[result])('%s: %s' % (name, words))
    error.code = result
    raise error


# ---- exceptions of hooks: they are raised when the call that asked the hook has failed or at the next chance ----

_raised = threading.local()


def raise_later():
    """Raises what a hook in Python has raised since."""
    error = getattr(_raised, 'error', None)
    if error is not None:
        _raised.error = None
        raise error


def _keep_error(kind, error, _traceback):
    _raised.error = error


# ---- values ----

def c_text(value):
    return ffi.new('char[]', value.encode()) if isinstance(value, str) else NULL if value is None else value


def python_text(value):
    """A C text as a Python one; NULL is None."""
    return None if value == NULL else ffi.string(value).decode()


def length(value):
    """How many entries an array argument has; one struct counts as one."""
    if value is None:
        return 0
    if isinstance(value, CData):
        kind = ffi.typeof(value).kind
        return len(value) if kind == 'array' else 0 if value == NULL else 1
    return 1 if isinstance(value, dict) else len(value)


def pointer(ctype, value):
    """A C pointer for None, a dictionary, a sequence, bytes, or a numpy array (without a copy)."""
    if value is None:
        return NULL
    if isinstance(value, dict):
        return Struct.of(ctype)(**value)
    if hasattr(value, '__array_interface__') or isinstance(value, (bytes, bytearray, memoryview)):
        if ctype == 'void':
            return ffi.from_buffer(value)
        made = ffi.from_buffer(ctype + '[]', value)
        item = value.itemsize if hasattr(value, 'itemsize') else 1
        if item != ffi.sizeof(ctype):
            raise TypeError('an array of %s has entries of %d bytes, not %d' % (ctype, ffi.sizeof(ctype), item))
        return made
    if isinstance(value, (list, tuple)):
        return array_of(ctype, value)
    raise TypeError('%r is no %s, dictionary, list or array' % (value, ctype))


def fitted(function, *arguments):
    """The arguments of a call, each struct as the address or the value that the function takes."""
    made = []
    for ctype, a in zip(ffi.typeof(function).args, arguments):
        kind = ffi.typeof(a).kind if isinstance(a, CData) else ''
        made.append(ffi.addressof(a) if kind == 'struct' and ctype.kind == 'pointer' else a[0] if kind == 'pointer' and ctype.kind == 'struct' else a)
    return made


def owned(ctype, value):
    """A struct of its own, for one that a function returns."""
    made = ffi.new(ctype + ' *')
    made[0] = value
    return made


def array_of(ctype, values):
    """A C array of a length, or of structs, dictionaries or numbers."""
    if isinstance(values, int):
        return ffi.new(ctype + '[]', values)
    values = [Struct.of(ctype)(**v) if isinstance(v, dict) else v for v in values]
    made = ffi.new(ctype + '[]', len(values))
    for i, v in enumerate(values):
        made[i] = v[0] if isinstance(v, CData) and ffi.typeof(v).kind == 'pointer' and not ctype.endswith('*') else v
    _kept[made] = values
    return made


def _assign(struct, ctype, name, value, kept):
    kind = ctype.kind
    if callable(value) and kind == 'pointer' and ctype.item.kind == 'function':
        value = ffi.callback(ctype, value, onerror=_keep_error)
    elif callable(value) and kind == 'function':
        value = ffi.callback(ctype, value, onerror=_keep_error)
    elif kind == 'pointer' and not isinstance(value, CData):
        value = c_text(value) if ctype.item.cname == 'char' else pointer(ctype.item.cname, value)
    elif kind == 'struct':
        if isinstance(value, dict):
            for inner, v in value.items():
                _assign(getattr(struct, name), dict(ctype.fields)[inner].type, inner, v, kept)
            return
        if isinstance(value, CData) and ffi.typeof(value).kind == 'pointer':
            value = value[0]
    kept.append(value)
    setattr(struct, name, value)


class Struct:
    """Makes a struct: gpump.block_view(executed=5, may=7). Fields that are not named are 0; a field may be a number, a
    text, a struct, a dictionary, a list, a numpy array or, where it is a hook, a Python function."""
    _all = {}

    def __init__(self, ctype, comment):
        self.ctype, self.__doc__ = ctype, comment
        Struct._all[ctype] = self

    @staticmethod
    def of(ctype):
        return Struct._all.get(ctype) or Struct(ctype, '')

    def __call__(self, **fields):
        made = ffi.new(self.ctype + ' *')
        return self._fill(made, fields, [])

    def array(self, values):
        """A C array: of a length, or of a list of structs or dictionaries."""
        return array_of(self.ctype, values)

    def copy(self, struct, **fields):
        """A struct of its own with the fields of another one, some of them changed."""
        made = ffi.new(self.ctype + ' *')
        made[0] = struct[0] if ffi.typeof(struct).kind == 'pointer' else struct
        return self._fill(made, fields, [struct])

    def _fill(self, made, fields, kept):
        types = dict(ffi.typeof(self.ctype).fields)
        for name, value in fields.items():
            if name not in types:
                raise TypeError('%s has no field %s; it has %s' % (self.ctype, name, ', '.join(types)))
            _assign(made, types[name].type, name, value, kept)
        _kept[made] = kept
        return made

    @property
    def fields(self):
        return [name for name, _ in ffi.typeof(self.ctype).fields]

    def __repr__(self):
        return '<struct %s: %s>' % (self.ctype, ', '.join(self.fields))


def as_dict(struct):
    """The fields of a struct as a dictionary; structs in it become dictionaries, arrays lists."""
    ctype = ffi.typeof(struct)
    if ctype.kind == 'pointer':
        ctype = ctype.item
    values = {}
    for name, field in ctype.fields:
        value = getattr(struct, name)
        kind = field.type.kind
        values[name] = as_dict(value) if kind == 'struct' else \
            [as_dict(v) if field.type.item.kind == 'struct' else v for v in value] if kind == 'array' else \
            python_text(value) if field.type.cname == 'char *' else value
    return values


def dtype(ctype):
    """The numpy type of a C type, with the C names of its fields."""
    import numpy
    if isinstance(ctype, str):
        ctype = ffi.typeof(ctype)
    if ctype.kind == 'struct':
        fields = ctype.fields
        return numpy.dtype({'names': [n for n, _ in fields], 'formats': [dtype(f.type) for _, f in fields],
                            'offsets': [f.offset for _, f in fields], 'itemsize': ffi.sizeof(ctype)})
    if ctype.kind == 'array':
        return numpy.dtype((dtype(ctype.item), ctype.length))
    if ctype.kind in ('pointer', 'function'):
        return numpy.dtype('u8')
    if ctype.cname in ('double', 'float'):
        return numpy.dtype(ctype.cname)
    signed = ctype.kind == 'enum' or not int(ffi.cast(ctype, -1)) > 0
    return numpy.dtype('%s%d' % ('i' if signed else 'u', ffi.sizeof(ctype)))


def view(array):
    """A numpy view of a C array or of one struct: the same memory, no copy."""
    import numpy
    ctype = ffi.typeof(array)
    made = numpy.frombuffer(ffi.buffer(array), dtype=dtype(ctype.item))
    return made


# ---- components ----

def typed(value, *names):
    """`value`, which must be of one of these C types: a verb takes any pointer, and would read another struct as its own."""
    names = [name for name in names if name]
    ctype = ffi.typeof(value) if isinstance(value, ffi.CData) else None
    if ctype is not None and ctype.kind in ('pointer', 'array'):
        ctype = ctype.item
    if ctype is None or ctype not in [ffi.typeof(name) for name in names]:
        raise TypeError('a %s is wanted, not %s' % (' or a '.join(names), ctype.cname if ctype else type(value).__name__))
    return value


class Component:
    """The verbs that all components share, on one of them: gpump.sm.preset('k20c'), gpump.sm.init(config)."""
    diag = ffi.new('gpump_diag *')

    def __init__(self, name, config, made, statistics, storage):
        self.name, self.config_type, self.object_type = name, config, made
        self.statistics_type, self.storage_type = statistics, storage
        self.constant = ffi.addressof(lib, 'gpump_%s_component' % name)
        Struct.of(config)

    def __repr__(self):
        return '<component %s>' % self.name

    def __call__(self, **fields):
        """A configuration with these fields; gpump.sm.preset fills the others."""
        return Struct.of(self.config_type)(**fields)

    def _out(self, verb, ctype, *arguments):
        out = ffi.new(ctype)
        result = getattr(lib, verb)(self.constant, *arguments, out, self.diag)
        return fail(verb, result, self.diag) if result else out

    def preset(self, name, **fields):
        """The configuration of a machine or scheme by its name, with some fields changed (gpump_preset)."""
        config = ffi.new(self.config_type + ' *')
        result = lib.gpump_preset(self.constant, config, c_text(name), self.diag)
        if result:
            fail('gpump_preset', result, self.diag)
        return Struct.of(self.config_type)._fill(config, fields, [])

    def preset_for(self, name, gpu, **fields):
        """As preset, but for the clock and the size of the machine `gpu`: gpump.fault, gpump.block_switch (gpump_preset_for)."""
        config = ffi.new(self.config_type + ' *')
        result = lib.gpump_preset_for(self.constant, config, c_text(name), typed(gpu, 'gpump_gpu'), self.diag)
        if result:
            fail('gpump_preset_for', result, self.diag)
        return Struct.of(self.config_type)._fill(config, fields, [])

    def bytes(self, config):
        """The memory that an object with this configuration needs (gpump_bytes)."""
        return self._out('gpump_bytes', 'size_t *', typed(config, self.config_type))[0]

    def bits(self, config):
        """The SRAM that the hardware with this configuration has, in bits (gpump_bits)."""
        return self._out('gpump_bits', 'uint64_t *', typed(config, self.config_type))[0]

    def table_bits(self, config):
        """The bits of each table of that SRAM, as a struct (gpump_table_bits)."""
        if not self.storage_type:
            raise TypeError('%s has no table of bits: ask for bits' % self.name)
        return self._out('gpump_table_bits', self.storage_type + ' *', typed(config, self.config_type))

    def _object(self, verb, memory, config):
        out = ffi.new('void **')
        result = getattr(lib, verb)(self.constant, memory, len(ffi.buffer(memory)), config, out, self.diag)
        if result:
            fail(verb, result, self.diag)
        made = ffi.gc(ffi.cast('%s *' % self.object_type, out[0]), lambda _, memory=memory: None)
        return made

    def init(self, config):
        """An object with this configuration; its memory is Python's (gpump_bytes, gpump_init)."""
        return self._object('gpump_init', ffi.new('uint64_t[]', (self.bytes(config) + 7) // 8), config)

    def adopt(self, data, config):
        """An object from a byte copy of one, as gpump.copy_of gives it (gpump_adopt)."""
        memory = ffi.new('uint64_t[]', (len(data) + 7) // 8)
        ffi.buffer(memory)[0:len(data)] = bytes(data)
        out = ffi.new('void **')
        result = lib.gpump_adopt(self.constant, memory, len(data), typed(config, self.config_type), out, self.diag)
        if result:
            fail('gpump_adopt', result, self.diag)
        return ffi.gc(ffi.cast('%s *' % self.object_type, out[0]), lambda _, memory=memory: None)

    def copy(self, made, config):
        """The bytes of an object: a checkpoint, which adopt takes over."""
        return bytes(ffi.buffer(ffi.cast('char *', made), self.bytes(config)))

    def check(self, made):
        """Looks for contradictions in an object's tables, or in a configuration (gpump_check)."""
        result = lib.gpump_check(self.constant, typed(made, self.object_type, self.config_type), self.diag)
        if result:
            fail('gpump_check', result, self.diag)

    def hash(self, made):
        """A hash of an object's state, the same on every machine (gpump_hash)."""
        return lib.gpump_hash(self.constant, typed(made, self.object_type))

    def next_cycle(self, made):
        """The cycle at which an object acts by itself; gpump.UNKNOWN: it needs a report first (gpump_next_cycle)."""
        return lib.gpump_next_cycle(self.constant, typed(made, self.object_type))

    def statistics(self, made, each=False):
        """The counters of an object; each=True: those of every kernel, of a component that counts by kernel (gpump_get_statistics)."""
        if not self.statistics_type:
            raise TypeError('%s keeps no counters' % self.name)
        out = ffi.new(self.statistics_type + '[]', max(1, getattr(getattr(made, 'config', None), 'kernels', 1)))
        result = lib.gpump_get_statistics(self.constant, typed(made, self.object_type), out)
        if result:
            return fail('gpump_get_statistics', result, NULL)
        return out if each else ffi.gc(out + 0, lambda _, out=out: None)

    def statistics_diff(self, earlier, later):
        """What was counted in between (gpump_statistics_diff)."""
        out = ffi.new(self.statistics_type + ' *')
        lib.gpump_statistics_diff(self.constant, earlier, later, out)
        return out

    def statistics_table(self, statistics):
        """The counters as a list of (name, unit, description, value) (gpump_statistics_field)."""
        rows, words, value = [], [ffi.new('const char **') for _ in range(3)], ffi.new('uint64_t *')
        while not lib.gpump_statistics_field(self.constant, statistics, len(rows), *words, value):
            rows.append(tuple(python_text(w[0]) for w in words) + (value[0],))
        return rows
