/** Whether keys and database belong together, and what may be done with which key (secrets §5, §5.1). */
import { type RecordView, readReplicaView } from '../../../storage/engine/replica-records.ts';
import { KeyringError, type KeyUse, readKeyring, readKeyUse } from '../../../storage/keys/keyring.ts';
import { type Clock, SECOND } from '../../clock.ts';
import { type Config, namedServers } from '../../config.ts';
import { isLoopback } from '../../config-values.ts';
import { parseRedisUrl } from '../../redis/address.ts';
import type { MasterKey } from '../../secrets/keyring.ts';
import type { CheckedConfig, SettingsWarning } from '../settings.ts';
import { type Check, counted, type Finding, fail, ok, some, unlessWrong, warn } from './check.ts';
import type { ReadOnlyDatabase } from './database-checks.ts';
import { liveRecords } from './replicas-check.ts';

export interface KeyCheckDeps {
  readonly database: ReadOnlyDatabase;
  readonly masterKeys: readonly MasterKey[];
  readonly clock: Clock;
}

export function keyChecks({ database, masterKeys, clock }: KeyCheckDeps): readonly Check[] {
  const base = { needs: ['database', 'schema'], atWorst: 'FAIL', within: 10 * SECOND } as const;
  return [
    { ...base, name: 'key_canary', run: () => checkCanary(database, masterKeys) },
    {
      ...base,
      name: 'keyring',
      run: async () => {
        const [use, view] = await database.read(
          async (tx) => [await readKeyUse(tx), await readReplicaView(tx)] as const,
        );
        const listed = masterKeys.map(({ id }) => id);
        return judgeKeys({ listed, use, replicas: liveRecords(view, clock.now()) });
      },
    },
  ];
}

async function checkCanary(database: ReadOnlyDatabase, keys: readonly MasterKey[]): Promise<Finding> {
  try {
    const keyring = await database.read((tx) => readKeyring(tx, keys));
    if (keyring) return ok(`opens with the active key ${keyring.activeKeyId}`);
    return warn('there is none yet: the first start makes it, with the first key of the list');
  } catch (error) {
    if (!(error instanceof KeyringError)) throw error;
    return fail(
      `master key does not match the database. ${error.message} Put the keys that were used with this database into SVC_SECRET_KEYS.`,
    );
  }
}

export interface KeysSeen {
  /** Ids of the keys that this environment lists, in order. */
  readonly listed: readonly string[];
  readonly use: KeyUse;
  /** Live ones. */
  readonly replicas: readonly Pick<RecordView, 'id' | 'keyIds'>[];
}

/** OK while there is one key, held by all; WARN while a rotation is under way or keys are missing. */
export function judgeKeys(seen: KeysSeen): Finding {
  const { listed, use, replicas } = seen;
  const active = use.activeKeyId;
  const known = [
    ...listed,
    ...(active === null ? [] : [active]),
    ...use.sealedWith.keys(),
    ...use.signedWith.keys(),
    ...replicas.flatMap(({ keyIds }) => keyIds),
  ];
  const wrong = active === null ? [] : [...new Set(known)].flatMap((id) => keyFaults(id, active, seen));
  const others = listed.length > 1 ? `, ${counted(listed.length, 'key')} listed` : '';
  return unlessWrong(wrong, active === null ? 'no key is in use yet' : `${active} is active${others}`);
}

function keyFaults(id: string, active: string, { listed, use, replicas }: KeysSeen): string[] {
  const values = use.sealedWith.get(id) ?? 0;
  const messages = use.signedWith.get(id) ?? 0;
  const lacking = replicas.filter(({ keyIds }) => !keyIds.includes(id)).map((replica) => replica.id);
  const isNeeded = id === active || values > 0 || messages > 0;
  if (!isNeeded) {
    return lacking.length > 0
      ? [
          `${id} is not in use and missing on ${some(lacking)}: add it there before you activate it, or take it from every list.`,
        ]
      : [`${id} is removable: take it from every list, or activate it.`];
  }
  return [
    id !== active &&
      values > 0 &&
      `${id} is not active and still opens ${counted(values, 'value')}: keep it.`,
    id !== active &&
      values === 0 &&
      `${id} is not active and still signs the buttons of ${counted(messages, 'message')}: keep it until they are edited.`,
    !listed.includes(id) && `${id} is needed and not listed here: add it to SVC_SECRET_KEYS.`,
    lacking.length > 0 && `${id} is needed and missing on ${some(lacking)}: add it there and restart.`,
  ].filter((fault) => fault !== false);
}

/** The check `settings`, and what of the settings no output may show. */
export function settingsCheck(read: CheckedConfig): Check {
  return {
    name: 'settings',
    needs: [],
    atWorst: 'FAIL',
    within: SECOND,
    run: async () => judgeSettings(read),
  };
}

/** Names every variable that is wrong; warns of what a start would log. */
export function judgeSettings(read: CheckedConfig): Finding {
  if ('errors' in read)
    return fail(`${read.errors.join('; ')}. Every variable is described in docs/settings.md.`);
  const { database, publicUrl } = read.config;
  return unlessWrong(
    read.warnings.map(warningText),
    `database ${database.database} on ${namedServers(database)}, address for people ${publicUrl}${signInLimit(publicUrl)}`,
  );
}

/** Over plain http browsers keep the Secure session cookie on their own machine only. */
function signInLimit(publicUrl: string): string {
  if (!publicUrl.startsWith('http:') || !isLoopback(publicUrl)) return '';
  return ', where only people on this machine can sign in: for others serve it over HTTPS and set SVC_PUBLIC_URL to that https:// address';
}

/** Values of secret settings, for a mask. */
export function secretsOf(config: Config): readonly string[] {
  const { database, sessionDatabase, redisUrl, secretKeys, bootstrapAdmin } = config;
  const redis = redisUrl === null ? null : parseRedisUrl(redisUrl);
  const given = [
    database.password,
    sessionDatabase.password,
    redisUrl,
    redis?.credentials.password,
    redis?.sentinel?.credentials.password,
    bootstrapAdmin?.password,
    config.bootstrapIntegrationToken,
    ...secretKeys.text.split(/[\s,]+/),
  ];
  return given.flatMap((value) => value || []);
}

function warningText(warning: SettingsWarning): string {
  switch (warning.event) {
    case 'unknown_variable':
      return `${warning.name} is no setting of this version: correct its name or remove it.`;
    case 'database_settings_conflict':
      return `${warning.used} counts, ${warning.ignored.join(', ')} ${warning.ignored.length > 1 ? 'are' : 'is'} ignored: remove what is not meant.`;
    case 'public_url_not_https':
      return 'SVC_PUBLIC_URL is not https, so browsers drop the Secure session cookie there and nobody can sign in: serve Tocsin over HTTPS, by a proxy with a certificate, and set SVC_PUBLIC_URL to that https:// address.';
    case 'internal_listener_shared':
      return `Health and metrics are as open as ${warning.address}: give SVC_LISTEN_INTERNAL a port of its own.`;
    case 'secret_keys_file_mode':
      return 'Others can read the file of SVC_SECRET_KEYS_FILE: run chmod 600 on it, unless Tocsin runs as another user.';
    default:
      return warning satisfies never;
  }
}
