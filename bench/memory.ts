/** What open Alert Groups cost in memory while their actors are live and after they left memory. */
import { setTimeout as pause } from 'node:timers/promises';
import { Loaded } from './installation.ts';
import { openGroups } from './open-groups.ts';
import type { Bench } from './report.ts';

const LIVE = 10_000;
const OPEN = 100_000;
const GIBIBYTE = 2 ** 30;

const mebibytes = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

async function settled(tocsin: Loaded): Promise<number> {
  await pause(3_000);
  return tocsin.residentBytes();
}

export const memory: Bench = {
  name: 'memory',
  title: 'Memory of the service process',
  async run(options) {
    const tocsin = await Loaded.start();
    try {
      const idle = await settled(tocsin);
      options.progress(`opening ${LIVE} groups`);
      await openGroups(tocsin, LIVE);
      const live = await settled(tocsin);
      options.progress(`opening ${OPEN - LIVE} more`);
      await openGroups(tocsin, OPEN - LIVE, LIVE);
      const open = await settled(tocsin);
      const actors = await liveActors(tocsin);
      const perPassivated = (open - live) / (OPEN - LIVE);
      return {
        rows: [
          { what: 'at rest', value: mebibytes(idle) },
          { what: `with ${LIVE} groups, all live`, value: mebibytes(live) },
          { what: 'per live group', value: `${((live - idle) / LIVE / 1024).toFixed(1)} KiB` },
          {
            what: `with ${OPEN} open groups (${actors} actors live)`,
            value: mebibytes(open),
            goal: 'under 1 GiB',
            met: open < GIBIBYTE,
          },
          { what: 'per group beyond those live', value: `${(perPassivated / 1024).toFixed(1)} KiB` },
        ],
        raw: { idle, live, open, actors },
      };
    } finally {
      await tocsin.remove();
    }
  },
};

async function liveActors(tocsin: Loaded): Promise<number> {
  const text = await (await fetch(`${tocsin.ready.internal_url}/metrics`)).text();
  let total = 0;
  for (const match of text.matchAll(/^svc_actors\{[^}]*\} (\d+)/gm)) total += Number(match[1]);
  return total;
}
