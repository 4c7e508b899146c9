import { beforeEach, describe, expect, test } from 'vitest';
import { ROUTE_PROFILES } from '../../../actors/route/policy.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { type TemplateWorld, templateWorld } from '../../../test/template-world.ts';

const database = useDatabase();
let world: TemplateWorld;

beforeEach(async () => {
  world = await templateWorld(database.sql());
});

async function previewed(body: object) {
  const answer = await world.api.post('/template-previews', body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(200);
  return answer.body;
}

const LINE = { kind: 'line', template: '{{ .Labels.alertname }} {{ .Labels.pod }}' };

describe('a sample', () => {
  test('is the built-in example where nothing else is named', async () => {
    await world.received({ alertname: 'A' });
    expect(await previewed(LINE)).toEqual({
      valid: true,
      output: 'ApiErrors billing\\-7f\nApiErrors billing\\-9c',
      truncated: false,
      format: 'markdown',
      source: null,
      sample: 'example',
      errors: [],
    });
  });

  test('is what the Route took last', async () => {
    await world.received({ alertname: 'New', pod: 'a' });
    await world.received({ alertname: 'Old', pod: 'b' });
    const { output, sample } = await previewed({ ...LINE, route_id: world.routeId });
    expect([output, sample]).toEqual(['New a', 'stored_snapshot']);
  });

  test('is the example for a Route that took nothing', async () => {
    const [{ urgent, group_key, policy }] = ROUTE_PROFILES as never as [Record<string, unknown>];
    const matchers = [{ label: 'alertname', op: '=', value: 'None' }];
    const route = { name: 'None', matchers, urgent, group_key, destination_ids: [], policy };
    const { body } = await world.api.post('/routes', route);
    await world.directory.reload();
    await world.received({ alertname: 'New', pod: 'a' });
    expect((await previewed({ ...LINE, route_id: body.id })).sample).toBe('example');
  });

  test('is a Stored Snapshot that is named, with Static labels', async () => {
    const id = await world.received({ alertname: 'Told', pod: 'a' });
    const template = '{{ .Labels.env }} {{ .AlertGroup.Title }} #{{ .AlertGroup.Number }}';
    expect(await previewed({ kind: 'line', template, stored_snapshot_id: id })).toMatchObject({
      output: 'lab Told #1',
      sample: 'stored_snapshot',
    });
  });

  test('is an Alert Group that is named', async () => {
    const id = await world.fired({ alertname: 'Real' });
    const template = '{{ .AlertGroup.Title }} {{ .AlertGroup.URL }}';
    expect(
      await previewed({ kind: 'ack_timeout_notice', template, format: 'html', alert_group_id: id }),
    ).toMatchObject({
      output: `Real https://tocsin.test/alert-groups/${id}`,
      sample: 'alert_group',
      format: 'html',
    });
  });

  test('that fails makes the template invalid, whichever of them it is', async () => {
    await world.received({ alertname: 'A', pod: 'a' }, { alertname: 'A', pod: 'b' });
    await world.received({ alertname: 'A', pod: 'a' });
    const template = '\n{{ (index .Alerts 1).Labels.pod }}';
    expect(await previewed({ kind: 'root_message', template, route_id: world.routeId })).toEqual({
      valid: false,
      output: null,
      truncated: false,
      format: 'markdown',
      source: null,
      sample: 'stored_snapshot',
      errors: [
        {
          pointer: '/template',
          code: 'template_syntax',
          detail: 'index: 1 is out of range (length 1)',
          line: 2,
          column: 5,
        },
      ],
    });
  });
});

describe('refused before anything is rendered', () => {
  test.each<[what: string, body: object, status: number, error: string | null]>([
    ['a Route that is not there', { route_id: 'RT000000000000' }, 404, null],
    ['an Alert Group that is not there', { alert_group_id: 'AG000000000000' }, 404, null],
    [
      'a Snapshot that is not there',
      { stored_snapshot_id: 'SS000000000000' },
      422,
      'unknown_id /stored_snapshot_id',
    ],
    [
      'two samples',
      { stored_snapshot_id: 'SS000000000000', alert_group_id: 'AG000000000000' },
      422,
      'one_of_required ',
    ],
    ['another kind', { kind: 'heading' }, 400, 'invalid_format /kind'],
    ['another format', { format: 'plain' }, 400, 'invalid_format /format'],
    ['no template', { template: undefined }, 400, 'required /template'],
    ['a limit of nothing', { length_limit: 0 }, 400, 'out_of_range /length_limit'],
  ])('%s', async (_what, change, status, error) => {
    const { status: answered, body } = await world.api.post('/template-previews', { ...LINE, ...change });
    const [first] = body.errors ?? [];
    expect([answered, first ? `${first.code} ${first.pointer}` : null]).toEqual([status, error]);
  });

  test('everybody without the Permission', async () => {
    expect((await world.api.as('responder').post('/template-previews', LINE)).status).toBe(403);
  });
});

describe('a mistake', () => {
  test.each<[kind: string, template: string, error: object]>([
    ['line', 'a\n{{ if }}', { code: 'template_syntax', line: 2, column: 7 }],
    ['root_message', '{{ env "HOME" }}', { code: 'unknown_function', line: 1, column: 4 }],
    ['ack_timeout_notice', '{{ .Nope }}', { code: 'template_syntax', line: 1, column: 4 }],
    ['link_rule', '{{ mention "all" }}', { code: 'unknown_function', line: 1, column: 4 }],
  ])('of %s comes with its place', async (kind, template, error) => {
    const { valid, output, errors } = await previewed({ kind, template });
    expect([valid, output, errors]).toEqual([
      false,
      null,
      [{ pointer: '/template', detail: expect.any(String), ...error }],
    ]);
  });

  test.each(['link_rule', 'webhook_request'])('is an empty template of %s', async (kind) => {
    expect(await previewed({ kind, template: '' })).toMatchObject({
      valid: false,
      format: null,
      source: null,
      errors: [{ code: 'required', pointer: '/template' }],
    });
  });

  test.each([
    ['line', 20_001],
    ['link_rule', 4_097],
  ])('is a template of %s that is longer than its kind may be', async (kind, length) => {
    expect(await previewed({ kind, template: 'x'.repeat(length) })).toMatchObject({
      valid: false,
      errors: [{ code: 'too_long' }],
    });
  });
});

describe('the built-in text', () => {
  test.each(['root_message', 'line', 'ack_timeout_notice'])('of %s can be begun with', async (kind) => {
    for (const language of ['en', 'ru']) {
      const builtin = await previewed({ kind, template: '', language });
      expect([builtin.valid, builtin.errors]).toEqual([true, []]);
      const again = await previewed({ kind, template: builtin.source, language });
      expect([again.valid, again.source]).toEqual([true, null]);
      if (kind !== 'root_message') expect(again.output).toBe(builtin.output);
    }
  });

  test('of a Root message is shown whole, with its buttons last', async () => {
    const { output, source } = await previewed({ kind: 'root_message', template: '', language: 'en' });
    expect(output).toContain('ApiErrors');
    expect(output).toContain('5xx rate above 2 %');
    expect(output).toContain('https://runbooks.example.org/api-errors');
    expect(output.split('\n').at(-1)).toMatch(/^\[Ack\] \[Resolve\] \[Snooze 1 h\]/);
    const own = await previewed({ kind: 'root_message', template: source, language: 'en' });
    for (const part of ['critical', 'cluster: prod', 'namespace: billing', 'pod: billing']) {
      expect(own.output).toContain(part);
    }
  });

  test('speaks the language that is asked for, else that of the Route', async () => {
    const route = { name: 'Ru', ...routeInRussian() };
    const { body } = await world.api.post('/routes', route);
    await world.directory.reload();
    const notice = { kind: 'ack_timeout_notice', template: '' };
    expect((await previewed({ ...notice, route_id: body.id })).output).toContain('ждёт ответственного');
    expect((await previewed({ ...notice, route_id: body.id, language: 'en' })).output).toContain(
      'is waiting',
    );
    expect((await previewed(notice)).output).toContain('is waiting');
  });
});

function routeInRussian() {
  const [{ urgent, group_key, policy }] = ROUTE_PROFILES as never as [Record<string, object>];
  return { matchers: [], urgent, group_key, destination_ids: [], policy: { ...policy, language: 'ru' } };
}

describe('what comes out', () => {
  test('of a Link rule is the URL, or nothing when it is none', async () => {
    const link = { kind: 'link_rule', template: ' https://x.example/{{ .Labels.cluster }} ' };
    expect(await previewed(link)).toMatchObject({ output: 'https://x.example/prod-1', format: null });
    expect((await previewed({ ...link, template: 'javascript:alert(1)' })).output).toBe('');
  });

  test('of a request to a webhook hides Secrets and names what answers would give', async () => {
    const template =
      'POST https://x.example/{{ .Response.id }}\nAuthorization: {{ .Secrets.token }}\n\n' +
      '{"text":{{ .AlertGroup.Title | toJson }},"to":"{{ range .Mentions }}{{ mention . }} {{ end }}"}';
    expect(await previewed({ kind: 'webhook_request', template })).toMatchObject({
      output:
        'POST https://x.example/example-id\nAuthorization: [redacted]\n\n{"text":"ApiErrors","to":"@channel sre @ann "}',
      format: null,
    });
    expect(await previewed({ kind: 'webhook_request', template: '{{ .Secrets }}' })).toMatchObject({
      valid: false,
      errors: [{ code: 'invalid_format', line: 1, column: 4 }],
    });
  });

  test('of a whole request names the line of what is wrong with it', async () => {
    const template = 'post https://x.example\nHost: me\n\nbody';
    expect(await previewed({ kind: 'webhook_request', template })).toMatchObject({
      valid: false,
      errors: [{ code: 'reserved', line: 2, column: 1 }],
    });
    const inTwoParts = 'POST https://x.example/{{ $x := 1 }}\n\n{{ $x }}';
    expect(await previewed({ kind: 'webhook_request', template: inTwoParts })).toMatchObject({
      errors: [{ code: 'template_syntax', line: 3, column: 4 }],
    });
  });

  test('of lines are ten at most', async () => {
    const alerts = Array.from({ length: 12 }, (_, n) => ({ alertname: 'Many', pod: String(n) }));
    const id = await world.received(...alerts);
    const { output } = await previewed({ ...LINE, stored_snapshot_id: id });
    expect(output.split('\n')).toHaveLength(10);
  });

  test('is shortened to a limit', async () => {
    expect(await previewed({ ...LINE, length_limit: 30 })).toMatchObject({
      output: 'ApiErrors billing\\-7f',
      truncated: true,
    });
    const root = await previewed({ kind: 'root_message', template: '', format: 'html', length_limit: 200 });
    expect(root.truncated).toBe(true);
  });

  test('shows Mentions as words', async () => {
    const template = '{{ mention "all" }} {{ mention "owner" }} {{ mention "group" "sre" }}';
    expect((await previewed({ kind: 'ack_timeout_notice', template })).output).toBe('@all @owner @sre');
  });

  test('reads Lookup tables as they are now', async () => {
    const entries = [{ key: 'prod-1', values: { chat: 'sre' } }];
    await world.api.post('/lookup-tables', { name: 'teams', columns: ['chat'], entries });
    const template = '{{ lookup "teams" .Labels.cluster "chat" }}';
    expect((await previewed({ kind: 'line', template })).output).toBe('sre\nsre');
  });

  test('has the links of the Link rules of now', async () => {
    const scope = { type: 'alert_group', label: null };
    await world.api.post('/link-rules', {
      name: 'Wiki',
      matchers: [],
      scope,
      url_template: 'https://wiki.example/',
    });
    const { output } = await previewed({ kind: 'root_message', template: 'body', format: 'html' });
    expect(output).toContain('<a href="https://wiki.example/">Wiki</a>');
  });
});
