import { Registry } from 'prom-client';
import { expect, test } from 'vitest';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { silentLog } from '../log.ts';
import { createOutboundCaller } from './caller.ts';
import { createOutboundMetrics } from './metrics.ts';
import { DEFAULT_MAPPING } from './verdict.ts';

test('a secret in the name of the host is hidden though the URL writes it in small letters', async () => {
  const caller = createOutboundCaller({
    client: {
      request: async ({ url }) => ({
        ...{ kind: 'failed', code: 'dns_failed', error: `${url.hostname} not found` },
      }),
    },
    recorder: { record: () => undefined },
    metrics: createOutboundMetrics(new Registry()),
    clock: createManualClock(),
    log: silentLog,
    userAgent: 'Tocsin/test',
  });
  const { verdict } = await caller.call({
    request: {
      ...{ owner: 'x', class: 'delivery', credentials: '1', method: 'POST', headers: [], body: null },
      url: new URL('https://T0KEN.hooks.example/'),
      ...{ timeout: 1, answerLimit: 1, proxy: null },
    },
    secrets: ['T0KEN'],
    mapping: DEFAULT_MAPPING,
    about: null,
  });
  expect(verdict).toMatchObject({ error: '[redacted].hooks.example not found' });
});
