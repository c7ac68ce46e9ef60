"""Runs the code of notebooks, cell by cell, without Jupyter: notebooks.py NOTEBOOK... Any exception ends it."""
import json
import sys

for path in sys.argv[1:]:
    print('==== ' + path.rsplit('/', 1)[-1])
    with open(path, encoding='utf-8') as file:
        cells = json.load(file)['cells']
    names = {'__name__': '__main__'}
    for number, cell in enumerate(cells):
        if cell['cell_type'] == 'code':
            exec(compile(''.join(cell['source']), '%s, cell %d' % (path, number), 'exec'), names)
