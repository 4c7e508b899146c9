import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { RequestTemplate } from '../../destination/webhook-config.ts';
import { checkConfiguration } from './check-configuration.ts';

const page = readFileSync(new URL('../../../docs/webhooks.md', import.meta.url), 'utf8');
const requests = new Map(
  [...page.matchAll(/```request (\w+)\n(.*?)```/gs)].map(([, role = '', request = '']) => [role, request]),
);

function shown(role: string, extract: RequestTemplate['extract'] = []): RequestTemplate | null {
  const request = requests.get(role);
  return request === undefined ? null : { request, extract };
}

test('the requests of the page about webhooks may be saved', () => {
  expect([...requests.keys()]).toEqual(['create', 'update', 'reply_in_thread']);
  const draft = {
    create: shown('create', [{ name: 'id', path: '$.data.id' }]),
    update: shown('update'),
    open_thread: null,
    reply_in_thread: shown('reply_in_thread'),
  };
  expect(checkConfiguration(draft)).toMatchObject({ ok: true });
});
