/** Ports for programs that have to be told theirs. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below those that the kernel gives to outgoing connections: none of these takes one before its program listens. */
const FIRST = 12_000;
const END = 32_000;
/** Test files that run at the same time choose among different ports. */
const LANES = 8;
const lane = Number(process.env.VITEST_POOL_ID ?? 0) % LANES;

const given = new Set<number>();

/** Ports that were free a moment ago, and that this process has not given away before. */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = FIRST + LANES * randomInt((END - FIRST) / LANES) + lane;
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    ports.push(port);
  }
  return ports;
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
