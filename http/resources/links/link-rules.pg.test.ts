import { beforeEach, describe, expect, test } from 'vitest';
import type { Answered } from '../../../test/operation-client.ts';
import { useDatabase } from '../../../test/postgres.ts';
import { type TemplateWorld, templateWorld } from '../../../test/template-world.ts';

const database = useDatabase();
let world: TemplateWorld;

beforeEach(async () => {
  world = await templateWorld(database.sql());
});

const WIKI = {
  name: 'Wiki',
  matchers: [],
  scope: { type: 'alert_group', label: null },
  url_template: 'https://wiki.example/{{ .Labels.alertname }}',
};

async function created(changes: object = {}) {
  const answer = await world.api.post('/link-rules', { ...WIKI, ...changes });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body;
}

const saved = (id: string, change: object, ifMatch = '*') =>
  world.api.put(`/link-rules/${id}`, { ...WIKI, ...change }, ifMatch);

async function explore() {
  const { body } = await world.api.get('/link-rules');
  return body.items[0];
}

function errorsOf({ status, body }: Answered) {
  const errors: { pointer: string; code: string; line?: number; column?: number }[] = body.errors ?? [];
  const place = ({ line, column }: { line?: number; column?: number }) => (line ? ` ${line}:${column}` : '');
  return [
    status,
    body.code,
    ...errors.map((error) => `${error.code} ${error.pointer}${place(error)}`),
  ].filter(Boolean);
}

const table = (name: string) => world.api.post('/lookup-tables', { name, columns: ['chat'], entries: [] });

describe('creating', () => {
  test('answers the rule, which counts for the next reader', async () => {
    const groupId = await world.fired({ alertname: 'DiskFull' });
    const answer = await world.api.post('/link-rules', { ...WIKI, name: ' Wiki ' });
    expect(answer).toMatchObject({
      status: 201,
      headers: { etag: '"1"', location: `/api/v1/link-rules/${answer.body.id}` },
      body: { ...WIKI, builtin: false, etag: '"1"' },
    });
    expect((await world.api.get(`/link-rules/${answer.body.id}`)).body).toEqual(answer.body);
    const { body } = await world.api.get(`/alert-groups/${groupId}`);
    expect(body.links[0]).toEqual({
      kind: 'link_rule',
      name: 'Wiki',
      url: 'https://wiki.example/DiskFull',
      link_rule_id: answer.body.id,
    });
  });

  test('is in the Audit log', async () => {
    await created();
    expect(world.audit.entries).toMatchObject([
      {
        action: 'link_rule.created',
        resourceName: 'Wiki',
        diff: [
          { pointer: '/matchers', after: [] },
          { pointer: '/name' },
          { pointer: '/scope/type', after: 'alert_group' },
          { pointer: '/url_template' },
        ],
      },
    ]);
  });

  test('takes a label whose values get a link each', async () => {
    const scope = { type: 'label_value', label: 'pod' };
    expect((await created({ scope })).scope).toEqual(scope);
  });
});

describe('what is refused', () => {
  test.each<[what: string, change: object, refusal: readonly unknown[]]>([
    ['no name', { name: undefined }, [400, 'required /name']],
    ['a blank name', { name: ' ' }, [422, 'required /name']],
    ['a long name', { name: 'x'.repeat(201) }, [422, 'too_long /name']],
    ['no Matchers', { matchers: undefined }, [400, 'required /matchers']],
    [
      'an expression that does not compile',
      { matchers: [{ label: 'a', op: '=~', value: '(' }] },
      [422, 'invalid_regex /matchers/0/value'],
    ],
    [
      'an operator that is none',
      { matchers: [{ label: 'a', op: '~', value: '' }] },
      [400, 'invalid_format /matchers/0/op'],
    ],
    ['no scope', { scope: undefined }, [400, 'required /scope', 'required /scope/type']],
    ['another scope', { scope: { type: 'alert', label: null } }, [400, 'invalid_format /scope/type']],
    ['a scope without its label', { scope: { type: 'label_value' } }, [422, 'required /scope/label']],
    [
      'a scope with a label too many',
      { scope: { type: 'alert_group', label: 'pod' } },
      [422, 'invalid_format /scope/label'],
    ],
    [
      'a label that is no name',
      { scope: { type: 'label_value', label: 'a-b' } },
      [400, 'invalid_format /scope/label'],
    ],
    ['no template', { url_template: undefined }, [400, 'required /url_template']],
    ['an empty template', { url_template: '' }, [422, 'required /url_template']],
    ['a long template', { url_template: 'x'.repeat(4_097) }, [422, 'too_long /url_template']],
    ['a syntax error', { url_template: 'https://x/\n{{ if }}' }, [422, 'template_syntax /url_template 2:7']],
    [
      'an unknown function',
      { url_template: '{{ env "HOME" }}' },
      [422, 'unknown_function /url_template 1:4'],
    ],
    ['a Mention', { url_template: '{{ mention "all" }}' }, [422, 'unknown_function /url_template 1:4']],
    [
      'a field that is none',
      { url_template: '{{ .AlertGroup.Nope }}' },
      [422, 'template_syntax /url_template 1:15'],
    ],
    [
      'a table that does not exist',
      { url_template: 'я {{ lookup "teams" .Labels.x "chat" }}' },
      [422, 'template_syntax /url_template 1:13'],
    ],
    [
      'the table of Explore in a rule of its own',
      { url_template: '{{ lookup `grafana` "x" "address" }}' },
      [422, 'template_syntax /url_template 1:11'],
    ],
  ])('%s', async (_what, change, refusal) => {
    expect(errorsOf(await world.api.post('/link-rules', { ...WIKI, ...change }))).toEqual(refusal);
    const { id } = await created({ name: 'Other' });
    expect(errorsOf(await saved(id, change))).toEqual(refusal);
  });

  test('several mistakes, all at once, the template included', async () => {
    const body = { ...WIKI, name: ' ', scope: { type: 'label_value' }, url_template: '{{' };
    expect(errorsOf(await world.api.post('/link-rules', body))).toEqual([
      422,
      'required /name',
      'required /scope/label',
      'template_syntax /url_template 1:1',
    ]);
  });

  test('a name that another rule has, after the template was tried', async () => {
    await created();
    expect(errorsOf(await world.api.post('/link-rules', { ...WIKI, url_template: '{{' }))).toEqual([
      422,
      'template_syntax /url_template 1:1',
    ]);
    expect(errorsOf(await world.api.post('/link-rules', WIKI))).toEqual([409, 'name_taken']);
    expect(errorsOf(await world.api.post('/link-rules', { ...WIKI, name: 'Explore' }))).toEqual([
      409,
      'name_taken',
    ]);
    const { id } = await created({ name: 'Other' });
    expect(errorsOf(await saved(id, {}))).toEqual([409, 'name_taken']);
  });

  test('a 201st rule', async () => {
    await database.sql()`
      insert into link_rules (id, version, builtin, name, matchers, scope, url_template, reads_tables, created_at)
      select 'KR' || lpad(n::text, 12, '0'), 1, false, 'R' || n, '[]', '{"type": "alert_group", "label": null}', 'x', '{}', n
      from generate_series(1, 199) as n`;
    expect(errorsOf(await world.api.post('/link-rules', WIKI))).toEqual([422, 'too_long ']);
  });

  test('a change without a version, to an old one, or to nothing, in that order', async () => {
    const { id } = await created();
    expect((await world.api.put(`/link-rules/${id}`, WIKI)).status).toBe(428);
    expect((await saved(id, { name: ' ' }, '"7"')).status).toBe(412);
    expect((await saved('KR000000000000', { name: ' ' })).status).toBe(404);
    expect((await world.api.delete(`/link-rules/${id}`, '"7"')).status).toBe(412);
    expect((await world.api.get('/link-rules/TB000000000000')).status).toBe(404);
  });
});

describe('a template is tried', () => {
  const NEEDS_TWO = { url_template: 'https://x.example/{{ (index .Alerts 1).Labels.pod }}' };

  test('on the example while nothing was received', async () => {
    await created(NEEDS_TWO);
  });

  test('on what was received lately', async () => {
    await world.received({ alertname: 'A' });
    expect(errorsOf(await world.api.post('/link-rules', { ...WIKI, ...NEEDS_TWO }))).toEqual([
      422,
      'template_syntax /url_template 1:23',
    ]);
  });

  test('only on what its Matchers take; Static labels count', async () => {
    await world.received({ alertname: 'A' });
    const not = (value: string) => ({ ...NEEDS_TWO, matchers: [{ label: 'env', op: '!=', value }] });
    await created(not('lab'));
    expect((await world.api.post('/link-rules', { ...WIKI, ...not('prod'), name: 'B' })).status).toBe(422);
  });

  test('for every value of its label', async () => {
    await world.received({ alertname: 'A', pod: 'a' }, { alertname: 'A', pod: 'b' });
    const url_template = '{{ if eq .Value "b" }}{{ index .Alerts 7 }}{{ end }}';
    await created({ url_template });
    const scope = { type: 'label_value', label: 'pod' };
    expect((await world.api.post('/link-rules', { ...WIKI, name: 'B', scope, url_template })).status).toBe(
      422,
    );
  });

  test('and may give what is no URL', async () => {
    await created({ url_template: 'no link' });
  });
});

describe('updating', () => {
  test('changes the rule for the next reader', async () => {
    const groupId = await world.fired({ alertname: 'DiskFull' });
    const { id, etag } = await created();
    const answer = await saved(id, { name: 'Notes', url_template: 'https://notes.example/' }, etag);
    expect(answer).toMatchObject({ status: 200, headers: { etag: '"2"' }, body: { name: 'Notes' } });
    const { body } = await world.api.get(`/alert-groups/${groupId}`);
    expect(body.links[0]).toMatchObject({ name: 'Notes', url: 'https://notes.example/' });
    expect(world.audit.entries.at(-1)).toMatchObject({
      action: 'link_rule.updated',
      diff: [{ pointer: '/name' }, { pointer: '/url_template' }],
    });
  });

  test('without a change keeps the version and writes nothing', async () => {
    const rule = await created();
    expect((await world.api.put(`/link-rules/${rule.id}`, rule, rule.etag)).headers.etag).toBe('"1"');
    expect(world.audit.actions()).toEqual(['link_rule.created']);
  });
});

describe('Explore', () => {
  test('comes with the Organization', async () => {
    expect(await explore()).toMatchObject({
      name: 'Explore',
      builtin: true,
      matchers: [],
      scope: { type: 'alert_group', label: null },
    });
  });

  test('cannot be deleted, and keeps its name and scope', async () => {
    const rule = await explore();
    expect(errorsOf(await world.api.delete(`/link-rules/${rule.id}`))).toEqual([409, 'builtin_immutable']);
    for (const change of [{ name: 'Other' }, { scope: { type: 'label_value', label: 'pod' } }]) {
      const body = { ...rule, ...change };
      expect(errorsOf(await world.api.put(`/link-rules/${rule.id}`, body, '*'))).toEqual([
        409,
        'builtin_immutable',
      ]);
    }
  });

  test('lets its Matchers and template be changed, without its table too', async () => {
    const rule = await explore();
    const matchers = [{ label: 'cluster', op: '!=', value: '' }];
    const url_template = `${rule.url_template} {{- /* ours */ -}}`;
    const answer = await world.api.put(
      `/link-rules/${rule.id}`,
      { ...rule, matchers, url_template },
      rule.etag,
    );
    expect(answer).toMatchObject({ status: 200, body: { matchers, url_template, builtin: true } });
  });

  test('shows on an Alert Group once its table is there', async () => {
    const groupId = await world.fired({ alertname: 'Down', cluster: 'c1' });
    const names = async () =>
      (await world.api.get(`/alert-groups/${groupId}`)).body.links.map(({ name }: { name: string }) => name);
    expect(await names()).toEqual(['Runbook', 'Source']);
    const values = { address: 'https://grafana.example/', datasource_uid: 'P1' };
    const entries = [{ key: 'c1', values }];
    await database.sql()`update group_alerts set generator_url = 'https://prom.example/graph?g0.expr=up'`;
    await world.api.post('/lookup-tables', { name: 'grafana', columns: Object.keys(values), entries });
    expect(await names()).toEqual(['Explore', 'Runbook', 'Source']);
  });
});

describe('Lookup tables that rules read', () => {
  test('are found by their constants when the rule is saved (messages §13 row 8)', async () => {
    const { body } = await table('teams');
    const rule = await created({
      url_template: 'https://x/{{ if false }}{{ lookup "teams" "a" "chat" }}{{ end }}',
    });
    const rename = () => world.api.put(`/lookup-tables/${body.id}`, { ...body, name: 'crews' }, '*');
    expect(await rename()).toMatchObject({
      status: 409,
      body: { code: 'in_use', link_rules: [{ id: rule.id, name: 'Wiki' }] },
    });
    expect((await world.api.delete(`/lookup-tables/${body.id}`)).status).toBe(409);
    expect((await saved(rule.id, { url_template: 'https://x/' })).status).toBe(200);
    expect((await rename()).status).toBe(200);
    expect((await world.api.delete(`/lookup-tables/${body.id}`)).status).toBe(204);
  });

  test('name every rule, oldest first, Explore among them', async () => {
    const { body } = await table('grafana');
    const second = await created({ url_template: 'https://x/{{ lookup "grafana" "a" "b" }}' });
    const { id } = await explore();
    expect((await world.api.delete(`/lookup-tables/${body.id}`)).body.link_rules).toEqual([
      { id, name: 'Explore' },
      { id: second.id, name: 'Wiki' },
    ]);
  });
});

describe('links of an Alert Group', () => {
  test('are the same in lists, in the Alert Group and in answers to Commands', async () => {
    await world.fired({ alertname: 'Plain' });
    await world.fired(...['p10', 'p2', 'p1'].map((pod) => ({ alertname: 'Crash', team: 'db', pod })));
    await world.fired(
      ...Array.from({ length: 25 }, (_, n) => ({ alertname: 'Many', team: 'web', pod: `p${n}` })),
    );
    await created();
    await created({ name: 'Of db', matchers: [{ label: 'team', op: '=', value: 'db' }] });
    const scope = { type: 'label_value', label: 'pod' };
    await created({
      name: 'Logs',
      scope,
      url_template: 'https://logs.example/{{ .Labels.team }}/{{ .Value }}',
    });
    await created({
      name: 'First',
      url_template: 'https://first.example/{{ (index .Alerts 1).Labels.pod }}',
    });
    const { body } = await world.api.get('/alert-groups');
    const names = (group: { links: { name: string }[] }) => group.links.map(({ name }) => name);
    expect(body.items.map(names)).toEqual([
      ['First', ...Array.from({ length: 20 }, (_, n) => `Logs: p${n}`), 'Wiki', 'Runbook', 'Source'],
      ['First', 'Logs: p1', 'Logs: p2', 'Logs: p10', 'Of db', 'Runbook', 'Source'],
      ['Wiki', 'Runbook', 'Source'],
    ]);
    for (const group of body.items) {
      const one = await world.api.get(`/alert-groups/${group.id}`);
      expect(one.body.links).toEqual(group.links);
      const command = await world.api.post(`/alert-groups/${group.id}/acknowledge`);
      expect(command.body.alert_group.links).toEqual(group.links);
    }
  });

  test('lack a rule that fails, which is counted and told once', async () => {
    await created({ url_template: 'https://x/{{ (index .Alerts 1).Labels.pod }}' });
    const groupId = await world.fired({ alertname: 'Alone' });
    for (let reads = 0; reads < 2; reads++) {
      const { body } = await world.api.get(`/alert-groups/${groupId}`);
      expect(body.links.map(({ name }: { name: string }) => name)).toEqual(['Runbook', 'Source']);
    }
    expect(world.logged).toEqual([['link_rule_failed', expect.objectContaining({ group: groupId })]]);
    expect(await world.registry.metrics()).toContain(
      'svc_template_errors_total{route="",destination="",template="link_rule"} 2',
    );
  });
});

describe('listing', () => {
  test('goes by age, page by page', async () => {
    for (const name of ['B', 'A', 'C']) await created({ name });
    const first = await world.api.get('/link-rules?limit=3');
    const rest = await world.api.get(`/link-rules?limit=3&cursor=${first.body.next_cursor}`);
    const listed = [...first.body.items, ...rest.body.items].map(({ name }) => name);
    expect([listed.length, listed.sort(), rest.body.next_cursor]).toEqual([
      4,
      ['A', 'B', 'C', 'Explore'],
      null,
    ]);
  });
});

test('a rule can be deleted, and its name is free', async () => {
  const { id, etag } = await created();
  expect((await world.api.delete(`/link-rules/${id}`, etag)).status).toBe(204);
  expect((await world.api.get(`/link-rules/${id}`)).status).toBe(404);
  expect(world.audit.actions().at(-1)).toBe('link_rule.deleted');
  await created();
});
