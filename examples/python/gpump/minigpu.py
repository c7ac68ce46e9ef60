"""The mini-GPU and tbsim from Python: launches as dictionaries, sweeps as tables, pages inline in a notebook.

    report = gpump.minigpu.run('launch.yaml', preempt='5000:switch', sms=8)
    print(report['totals']['cycles'])
    rows = gpump.minigpu.sweep('launch.yaml', sms=[4, 8, 15], preempt=['5000:switch', '5000:drain'])

Keywords are options without their dashes (deadline_us=4 is --deadline-us 4, True is an option without a value, a list
repeats the option). The programs are found on PATH, or where the environment variables MINIGPU and TBSIM say.
"""
import csv
import html
import json
import os
import shutil
import subprocess
import tempfile


class Failed(Exception):
    """A program has ended with an error. `status` is its exit status, and the text is what it said."""

    def __init__(self, status, text):
        super().__init__(text.strip() or 'exit status %d' % status)
        self.status = status


class Page:
    """A page of a run. A notebook shows it inline; save(path) keeps it."""

    def __init__(self, text):
        self.text = text

    def _repr_html_(self):
        return '<iframe srcdoc="%s" style="width:100%%;height:820px;border:0"></iframe>' % html.escape(self.text, quote=True)

    def save(self, path):
        with open(path, 'w', encoding='utf-8') as file:
            file.write(self.text)


def program(name):
    """Where minigpu or tbsim is."""
    found = os.environ.get(name.upper()) or shutil.which(name)
    if not found:
        raise FileNotFoundError('%s is not on PATH: install it (cmake --install), or set %s to its path' % (name, name.upper()))
    return found


def options(keywords):
    """Options of a command line from keywords."""
    words = []
    for name, value in keywords.items():
        option = '--' + name.replace('_', '-')
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(option)
            elif one is not False and one is not None:
                words += [option, str(one)]
    return words


def call(name, *words):
    """Runs a program; returns what it has printed. Raises Failed."""
    done = subprocess.run([program(name), *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if done.returncode:
        raise Failed(done.returncode, done.stderr or done.stdout)
    return done.stdout


def run(launch, page=False, command='run', **keywords):
    """Runs a launch file; returns the report as a dictionary. With page=True, report['page'] is the page of the run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'page.html')
        extra = ['--html', path] if page else []
        text = call('minigpu', command, launch, '--json', *extra, *options(keywords))
        report = json.loads(text[:text.rindex('}') + 1])
        if page:
            with open(path, encoding='utf-8') as file:
                report['page'] = Page(file.read())
    return report


def _number(text):
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def table(path):
    """A CSV file as a pandas frame where pandas is installed, else as a list of dictionaries."""
    try:
        import pandas
        return pandas.read_csv(path)
    except ImportError:
        with open(path, newline='', encoding='utf-8') as file:
            return [{name: _number(value) for name, value in row.items()} for row in csv.DictReader(file)]


def sweep(launch, out=None, **vary):
    """Runs a launch file for every combination of the values, on all processors; returns a table with a row per kernel
    and run. `out` is a CSV file that a later call of the same sweep continues."""
    words = [word for name, values in vary.items() for word in
             ('--vary', name.replace('_', '-') + '=' + ','.join(map(str, values if isinstance(values, (list, tuple)) else [values])))]
    with tempfile.TemporaryDirectory() as folder:
        path = out or os.path.join(folder, 'sweep.csv')
        call('minigpu', 'sweep', launch, *words, '--out', path)
        return table(path)


def timeline(launch, **keywords):
    """The spans of a run as a table: which block was in which phase, when, on which row (Chrome trace events)."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'trace.json')
        call('minigpu', 'run', launch, '--trace', path, *options(keywords))
        with open(path, encoding='utf-8') as file:
            events = json.load(file)
    events = events['traceEvents'] if isinstance(events, dict) else events
    names = {e['pid'] if e['name'] == 'process_name' else (e['pid'], e['tid']): e['args']['name'] for e in events
             if e['ph'] == 'M' and e['name'] in ('process_name', 'thread_name')}
    rows = [{'start_us': e['ts'], 'end_us': e['ts'] + e['dur'], 'what': e['name'], 'group': names.get(e['pid']),
             'row': names.get((e['pid'], e['tid'])), **e.get('args', {})} for e in events if e['ph'] == 'X']
    try:
        import pandas
        return pandas.DataFrame(rows)
    except ImportError:
        return rows


def tbsim(workload, page=False, **keywords):
    """Runs a workload of tbsim; returns what it prints, or with page=True the page of the run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'page.html')
        text = call('tbsim', 'run', workload, *(['--html', path] if page else []), *options(keywords))
        if not page:
            return text
        with open(path, encoding='utf-8') as file:
            return Page(file.read())
