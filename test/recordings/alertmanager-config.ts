/** What the recorded pair is configured with: production's intervals, shortened to a sixtieth. */
import { stringify } from 'yaml';

/** The configuration file of the instance with this number. */
export type Configure = (instance: number) => string;

/** @param maxAlerts 0 for all */
export function configurationFor(receiverPort: number, groupBy: readonly string[], maxAlerts = 0): Configure {
  return (instance) => {
    const url = (path: string) => `http://127.0.0.1:${receiverPort}/${instance}/${path}`;
    const heartbeat = { group_wait: '0s', group_interval: '3s', repeat_interval: '2s' };
    return stringify({
      route: {
        receiver: 'tocsin',
        group_by: groupBy,
        group_wait: '1s',
        group_interval: '2s',
        repeat_interval: '10s',
        routes: [
          { receiver: 'heartbeat', matchers: ['alertname="Watchdog"'], ...heartbeat },
          { receiver: 'tocsin', matchers: ['team="db"'], continue: true },
          { receiver: 'tocsin' },
        ],
      },
      receivers: [
        {
          name: 'tocsin',
          webhook_configs: [{ url: url('ingest'), send_resolved: true, max_alerts: maxAlerts }],
        },
        { name: 'heartbeat', webhook_configs: [{ url: url('heartbeat'), send_resolved: false }] },
      ],
    });
  };
}
