import { expect, test } from 'vitest';
import { plainSample, rareParts, type SampledText, type WordLetters } from './text-sample.ts';

/** A hundred texts, of which each stands for as many. */
const HOSTS = sampleOf((n) => `Alert${n * 20} on host-${1_000 + n * 90} in cluster ${n % 7}`);
const SERVERS = sampleOf((n) => `Сервер ${1_000 + n * 90} не отвечает`);
const TEAMS = sampleOf((n) => `${n % 2 === 0 ? 'disk of' : 'load of'} team ${n % 5 === 0 ? 'red' : 'blue'}`);

function sampleOf(text: (n: number) => string): readonly SampledText[] {
  return Array.from({ length: 100 }, (_, n) => ({ text: text(n), share: 0.01 }));
}

test.each<[string, string, readonly SampledText[], readonly string[] | null]>([
  ['what nearly all hold is left out', 'Alert5 on host-4851', HOSTS, ['rt5 ', '-4851']],
  ['in any case', 'ALERT5 ON HOST-4851', HOSTS, ['RT5 ', '-4851']],
  ['a word without digits is as good', 'on host kernel', HOSTS, [' kernel']],
  ['all of it is rare', 'kernel', HOSTS, ['kernel']],
  ['nothing of it is rare', 'on host', HOSTS, null],
  ['nothing of it is rare enough', 'blue', TEAMS, null],
  ['what is rare of it is not rare enough', 'team red', TEAMS, null],
  ['it has no letters', '-- %% --', HOSTS, null],
  ['two letters tell nothing', 'on', HOSTS, null],
  ['empty', '', HOSTS, null],
  ['signs of a pattern are characters', 'kern%_x', HOSTS, ['kern%']],
  ['Cyrillic', 'Сервер 5001 НЕ', SERVERS, [' 5001 ']],
  ['nothing is known', 'Alert5 on', [], ['Alert5 ', ' on']],
  ['a letter whose lower case depends on the next one', 'ΟΔΟΣΑ kernel', HOSTS, ['ΟΔΟ', ' kernel']],
])('%s: %s', (_, text, sample, expected) => {
  expect(rareParts(text, plainSample(sample, 'any'))).toEqual(expected);
});

test.each<[WordLetters, readonly string[] | null]>([
  ['any', ['Пожар']],
  ['ascii', null],
])('where words are of %s letters the index knows no others', (letters, expected) => {
  expect(rareParts('Пожар', plainSample(HOSTS, letters))).toEqual(expected);
});

test('texts count for as many as they stand for', () => {
  const sample = [
    { text: 'disk full', share: 0.7 },
    ...Array.from({ length: 100 }, (_, n) => ({ text: `host ${n}`, share: 0.003 })),
  ];
  expect(rareParts('disk full', plainSample(sample, 'any'))).toBeNull();
  expect(rareParts('disk quota', plainSample(sample, 'any'))).toEqual([' quota']);
});

test('every part is in the text', () => {
  const text = 'Alert17 — on host_4851\\%, кластер 3: a-b-c 🚒 77';
  const parts = rareParts(text, plainSample(HOSTS, 'any')) ?? [];
  expect(parts.length).toBeGreaterThan(3);
  for (const part of parts) expect(text).toContain(part);
});
