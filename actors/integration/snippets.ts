/** Configuration to paste into a sender, rendered with a token that is shown once (ingestion §2.4). */

export interface SnippetFor {
  /** Name of the Integration, as people wrote it. */
  readonly name: string;
  /** The ingest listener as senders reach it, without a slash at the end. */
  readonly ingestUrl: string;
  readonly token: string;
}

export function ingestEndpoint(ingestUrl: string): string {
  return `${ingestUrl}/api/v1/ingest`;
}

export function heartbeatEndpoint(ingestUrl: string): string {
  return `${ingestUrl}/api/v1/heartbeat`;
}

/** Alertmanager: a receiver for Snapshots and a first child route that repeats often enough to learn absence from. */
export function alertmanagerSnippet({ name, ingestUrl, token }: SnippetFor): string {
  const receiver = quoted(`tocsin-${name}`);
  return `receivers:
  - name: ${receiver}
    webhook_configs:
      - url: ${quoted(ingestEndpoint(ingestUrl))}
        send_resolved: true
        max_alerts: 0
        http_config:
          authorization: { type: Bearer, credentials: ${quoted(token)} }
route:
  routes:
    # Keep this route first. Alerts that always fire belong to the Heartbeat, not into Alert Groups.
    - receiver: ${receiver}
      matchers: ['alertname!~"TocsinHeartbeat|Watchdog"']
      continue: true
      # 5m to 15m. Tocsin learns from repeats that an alert is gone, and limits noise itself.
      repeat_interval: 10m
    # ... your own child routes ...
    # Once a child route matches, Alertmanager leaves the receiver at the top unused. Keep a route for the rest last:
    # - receiver: "<your default receiver>"
`;
}

/** Two documents: a Prometheus rule that always fires, and the Alertmanager part that sends it every minute. */
export function heartbeatSnippet({ name, ingestUrl, token }: SnippetFor): string {
  const receiver = quoted(`tocsin-heartbeat-${name}`);
  return `# Prometheus: a rule file. With kube-prometheus-stack leave it out and match alertname="Watchdog" below.
groups:
  - name: tocsin-heartbeat
    rules:
      - alert: TocsinHeartbeat
        expr: vector(1)
---
# Alertmanager
receivers:
  - name: ${receiver}
    webhook_configs:
      - url: ${quoted(heartbeatEndpoint(ingestUrl))}
        send_resolved: false
        http_config:
          authorization: { type: Bearer, credentials: ${quoted(token)} }
route:
  routes:
    # Keep this route above all others.
    - receiver: ${receiver}
      matchers: ['alertname="TocsinHeartbeat"']
      continue: true
      group_wait: 0s
      group_interval: 1m
      repeat_interval: 1m
`;
}

/** What JSON leaves as it is and YAML must not hold raw. */
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ufeff]/g;

/** A YAML double-quoted scalar that no text can break out of: JSON, with what YAML cannot hold raw escaped too. */
export function quoted(text: string): string {
  return JSON.stringify(text).replace(
    UNPRINTABLE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
