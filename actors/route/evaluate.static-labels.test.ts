import { expect, it } from 'vitest';
import { withStaticLabels } from './evaluate.ts';

it('adds what the Alert lacks', () => {
  expect(withStaticLabels({ alertname: 'Disk', zone: '' }, { cluster: 'b', zone: 'z' })).toEqual({
    labels: { alertname: 'Disk', cluster: 'b', zone: 'z' },
    conflicts: [],
  });
});

it('keeps what the Alert carries and names it as a conflict', () => {
  expect(withStaticLabels({ cluster: 'a' }, { cluster: 'b', env: 'prod' })).toEqual({
    labels: { cluster: 'a', env: 'prod' },
    conflicts: ['cluster'],
  });
});
