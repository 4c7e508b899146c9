import { describe, expect, test } from 'vitest';
import type { RequestRole, TemplateDraft } from '../../destination/webhook-config.ts';
import { checkConfiguration, templateWarnings } from './check-configuration.ts';

const request = (text: string, extract: readonly { name: string; path: string }[] = []) => ({
  request: text,
  extract,
});
const FINE: TemplateDraft = {
  create: request(
    'POST https://h/messages\nAuthorization: Bearer {{ .Secrets.token }}\n\n{"text":{{ printf "#%d %s" .AlertGroup.Number .AlertGroup.Title | toJson }}}',
    [{ name: 'id', path: '$.data.id' }],
  ),
  update: request('PUT https://h/messages/{{ .Response.id }}\n\n{{ toJson . }}{{ .Final }}'),
  open_thread: request('POST https://h/messages/{{ .Response.id }}/thread', [
    { name: 'thread', path: '$.id' },
  ]),
  reply_in_thread: request(
    'POST https://h/threads/{{ .Response.thread }}?to={{ .Response.id }}\n\n{{ .Event }} {{ .Text | toJson }} {{ range .Mentions }}{{ mention . }} {{ end }}',
  ),
};

const errors = (draft: Partial<TemplateDraft>) => {
  const checked = checkConfiguration({ ...FINE, ...draft });
  if (checked.ok) return [];
  return checked.errors.map(
    ({ pointer, code, line, column }) =>
      `${pointer.replace('/template/', '')} ${code}${line ? ` ${line}:${column}` : ''}`,
  );
};
const of = (role: RequestRole, text: string) => errors({ [role]: request(text, FINE[role]?.extract ?? []) });

test('a configuration with every role may be saved', () => {
  expect(errors({})).toEqual([]);
  expect(errors({ open_thread: null, reply_in_thread: null })).toEqual([]);
});

test('create and update are required', () => {
  expect(errors({ create: null, update: null, open_thread: null, reply_in_thread: null })).toEqual([
    'create required',
    'update required',
  ]);
});

describe('requests', () => {
  test.each<[RequestRole, string, string[]]>([
    ['create', 'POST', ['create/request required 1:5']],
    ['create', '\nPOST https://h/{{ nope }}', ['create/request unknown_function 2:19']],
    ['create', 'POST https://h/{{ .Nope }}', ['create/request template_syntax 1:19']],
    ['create', 'POST https://h\n\na\n{{ .Nope }}', ['create/request template_syntax 4:4']],
    ['create', 'POST https://h\nX: {{ if true\n }}', ['create/request invalid_format 3:1']],
    ['create', 'POST https://h\nX: {{ if true }}', ['create/request template_syntax 2:4']],
    ['create', 'POST https://h\n\n{{ if\ntrue }}x{{ end }}', []],
    ['create', 'POST https://h/{{ $x := 1 }}\nX: {{ $x }}', ['create/request template_syntax 2:7']],
    ['create', 'POST {{ .AlertGroup.Title }}', ['create/request invalid_format 1:6']],
    ['create', 'POST ftp://h', ['create/request invalid_format 1:6']],
    ['create', 'POST https://h\nX: {{ "a\\nb" }}', ['create/request invalid_format 2:4']],
    ['create', 'POST https://h/{{ .Secrets }}', ['create/request invalid_format 1:19']],
    ['create', 'POST https://h/{{ with .Secrets }}{{ end }}', ['create/request invalid_format 1:24']],
    ['create', 'POST https://h/{{ .Response.id }}', ['create/request invalid_format 1:19']],
    ['create', 'POST https://h/{{ index .Response "id" }}', ['create/request invalid_format 1:25']],
    ['update', 'PUT https://h/{{ $.Response.id }}', []],
    ['update', 'PUT https://h/{{ .Response.thread }}', ['update/request invalid_format 1:18']],
    [
      'update',
      'PUT https://h\n\n{{ range $k, $v := .Response }}{{ end }}',
      ['update/request invalid_format 3:20'],
    ],
    ['open_thread', 'POST https://h/{{ .Response.thread }}', ['open_thread/request invalid_format 1:19']],
    ['create', 'POST https://h\n\n{{ .Storm.Route }}', ['create/request template_syntax 3:10']],
    ['create', 'POST https://h\n\n{{ if .Storm }}{{ .Storm.Route }}{{ end }}', []],
    ['create', 'POST https://h\n\n{{ mention "all" }}', ['create/request template_syntax 3:4']],
  ])('%s of %j', (role, text, expected) => {
    expect(of(role, text)).toEqual(expected);
  });
});

describe('extraction rules', () => {
  const rules = (extract: readonly { name: string; path: string }[]) =>
    errors({ create: request(FINE.create?.request ?? '', [{ name: 'id', path: '$.id' }, ...extract]) });

  test.each([
    [{ name: 'a', path: '$' }, []],
    [{ name: '1a', path: '$' }, ['create/extract/1/name invalid_format']],
    [{ name: '', path: '' }, ['create/extract/1/name invalid_format', 'create/extract/1/path required']],
    [{ name: 'a'.repeat(65), path: '$' }, ['create/extract/1/name invalid_format']],
    [{ name: 'id', path: '$' }, ['create/extract/1/name duplicate']],
    [{ name: 'a', path: 'id' }, ['create/extract/1/path invalid_format']],
    [{ name: 'a', path: `$.${'a'.repeat(4_096)}` }, ['create/extract/1/path too_long']],
  ])('%j', (rule, expected) => {
    expect(rules([rule])).toEqual(expected);
  });

  test('names are unique over create and open_thread', () => {
    expect(rules([{ name: 'thread', path: '$' }])).toEqual(['open_thread/extract/0/name duplicate']);
  });

  test('at most ten a request, and none where no answer is read', () => {
    const many = Array.from({ length: 10 }, (_, index) => ({ name: `n${index}`, path: '$' }));
    expect(rules(many)).toEqual(['create/extract too_long']);
    expect(errors({ update: request('PUT https://h', many) })).toEqual(['update/extract invalid_format']);
  });
});

describe('warnings', () => {
  const warnings = (create: string) => {
    const checked = checkConfiguration({ ...FINE, create: request(create, FINE.create?.extract) });
    if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
    return templateWarnings(checked.config).map(({ field, line }) => `${field} ${line}`);
  };

  test.each([
    ['POST https://h\nAuthorization: Bearer {{ .Secrets.t }}', []],
    ['POST https://h\nX: a\nauthorization: Bearer abc', ['/template/create/request 3']],
    ['\nPOST https://h?key=abc', ['/template/create/request 2']],
    ['POST https://h?key={{ .Secrets.k }}', []],
    ['POST https://u:p@h\nAuthorization: x', ['/template/create/request 1', '/template/create/request 2']],
  ])('%j', (create, expected) => {
    expect(warnings(create)).toEqual(expected);
  });
});

test('all parts of a request may do together what one template may do', () => {
  const busy = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}';
  const withHeaders = (count: number) => {
    const headers = Array.from({ length: count }, (_, index) => `X-${index}: ${busy}`);
    return of('create', `POST https://h/\n${headers.join('\n')}`);
  };
  expect(withHeaders(1)).toEqual([]);
  expect(withHeaders(10)).toEqual([expect.stringMatching(/^create\/request template_syntax \d+:\d+$/)]);
});
