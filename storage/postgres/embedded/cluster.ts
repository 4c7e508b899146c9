/** The files of an embedded PostgreSQL: made once, checked at every start, and closed to everybody but the service. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdir, open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { giveFolder, type Launcher, launcherFor, UNPRIVILEGED } from './run-as.ts';
import {
  adoptServer,
  binariesEnvironment,
  binariesMajor,
  findServer,
  type PostgresBinaries,
  readOrNull,
} from './server.ts';

const FORM = ['--encoding=UTF8', '--data-checksums', '--no-instructions'];
/** Texts in the order of their code points, as under C, and alike whatever the case, which C says of English alone. */
const LOCALE = ['--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
/** Before 17 that is the operating system's to know. */
const LOCALE_BEFORE_17 = ['--locale=C.UTF-8'];
/** The first user has no password: nobody signs in as it. */
const ACCESS = ['--username=postgres', '--auth-local=scram-sha-256', '--auth-host=reject'];

export interface ClusterOptions {
  readonly binaries: PostgresBinaries;
  /** The folder of the files; its parent exists. */
  readonly cluster: string;
  readonly launcher: Launcher;
  /** What the service's role is. */
  readonly role: 'superuser' | 'nosuperuser';
}

/**
 * Makes the files when there are none, and brings those of earlier versions to the same rules: a user of their own, and
 * nobody enters without a password.
 * @throws {Error} a sentence for people when they were written by another major version
 */
export async function ensureCluster(options: ClusterOptions): Promise<void> {
  const { binaries, cluster, launcher } = options;
  if (!existsSync(cluster)) return makeCluster(options);
  await requireMajor(binaries, cluster);
  const { uid } = await stat(cluster);
  const isElsewhere = launcher.runAs !== null && launcher.runAs.uid !== uid;
  if (!isElsewhere && (await isAccessClosed(cluster))) return;
  const leftBehind = await findServer(cluster);
  if (leftBehind !== null) await (await adoptServer(cluster, leftBehind, () => undefined)).stop();
  if (!(await isAccessClosed(cluster))) {
    if (launcher.runAs && uid !== UNPRIVILEGED.uid) await giveFolder(cluster, UNPRIVILEGED);
    const maker = await launcherFor(launcher.runAs && UNPRIVILEGED, [binaries.bin, cluster]);
    await closeAccess(binaries, cluster, maker, options.role);
  }
  if (launcher.runAs) await giveFolder(cluster, launcher.runAs);
}

/** Made beside and renamed when complete, so that an interrupted first start leaves nothing half-made behind. */
async function makeCluster({ binaries, cluster, launcher, role }: ClusterOptions): Promise<void> {
  const beside = `${cluster}.new`;
  const fresh = path.join(beside, 'files');
  await rm(beside, { recursive: true, force: true });
  await mkdir(beside, { mode: 0o700 });
  await mkdir(fresh, { mode: 0o700 });
  const maker = await makerOf(binaries, beside, launcher);
  if (maker.runAs) await chown(fresh, maker.runAs.uid, maker.runAs.gid);
  const [program, args] = maker.command(path.join(binaries.bin, 'initdb'), [
    `--pgdata=${fresh}`,
    ...FORM,
    ...(binariesMajor(binaries) < 17 ? LOCALE_BEFORE_17 : LOCALE),
    ...ACCESS,
  ]);
  await promisify(execFile)(program, args, {
    ...maker.spawn,
    env: binariesEnvironment(binaries),
    cwd: fresh,
  });
  await closeAccess(binaries, fresh, maker, role);
  if (launcher.runAs) await giveFolder(fresh, launcher.runAs);
  await rename(fresh, cluster);
  await rm(beside, { recursive: true });
}

/** Programs that work on files without a server insist on a user with a name. Others of that name cannot enter the folder above, where the machine allows that. */
async function makerOf(binaries: PostgresBinaries, beside: string, { runAs }: Launcher): Promise<Launcher> {
  if (runAs === null) return launcherFor(null, []);
  try {
    return await launcherFor(UNPRIVILEGED, [binaries.bin, beside]);
  } catch {
    // Without the capability that lets them pass, the folder is open while they work.
    await chmod(beside, 0o711);
    return launcherFor(UNPRIVILEGED, [binaries.bin, beside]);
  }
}

async function requireMajor(binaries: PostgresBinaries, cluster: string): Promise<void> {
  const found = Number(await readOrNull(path.join(cluster, 'PG_VERSION')));
  const wanted = binariesMajor(binaries);
  if (found === wanted) return;
  throw new Error(
    `The data in ${cluster} were written by PostgreSQL ${found}, this is PostgreSQL ${wanted}. ` +
      `Dump them with version ${found} and restore them into a new folder.`,
  );
}

/** As whom the service signs in. */
export const SERVICE_ROLE = 'tocsin_service';
export const SERVICE_DATABASE = 'postgres';

const PASSWORD_FILE = 'tocsin.password';
const PASSWORD_BYTES = 32;
/** What {@link PASSWORD_BYTES} look like. A file that a power loss emptied does not. */
const PASSWORD = /^[\w-]{43}$/;

const HBA = `# Written by Tocsin at every change of this rule.
local all all scram-sha-256
host all all all reject
`;

/**
 * The password of {@link SERVICE_ROLE}; null when there is no file or it holds none. The server's own user can read it,
 * and we.
 */
export async function servicePassword(cluster: string): Promise<string | null> {
  const password = (await readOrNull(path.join(cluster, PASSWORD_FILE)))?.trim() ?? '';
  return PASSWORD.test(password) ? password : null;
}

/** Whether nobody enters without a password. */
async function isAccessClosed(cluster: string): Promise<boolean> {
  const hba = await readOrNull(path.join(cluster, 'pg_hba.conf'));
  return hba === HBA && (await servicePassword(cluster)) !== null;
}

/**
 * Makes the role of the service and its password, gives it what is in its database already, and lets nobody else in. No
 * server may run on the files. May be interrupted and repeated: until the role, its password and the rules are all on disk,
 * {@link isAccessClosed} is false.
 * @param launcher starts programs as the files' owner, who has a name
 * @param role `superuser` for tests, which make databases of their own
 */
async function closeAccess(
  binaries: PostgresBinaries,
  cluster: string,
  launcher: Launcher,
  role: 'superuser' | 'nosuperuser',
): Promise<void> {
  const known = await servicePassword(cluster);
  const password = known ?? randomBytes(PASSWORD_BYTES).toString('base64url');
  await runAlone(binaries, cluster, launcher, [
    `do $$ begin if not exists (select from pg_roles where rolname = '${SERVICE_ROLE}') then
      create role ${SERVICE_ROLE} login ${role}; end if; end $$`,
    `alter role ${SERVICE_ROLE} password '${password}'`,
    `alter database ${SERVICE_DATABASE} owner to ${SERVICE_ROLE}`,
    TAKE_OVER,
  ]);
  // After the role has it: a file with another password would lock the service out.
  if (known === null) await replace(path.join(cluster, PASSWORD_FILE), `${password}\n`, launcher);
  await replace(path.join(cluster, 'pg_hba.conf'), HBA, launcher);
}

/** Gives the service what the first user of the server made in the service's database. Sequences go with their tables. */
const TAKE_OVER = `do $$ declare statement text; begin
  for statement in
    with own as (
      select oid, classid from (
        select oid, 'pg_class'::regclass::oid as classid, relkind = 'S' as is_sequence from pg_class where relowner = 10 and oid >= 16384
        union all select oid, 'pg_proc'::regclass, false from pg_proc where proowner = 10 and oid >= 16384
        union all select oid, 'pg_type'::regclass, false from pg_type where typowner = 10 and oid >= 16384
      ) found
      where not exists (
        select from pg_depend d where d.classid = found.classid and d.objid = found.oid and d.refobjid <> d.objid
          and (d.deptype in ('e', 'i') or d.deptype = 'a' and is_sequence)
      )
    )
    select format('alter %s %s owner to ${SERVICE_ROLE}',
      case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
      c.oid::regclass)
    from own join pg_class c using (oid) where own.classid = 'pg_class'::regclass and relkind in ('r', 'p', 'v', 'm', 'S')
    union all select format('alter routine %s owner to ${SERVICE_ROLE}', p.oid::regprocedure)
    from own join pg_proc p using (oid) where own.classid = 'pg_proc'::regclass
    union all select format('alter type %s owner to ${SERVICE_ROLE}', t.oid::regtype)
    from own join pg_type t using (oid) where own.classid = 'pg_type'::regclass and typtype in ('d', 'e', 'r')
  loop execute statement; end loop;
end $$`;

/** Runs statements as the first user of the server, without a server that anybody could reach. */
async function runAlone(
  binaries: PostgresBinaries,
  cluster: string,
  launcher: Launcher,
  statements: readonly string[],
): Promise<void> {
  const [program, args] = launcher.command(path.join(binaries.bin, 'postgres'), [
    ...['--single', '-j', '-D', cluster, '-c', 'exit_on_error=on', '-c', 'log_min_messages=warning'],
    SERVICE_DATABASE,
  ]);
  const running = promisify(execFile)(program, args, {
    ...launcher.spawn,
    env: binariesEnvironment(binaries),
    cwd: cluster,
  });
  // With -j a statement ends with a semicolon and an empty line.
  running.child.stdin?.end(statements.map((statement) => `${statement};\n\n`).join(''));
  try {
    await running;
  } catch (error) {
    const { stderr } = error as { readonly stderr?: string };
    const said = (stderr ?? '').split('\n').filter((line) => /\b(ERROR|FATAL|PANIC):/.test(line));
    throw new Error(
      `The embedded PostgreSQL could not be given its role: ${said.join('; ') || String(error)}`,
    );
  }
}

/**
 * Replaces a file by a whole one, which is on disk when this resolves.
 * @param launcher whose user reads the file
 */
async function replace(file: string, content: string, { runAs }: Launcher): Promise<void> {
  const fresh = `${file}.new`;
  // An interrupted start may have left one.
  await rm(fresh, { force: true });
  const written = await open(fresh, 'wx', 0o600);
  try {
    await written.writeFile(content);
    if (runAs) await written.chown(runAs.uid, runAs.gid);
    await written.sync();
  } finally {
    await written.close();
  }
  await rename(fresh, file);
  const folder = await open(path.dirname(file), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
