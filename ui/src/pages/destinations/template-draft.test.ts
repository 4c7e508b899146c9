import { expect, it } from 'vitest';
import { checkConfiguration } from '../../../../actors/destination/template-mode/check-configuration.ts';
import { fromTemplateDraft, ROLES, starter, toTemplateDraft } from './template-draft.ts';
import { fromDraft, NEW_WEBHOOK, toDraft, urlOf } from './webhook-input.ts';

it('begins with requests that may be saved as they are', () => {
  const draft = toTemplateDraft(null);
  for (const role of ROLES) draft[role] = starter(role);
  const sent = fromTemplateDraft(draft);
  const whole = (role: (typeof ROLES)[number]) => ({
    extract: [],
    ...sent[role],
    request: sent[role]?.request ?? '',
  });
  const checked = checkConfiguration({
    create: whole('create'),
    update: whole('update'),
    open_thread: whole('open_thread'),
    reply_in_thread: whole('reply_in_thread'),
  });
  expect(checked).toMatchObject({ ok: true });
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
