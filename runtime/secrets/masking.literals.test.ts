import { expect, test } from 'vitest';
import { maskLiterals } from './masking.ts';

test.each([
  ['user information of a URL', 'https://u:p@h.example/in', 'https://[redacted]@h.example/in'],
  [
    'a parameter of a sensitive name',
    'https://h.example/in?x=1&token=abc#f',
    'https://h.example/in?x=1&token=[redacted]#f',
  ],
  [
    'a parameter that is read from a Secret',
    'https://h.example/in?token={{.Secrets.t}}',
    'https://h.example/in?token={{.Secrets.t}}',
  ],
  ['a header', [{ name: 'X-Api-Key', value: 'abc' }], [{ name: 'X-Api-Key', value: '[redacted]' }]],
  [
    'a header that is read from a Secret',
    { name: 'Authorization', value: 'Bearer {{ .Secrets.t }}' },
    { name: 'Authorization', value: 'Bearer {{ .Secrets.t }}' },
  ],
  ['a header of any other name', { name: 'X-Team', value: 'ops' }, { name: 'X-Team', value: 'ops' }],
  [
    'a matcher',
    { name: 'token', value: 'abc', operator: '=' },
    { name: 'token', value: 'abc', operator: '=' },
  ],
  [
    'a request of a template',
    { after: 'POST https://h.example/?sig=1&api_key=abc\nX-Auth-Token: abc\nX-Team: ops\n\n{"a":1}' },
    {
      after:
        'POST https://h.example/?sig=1&api_key=[redacted]\nX-Auth-Token: [redacted]\nX-Team: ops\n\n{"a":1}',
    },
  ],
  ['what is no text', { before: null, after: 3, is: true }, { before: null, after: 3, is: true }],
])('in a log line, %s', (_name, written, masked) => {
  expect(maskLiterals(written)).toEqual(masked);
});
