/** Which modules of the running service a stretch of time entered, by the inspector's precise coverage. */
import type { Profiler } from 'node:inspector';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { until } from './until.ts';

const root = path.resolve(import.meta.dirname, '..', '..');
/** Folders of product code that runs in the service. */
const PRODUCT = /^(runtime|actors|http|storage)\//;

/** Functions with a name that ran, by module: paths below the root of the project. */
export type Entered = ReadonlyMap<string, ReadonlySet<string>>;

export interface CoverageRecorder {
  /** What ran since the last call, or since the recorder was attached. */
  take(): Promise<Entered>;
  close(): void;
}

/** Lets {@link attachRecorder} in: environment of a process whose standard error goes to its log. */
export const INSPECTED = { NODE_OPTIONS: '--inspect=127.0.0.1:0' };

/** @param log lines that the process wrote, among them where its inspector listens */
export async function attachRecorder(log: readonly string[]): Promise<CoverageRecorder> {
  const address = await until('the inspector', async () =>
    log.map((line) => /Debugger listening on (ws:\S+)/.exec(line)?.[1]).find((found) => found !== undefined),
  );
  const socket = new WebSocket(address);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error(`No inspector at ${address}`)), { once: true });
  });
  const waiting = new Map<number, (result: unknown) => void>();
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id?: number; result?: unknown };
    if (id !== undefined) waiting.get(id)?.(result);
  });
  let last = 0;
  const call = (method: string, params: object = {}): Promise<unknown> => {
    last += 1;
    const id = last;
    return new Promise((resolve) => {
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  };
  await call('Profiler.enable');
  await call('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const take = async () =>
    entered((await call('Profiler.takePreciseCoverage')) as Profiler.TakePreciseCoverageReturnType);
  await take();
  return { take, close: () => socket.close() };
}

function entered({ result }: Profiler.TakePreciseCoverageReturnType): Entered {
  const modules = new Map<string, Set<string>>();
  for (const { url, functions } of result) {
    if (!url.startsWith('file:')) continue;
    const module = path.relative(root, fileURLToPath(url));
    if (!PRODUCT.test(module)) continue;
    const ran = functions.filter(({ functionName, ranges: [whole] }) => functionName && whole!.count > 0);
    const names = ran.map(({ functionName, ranges: [whole] }) => `${functionName}@${whole!.startOffset}`);
    if (names.length > 0) modules.set(module, new Set(names));
  }
  return modules;
}

/** Modules in which, in each of `stretches`, a function ran that ran in none of `others`. */
export function enteredByEach(
  stretches: readonly Entered[],
  others: readonly Entered[] = [],
): readonly string[] {
  const isOwn = (module: string, name: string) => !others.some((other) => other.get(module)?.has(name));
  const modules = stretches.map((entered) => {
    const own = [...entered].filter(([module, names]) => [...names].some((name) => isOwn(module, name)));
    return new Set(own.map(([module]) => module));
  });
  return [...(modules[0] ?? [])].filter((module) => modules.every((each) => each.has(module)));
}
