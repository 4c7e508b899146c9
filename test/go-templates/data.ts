/** The data that `main.go` renders, as the service's templates see it. */
import {
  TemplateList,
  TemplateMap,
  TemplateObject,
  TemplateTime,
  type TemplateValue,
} from '../../actors/templates/values.ts';

const labels = (entries: Record<string, string>) => new TemplateMap(entries, 'labels');
const alert = (status: string, entries: Record<string, string>, fingerprint: string) =>
  new TemplateObject('Alert', { Status: status, Labels: labels(entries), Fingerprint: fingerprint });

export const DATA: TemplateValue = new TemplateObject('Data', {
  AlertGroup: new TemplateObject('AlertGroup', {
    Number: 412n,
    Title: 'Disk full',
    Urgent: true,
    Owner: '',
    ReopenCount: 0n,
    Share: 0.125,
    StartedAt: TemplateTime.of(Date.UTC(2026, 2, 9, 14, 5, 0, 250) * 1000, 'UTC'),
  }),
  Alerts: new TemplateList(
    [
      alert('firing', { alertname: 'Disk', pod: 'a', zone: '' }, 'f1'),
      alert('firing', { alertname: 'Disk', pod: 'b<&>' }, 'f2'),
      alert('resolved', { alertname: 'Disk', pod: 'c' }, 'f3'),
    ],
    'alerts',
  ),
  CommonLabels: labels({ cluster: 'prod', ns: 'shop', alertname: 'Disk' }),
  Numbers: new TemplateList([3n, -7n, 0n, 2.5, 2n ** 40n]),
  Words: new TemplateList(['a', 'été', '', 'x\ty"z', null]),
  Nothing: null,
  Tree: new TemplateMap({ b: 1n, a: new TemplateMap({ deep: 'leaf' }, 'dict'), n: null, f: 1e21 }, 'dict'),
  Text: 'it\'s <b>"1"</b> & 2\n= 🔥',
});
