import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readDocuments } from './documents.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'documents-'));
});

afterEach(() => rm(folder, { recursive: true }));

const HOSTILE = `<script>"'&</script> <%= it.other %> <% throw 1 %>`;

test('what people write is data: escaped, and never a template', async () => {
  await writeFile(path.join(folder, 'page.eta'), '<p title="<%= it.text %>"><%= it.text %></p>');
  const escaped = '&lt;script&gt;&quot;&#39;&amp;&lt;/script&gt; &lt;%= it.other %&gt; &lt;% throw 1 %&gt;';
  expect(readDocuments(folder)('page', { text: HOSTILE })).toBe(`<p title="${escaped}">${escaped}</p>`);
});

test('a document of another kind escapes as that kind does', async () => {
  await writeFile(path.join(folder, 'config.eta'), 'name: <%= it.text %>\n');
  expect(readDocuments(folder, JSON.stringify)('config', { text: 'a\n"b"' })).toBe('name: "a\\n\\"b\\""\n');
});

test('templates are read once, and one that is not well-formed is refused then', async () => {
  const file = path.join(folder, 'page.eta');
  await writeFile(file, 'first');
  const render = readDocuments(folder);
  await writeFile(file, '<% if (');
  expect(render('page', {})).toBe('first');
  expect(() => readDocuments(folder)).toThrow();
});
