/** Pushes events to the service, signed as Standard Webhooks says, until it takes them (bridge §2.1, §1.1). */
import { createHmac } from 'node:crypto';
import type { BridgeEvent } from './events.ts';
import type { Ports } from './wire.ts';

const ATTEMPT_MS = 10_000;
const LONGEST_PAUSE_MS = 10 * 60_000;
const GIVE_UP_MS = 24 * 3600_000;

/** @returns sends one event; events do not wait for one another */
export function createPush(
  target: { readonly url: string; readonly secret: string },
  ports: Ports,
  stopped: AbortSignal,
): (event: BridgeEvent) => void {
  return (event) => void pushUntilTaken(event, target, ports, stopped);
}

async function pushUntilTaken(
  event: BridgeEvent,
  { url, secret }: { readonly url: string; readonly secret: string },
  ports: Ports,
  stopped: AbortSignal,
): Promise<void> {
  const body = JSON.stringify(event);
  const first = ports.now();
  for (let pause = 1000; !stopped.aborted && ports.now() < first + GIVE_UP_MS; pause *= 2) {
    const headers = signedHeaders(event.id, Math.floor(ports.now() / 1000), body, secret);
    const status = await attempt(url, headers, body, ports, stopped);
    // 400 means that this event can never be taken; with anything else it is worth another attempt.
    if (status === 204 || status === 400) return;
    await waitFor(Math.min(pause, LONGEST_PAUSE_MS), ports, stopped);
  }
}

/** The status; null when there was none in time. */
async function attempt(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
  ports: Ports,
  stopped: AbortSignal,
): Promise<number | null> {
  const over = new AbortController();
  const late = waitFor(ATTEMPT_MS, ports, AbortSignal.any([over.signal, stopped])).then(() => null);
  try {
    return await Promise.race([ports.deliver(url, headers, body, over.signal), late]);
  } catch {
    // The service is out of reach: as good as no answer.
    return null;
  } finally {
    // Ends the request that is late, or the wait for one that is not.
    over.abort();
  }
}

/** Resolves after so long, or as soon as `ended` aborts. */
function waitFor(ms: number, ports: Ports, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (ended.aborted) return resolve();
    const wake = (): void => {
      cancel();
      ended.removeEventListener('abort', wake);
      resolve();
    };
    const cancel = ports.after(ms, wake);
    ended.addEventListener('abort', wake);
  });
}

/** @param secret `whsec_` and base64 @param timestamp Unix seconds of this attempt */
export function signedHeaders(
  id: string,
  timestamp: number,
  body: string,
  secret: string,
): Readonly<Record<string, string>> {
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': `v1,${signature}`,
  };
}
