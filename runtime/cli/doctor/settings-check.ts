/** The check `settings`, and what of the settings no output may show. */
import { SECOND } from '../../clock.ts';
import type { Config } from '../../config.ts';
import { parseRedisUrl } from '../../redis/address.ts';
import type { CheckedConfig, SettingsWarning } from '../settings.ts';
import { type Check, type Finding, fail, unlessWrong } from './check.ts';

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
    `database ${database.database} on ${database.host}:${database.port}, address for people ${publicUrl}`,
  );
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
      return 'SVC_PUBLIC_URL is not https, so browsers keep no session there: serve it over HTTPS.';
    case 'internal_listener_shared':
      return `Health and metrics are as open as ${warning.address}: give SVC_LISTEN_INTERNAL a port of its own.`;
    case 'secret_keys_file_mode':
      return 'Others can read the file of SVC_SECRET_KEYS_FILE: take their right with chmod 600.';
    default:
      return warning satisfies never;
  }
}
