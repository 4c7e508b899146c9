/** docs/bridges.md lists what there is. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { bridgeCheck } from '../bridge-check.ts';
import { SWITCHES } from '../bridge-reference/shapes.ts';
import { bridgeReference } from '../bridge-reference.ts';
import type { Check, Need } from './run.ts';
import { ALL_CHECKS } from './session.ts';

const page = readFileSync(new URL('../../../docs/bridges.md', import.meta.url), 'utf8');

/** What people have to do for a need; a capability is its own name. */
const WORDS: Readonly<Partial<Record<Exclude<Need, object>, string>>> = {
  channel: '`--channel`',
  'missing-channel': '`--missing-channel`',
  handle: '`--handle`',
  'unknown-handle': '`--unknown-handle`',
  'second-token': '`--second-token`',
  listener: '`--push-listen`',
  person: 'a person',
  events: 'events',
  short_edit_window: 'an edit window of at most 120 s',
};

function rowOf({ id, needs, level, text }: Check): string {
  const words = needs.map((need) => (typeof need === 'object' ? need.check : (WORDS[need] ?? `\`${need}\``)));
  return `| ${id} | ${words.join(', ')} | ${text}${level === 'should' ? ' (should)' : ''} |`;
}

test('the table of checks lists them all, in their order', () => {
  const [, table = ''] = page.split('| Check | Needs | Rule |\n|---|---|---|\n');
  expect(table.trim().split('\n')).toEqual(ALL_CHECKS.map(rowOf));
});

test('the options of both commands are there', () => {
  const options = [...Object.keys(bridgeCheck.options), ...Object.keys(bridgeReference.options)];
  expect(options.filter((name) => !page.includes(`--${name}`))).toEqual([]);
  expect(SWITCHES.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
