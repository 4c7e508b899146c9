import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { alertmanagerSnippet, heartbeatSnippet, quoted } from './snippets.ts';

const snippet = { name: 'prod-eu', ingestUrl: 'https://ingest.example.org', token: 'svc_int_x' };

describe('the Alertmanager snippet (ingestion §2.4)', () => {
  it('is a receiver and a first child route', () => {
    expect(parse(alertmanagerSnippet(snippet))).toEqual({
      receivers: [
        {
          name: 'tocsin-prod-eu',
          webhook_configs: [
            {
              url: 'https://ingest.example.org/api/v1/ingest',
              send_resolved: true,
              max_alerts: 0,
              http_config: { authorization: { type: 'Bearer', credentials: 'svc_int_x' } },
            },
          ],
        },
      ],
      route: {
        routes: [
          {
            receiver: 'tocsin-prod-eu',
            matchers: ['alertname!~"TocsinHeartbeat|Watchdog"'],
            continue: true,
            repeat_interval: '10m',
          },
        ],
      },
    });
  });

  it.each(['a"b', 'a\\', 'a\nb: c', "it's # not", '\u0085\u2028\ufeff\u007f', '😀', '- x', '{{ .x }}'])(
    'cannot be broken by the name %j',
    (name) => {
      const { receivers, route } = parse(alertmanagerSnippet({ ...snippet, name }));
      expect(receivers[0].name).toBe(`tocsin-${name}`);
      expect(route.routes[0].receiver).toBe(`tocsin-${name}`);
      expect(receivers).toHaveLength(1);
    },
  );
});

describe('the Heartbeat snippet (ingestion §2.4)', () => {
  it('is a rule that always fires and the route that sends it every minute', () => {
    const [rules, config] = parseAllDocuments(heartbeatSnippet(snippet)).map((document) => document.toJS());
    expect(rules.groups[0].rules).toEqual([{ alert: 'TocsinHeartbeat', expr: 'vector(1)' }]);
    expect(config.receivers[0].webhook_configs[0]).toEqual({
      url: 'https://ingest.example.org/api/v1/heartbeat',
      send_resolved: false,
      http_config: { authorization: { type: 'Bearer', credentials: 'svc_int_x' } },
    });
    expect(config.route.routes).toEqual([
      {
        receiver: 'tocsin-heartbeat-prod-eu',
        matchers: ['alertname="TocsinHeartbeat"'],
        continue: true,
        group_wait: '0s',
        group_interval: '1m',
        repeat_interval: '1m',
      },
    ]);
  });
});

it('escapes what JSON leaves raw and YAML forbids', () => {
  expect(quoted('\u0085')).toBe('"\\u0085"');
});
