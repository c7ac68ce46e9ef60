"""Makes a static site of the documents: site.py OUT_DIR [PLAYGROUND_HTML]

The site has README.md as its first page, every page of docs/ and every README.md of examples/, the library's interface by
room as the comments of its headers have it, the files that pages link to, and a search over all of it. It opens from disk
and loads nothing from a network. The Markdown is read by markdown-it (Debian: python3-markdown-it).
"""
import glob
import html
import json
import os
import re
import shutil
import sys

from markdown_it import MarkdownIt

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
SOURCE_BYTES_MAX = 300000  # of a file that is shown
PICTURES = ('.png', '.svg')

# The pages in the order of the menu; every other page stands under the last heading.
MENU = [
    ('Begin', ['README.md', 'docs/first_lesson.md', 'docs/own_kernel.md', 'docs/hosting.md', 'docs/extending.md']),
    ('Mechanisms', ['docs/victims.md', 'docs/rewind.md', 'docs/exceptions.md', 'docs/restart.md', 'docs/sharing.md', 'docs/duet.md', 'docs/dss_walkthrough.md',
                    'docs/context.md', 'docs/regions.md', 'docs/registers.md']),
    ('Hosts', ['examples/minigpu/README.md', 'docs/minigpu.md', 'docs/launch_files.md', 'docs/ptx.md', 'docs/cuda.md', 'docs/combinations.md', 'docs/speed.md', 'docs/minigpu_speed.md',
               'docs/minigpu_files.md', 'examples/tbsim/README.md', 'examples/gpgpusim/README.md', 'examples/python/README.md', 'docs/cluster.md']),
    ('Results', ['docs/results.md', 'docs/tanasic_bands.md', 'docs/new_machines.md', 'docs/fault_latency.md', 'docs/restart_measured.md', 'docs/papers.md']),
    ('Inside', ['docs/design.md', 'docs/design_rooms.md', 'docs/design_minigpu.md', 'docs/tests.md', 'docs/mutation.md', 'docs/CHANGELOG.md']),
]


def text_of(path):
    with open(os.path.join(ROOT, path), encoding='utf-8') as file:
        return file.read()


def slug(text, taken):
    """The anchor of a heading, as GitHub makes it."""
    base = re.sub(r'[^\w\- ]', '', text.lower()).strip().replace(' ', '-')
    name, n = base, 0
    while name in taken:
        n += 1
        name = '%s-%d' % (base, n)
    taken.add(name)
    return name


def target_of(path):
    """The page of the site for a path of the tree."""
    if path == 'README.md':
        return 'index.html'
    if path.endswith('.md'):
        return path[:-3] + '.html'
    return path if path.endswith(PICTURES) else 'source/' + path + '.html'


class Site:
    def __init__(self, out):
        self.out, self.search, self.sources, self.markdown = out, [], set(), MarkdownIt('commonmark').enable('table')
        found = ['README.md'] + sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, 'docs', '**', '*.md'), recursive=True))
        found += sorted(os.path.relpath(p, ROOT) for p in glob.glob(os.path.join(ROOT, 'examples', '**', 'README.md'), recursive=True))
        self.pages = {path: text_of(path) for path in found}
        self.titles = {path: re.search(r'^# (.*)$', text, re.M).group(1).replace('`', '') for path, text in self.pages.items()}
        self.api = Api()
        self.has_playground = False

    # ---- writing ----

    def menu(self, base):
        listed = {path for _, paths in MENU for path in paths}
        groups = MENU[:-1] + [(MENU[-1][0], MENU[-1][1] + [p for p in self.pages if p not in listed])]
        rows = []
        for title, paths in groups:
            links = ['<li><a href="%s">%s</a></li>' % (base + target_of(p), html.escape('gpump' if p == 'README.md' else self.titles[p].split(':')[0]))
                     for p in paths if p in self.pages]
            if title == 'Begin' and self.has_playground:
                links.insert(1, '<li><a href="%splayground.html">Playground</a></li>' % base)
            rows.append('<details%s><summary>%s</summary><ul>%s</ul></details>' % (' open' if title == 'Begin' else '', title, ''.join(links)))
        rows.insert(1, '<details open><summary>Interface</summary><ul><li><a href="%sapi/index.html">All rooms</a></li>%s</ul></details>' % (
            base, ''.join('<li><a href="%sapi/%s.html">%s</a></li>' % (base, room, room) for room in self.api.rooms)))
        return ''.join(rows)

    def write(self, target, title, body):
        """Writes a page of the site, with the menu and the search field around its body."""
        base = '../' * target.count('/')
        page = ('<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
                '<meta name="referrer" content="no-referrer">\n<link rel="icon" href="data:,">\n<link rel="stylesheet" href="%ssite.css">\n<title>%s</title>\n</head>\n<body>\n'
                '<a class="skip" href="#content">To the text</a>\n<header><a class="home" href="%sindex.html">gpump</a>'
                '<form action="%ssearch.html" role="search"><input name="q" type="search" aria-label="Search" placeholder="Search"><button>Search</button></form></header>\n'
                '<div class="columns"><nav aria-label="Pages">%s</nav>\n<main id="content">\n%s\n</main></div>\n</body>\n</html>\n') % (
                    base, html.escape(title), base, base, self.menu(base), body)
        path = os.path.join(self.out, target)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(page)

    # ---- links ----

    def link(self, href, path):
        """A link of the page `path`, as the site has it."""
        if re.match(r'[a-z]+:|#', href):
            return href
        name, _, anchor = href.partition('#')
        wanted = os.path.normpath(os.path.join(os.path.dirname(path), name))
        if os.path.isdir(os.path.join(ROOT, wanted)):
            readme = os.path.join(wanted, 'README.md')
            if readme in self.pages:
                wanted = readme
            else:
                self.sources.add(wanted)
        elif wanted in self.pages or wanted.endswith(PICTURES):
            if wanted.endswith(PICTURES):
                self.copy(wanted)
        else:
            self.sources.add(wanted)
        there = os.path.relpath(target_of(wanted), os.path.dirname(target_of(path)) or '.')
        return there + ('#' + anchor if anchor else '')

    def copy(self, path):
        there = os.path.join(self.out, path)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        shutil.copyfile(os.path.join(ROOT, path), there)

    # ---- pages of Markdown ----

    def render(self, path):
        tokens, taken, here = self.markdown.parse(self.pages[path]), set(), None
        for i, token in enumerate(tokens):
            if token.type == 'heading_open':
                words = ''.join(child.content for child in tokens[i + 1].children if child.type in ('text', 'code_inline', 'softbreak'))
                token.attrSet('id', slug(words, taken))
                here = [words, target_of(path) + ('' if token.tag == 'h1' else '#' + token.attrGet('id')), self.titles[path] if token.tag != 'h1' else '', '']
                self.search.append(here)
            for child in token.children or []:
                for name in ('href', 'src'):
                    if child.attrGet(name):
                        child.attrSet(name, self.link(child.attrGet(name), path))
            if here and token.type in ('inline', 'fence', 'code_block'):
                here[3] += ' ' + token.content
        body = self.markdown.renderer.render(tokens, self.markdown.options, {})
        body = re.sub(r'<table>(.*?)</table>', r'<div class="scroll" tabindex="0" role="region" aria-label="Table"><table>\1</table></div>', body, flags=re.S)
        body = re.sub(r'<code>([a-zA-Z_]\w+)(\(\))?</code>', lambda m: self.api.link(m.group(1), m.group(0), '../' * target_of(path).count('/') + 'api/'), body)
        if path == 'docs/first_lesson.md' and self.has_playground:
            body = re.sub(r'(<h2 id="(\d)-[^>]*>.*?</h2>)', r'\1\n<p><a href="../playground.html#lesson=\2">Lesson \2 in the playground</a></p>', body)
        return body

    def show_source(self, path):
        """Writes a page with a file of the tree, or with the list of a folder."""
        full, title = os.path.join(ROOT, path), html.escape(path)
        if os.path.isdir(full):
            names = sorted(name for name in os.listdir(full) if os.path.isfile(os.path.join(full, name)) and self.is_text(os.path.join(full, name)))
            self.sources.update(os.path.join(path, name) for name in names)
            body = '<ul>%s</ul>' % ''.join('<li><a href="%s/%s.html">%s</a></li>' % (os.path.basename(path), name, html.escape(name)) for name in names)
        else:
            body = '<pre class="source">%s</pre>' % html.escape(text_of(path))
        self.write(target_of(path), path, '<h1>%s</h1>\n%s' % (title, body))

    @staticmethod
    def is_text(path):
        with open(path, 'rb') as file:
            data = file.read(SOURCE_BYTES_MAX + 1)
        return len(data) <= SOURCE_BYTES_MAX and b'\0' not in data

    # ---- all of it ----

    def make(self, playground):
        if playground:
            shutil.copyfile(playground, os.path.join(self.out, 'playground.html'))
            self.has_playground = True
        for path in self.pages:
            self.write(target_of(path), self.titles[path], self.render(path))
        self.api.write(self)
        done = set()
        while self.sources - done:
            for path in sorted(self.sources - done):
                done.add(path)
                self.show_source(path)
        self.write('search.html', 'Search', '<h1>Search</h1>\n<p id="found" aria-live="polite">This page searches by JavaScript of its own.</p>\n<ol id="hits"></ol>\n'
                   '<script src="search_index.js"></script>\n<script src="search.js"></script>')
        for entry in self.search:
            entry[3] = ' '.join(sorted(set(re.findall(r'[a-z0-9_]{2,}', entry[3].lower()))))
        with open(os.path.join(self.out, 'search_index.js'), 'w', encoding='utf-8') as file:
            file.write('const SEARCH_INDEX = %s;\n' % json.dumps(self.search, separators=(',', ':')))
        for name in ('site.css', 'search.js'):
            shutil.copyfile(os.path.join(HERE, name), os.path.join(self.out, name))


class Api:
    """The public headers, room by room. A chunk is what stands between two blank lines: a comment and what it is about."""

    def __init__(self):
        lists = text_of('gpump_impl/components.cmake')
        self.rooms = re.search(r'set\(GPUMP_ROOMS ([^)]*)\)', lists).group(1).split()
        self.chunks, self.places = {}, {}
        for room in self.rooms:
            self.chunks[room] = []
            for component in re.search(r'set\(GPUMP_ROOM_%s ([^)]*)\)' % room, lists).group(1).split():
                header = 'gpump_impl/%s/%s.h' % (room, component)
                if os.path.exists(os.path.join(ROOT, header)):
                    self.read(room, component, text_of(header))

    def read(self, room, component, text):
        opening = re.match(r'/\*.*?\*/', text, re.S).group(0)
        chunks = [(component, [], opening, '')]
        text = re.sub(r'^#(include|ifndef|ifdef|if|endif|else|elif|error)\b.*(\\\n.*)*$|^#define \w+_H$|^GPUMP_(BEGIN|END)$', '', text[len(opening):], flags=re.M)
        for chunk in re.split(r'\n\s*\n|\n(?=/\*)', self.join_bodies(text)):
            comment = ''.join(re.findall(r'^/\*.*?\*/', chunk.strip(), re.S)[:1])
            code = chunk.strip()[len(comment):].strip()
            names = re.findall(r'\b(gpump_\w+)\(', re.sub(r'/\*.*?\*/', '', code, flags=re.S)) if 'GPUMP_API' in code or 'GPUMP_INLINE' in code else []
            names += re.findall(r'^\} (gpump_\w+)', code, re.M) + re.findall(r'^#define (GPUMP_\w+)', code, re.M) + re.findall(r'^typedef [^{;]*\b(gpump_\w+);', code, re.M)
            names += re.findall(r'^typedef .*\(\*(gpump_\w+)\)', code, re.M) + re.findall(r'^GPUMPI_CONSTANT gpump_component (gpump_\w+)', code, re.M)
            names = [name for name in dict.fromkeys(names) if name not in self.places]  # a place is where a name comes first
            for name in names:
                self.places[name] = '%s.html#%s' % (room, name)
            if names:
                chunks.append((component, names, comment, code))
        for chunk in chunks:
            for name in re.findall(r'^\s+(GPUMP_\w+)\b', chunk[3], re.M):
                if chunk[1]:
                    self.places.setdefault(name, '%s.html#%s' % (room, chunk[1][0]))
        self.chunks[room] += chunks

    @staticmethod
    def join_bodies(text):
        """Takes the blank lines out of braces, so that a struct stays in one piece."""
        depth, lines = 0, []
        for line in text.split('\n'):
            if line.strip() or not depth:
                lines.append(line)
            depth += re.sub(r'/\*.*?\*/|"[^"]*"', '', line).count('{') - re.sub(r'/\*.*?\*/|"[^"]*"', '', line).count('}')
        return '\n'.join(lines)

    def link(self, name, text, base=''):
        return '<a href="%s%s">%s</a>' % (base, self.places[name], text) if name in self.places else text

    def linked(self, text):
        return re.sub(r'\b[gG][pP][uU][mM][pP]_\w+', lambda m: self.link(m.group(0), m.group(0)), html.escape(text))

    @staticmethod
    def plain(comment):
        """A comment without its frame of slashes and stars."""
        lines = re.sub(r'^/\*+ ?|\s*\*/$', '', comment).split('\n')
        return '\n'.join([lines[0]] + [re.sub(r'^ ?\*? ?', '', line) for line in lines[1:]])

    @staticmethod
    def shown(code):
        """Declarations as a reader needs them: without bodies of inline functions, linkage, and private names."""
        code = re.sub(r'^GPUMP_INLINE ([^{;]*?)\s*\{.*?^\}', r'\1;', code, flags=re.M | re.S)
        code = re.sub(r'^GPUMPI_CONSTANT (gpump_component gpump_\w+) = [^;]*;', r'const \1;', code, flags=re.M)
        code = re.sub(r'^GPUMP_API [^;]*\bgpumpi_[^;]*;\n?', '', code, flags=re.M)
        return re.sub(r'^GPUMP_(API|INLINE) ', '', code, flags=re.M)

    def write(self, site):
        rows = []
        for room in self.rooms:
            body, count, first = ['<h1>Room %s</h1>' % room], 0, self.plain(self.chunks[room][0][2])
            for component, names, comment, code in self.chunks[room]:
                if not names:
                    body.append('<h2 id="component-%s">%s</h2>\n<div class="comment">%s</div>' % (component, component, self.linked(self.plain(comment))))
                    site.search.append([component + ', component', 'api/%s.html#component-%s' % (room, component), 'Room ' + room, comment])
                    continue
                anchors = ''.join('<a id="%s"></a>' % name for name in names[1:])
                body.append('<section class="entry" id="%s">%s<h3>%s</h3>\n<div class="comment">%s</div>\n<pre>%s</pre></section>' % (
                    names[0], anchors, ', '.join(names[:6]), self.linked(self.plain(comment)), self.linked(self.shown(code))))
                count += len(names)
                for name in names:
                    site.search.append([name, 'api/%s.html#%s' % (room, name), 'Room ' + room, comment])
            site.write('api/%s.html' % room, 'Room ' + room, '\n'.join(body))
            rows.append('<tr><td><a href="%s.html">%s</a></td><td>%d</td><td>%s</td></tr>' % (room, room, count, html.escape(first.split('\n')[0])))
        places = sorted(self.places)
        body = ('<h1>The interface by room</h1>\n<p>These pages are made from the comments of the headers that gpump.h is generated from. A room uses only the rooms above it.</p>\n'
                '<table><thead><tr><th>room</th><th>names</th><th>first component</th></tr></thead><tbody>%s</tbody></table>\n<h2>All names</h2>\n<ul class="names">%s</ul>') % (
                    ''.join(rows), ''.join('<li><a href="%s">%s</a></li>' % (self.places[name], name) for name in places))
        site.write('api/index.html', 'The interface by room', body)


def main():
    out = sys.argv[1]
    os.makedirs(out, exist_ok=True)
    site = Site(out)
    site.make(sys.argv[2] if len(sys.argv) > 2 else None)
    print('%s: %d pages, %d names of the interface, %d entries to search' % (os.path.join(out, 'index.html'), len(site.pages) + len(site.sources), len(site.api.places), len(site.search)))


if __name__ == '__main__':
    main()
