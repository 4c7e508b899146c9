import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { parseTemplate } from '../templates/index.ts';
import { safeUrl } from '../text.ts';
import { contextOf, renderLink } from './evaluate.ts';
import { AT, alertWith, configurationOf, groupOf } from './links.fixture.ts';

const PAGE = path.resolve(import.meta.dirname, '..', '..', 'docs', 'links.md');
const examples = [...readFileSync(PAGE, 'utf8').matchAll(/```template\n([\s\S]*?)```/g)].map(
  ([, source = '']) => source,
);

const GRAFANA = { columns: ['address'], rows: [['prod-1', 'https://grafana.example.org/']] } as const;

test('the examples on the page give links', () => {
  expect(examples).toHaveLength(4);
  const labels = { alertname: 'DiskFull', namespace: 'shop', pod: 'a b', team: 'core', cluster: 'prod-1' };
  const group = groupOf(alertWith(labels));
  const context = contextOf({
    configuration: configurationOf([], { grafana: GRAFANA }),
    now: AT,
    zone: 'UTC',
  });
  const urls = examples.map((source) => {
    const parsed = parseTemplate('link_rule', source);
    if (!parsed.ok) throw new Error(parsed.error.message);
    const rendered = renderLink(parsed.template, group, { labels, value: 'a b' }, context);
    return rendered.ok ? rendered.url : rendered.error.message;
  });
  expect(urls.map((url) => safeUrl(url ?? ''))).toEqual([
    'https://wiki.example.org/alerts/diskfull',
    'https://logs.example.org/search?q=namespace%3Dshop+pod%3Da+b',
    'https://tickets.example.org/new?queue=core&title=DiskFull&body=' +
      encodeURIComponent('https://oncall.example.org/alert-groups/AGK7M3QX9P2RTA'),
    'https://grafana.example.org/d/nodes',
  ]);
});
