import { expect, it } from 'vitest';
import { fromDraft, hostOf, NEW_WEBHOOK, toDraft, withoutSecrets } from './webhook-input.ts';

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

it('keeps a proxy that is off as it is stored, and shows a typed password nowhere', () => {
  const stored = {
    enabled: true,
    type: 'socks5',
    address: 'proxy.example:1080',
    username: 'svc',
    password_status: { set: true, updated_at: null },
  } as const;
  const draft = toDraft(NEW_WEBHOOK, stored);
  draft.proxy.enabled = false;
  expect(fromDraft(draft).proxy).toEqual({ enabled: false });
  draft.proxy = { ...draft.proxy, enabled: true, password: 'hunter2' };
  expect(fromDraft(draft).proxy).toMatchObject({ type: 'socks5', password: 'hunter2' });
  expect(JSON.stringify(withoutSecrets(fromDraft(draft)))).not.toContain('hunter2');
  draft.proxy.removesPassword = true;
  expect(fromDraft(draft).proxy).toMatchObject({ password: null });
});
