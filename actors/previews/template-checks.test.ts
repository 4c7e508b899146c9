import { expect, test } from 'vitest';
import { systemMonotonic } from '../../runtime/clock.ts';
import { AT, alertWith, configurationOf, groupOf } from '../links/links.fixture.ts';
import type { SampleMoment } from './samples.ts';
import { createRouteTemplateCheck } from './template-checks.ts';

const at = { directory: { organization: { timeZone: 'UTC' } }, now: AT } as unknown as SampleMoment;

test('a line that could not be made for ten Alerts of one message is refused when it is saved', async () => {
  const lines = (count: number) =>
    groupOf(...Array.from({ length: count }, (_, n) => alertWith({ pod: `p${n}` })));
  const checked = (count: number) =>
    createRouteTemplateCheck({
      samples: { ofRoute: async () => [], example: () => lines(count) },
      links: { current: () => configurationOf([]) },
      monotonic: systemMonotonic,
    })(
      {
        line: '{{ range until 1000 }}{{ range until 90 }}{{ if . }}{{ end }}{{ end }}{{ end }}{{ .Labels.pod }}',
      },
      null,
      at,
    );
  expect(await checked(1)).toEqual([]);
  expect(await checked(10)).toMatchObject([
    { template: 'line', error: { message: 'the render took too long' } },
  ]);
});
