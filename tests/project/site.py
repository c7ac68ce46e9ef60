"""The site of the documents: site.py SITE_DIR SOURCE_DIR

Every link leads to a page that is there, and to a place in it; nothing is loaded from a network; every public function has
its comment; the search finds what it should (by node, where it is installed). The last line is "all right", or the exit
status is 1."""
import glob
import html.parser
import json
import os
import re
import shutil
import subprocess
import sys
from urllib.parse import unquote, urlsplit

LOADS = {'img': 'src', 'script': 'src', 'link': 'href', 'iframe': 'src', 'source': 'src', 'form': 'action'}
QUESTIONS = [('gpump_victim_decide', 'api/victim.html#gpump_victim_decide'), ('page faults', 'docs/exceptions.html'), ('chimera', 'docs/victims.html'),
             ('first lesson drain', 'docs/first_lesson.html'), ('GPUDuet', 'docs/duet.html')]
wrong = 0


def complain(*words):
    global wrong
    wrong += 1
    if wrong < 40:
        print('WRONG:', *words)


class Page(html.parser.HTMLParser):
    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.doubled = [], set(), []
        with open(path, encoding='utf-8') as file:
            self.feed(file.read())

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if given.get('id'):
            if given['id'] in self.places:
                self.doubled.append(given['id'])
            self.places.add(given['id'])
        if tag == 'a' and given.get('href'):
            self.links.append((given['href'], False))
        if given.get(LOADS.get(tag, '')):
            self.links.append((given[LOADS[tag]], True))
        if tag == 'img' and not given.get('alt'):
            self.links.append(('a picture without words', True))


def check_links(site):
    pages = {os.path.relpath(p, site): None for p in glob.glob(os.path.join(site, '**', '*.html'), recursive=True)}
    for path in pages:
        pages[path] = Page(os.path.join(site, path))
    count = 0
    for path, page in pages.items():
        for place in page.doubled:
            complain('%s has two places named %s' % (path, place))
        for link, loads in page.links:
            parts = urlsplit(link)
            if parts.scheme in ('http', 'https', 'mailto', 'data') or (path == 'playground.html' and not parts.path):
                if loads and parts.scheme in ('http', 'https'):
                    complain('%s loads %s from a network' % (path, link))
                continue
            count += 1
            there = os.path.normpath(os.path.join(os.path.dirname(path), unquote(parts.path))) if parts.path else path
            if not os.path.isfile(os.path.join(site, there)):
                complain('%s: the link %s leads nowhere' % (path, link))
            elif parts.fragment and there in pages and there != 'playground.html' and unquote(parts.fragment) not in pages[there].places:
                complain('%s: %s has no place %s' % (path, there, parts.fragment))
    print('%d links of %d pages' % (count, len(pages)))
    return pages


def check_interface(pages, source):
    """Every public function of gpump.h has a place."""
    with open(os.path.join(source, 'gpump.h'), encoding='utf-8') as file:
        public = file.read().split('#define GPUMP_IMPLEMENTATION_DONE')[0]
    functions = set(re.findall(r'^(?:GPUMP_API|GPUMP_INLINE) [^;{=]*?\b(gpump_\w+)\(', public, re.M))
    places = set().union(*(page.places for path, page in pages.items() if path.startswith('api' + os.sep)))
    for name in sorted(functions - places):
        complain('the interface lacks', name)
    print('%d functions of gpump.h have a place' % len(functions & places))
    if len(functions) < 200:
        complain('only %d functions were found in gpump.h' % len(functions))


def check_search(site):
    if not shutil.which('node'):
        print('the search is not tried: there is no node here')
        return
    with open(os.path.join(site, 'search_index.js'), encoding='utf-8') as index, open(os.path.join(site, 'search.js'), encoding='utf-8') as search:
        text = index.read() + search.read().replace('\nshowHits();', '')
    script = text + '\nconsole.log(JSON.stringify(%s.map(q => find(q).slice(0, 12).map(hit => hit[1]))));' % json.dumps([q for q, _ in QUESTIONS])
    answers = json.loads(subprocess.run(['node', '-e', script] if len(script) < 100000 else ['node'], input=script, capture_output=True, text=True, check=True).stdout)
    for (question, wanted), hits in zip(QUESTIONS, answers):
        if not any(hit.split('#')[0] == wanted or hit == wanted for hit in hits):
            complain('the search for "%s" does not find %s but %s' % (question, wanted, hits[:5]))
    print('%d questions found their pages' % len(QUESTIONS))


def main():
    site, source = sys.argv[1:3]
    pages = check_links(site)
    check_interface(pages, source)
    check_search(site)
    print('%d wrong' % wrong if wrong else 'all right')
    return wrong != 0


if __name__ == '__main__':
    sys.exit(main())
