/** The page docs/metrics.md, written from the registry (operations §8). */
import { everyMetric, type MetricDescription } from './every-metric.ts';

const HEAD = `# Metrics

Every replica serves them as Prometheus text at \`/metrics\` of the internal listener, without credentials. A series has
no labels but those listed, all from closed sets or public ids: never labels of alerts, numbers of Alert Groups, or
users. Besides these there are the \`process_*\` and \`nodejs_*\` metrics of the Node.js client library: CPU, memory,
file descriptors, heap, garbage collection.

[Alert rules](../deploy/prometheus/rules.yaml) and their [runbooks](runbooks/README.md), and a
[dashboard](../deploy/grafana/tocsin.json), are made of these metrics.

`;

const OWN = /^svc_/;

/** Generated; a test compares it with the committed page. */
export function metricsPage(): string {
  const own = [...everyMetric().values()].filter(({ name }) => OWN.test(name));
  const rows = own.sort((a, b) => (a.name < b.name ? -1 : 1)).map(row);
  return `${HEAD}${['| Metric | Type | Labels | Meaning |', '| --- | --- | --- | --- |', ...rows].join('\n')}\n`;
}

function row({ name, type, labelNames, buckets, help }: MetricDescription): string {
  const labels = labelNames.map((label) => `\`${label}\``).join(', ');
  const meaning = help.endsWith('.') ? help : `${help}.`;
  const bounds = buckets.length > 0 ? ` Buckets: ${buckets.join(', ')}.` : '';
  return `| \`${name}\` | ${type} | ${labels} | ${meaning}${bounds} |`;
}
