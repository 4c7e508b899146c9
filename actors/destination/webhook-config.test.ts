import { describe, expect, test } from 'vitest';
import { eventsErrors, eventsWarnings, normalisedEvents, type WebhookHeader } from './webhook-config.ts';

const URL_OK = 'https://relay.example.org/in';
const errors = (url: string, headers: readonly WebhookHeader[] = []) =>
  eventsErrors(normalisedEvents({ url, headers })).map(
    ({ pointer, code, line, column }) => `${pointer} ${code}${line ? ` ${line}:${column}` : ''}`,
  );
const header = (name: string, value = 'x') => errors(URL_OK, [{ name, value }]);

describe('the URL', () => {
  test.each([
    [URL_OK, []],
    ['  https://relay.example.org/in  ', []],
    ['http://{{ .Secrets.host }}/', []],
    ['{{ .Secrets.base }}', ['/events/url invalid_format 1:1']],
    ['', ['/events/url required']],
    ['   ', ['/events/url required']],
    ['relay.example.org', ['/events/url invalid_format 1:1']],
    ['ftp://relay.example.org', ['/events/url invalid_format 1:1']],
    ['https://', ['/events/url invalid_format 1:1']],
    [`https://relay.example.org/${'x'.repeat(4096)}`, ['/events/url too_long']],
    ['https://h/{{ nope }}', ['/events/url unknown_function 1:14']],
    ['https://h/{{ .Title }}', ['/events/url template_syntax 1:14']],
    ['https://h/{{ .Secrets }}', ['/events/url invalid_format 1:14']],
  ])('%s', (url, expected) => {
    expect(errors(url)).toEqual(expected);
  });
});

describe('headers', () => {
  test.each(['Content-Type', 'webhook-id', 'Webhook-Signature', 'HOST', 'connection', 'Expect', 'TE'])(
    '%s is reserved',
    (name) => {
      expect(header(name)).toEqual(['/events/headers/0/name reserved']);
    },
  );

  test.each([
    ['X-One', 'Bearer {{ .Secrets.t }}', []],
    [' X-One ', 'x', []],
    ['User-Agent', 'mine', []],
    ['', 'x', ['/events/headers/0/name required']],
    ['bad name', 'x', ['/events/headers/0/name invalid_format']],
    ['X', 'a\nb', ['/events/headers/0/value invalid_format 1:1']],
    ['X', '{{ "a\\r\\n" }}', ['/events/headers/0/value invalid_format 1:1']],
    [
      'bad name',
      '{{',
      ['/events/headers/0/name invalid_format', '/events/headers/0/value template_syntax 1:1'],
    ],
  ])('%j: %j', (name, value, expected) => {
    expect(header(name, value)).toEqual(expected);
  });

  test('the same name twice, in any case', () => {
    expect(
      errors(URL_OK, [
        { name: 'X-A', value: '' },
        { name: 'x-a', value: '' },
      ]),
    ).toEqual(['/events/headers/1/name duplicate']);
  });

  test('more than 50', () => {
    const headers = Array.from({ length: 51 }, (_, index) => ({ name: `X-${index}`, value: '' }));
    expect(errors(URL_OK, headers)).toEqual(['/events/headers too_long']);
  });
});

describe('literal credentials', () => {
  const warned = (url: string, headers: readonly WebhookHeader[] = []) =>
    eventsWarnings({ url, headers }).map((warning) => warning.field);

  test.each([
    ['https://h/?key={{ .Secrets.k }}', []],
    ['https://h/?key=', []],
    ['https://h/?key', []],
    ['https://h/path', []],
    ['https://{{ .Secrets.u }}:{{ .Secrets.p }}@h/', []],
    ['{{ .Secrets.base }}/in?key=abc', []],
    ['https://h/?key=abc', ['/events/url']],
    ['https://h/?key=x{{ .Secrets.k }}', ['/events/url']],
    ['https://h/?key={{ "abc" }}', ['/events/url']],
    ['https://u:p@h/', ['/events/url']],
    ['https://u@h/', ['/events/url']],
  ])('%s', (url, expected) => {
    expect(warned(url)).toEqual(expected);
  });

  test.each([
    ['Authorization', 'Bearer {{ .Secrets.t }}', []],
    ['authorization', 'Bearer abc', ['/events/headers/0/value']],
    ['Authorization', '', []],
    ['X-Api-Key', 'abc', []],
  ])('%s: %s', (name, value, expected) => {
    expect(warned(URL_OK, [{ name, value }])).toEqual(expected);
  });
});

test('all parts of a request may do together what one template may do', () => {
  const busy = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}';
  const headers = Array.from({ length: 10 }, (_, index) => ({ name: `X-${index}`, value: busy }));
  expect(errors(URL_OK, headers.slice(0, 1))).toEqual([]);
  expect(errors(URL_OK, headers).at(-1)).toMatch(/^\/events\/headers\/9\/value template_syntax/);
});
