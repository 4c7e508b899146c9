/** The alerts that the benches send: ten to a Snapshot, about 4 KB. */

const STARTS_AT = '2026-10-03T09:58:00.123456789Z';

export interface ProfileAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly resolved: boolean;
  /** As Alertmanager would send it. */
  readonly fingerprint: string;
}

/** Alert `n` of sender group `group`, as a rule over pods would make it. */
export function profileAlert(group: number, n: number, startsAt = STARTS_AT, resolved = false): ProfileAlert {
  return {
    labels: {
      alertname: `PodCrashLooping${group}`,
      cluster: 'production-eu-1',
      container: 'api',
      job: 'kube-state-metrics',
      namespace: `team-${group % 40}`,
      pod: `api-7d9f8b6c5d-${group}-${n}`,
      severity: n % 3 === 0 ? 'critical' : 'warning',
    },
    annotations: {
      summary: `Pod api-7d9f8b6c5d-${group}-${n} is restarting again and again`,
      runbook_url: 'https://runbooks.example.org/kubernetes/pod-crash-looping',
    },
    startsAt,
    resolved,
    fingerprint: (group * 10 + n).toString(16).padStart(16, '0'),
  };
}

/** The ten alerts of a sender group. */
export function profileAlerts(group: number): ProfileAlert[] {
  return Array.from({ length: 10 }, (_, n) => profileAlert(group, n));
}

/** What Alertmanager would post to a webhook receiver for these alerts. */
export function webhookBody(group: number, alerts: readonly ProfileAlert[]): Buffer {
  const firing = alerts.some((alert) => !alert.resolved);
  return Buffer.from(
    JSON.stringify({
      version: '4',
      groupKey: `{}/{team="platform"}:{alertname="PodCrashLooping${group}"}`,
      truncatedAlerts: 0,
      status: firing ? 'firing' : 'resolved',
      receiver: 'tocsin',
      groupLabels: { alertname: `PodCrashLooping${group}` },
      commonLabels: { alertname: `PodCrashLooping${group}`, cluster: 'production-eu-1' },
      commonAnnotations: {},
      externalURL: 'http://alertmanager:9093',
      alerts: alerts.map((alert) => ({
        status: alert.resolved ? 'resolved' : 'firing',
        labels: alert.labels,
        annotations: alert.annotations,
        startsAt: alert.startsAt,
        endsAt: alert.resolved ? alert.startsAt : '0001-01-01T00:00:00Z',
        generatorURL: 'http://prometheus:9090/graph?g0.expr=up',
        fingerprint: alert.fingerprint,
      })),
    }),
  );
}

/** The same alerts as Alertmanager's own API takes them. */
export function alertmanagerBody(alerts: readonly ProfileAlert[]): Buffer {
  return Buffer.from(
    JSON.stringify(
      alerts.map((alert) => ({
        labels: alert.labels,
        annotations: alert.annotations,
        startsAt: alert.startsAt,
        generatorURL: 'http://prometheus:9090/graph?g0.expr=up',
      })),
    ),
  );
}
