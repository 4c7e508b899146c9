/** The docs in the browser: the search, and the theme, which is that of the UI. Pages are read without it as well. */
import type MiniSearch from 'minisearch';
import { SEARCH_OPTIONS, type SearchEntry } from '../search.ts';

const MOST_RESULTS = 12;
const THEME_KEY = 'tocsin.preferences';

function part<Kind extends HTMLElement>(selector: string, kind: new () => Kind): Kind {
  const element = document.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`The page has no ${selector}`);
  return element;
}

const form = part('form.search', HTMLFormElement);
const input = part('form.search input', HTMLInputElement);
const results = part('.results', HTMLUListElement);
const found = part('.found', HTMLParagraphElement);
const theme = part('button.theme', HTMLButtonElement);

let index: Promise<MiniSearch<SearchEntry>> | null = null;

/** Read when somebody begins to search: most pages are only read. */
function readIndex(): Promise<MiniSearch<SearchEntry>> {
  index ??= load().catch((error: unknown) => {
    index = null;
    throw error;
  });
  return index;
}

async function load(): Promise<MiniSearch<SearchEntry>> {
  const [{ default: Search }, answer] = await Promise.all([
    import('minisearch'),
    fetch('/docs/assets/search.json'),
  ]);
  if (!answer.ok) throw new Error(`The search index answered ${answer.status}`);
  return Search.loadJSON<SearchEntry>(await answer.text(), SEARCH_OPTIONS);
}

async function search(): Promise<void> {
  const words = input.value.trim();
  if (words === '') return close();
  try {
    const hits = (await readIndex()).search(words).slice(0, MOST_RESULTS);
    if (input.value.trim() !== words) return;
    results.replaceChildren(...hits.map(({ id, page, heading }) => resultOf(id, page, heading)));
    results.hidden = hits.length === 0;
    say(hits.length === 0 ? `Nothing is found for “${words}”.` : `${hits.length} results`, hits.length > 0);
  } catch {
    say('The search could not be loaded. Try again.', false);
  }
}

function resultOf(address: string, page: string, heading: string): HTMLLIElement {
  const link = document.createElement('a');
  link.href = address;
  const name = document.createElement('strong');
  name.textContent = heading || page;
  const where = document.createElement('span');
  where.textContent = page;
  link.append(name, ...(heading && heading !== page ? [where] : []));
  const row = document.createElement('li');
  row.append(link);
  return row;
}

/** @param isSeen only for who hears the page: the results are in sight */
function say(text: string, isSeen: boolean): void {
  found.textContent = text;
  found.hidden = false;
  found.classList.toggle('unseen', isSeen);
}

function close(): void {
  results.hidden = true;
  found.hidden = true;
}

function move(step: number): void {
  const links = [...results.querySelectorAll('a')];
  const at = links.findIndex((link) => link.matches(':focus')) + step;
  const next = at < 0 ? input : links[Math.min(at, links.length - 1)];
  next?.focus();
}

form.hidden = false;
form.addEventListener('submit', (event) => {
  event.preventDefault();
  results.querySelector('a')?.click();
});
input.addEventListener(
  'focus',
  () => void readIndex().catch(() => say('The search could not be loaded.', false)),
);
input.addEventListener('input', () => void search());
form.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') close();
  else if (event.key === 'ArrowDown') move(1);
  else if (event.key === 'ArrowUp') move(-1);
  else return;
  event.preventDefault();
});
results.addEventListener('click', () => {
  // Also of a section of this page, which loads nothing.
  close();
  input.value = '';
});
document.addEventListener('click', ({ target }) => {
  if (target instanceof Node && !form.contains(target)) close();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || document.activeElement === input) return;
  event.preventDefault();
  input.focus();
});

theme.hidden = false;
theme.addEventListener('click', () => {
  const root = document.documentElement;
  const isDark = getComputedStyle(root).colorScheme === 'dark';
  root.dataset.theme = isDark ? 'light' : 'dark';
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(THEME_KEY) ?? '{}');
    localStorage.setItem(THEME_KEY, JSON.stringify({ ...Object(stored), theme: root.dataset.theme }));
  } catch {
    // A closed storage only means that the choice ends with the page.
  }
});
