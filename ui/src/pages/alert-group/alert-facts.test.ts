import { expect, it } from 'vitest';
import type { AlertItem } from '../../api/shapes.ts';
import { alertContains, asMatchers, distinguishingLabels } from './alert-facts.ts';

const alert = { labels: { pod: 'api-1', cluster: 'eu', alertname: 'Down' } } as unknown as AlertItem;

it('shows the labels that not all Alerts share, in order', () => {
  const common = { alertname: 'Down', cluster: 'us' };
  expect(distinguishingLabels(alert, common)).toEqual([
    ['cluster', 'eu'],
    ['pod', 'api-1'],
  ]);
});

it('finds an Alert by a part of a label', () => {
  expect(alertContains(alert, ' POD=api ')).toBe(true);
  expect(alertContains(alert, 'web')).toBe(false);
});

it('writes the labels as matchers', () => {
  expect(asMatchers(alert)).toBe('{alertname="Down", cluster="eu", pod="api-1"}');
});
