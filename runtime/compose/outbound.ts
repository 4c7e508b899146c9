/** Everything that leaves this process by HTTP: one client under the saved policy, and its Request log. */
import type { Registry } from 'prom-client';
import { isUnavailable } from '../../storage/connection.ts';
import { readOutboundPolicy } from '../../storage/outbound-policy.ts';
import { createRequestLogStore } from '../../storage/request-records.ts';
import { atMost } from '../at-most.ts';
import { type Clock, SECOND } from '../clock.ts';
import type { Log } from '../log.ts';
import { createOutboundCaller, type OutboundCaller } from '../outbound/caller.ts';
import { createOutboundClient, type OutboundClient } from '../outbound/client.ts';
import { createOutboundMetrics, type OutboundMetrics } from '../outbound/metrics.ts';
import { createRequestRecorder, type RequestRecorder } from '../outbound/request-log/recorder.ts';
import type { Version } from '../version.ts';
import type { Database } from './database.ts';

/** Of the grace of a shutdown, for records that are not written yet. */
const RECORDS_WITHIN = SECOND;

export interface OutboundDeps {
  readonly database: Pick<Database, 'main'>;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Log;
  readonly version: Version;
}

export interface Outbound {
  readonly client: OutboundClient;
  readonly caller: OutboundCaller;
  readonly metrics: OutboundMetrics;
  readonly recorder: RequestRecorder;
  /** Ends what is in flight, and writes the records that wait. */
  stop(): Promise<void>;
}

export async function openOutbound(deps: OutboundDeps): Promise<Outbound> {
  const { clock, log, version } = deps;
  const { main } = deps.database;
  const { policy } = await readOutboundPolicy(main);
  const client = createOutboundClient({ clock, policy });
  const metrics = createOutboundMetrics(deps.registry);
  const store = createRequestLogStore(main);
  const recorder = createRequestRecorder({ store, clock, log, metrics, isUnavailable });
  const userAgent = `Tocsin/${version.version}`;
  return {
    client,
    metrics,
    recorder,
    caller: createOutboundCaller({ client, recorder, metrics, clock, log, userAgent }),
    async stop() {
      client.close();
      await atMost(clock, RECORDS_WITHIN, recorder.stop());
    },
  };
}
