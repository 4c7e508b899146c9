import { describe, expect, test } from 'vitest';
import { templateLinks } from '../alert-group/reading/alert-summary.ts';
import type { StoredGroup } from '../alert-group/reading/readers.ts';
import type { Labels } from '../model.ts';
import type { TemplateGroup } from '../templates/data.ts';
import { EXPLORE, type LinkConfiguration } from './configuration.ts';
import { createGroupLinks, createLinkFailures, evaluateLinks, type ReadingMoment } from './evaluate.ts';
import { AT, alertWith, configurationOf, groupOf, type MadeTable, ruleOf } from './links.fixture.ts';
import type { LinkRuleScope } from './ports.ts';

const evaluated = (group: TemplateGroup, configuration: LinkConfiguration) =>
  evaluateLinks(group, templateLinks(group.alerts), { configuration, now: AT, zone: 'UTC' });

const linked = (group: TemplateGroup, configuration: LinkConfiguration) =>
  evaluated(group, configuration).links.map(({ name, url }) => `${name} ${url}`);

const POD = { type: 'label_value', label: 'pod' } as const;
const WHOLE = { type: 'alert_group', label: null } as const;
const POD_URL = 'https://k8s.example/{{ .Labels.ns }}/{{ urlPathEscape .Value }}';

describe('Link rules', () => {
  test('run once for an Alert Group, in the order of their names', () => {
    const configuration = configurationOf([
      ruleOf({ name: 'A', url_template: 'https://a.example/{{ .AlertGroup.Number }}' }),
      ruleOf({ name: 'B', url_template: '  https://b.example/{{ .Labels.cluster }}\n' }),
    ]);
    expect(linked(groupOf(alertWith({ cluster: 'c1', pod: 'a' })), configuration)).toEqual([
      'A https://a.example/412',
      'B https://b.example/c1',
    ]);
  });

  test('run only where their Matchers take the common labels', () => {
    const matchers = [{ label: 'cluster', op: '=', value: 'c1' } as const];
    const configuration = configurationOf([ruleOf({ matchers, url_template: 'https://a.example/' })]);
    expect(linked(groupOf(alertWith({ cluster: 'c1' })), configuration)).toHaveLength(1);
    expect(
      linked(groupOf(alertWith({ cluster: 'c1' }), alertWith({ cluster: 'c2' })), configuration),
    ).toEqual([]);
  });

  test('of a label give a link for each of its values, in natural order (messages §13 row 6)', () => {
    const configuration = configurationOf([ruleOf({ name: 'Pod', scope: POD, url_template: POD_URL })]);
    const group = groupOf(
      alertWith({ pod: 'p10', ns: 'shop' }),
      alertWith({ pod: 'p2', ns: 'bill' }),
      alertWith({ pod: 'p10', ns: 'other' }),
      alertWith({ ns: 'none' }),
    );
    expect(linked(group, configuration)).toEqual([
      'Pod: p2 https://k8s.example/bill/p2',
      'Pod: p10 https://k8s.example/shop/p10',
    ]);
  });

  test('of a label stop at 20 values', () => {
    const configuration = configurationOf([ruleOf({ scope: POD, url_template: POD_URL })]);
    const group = groupOf(...Array.from({ length: 25 }, (_, n) => alertWith({ pod: `p${n}` })));
    expect(linked(group, configuration)).toHaveLength(20);
  });

  test.each([
    '',
    '  ',
    'javascript:alert(1)',
    'ftp://a.example',
    'https://u:p@a.example',
    '{{ .Labels.no }}',
  ])('with the output %j give no link and no failure', (url_template) => {
    const result = evaluated(groupOf(alertWith({})), configurationOf([ruleOf({ url_template })]));
    expect(result).toEqual({ links: [], failed: [] });
  });

  test('may do for all values together what a template may do, and leave as much to the next rule', () => {
    const busy = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}';
    const rule = (name: string, scope: LinkRuleScope) =>
      ruleOf({ name, scope, url_template: `${busy}https://a.example/${name}` });
    const configuration = configurationOf([rule('all', WHOLE), rule('each', POD), rule('one', WHOLE)]);
    const group = groupOf(...Array.from({ length: 20 }, (_, n) => alertWith({ pod: `p${n}` })));
    expect(linked(group, configuration)).toEqual(['all https://a.example/all', 'one https://a.example/one']);
  });

  test('that fail are left out as a whole, the others stay', () => {
    const configuration = configurationOf([
      ruleOf({
        name: 'Bad',
        scope: POD,
        url_template: 'https://x.example/{{ if eq .Value "b" }}{{ index .Alerts 9 }}{{ end }}',
      }),
      ruleOf({ name: 'Good', url_template: 'https://a.example/' }),
    ]);
    const { links, failed } = evaluated(
      groupOf(alertWith({ pod: 'a' }), alertWith({ pod: 'b' })),
      configuration,
    );
    expect(links.map(({ name }) => name)).toEqual(['Good']);
    expect(failed.map(({ rule, error }) => [rule.name, error.line])).toEqual([['Bad', 1]]);
  });

  test('share the rows that they may look up', () => {
    const url_template =
      'https://a.example/{{ range until 60 }}{{ lookup "t" (printf "%s-%d" $.AlertGroup.Title .) "c" }}{{ end }}';
    const other = url_template.replace('"%s-%d"', '"%s+%d"');
    const configuration = configurationOf([
      ruleOf({ name: 'A', url_template }),
      ruleOf({ name: 'B', url_template: other }),
    ]);
    const { links, failed } = evaluated(groupOf(alertWith({})), configuration);
    expect([links.map(({ name }) => name), failed.map(({ rule }) => rule.name)]).toEqual([['A'], ['B']]);
  });
});

describe('links of Alerts', () => {
  const NONE = configurationOf([]);

  test('a Runbook is that of the first Alert with a safe one (messages §13 row 5)', () => {
    const runbook = (url: string) => ({ annotations: { runbook_url: url } });
    const group = groupOf(
      alertWith({ pod: 'a' }, runbook('javascript:alert(1)')),
      alertWith({ pod: 'b' }, runbook('https://wiki.example/rb')),
    );
    expect(linked(group, NONE)).toEqual(['Runbook https://wiki.example/rb']);
  });

  test('the Source is that of a firing Alert, and comes last', () => {
    const group = groupOf(
      alertWith({ pod: 'a' }, { status: 'resolved', generatorUrl: 'https://prom.example/old' }),
      alertWith(
        { pod: 'b' },
        { generatorUrl: 'https://prom.example/g', annotations: { dashboard_url: 'https://g.example/d' } },
      ),
    );
    expect(linked(group, NONE)).toEqual(['Dashboard https://g.example/d', 'Source https://prom.example/g']);
  });

  test('a URL that a rule gave already is shown once, the first', () => {
    const group = groupOf(alertWith({}, { annotations: { runbook_url: 'https://wiki.example/rb' } }));
    const configuration = configurationOf([
      ruleOf({ name: 'Wiki', url_template: 'https://wiki.example/rb' }),
    ]);
    expect(linked(group, configuration)).toEqual(['Wiki https://wiki.example/rb']);
  });
});

describe('looking up', () => {
  const TABLE: MadeTable = { columns: ['chat'], rows: [['core', '#core']] };
  test.each([
    ['"teams" "core" "chat"', '#core'],
    ['"nope" "core" "chat"', ''],
    ['"teams" "nope" "chat"', ''],
    ['"teams" "core" "nope"', ''],
    ['"teams" .Labels.none "chat"', ''],
  ])('%s gives %j and no error (messages §13 row 7)', (cell, value) => {
    const url_template = `https://a.example/x{{ lookup ${cell} }}`;
    const configuration = configurationOf([ruleOf({ url_template })], { teams: TABLE });
    expect(linked(groupOf(alertWith({})), configuration)).toEqual([`Rule https://a.example/x${value}`]);
  });
});

describe('Explore', () => {
  const GRAFANA: MadeTable = {
    columns: ['address', 'datasource_uid'],
    rows: [
      ['prod', 'https://grafana.example/', 'P1'],
      ['c2', 'https://g2.example', 'P2'],
    ],
  };
  const source = (expr: string) => ({
    generatorUrl: `https://prom.example/graph?g0.expr=${encodeURIComponent(expr)}&g0.tab=1`,
  });
  const explore = (group: TemplateGroup, tables: Record<string, MadeTable> = { grafana: GRAFANA }) =>
    evaluated(group, configurationOf([EXPLORE], tables, EXPLORE)).links.filter(
      ({ kind }) => kind === 'link_rule',
    );

  test('opens the expression of the first firing Alert that has one', () => {
    const [link] = explore(
      groupOf(
        alertWith({ environment: 'prod', cluster: 'c2', pod: 'a' }, { status: 'resolved', ...source('old') }),
        alertWith(
          { environment: 'prod', cluster: 'c2', pod: 'b' },
          { generatorUrl: 'https://prom.example/' },
        ),
        alertWith({ environment: 'prod', cluster: 'c2', pod: 'c' }, source('up{a="b & c"} == 0')),
      ),
    );
    const url = new URL(link?.url ?? '');
    expect([link?.name, url.origin + url.pathname]).toEqual(['Explore', 'https://grafana.example/explore']);
    expect([...url.searchParams.keys()]).toEqual(['schemaVersion', 'orgId', 'panes']);
    expect(url.searchParams.get('panes')).toBe(
      '{"p":{"datasource":"P1","queries":[{"datasource":{"type":"prometheus","uid":"P1"},' +
        '"expr":"up{a=\\"b \\u0026 c\\"} == 0","refId":"A"}],"range":{"from":"now-1h","to":"now"}}}',
    );
  });

  test('takes the cluster where there is no environment', () => {
    const [link] = explore(groupOf(alertWith({ cluster: 'c2' }, source('up'))));
    expect(link?.url).toMatch(/^https:\/\/g2\.example\/explore\?schemaVersion=1&orgId=1&panes=%7B%22p%22/);
  });

  test.each<[what: string, group: TemplateGroup, tables?: Record<string, MadeTable>]>([
    ['no table', groupOf(alertWith({ cluster: 'c2' }, source('up'))), {}],
    ['no row', groupOf(alertWith({ cluster: 'c3' }, source('up')))],
    ['no environment and no cluster', groupOf(alertWith({}, source('up')))],
    ['no expression', groupOf(alertWith({ cluster: 'c2' }, { generatorUrl: 'https://prom.example/' }))],
    [
      'no address',
      groupOf(alertWith({ cluster: 'c2' }, source('up'))),
      { grafana: { columns: ['datasource_uid'], rows: [['c2', 'P2']] } },
    ],
  ])('gives nothing with %s', (_what, group, tables) => {
    const configuration = configurationOf([EXPLORE], tables ?? { grafana: GRAFANA }, EXPLORE);
    const { links, failed } = evaluated(group, configuration);
    expect([links.filter(({ kind }) => kind === 'link_rule'), failed]).toEqual([[], []]);
  });
});

describe('failing rules', () => {
  const rule = (id: string, version = 1) => ({ id, version, name: 'R' }) as never;
  const error = { code: 'template_syntax', message: 'no field "X"', line: 2, column: 3 } as const;

  test('are counted every time and told once a rule and Alert Group', () => {
    const told: unknown[] = [];
    let count = 0;
    const failures = createLinkFailures({ log: (_, fields) => told.push(fields), count: () => count++ });
    const report = (group: string, ...rules: never[]) =>
      failures.report(
        group as never,
        rules.map((each) => ({ rule: each, error })),
      );
    report('AG1', rule('KR1'), rule('KR2'));
    report('AG1', rule('KR1'));
    report('AG2', rule('KR1'));
    report('AG1', rule('KR1', 2));
    expect([count, told.length]).toEqual([5, 4]);
    expect(told[0]).toEqual({ link_rule: 'KR1', group: 'AG1', error: 'line 2, column 3: no field "X"' });
  });

  test('are remembered within bounds', () => {
    let told = 0;
    const failures = createLinkFailures({ log: () => told++, count: () => undefined });
    const report = (n: number) => failures.report(`AG${n}` as never, [{ rule: rule('KR1'), error }]);
    for (let n = 0; n < 10_001; n++) report(n);
    report(10_000);
    expect(told).toBe(10_001);
    report(0);
    expect(told).toBe(10_002);
  });
});

describe('links of several Alert Groups', () => {
  const at = {
    directory: { organization: { timeZone: 'UTC' }, routesById: new Map(), usersById: new Map() },
    now: AT,
  };
  const ids = (groups: readonly StoredGroup[]) => groups.map(({ id }) => id);
  const stored = (n: number, alertCount: number, commonLabels: Labels = { team: 'db' }) =>
    ({
      id: `AG${n}`,
      ...groupOf(),
      commonLabels,
      firingAlertCount: alertCount,
      resolvedAlertCount: 0,
      sourceUrl: null,
      runbookUrl: `https://wiki.example/${n}`,
      dashboardUrl: null,
      ownerId: null,
    }) as unknown as StoredGroup;

  /** @param took of each look at the clock, and of each reading of Alerts, µs */
  function reading(rules: Parameters<typeof configurationOf>[0], took = 0, readingTook = 0) {
    const read: (readonly string[])[] = [];
    let now = 0;
    const links = createGroupLinks({
      links: { current: () => configurationOf(rules) },
      alerts: {
        ofEach: async (groupIds) => {
          read.push(groupIds);
          now += readingTook;
          return new Map();
        },
      },
      failures: { report: () => undefined },
      publicUrl: 'https://oncall.example.org',
      monotonic: () => (now += took),
    });
    return { read, of: (groups: readonly StoredGroup[]) => links.of(groups, at as unknown as ReadingMoment) };
  }
  const DB = { matchers: [{ label: 'team', op: '=', value: 'db' }] } as const;

  test('need the Alerts of groups that a rule takes, 1,000 of them at once', async () => {
    const { read, of } = reading([ruleOf({ ...DB, url_template: 'https://a.example/{{ .Labels.team }}' })]);
    const groups = [
      stored(1, 600),
      stored(2, 400),
      stored(3, 5_000, { team: 'web' }),
      stored(4, 1),
      stored(5, 2_000),
    ];
    const links = await of(groups);
    expect(read).toEqual([ids([stored(1, 0), stored(2, 0)]), ['AG4'], ['AG5']]);
    expect(links.map((each) => each.map(({ name }) => name))).toEqual(
      groups.map(({ commonLabels }) => (commonLabels.team === 'db' ? ['Rule', 'Runbook'] : ['Runbook'])),
    );
  });

  test('are those of the first groups when they are larger than 4 MiB, or took more than a second of work', async () => {
    const long = (count: number) =>
      Array.from({ length: count }, (_, n) =>
        ruleOf({ name: `${n}`, url_template: `https://a.example/${n}/${'x'.repeat(1_900)}` }),
      );
    const groups = [1, 2, 3, 4, 5].map((n) => stored(n, 1));
    expect(await reading(long(600)).of(groups)).toHaveLength(3);
    expect(await reading(long(2_400)).of(groups)).toHaveLength(1);
    const one = [ruleOf({ ...DB, url_template: 'https://a.example' })];
    const works = (await reading(one, 100_000).of(groups)).length;
    expect(works).toBeGreaterThan(1);
    expect(works).toBeLessThan(5);
    expect(await reading(one, 2_000_000).of(groups)).toHaveLength(1);
    expect(
      await reading(one, 0, 60_000_000).of([stored(1, 900), stored(2, 900), stored(3, 900)]),
    ).toHaveLength(3);
  });
});
