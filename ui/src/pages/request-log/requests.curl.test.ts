import { expect, it } from 'vitest';
import type { RequestDetail } from '../../api/records.ts';
import { curlOf } from './requests.ts';

const request = {
  method: 'POST',
  url: 'https://relay.example/in?key=[redacted]',
  request_headers: [{ name: 'X-Note', value: "it's" }],
  request_body: '{"a":"$(reboot) `x`"}',
} as unknown as RequestDetail;

it('quotes everything that a receiver or an alert may have written', () => {
  expect(curlOf(request)).toBe(
    [
      `curl -X POST 'https://relay.example/in?key=[redacted]'`,
      `-H 'X-Note: it'\\''s'`,
      `--data-raw '{"a":"$(reboot) \`x\`"}'`,
    ].join(' \\\n  '),
  );
});

it('has no body when none was sent', () => {
  expect(curlOf({ ...request, request_headers: [], request_body: null })).toBe(
    `curl -X POST 'https://relay.example/in?key=[redacted]'`,
  );
});
