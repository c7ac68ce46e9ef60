"""Puts the playground into one HTML file: assemble.py ENGINE_WASM OUT_HTML

The engine, the kernels and the launch files are compressed and embedded, since a page that is opened from disk may not
fetch files. The lessons are those of docs/first_lesson.md: what stands there under "## N. Title", without pictures and
without the paragraphs about the report's page, which begin with "On the page".
"""
import base64
import glob
import gzip
import html
import json
import os
import re
import sys

from markdown_it import MarkdownIt

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RENDER = MarkdownIt('commonmark').render


def text_of(*path):
    with open(os.path.join(*path), encoding='utf-8') as file:
        return file.read()


def packed(data):
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def lessons():
    """Yields each lesson's title, command and HTML."""
    for section in re.split(r'^## (?=\d+\. )', text_of(ROOT, 'docs', 'first_lesson.md'), flags=re.M)[1:]:
        title, rest = section.split('\n', 1)
        rest = rest.split('\n## ')[0]
        command = re.search(r'^```sh\nbuild/examples/minigpu/(minigpu run .*)\n```$', rest, re.M).group(1)
        paragraphs = [p for p in re.split(r'\n{2,}', re.sub(r'^```.*?^```$', '\n', rest, flags=re.M | re.S))
                      if p.strip() and not p.strip().startswith(('![', 'On the page'))]
        answer = [p for p in paragraphs if p.strip().startswith('*Answer')]
        body = RENDER('\n\n'.join(p for p in paragraphs if p not in answer))
        words = re.sub(r'^\s*\*Answer: (.*?)\*', lambda m: m.group(1)[0].upper() + m.group(1)[1:], answer[0], flags=re.S)
        body += '<details><summary>Answer</summary>%s</details>' % RENDER(words)
        yield {'title': title.split('. ', 1)[1].strip(), 'command': command, 'html': re.sub(r'<a [^>]*>(.*?)</a>', r'\1', body)}


def files():
    """Every PTX and launch file, by its path in the tree."""
    found = {}
    for pattern in ('examples/minigpu/*.yaml', 'examples/minigpu/launches/*.*', 'examples/minigpu/kernels/*/*.*'):
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            if path.endswith(('.yaml', '.ptx')):
                found[os.path.relpath(path, ROOT)] = text_of(path)
    return found


def main():
    wasm, out = sys.argv[1:]
    with open(wasm, 'rb') as file:
        engine = file.read()
    page = os.path.join(HERE, 'page')
    parts = {
        'css': text_of(ROOT, 'examples', 'report', 'page.css') + text_of(page, 'playground.css'),
        'lessons': json.dumps(list(lessons())).replace('</', '<\\/'),
        'wasm': packed(engine),
        'files': packed(json.dumps(files()).encode()),
        'worker': '\n'.join(text_of(page, name) for name in ('wasi.js', 'engine.js', 'worker.js')),
        'js': '\n'.join(text_of(page, name) for name in ('experiment.js', 'grid.js', 'playground.js')),
    }
    text = text_of(page, 'playground.html')
    for name, part in parts.items():
        before, after = text.split('<!-- %s -->' % name)
        text = before + part + after
    with open(out, 'w', encoding='utf-8') as file:
        file.write(text)
    print('%s: %d KB' % (html.escape(out), len(text.encode()) // 1000))


if __name__ == '__main__':
    main()
