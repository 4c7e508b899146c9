import { expect, it } from 'vitest';
import { checkConfiguration } from '../../../../actors/channels/webhook-template/check-configuration.ts';
import {
  EXAMPLES,
  exampleOf,
  fromTemplateDraft,
  ROLES,
  starter,
  type TemplateDraft,
  toTemplateDraft,
  untouched,
} from './template-draft.ts';
import { fromDraft, NEW_WEBHOOK, toDraft, urlOf } from './webhook-input.ts';

function checked(draft: TemplateDraft) {
  const sent = fromTemplateDraft(draft);
  const whole = (role: (typeof ROLES)[number]) => {
    const request = sent[role];
    return request && { extract: [], ...request };
  };
  return checkConfiguration({
    create: whole('create'),
    update: whole('update'),
    open_thread: whole('open_thread'),
    reply_in_thread: whole('reply_in_thread'),
  });
}

it('begins with requests that may be saved as they are', () => {
  const draft = toTemplateDraft(null);
  for (const role of ROLES) draft[role] = starter(role);
  expect(checked(draft)).toMatchObject({ ok: true });
});

it.each(EXAMPLES)('the example %s may be saved, and is known until somebody writes something', (name) => {
  const draft = exampleOf(name);
  expect(checked(draft)).toMatchObject({ ok: true });
  expect(untouched(draft)).toBe(name);
  if (draft.update) draft.update.request += ' ';
  expect(untouched(draft)).toBeNull();
});

it('counts what a form begins with as untouched', () => {
  expect(untouched(toTemplateDraft(null))).toBe('chat');
});

it('sends the block of the mode in use, and the other one only where it was stored', () => {
  const draft = toDraft(NEW_WEBHOOK);
  draft.mode = 'template';
  expect(fromDraft(draft)).toMatchObject({ mode: 'template', template: { open_thread: null } });
  expect(fromDraft(draft).events).toBeUndefined();
  draft.url = 'https://h/';
  expect(fromDraft(draft).events).toEqual({ url: 'https://h/', headers: [] });
});

it('leaves out rules without anything in them', () => {
  const draft = toTemplateDraft(null);
  draft.create?.extract.push({ name: '', path: '' });
  expect(fromTemplateDraft(draft).create.extract).toHaveLength(1);
});

it('finds where a webhook in template mode sends to', () => {
  const template = fromTemplateDraft(toTemplateDraft(null));
  expect(urlOf({ mode: 'template', template } as Parameters<typeof urlOf>[0])).toBe(
    'https://chat.example.org/messages',
  );
});
