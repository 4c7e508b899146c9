import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { DatabaseSettings, SslMode } from '../../runtime/config.ts';
import { connect } from './connection.ts';
import { inspectDatabase } from './database-check.ts';
import { type RunningPostgres, startEmbeddedPostgres } from './embedded/embedded.ts';

/** How a lost connection is told: as a reset when something was still unread on the other side. */
const LOST = /^(CONNECTION_CLOSED|ECONNRESET)$/;

/** A server on TCP with a certificate for `localhost`, which no public root signed. */
let dataDir = '';
let server: RunningPostgres;
let ca = '';
let port = 0;

async function freePort(): Promise<number> {
  const probe = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => probe.once('listening', resolve));
  const { port: free } = probe.address() as net.AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return free;
}

beforeAll(async () => {
  dataDir = mkdtempSync(path.join(os.tmpdir(), 'tocsin-tls-'));
  chmodSync(dataDir, 0o711);
  port = await freePort();
  await (await startEmbeddedPostgres({ dataDir })).stop();
  const cluster = path.join(dataDir, 'cluster');
  const [key, certificate] = [path.join(cluster, 'server.key'), path.join(cluster, 'server.crt')];
  const request = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=localhost'];
  const names = ['-addext', 'subjectAltName=DNS:localhost'];
  execFileSync('openssl', [...request, ...names, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const { uid, gid } = statSync(cluster);
  const rules = path.join(cluster, 'tls_hba.conf');
  const local = 'local all all scram-sha-256';
  writeFileSync(rules, `${local}\nhostssl all all 127.0.0.1/32 trust\nhostssl all all ::1/128 trust\n`);
  for (const file of [key, certificate, rules]) {
    chownSync(file, uid, gid);
    chmodSync(file, 0o600);
  }
  ca = readFileSync(certificate, 'utf8');
  server = await startEmbeddedPostgres({
    dataDir,
    settings: { listen_addresses: 'localhost', port: String(port), ssl: 'on', fsync: 'off', hba_file: rules },
  });
});

afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

async function attempt(parts: Partial<DatabaseSettings>): Promise<unknown> {
  const settings = { ...server.settings, host: 'localhost', port, ...parts };
  const sql = connect(settings, { max: 1, applicationName: 'tls-test' });
  try {
    return (await inspectDatabase(sql)).encrypted;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test.each<[SslMode, string, boolean, unknown]>([
  ['disable', 'localhost', false, '28000'],
  ['allow', 'localhost', false, true],
  ['prefer', 'localhost', false, true],
  ['require', '127.0.0.1', false, true],
  ['verify-ca', '127.0.0.1', true, true],
  ['verify-ca', 'localhost', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
  ['verify-full', 'localhost', true, true],
  ['verify-full', '127.0.0.1', true, 'ERR_TLS_CERT_ALTNAME_INVALID'],
  ['verify-full', 'localhost', false, 'DEPTH_ZERO_SELF_SIGNED_CERT'],
])('sslmode %s to %s, with the root known: %s', async (sslmode, host, isKnown, outcome) => {
  expect(await attempt({ sslmode, host, ca: isKnown ? ca : null })).toBe(outcome);
});

test('NODE_TLS_REJECT_UNAUTHORIZED changes nothing', async () => {
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
  try {
    expect(await attempt({ sslmode: 'verify-full' })).toBe('DEPTH_ZERO_SELF_SIGNED_CERT');
  } finally {
    delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
  }
});

test('a server without TLS is refused where it is required, and used where it is not', async () => {
  const plain = net.createServer((socket) => {
    socket.once('data', () => socket.end('N'));
  });
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const { port: open } = plain.address() as net.AddressInfo;
  expect(await attempt({ host: '127.0.0.1', port: open, sslmode: 'require' })).toBe('TLS_REFUSED');
  expect(await attempt({ host: '127.0.0.1', port: open, sslmode: 'prefer' })).toMatch(LOST);
  await new Promise((resolve) => plain.close(resolve));
});

test('a transaction on an encrypted connection that is cut fails and is replaced', async () => {
  const sql = connect(
    { ...server.settings, host: 'localhost', port, sslmode: 'require' },
    { max: 1, applicationName: 'tls-test' },
  );
  const admin = connect({ ...server.settings, port }, { max: 1, applicationName: 'tls-admin' });
  const failing = sql.begin(async (tx) => {
    const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
    await admin`select pg_terminate_backend(${row?.pid ?? 0}, 5000)`;
    await tx`select 1`;
  });
  await expect(failing).rejects.toMatchObject({ code: expect.stringMatching(LOST) });
  expect([...(await sql`select 2 as two`)]).toEqual([{ two: 2 }]);
  await Promise.all([sql.end({ timeout: 1 }), admin.end({ timeout: 1 })]);
});
