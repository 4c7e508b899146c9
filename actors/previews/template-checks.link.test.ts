import { expect, test } from 'vitest';
import { systemMonotonic } from '../../runtime/clock.ts';
import type { ReadingMoment } from '../links/evaluate.ts';
import { AT, alertWith, configurationOf, groupOf } from '../links/links.fixture.ts';
import { createLinkTemplateCheck } from './template-checks.ts';

const at = { directory: { organization: { timeZone: 'UTC' } }, now: AT } as unknown as ReadingMoment;

test('a rule that could not be run for all values of a group is refused when it is saved', async () => {
  const check = createLinkTemplateCheck({
    samples: {
      newest: async () => [groupOf(...Array.from({ length: 20 }, (_, n) => alertWith({ pod: `p${n}` })))],
      example: () => groupOf(),
    },
    links: { current: () => configurationOf([]) },
    monotonic: systemMonotonic,
  });
  const busy = '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}https://h/';
  const rule = (scope: Parameters<typeof check>[0]['scope']) =>
    check({ name: 'Busy', matchers: [], scope, url_template: busy }, at);
  expect(await rule({ type: 'alert_group', label: null })).toMatchObject({ ok: true });
  expect(await rule({ type: 'label_value', label: 'pod' })).toMatchObject({
    ok: false,
    error: { message: 'the render took too long' },
  });
});
