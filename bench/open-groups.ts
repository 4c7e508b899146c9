/** Opens many Alert Groups through the front door: each alert has a name of its own, hence a group of its own. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Loaded } from './installation.ts';
import { Connection, postRequest } from './load/http-client.ts';

const ALERTS_PER_SNAPSHOT = 10;
const CONNECTIONS = 16;

/** Fires alerts until `count` more groups are open and everything is processed. */
export async function openGroups(tocsin: Loaded, count: number, firstName = 0): Promise<void> {
  const url = new URL(tocsin.ready.ingest_endpoint);
  const headers = { Authorization: `Bearer ${tocsin.ready.integration_token}` };
  const snapshots = Math.ceil(count / ALERTS_PER_SNAPSHOT);
  let next = 0;
  const lanes = Array.from({ length: CONNECTIONS }, async () => {
    const connection = new Connection(url.hostname, Number(url.port));
    await connection.opened();
    while (next < snapshots) {
      const request = postRequest(url, headers, body(firstName, next++));
      const status = await new Promise<number>((resolve) =>
        connection.send(request, resolve, () => resolve(0)),
      );
      if (status === 503) await pause(50);
      else if (status !== 202) throw new Error(`A Snapshot was answered ${status}`);
    }
    connection.close();
  });
  await Promise.all(lanes);
  await tocsin.drained();
}

function body(firstName: number, snapshot: number): Buffer {
  const alerts = Array.from({ length: ALERTS_PER_SNAPSHOT }, (_, n) => ({
    status: 'firing',
    labels: {
      alertname: `Open${firstName + snapshot * ALERTS_PER_SNAPSHOT + n}`,
      cluster: 'production-eu-1',
      instance: `host-${snapshot}`,
      namespace: `team-${snapshot % 40}`,
      severity: 'warning',
    },
    annotations: { summary: `Something is wrong on host-${snapshot}` },
    startsAt: '2026-10-03T09:58:00Z',
  }));
  return Buffer.from(
    JSON.stringify({ version: '4', groupKey: `open-${firstName}-${snapshot}`, status: 'firing', alerts }),
  );
}
