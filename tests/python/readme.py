"""Runs the Python code of a page, block after block, from the top of the project: readme.py PAGE.md. Any exception ends it."""
import os
import re
import sys

os.chdir(os.environ['GPUMP_SOURCE'])
with open(sys.argv[1], encoding='utf-8') as file:
    blocks = re.findall(r'^```python\n(.*?)^```', file.read(), re.M | re.S)
assert len(blocks) >= 4, 'the page has only %d blocks of Python' % len(blocks)
names = {'__name__': '__main__'}
for number, block in enumerate(blocks):
    exec(compile(block, '%s, block %d' % (sys.argv[1], number), 'exec'), names)
