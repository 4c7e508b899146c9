/** Memory that the service cannot give back: what is left after a garbage collection, asked through Node's inspector. */
import { readFileSync } from 'node:fs';
import type { Installation } from '../harness/tocsin.ts';
import { until } from '../harness/until.ts';

/** For the process that is measured: an inspector at any free port of this machine. */
export const INSPECTED = '--inspect=127.0.0.1:0';

/** After one round of requests, MiB with a decimal. */
export interface Held {
  /** JavaScript objects, after garbage collection. */
  readonly heap: number;
  /** Buffers outside the heap, after garbage collection. */
  readonly buffers: number;
  /** Of the process as the operating system counts it, which includes what the allocators keep for themselves. */
  readonly resident: number;
}

/** Holds the heap of a running service to the light. */
export interface HeldMemory {
  read(): Promise<Held>;
  /** The most the process ever took, MiB. */
  peak(): number;
  close(): void;
}

/** Of an installation that was started with {@link INSPECTED} among its `NODE_OPTIONS`. */
export async function inspectMemory(tocsin: Installation): Promise<HeldMemory> {
  const url = await until('the inspector', async () => inspectorUrl(tocsin.log));
  const inspector = await connect(url);
  return {
    async read() {
      // The first collection runs finalizers, whose garbage the second one takes.
      for (let times = 0; times < 2; times++) await inspector.call('HeapProfiler.collectGarbage');
      const { result } = (await inspector.call('Runtime.evaluate', {
        expression: 'JSON.stringify(process.memoryUsage())',
      })) as { readonly result: { readonly value: string } };
      const { heapUsed, external } = JSON.parse(result.value) as NodeJS.MemoryUsage;
      return {
        heap: mebibytes(heapUsed),
        buffers: mebibytes(external),
        resident: ofProcess(tocsin.pid, 'VmRSS'),
      };
    },
    peak: () => ofProcess(tocsin.pid, 'VmHWM'),
    close: () => inspector.close(),
  };
}

/**
 * Whether memory stayed flat: the first third of the rounds warms up; the last holds as much on average as the middle
 * one, within `tolerance`.
 * @param tolerance MiB
 * @returns what is wrong; null when nothing is
 */
export function growthFault(rounds: readonly Held[], tolerance: number): string | null {
  const growth = growthOf(rounds);
  if (growth <= tolerance) return null;
  return `memory grew by ${growth} MiB, more than ${tolerance}: ${rounds.map(total).join(', ')} MiB held after each round`;
}

/** MiB that the last third of the rounds holds on average beyond the middle third. */
export function growthOf(rounds: readonly Held[]): number {
  const third = Math.floor(rounds.length / 3);
  const last = rounds.slice(rounds.length - third);
  const middle = rounds.slice(rounds.length - 2 * third, rounds.length - third);
  return tenths(mean(last.map(total)) - mean(middle.map(total)));
}

function total({ heap, buffers }: Held): number {
  return tenths(heap + buffers);
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function inspectorUrl(log: readonly string[]): string | null {
  return /^Debugger listening on (ws:\S+)/m.exec(log.join('\n'))?.[1] ?? null;
}

interface Inspector {
  call(method: string, params?: object): Promise<unknown>;
  close(): void;
}

async function connect(url: string): Promise<Inspector> {
  const socket = new WebSocket(url);
  const waiting = new Map<number, (result: unknown) => void>();
  let calls = 0;
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { readonly id?: number; readonly result?: unknown };
    if (id === undefined) return;
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)));
  });
  return {
    call(method, params = {}) {
      calls += 1;
      const id = calls;
      return new Promise((resolve) => {
        waiting.set(id, resolve);
        socket.send(JSON.stringify({ id, method, params }));
      });
    },
    close: () => socket.close(),
  };
}

function ofProcess(pid: number, what: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return mebibytes(Number(new RegExp(`${what}:\\s+(\\d+) kB`).exec(status)?.[1]) * 1024);
}

function mebibytes(bytes: number): number {
  return tenths(bytes / 1_048_576);
}

function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
