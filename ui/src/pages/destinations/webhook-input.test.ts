import { expect, it } from 'vitest';
import { fromDraft, hostOf, NEW_WEBHOOK, toDraft } from './webhook-input.ts';

it.each([
  ['https://relay.example.org:8443/in?k={{ .Secrets.k }}', 'relay.example.org:8443'],
  ['https://user:{{ .Secrets.p }}@relay.example.org/', 'relay.example.org'],
  ['{{ .Secrets.url }}', null],
])('the host of %s is %s', (url, host) => {
  expect(hostOf(url)).toBe(host);
});

it('sends what was read when nothing was typed, without empty header rows', () => {
  const draft = toDraft(NEW_WEBHOOK);
  draft.headers.push({ name: '', value: '' });
  expect(fromDraft(draft)).toEqual(NEW_WEBHOOK);
});
