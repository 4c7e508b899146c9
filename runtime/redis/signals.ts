import { CoordinationUnavailableError } from '../placement/coordination.ts';
import type { Signals } from '../signals.ts';
import type { Connection } from './connection.ts';
import type { Client } from './link.ts';

/** Signals through Redis pub/sub. What is published in one turn of the event loop goes out in one write. */
export function createSignals(connection: Connection, prefix: string): Signals {
  const nameOf = (channel: string) => `${prefix}signal.${channel}`;
  let waiting: (readonly [channel: string, message: string])[] = [];

  const send = (): void => {
    const batch = waiting;
    waiting = [];
    connection
      .call((client) => publishAll(client, batch))
      .catch((error: unknown) => {
        // They are lost, as signals may be; the connection tells of the outage.
        if (!(error instanceof CoordinationUnavailableError)) throw error;
      });
  };

  return {
    get isUp() {
      return connection.isUp;
    },
    onState: (listener) => connection.onState(listener),
    publish(channel, message) {
      if (waiting.push([nameOf(channel), message]) === 1) setImmediate(send);
    },
    subscribe: (channel, ...listeners) => connection.subscribe(nameOf(channel), ...listeners),
  };
}

async function publishAll(client: Client, batch: readonly (readonly [string, string])[]): Promise<void> {
  const pipeline = client.pipeline();
  for (const [channel, message] of batch) pipeline.publish(channel, message);
  for (const [error] of (await pipeline.exec()) ?? []) if (error !== null) throw error;
}
