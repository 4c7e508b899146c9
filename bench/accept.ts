/** How many Snapshots of ten alerts are taken a second, beside Debian's Alertmanager on the same machine. */
import { startAlertmanager } from '../test/harness/peers.ts';
import { Loaded } from './installation.ts';
import { load } from './load/start.ts';
import { type Bench, type BenchOptions, perSecond, type Row } from './report.ts';

const CONNECTIONS = [16, 64, 256];
const GROUPS = 500;

async function alertmanagerRate(connections: number, options: BenchOptions): Promise<number> {
  const alertmanager = await startAlertmanager({
    config: 'route: {receiver: none}\nreceivers: [{name: none}]\n',
  });
  try {
    const result = await load({
      url: `${alertmanager.url}/api/v2/alerts`,
      token: null,
      connections,
      seconds: options.seconds,
      warmupSeconds: options.warmupSeconds,
      rate: null,
      groups: 1,
      body: 'alertmanager',
      changes: 0,
    });
    return result.perSecond;
  } finally {
    await alertmanager.stop();
  }
}

interface AcceptPlan {
  readonly connections: number;
  readonly changes: number;
  readonly groups: number;
  readonly paused: boolean;
  /** As SVC_INGEST_FRAMING; strict when left out, as there. */
  readonly framing?: 'strict' | 'fast';
  /** As SVC_HTTP_ENGINE; uWebSockets.js when left out. */
  readonly engine?: 'node';
}

async function tocsinRate(plan: AcceptPlan, options: BenchOptions) {
  const tocsin = await Loaded.start(plan.paused ? 'paused' : 'on', {
    SVC_INGEST_FRAMING: plan.framing ?? 'strict',
    SVC_HTTP_ENGINE: plan.engine ?? 'auto',
  });
  try {
    const result = await load({
      url: tocsin.ready.ingest_endpoint,
      token: tocsin.ready.integration_token,
      connections: plan.connections,
      seconds: options.seconds,
      warmupSeconds: options.warmupSeconds,
      rate: null,
      groups: plan.groups,
      body: 'webhook',
      changes: plan.changes,
    });
    const drainSeconds = plan.paused ? 0 : await tocsin.drained();
    // What was still waiting at the end counts against the rate: everything must be processed.
    const processedPerSecond = (result.perSecond * result.seconds) / (result.seconds + drainSeconds);
    return { ...result, drainSeconds, processedPerSecond };
  } finally {
    await tocsin.remove();
  }
}

export const accept: Bench = {
  name: 'accept',
  title: 'Accepted Snapshots of 10 alerts a second, the database flushing every commit',
  needs: ['prometheus-alertmanager'],
  async run(options) {
    const rows: Row[] = [];
    const raw: unknown[] = [];
    for (const connections of CONNECTIONS) {
      options.progress(`${connections} connections: Alertmanager`);
      const peer = await alertmanagerRate(connections, options);
      options.progress(`${connections} connections: Tocsin, processing paused`);
      const alone = await tocsinRate({ connections, changes: 0, groups: GROUPS, paused: true }, options);
      options.progress(`${connections} connections: Tocsin, processing paused, fast framing`);
      const fast = await tocsinRate(
        { connections, changes: 0, groups: GROUPS, paused: true, framing: 'fast' },
        options,
      );
      options.progress(`${connections} connections: Tocsin, processing paused, node:http`);
      const nodeHttp = await tocsinRate(
        { connections, changes: 0, groups: GROUPS, paused: true, engine: 'node' },
        options,
      );
      options.progress(`${connections} connections: Tocsin, processing everything, 95 % repeats`);
      const full = await tocsinRate({ connections, changes: 0.05, groups: GROUPS, paused: false }, options);
      options.progress(`${connections} connections: Tocsin, processing paused, no two bodies alike`);
      const distinct = await tocsinRate({ connections, changes: 1, groups: GROUPS, paused: true }, options);
      raw.push({ connections, peer, alone, fast, nodeHttp, full, distinct });
      const against = (rate: number) => `${perSecond(rate)} (${(rate / peer).toFixed(2)}×)`;
      rows.push(
        { what: `${connections} connections: Alertmanager in memory`, value: perSecond(peer) },
        {
          what: `${connections} connections: Tocsin accepting`,
          value: against(alone.perSecond),
          goal: '2× Alertmanager',
          met: alone.perSecond >= 2 * peer,
          compared: { product: alone.perSecond, peer },
        },
        {
          what: `${connections} connections: Tocsin accepting, fast framing`,
          value: against(fast.perSecond),
          compared: { product: fast.perSecond, peer },
        },
        {
          what: `${connections} connections: Tocsin accepting, node:http`,
          value: against(nodeHttp.perSecond),
          compared: { product: nodeHttp.perSecond, peer },
        },
        {
          what: `${connections} connections: Tocsin accepting and processing, 95 % repeats`,
          value: against(full.processedPerSecond),
          goal: '1× Alertmanager',
          met: full.processedPerSecond >= peer,
          compared: { product: full.processedPerSecond, peer },
        },
        {
          what: `${connections} connections: Tocsin accepting, every body new`,
          value: against(distinct.perSecond),
          compared: { product: distinct.perSecond, peer },
        },
      );
    }
    return { rows, raw };
  },
};
