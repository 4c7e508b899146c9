/** The texts as a whole: both languages need the same values, every key is used, and no component has text of its own. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'svelte/compiler';
import { describe, expect, it } from 'vitest';
import { first } from './en/first.ts';
import { group } from './en/group.ts';
import { rest } from './en/rest.ts';
import { en } from './en.ts';
import { formatMessage, type Message } from './message.ts';
import { first as russianFirst } from './ru/first.ts';
import { group as russianGroup } from './ru/group.ts';
import { rest as russianRest } from './ru/rest.ts';
import { ru } from './ru.ts';

const russian = { first: russianFirst, group: russianGroup, rest: russianRest };
const SRC = fileURLToPath(new URL('..', import.meta.url));
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' });
const read = (file: string) => readFileSync(join(SRC, file), 'utf8');
const components = files.filter((file) => file.endsWith('.svelte'));
const sources = files
  .filter((file) => /\.(svelte|ts)$/.test(file) && !/\.test\.ts$/.test(file) && !/^i18n\/(en|ru)/.test(file))
  .map(read)
  .join('\n');

function valuesOf(message: Message): string[] {
  const texts = typeof message === 'string' ? [message] : Object.values(message);
  const names = texts.flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!));
  return [...new Set(typeof message === 'string' ? names : [...names, 'count'])].sort();
}

describe('texts', () => {
  it('take the same values in both languages', () => {
    for (const key of Object.keys(en) as (keyof typeof en)[]) {
      expect(valuesOf(ru[key]), key).toEqual(valuesOf(en[key]));
    }
  });

  it.each(['en', 'ru'])('have one place each in %s', (language) => {
    const texts = files.filter((file) => file.startsWith(`i18n/${language}/`)).map(read);
    const keys = texts.flatMap((text) => [...text.matchAll(/^ {2}'?([\w.-]+)'?:/gm)].map(([, key]) => key!));
    expect(keys.length).toBeGreaterThan(Object.keys(en).length / 2);
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });

  /** Which of the texts a piece of code uses, also those that it looks up by a code of the API. */
  function usedBy(code: string, texts: object): string[] {
    const families = [...code.matchAll(/\bword\(\s*'(\w+)'/g)].map(([, family]) => `${family}.`);
    const built = [...code.matchAll(/\bt\(\s*`([\w.]+\.)\$\{/g)].map(([, prefix]) => prefix!);
    const prefixes = [...families, ...built];
    return Object.keys(texts).filter(
      (key) => code.includes(`'${key}'`) || prefixes.some((prefix) => key.startsWith(prefix)),
    );
  }

  it('are all used', () => {
    const used = new Set(usedBy(sources, en));
    expect(Object.keys(en).filter((key) => !used.has(key))).toEqual([]);
  });

  it.each(['alert-group/AlertGroupPage', 'alert-group-list/FoldRows', 'alert-group-list/bulk/BulkConfirm'])(
    'of %s come with those of the page of a group',
    (page) => {
      const modules = new Set([`pages/${page}.svelte`]);
      for (const file of modules) {
        for (const [statement, from] of read(file).matchAll(
          /^(?:import|export) [^;]*? from '(\.[^'?]+)';/gm,
        )) {
          if (!statement.startsWith('import type')) modules.add(join(dirname(file), from!));
        }
      }
      expect(modules).toContain('app/context.ts');
      expect([...modules].flatMap((file) => usedBy(read(file), rest))).toEqual([]);
    },
  );

  it('come in the same parts in both languages', () => {
    const keys = (texts: object) => Object.keys(texts).sort();
    expect(keys(russian.first)).toEqual(keys(first));
    expect(keys(russian.group)).toEqual(keys(group));
    expect(keys(russian.rest)).toEqual(keys(rest));
  });

  it('have every plural form that Russian needs', () => {
    const plurals = Object.entries(ru).filter(([, message]) => typeof message !== 'string');
    for (const [key, message] of plurals) {
      expect(Object.keys(message), key).toEqual(expect.arrayContaining(['one', 'few', 'many', 'other']));
    }
  });
});

describe('components', () => {
  const WORDY = new Set(['aria-label', 'title', 'placeholder', 'alt', 'label']);

  function literals(node: unknown, found: string[]): void {
    if (Array.isArray(node)) {
      for (const each of node) literals(each, found);
      return;
    }
    if (typeof node !== 'object' || node === null) return;
    const { type, name = '', data = '' } = node as { type?: string; name?: string; data?: string };
    if (type === 'Attribute' && !WORDY.has(name)) return;
    if (type === 'Text' && /\p{L}/u.test(data)) found.push(data.trim());
    for (const [member, child] of Object.entries(node)) {
      if (member !== 'metadata' && member !== 'parent') literals(child, found);
    }
  }

  it('are read for text in elements and in the attributes that people meet', () => {
    const found: string[] = [];
    const source = '<p class="x" title="One">{#if a}Two{/if} · {three}<input placeholder="Four {b}" /></p>';
    literals(parse(source, { modern: true }).fragment, found);
    expect(found).toEqual(['One', 'Two', 'Four']);
  });

  it.each(components)('%s has no text of its own', (file) => {
    const found: string[] = [];
    literals(parse(read(file), { modern: true }).fragment, found);
    expect(found).toEqual([]);
  });
});

describe('formatMessage', () => {
  const russian = [new Intl.PluralRules('ru'), new Intl.NumberFormat('ru')] as const;
  const forms = {
    one: '{count} группа',
    few: '{count} группы',
    many: '{count} групп',
    other: '{count} группы',
  };
  it.each([
    [1, '1 группа'],
    [3, '3 группы'],
    [11, '11 групп'],
    [21, '21 группа'],
    [112, '112 групп'],
  ])('%d in Russian is %s', (count, text) => {
    expect(formatMessage(forms, { count }, ...russian)).toBe(text);
  });

  it('writes amounts with separators and names without', () => {
    const english = [new Intl.PluralRules('en'), new Intl.NumberFormat('en')] as const;
    expect(formatMessage('{count} of #{number}', { count: 1_200, number: 1_200 }, ...english)).toBe(
      '1,200 of #1200',
    );
  });

  it('leaves a placeholder without a value as it is', () => {
    expect(formatMessage('{a} {b}', { a: 'x' }, ...russian)).toBe('x {b}');
  });
});

it('values that turn the direction of text do not turn the words around them; text from right to left is kept', () => {
  const format = (name: string) =>
    formatMessage('{name} took it', { name }, new Intl.PluralRules('en'), new Intl.NumberFormat('en'));
  expect(format('\u202Eeve\u2066')).toBe('\uFFFDeve\uFFFD took it');
  expect(format('דנה')).toBe('דנה took it');
});
