/** A real HAProxy with the configuration that deploy/ ships, in front of replicas on this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { freePorts } from './ports.ts';
import type { Replica } from './replica.ts';
import { until } from './until.ts';

const SHIPPED = path.resolve(import.meta.dirname, '..', '..', 'deploy', 'haproxy.cfg');

export interface Haproxy {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts it before as many replicas as the configuration names; resolves once it takes requests. */
export async function startHaproxy(replicas: readonly Replica[]): Promise<Haproxy> {
  const [port] = await freePorts(1);
  const folder = mkdtempSync(path.join(tmpdir(), 'tocsin-haproxy-'));
  const file = path.join(folder, 'haproxy.cfg');
  writeFileSync(file, configuration(readFileSync(SHIPPED, 'utf8'), port!, replicas));
  const child = spawn('/usr/sbin/haproxy', ['-db', '-f', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  const url = `http://127.0.0.1:${port}`;
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await until('HAProxy to reach a replica', async () => (await fetch(`${url}/favicon.svg`)).status === 200);
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, stop };
}

/** Replicas of tests have one port each for everything; the shipped ones have names, and 8082 for health. */
function configuration(shipped: string, port: number, replicas: readonly Replica[]): string {
  let text = replaced(shipped, 'bind :8080', `bind 127.0.0.1:${port}`);
  text = replaced(text, 'check port 8082', 'check');
  for (const [index, replica] of replicas.entries()) {
    const name = `tocsin-${index + 1}`;
    text = replaced(text, `server ${name} ${name}:8080`, `server ${name} 127.0.0.1:${replica.port}`);
  }
  return text;
}

function replaced(text: string, from: string, to: string): string {
  if (!text.includes(from)) throw new Error(`deploy/haproxy.cfg does not say "${from}"`);
  return text.replace(from, to);
}
