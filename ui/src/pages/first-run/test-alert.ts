/** A command that raises an alert where Alertmanager runs: it shows the whole way, and needs no token. */
const ALERTS = [
  {
    labels: { alertname: 'TocsinTest', severity: 'warning' },
    annotations: { summary: 'A test of the way from Alertmanager to Tocsin' },
  },
];

/** For a shell. Alertmanager ends the alert by itself after its `resolve_timeout`. */
export const TEST_ALERT = `curl -H 'Content-Type: application/json' http://localhost:9093/api/v2/alerts -d '${JSON.stringify(ALERTS)}'`;
