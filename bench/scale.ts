/** Whether the number of open Alert Groups changes how fast alerts are processed. */
import { Loaded } from './installation.ts';
import { load } from './load/start.ts';
import { openGroups } from './open-groups.ts';
import { type Bench, type BenchOptions, perSecond } from './report.ts';

async function changesPerSecond(open: number, options: BenchOptions): Promise<number> {
  const tocsin = await Loaded.start();
  try {
    options.progress(`opening ${open.toLocaleString('en-GB')} groups`);
    await openGroups(tocsin, open);
    const before = await tocsin.events();
    const from = performance.now();
    options.progress('changing alerts');
    await load({
      url: tocsin.ready.ingest_endpoint,
      token: tocsin.ready.integration_token,
      connections: 64,
      seconds: options.seconds,
      warmupSeconds: options.warmupSeconds,
      rate: null,
      groups: 500,
      body: 'webhook',
      changes: 1,
    });
    await tocsin.drained();
    return ((await tocsin.events()) - before) / ((performance.now() - from) / 1000);
  } finally {
    await tocsin.remove();
  }
}

export const scale: Bench = {
  name: 'scale',
  title: 'Alert changes a second with few and with many open Alert Groups',
  async run(options) {
    const few = await changesPerSecond(1_000, options);
    const many = await changesPerSecond(100_000, options);
    return {
      rows: [
        { what: 'with 1,000 open groups', value: perSecond(few) },
        {
          what: 'with 100,000 open groups',
          value: `${perSecond(many)} (${Math.round((many / few) * 100)} %)`,
          goal: 'within 20 %',
          met: many >= 0.8 * few,
        },
      ],
      raw: { few, many },
    };
  },
};
