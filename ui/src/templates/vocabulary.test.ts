import { expect, it } from 'vitest';
import { alerts, group412, settings } from '../../../actors/messages/messages.fixture.ts';
import { previewRoot } from '../../../actors/messages/root.ts';
import { FUNCTIONS } from '../../../actors/templates/functions/table.ts';
import { parseTemplate, type TemplateKind } from '../../../actors/templates/index.ts';
import { fieldsOf, functionsOf, SNIPPETS, signaturesOf } from './vocabulary.ts';

it('names every function of templates, and no other', () => {
  const names = functionsOf('root_message').map(({ name }) => name);
  expect(names.sort()).toEqual([...FUNCTIONS.keys()].sort());
});

it.each(signaturesOf('root_message').flat())('%s can be called so', (signature) => {
  const [name = '', ...operands] = signature.split(' ');
  const { least = 0, most = 0 } = FUNCTIONS.get(name) ?? {};
  expect(operands.at(-1) === '…').toBe(most === Number.POSITIVE_INFINITY);
  expect(operands.length).toBeGreaterThanOrEqual(least);
  expect(operands.length).toBeLessThanOrEqual(most);
});

it('offers what a kind has', () => {
  const namesOf = (kind: Parameters<typeof functionsOf>[0]) => functionsOf(kind).map(({ name }) => name);
  expect(namesOf('link_rule')).not.toContain('mention');
  expect(namesOf('line')).toContain('mention');
  expect(functionsOf('webhook_request')).toContainEqual({ name: 'mention', takes: 'target' });
  expect(fieldsOf('link_rule')).toContain('.Value');
  expect(new Set(fieldsOf('line')).size).toBe(fieldsOf('line').length);
});

const snippets = Object.entries(SNIPPETS).flatMap(([kind, all]) =>
  all.map(({ name, text }) => [kind, name, text]),
);
it.each(snippets)('for %s the snippet %s is a template', (kind, _, text) => {
  expect(parseTemplate(kind as TemplateKind, text!)).toMatchObject({ ok: true });
});

const PRINTED = {
  firing: '* disk of a is full',
  runbook: 'Runbook: https://runbooks',
  owner: '@here',
  since: '10m 0s',
} as const;
it.each(SNIPPETS.root_message)('$name prints what it is for', ({ name, text }) => {
  const parsed = parseTemplate('root_message', text);
  if (!parsed.ok) throw new Error(parsed.error.message);
  const group = group412({
    alerts: alerts([{ labels: { pod: 'a' }, annotations: { summary: 'disk of a is full' } }]),
    commonAnnotations: { runbook_url: 'https://runbooks.example.org/disk' },
  });
  const templates = { rootMessage: parsed.template, line: null, ackTimeoutNotice: null };
  const { text: printed, failure } = previewRoot('commonmark', group, settings({ templates }), null);
  expect(failure).toBeNull();
  expect(printed).toContain(PRINTED[name]);
});
