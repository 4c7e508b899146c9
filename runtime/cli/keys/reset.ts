/** `tocsin keys reset`: begins anew after all master keys were lost (secrets §5.1). */
import { appendAudit } from '../../../storage/access/audit.ts';
import { type ResetOutcome, resetKeyring } from '../../../storage/keys/key-change.ts';
import { systemClock } from '../../clock.ts';
import type { SealedFieldName } from '../../secrets/sealed-fields.ts';
import { type Command, type CommandIo, EXIT } from '../command.ts';
import { counted, NO_KEYRING, readActor, refuse, withDatabase, wrongUsage } from '../command-database.ts';

const NAME = 'tocsin keys reset';

/** How people know what was wiped. */
const NOUNS: Readonly<Record<SealedFieldName, string>> = {
  'keyring.canary': 'canary',
  'destination.secret': 'Secret',
  'destination.signing_secret': 'signing secret (generate a new one)',
  'destination.signing_secret_previous': 'previous signing secret (nothing to enter)',
  'destination.proxy_password': 'proxy password',
  'connection.bridge_token': 'token',
  'connection.bridge_push_secret': 'push secret',
  'connection.webhook_secret_token': 'secret of a webhook (nothing to enter: it is set anew)',
  'connection.proxy_password': 'proxy password',
  'organization.heartbeat_url': 'URL of the outgoing heartbeat',
  'organization.heartbeat_proxy_password': 'proxy password of the outgoing heartbeat',
  'oidc.client_secret': 'client secret of the identity provider',
  'oidc.proxy_password': 'proxy password of the identity provider',
  'oidc.pkce_verifier': 'sign-in under way (begin it again)',
  'user.offline_token': 'offline token (sign in again)',
  'user.totp_seed': 'second factor (enrol again)',
  'user.totp_pending_seed': 'second factor being set up (begin it again)',
};

export const keysReset: Command = {
  name: 'keys reset',
  summary: 'wipe every stored secret, when all master keys were lost',
  help: `Usage: tocsin keys reset --actor <name> --yes [--json]

The last resort when the keys of a database are lost: wipes every stored secret, makes the first listed key active, ends
all sessions, and lists what has to be entered again. Destinations that lost what they need are Broken until then; what
they have to send waits. Passwords, API tokens and Integration tokens stay as they are. There is no way back: look for the
keys in every backup first, and stop the service. Works on the database named by SVC_DATABASE_*, with the environment of
the service.

  --actor <name>  who does it, for the Audit log
  --yes           do it
  --json          print one JSON object: {"active", "sessions_ended", "wiped": [{"field", "owner", "name"}]}

Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`,
  options: { actor: { type: 'string' }, yes: { type: 'boolean' }, json: { type: 'boolean' } },
  async run(values, io) {
    const asked = readActor(values);
    if ('wrong' in asked) return wrongUsage(io, NAME, asked.wrong);
    if (values.yes !== true) {
      return wrongUsage(
        io,
        NAME,
        '--yes is needed: this wipes every stored secret and ends all sessions, for good.',
      );
    }
    return withDatabase(NAME, io, async ({ masterKeys, alone }) => {
      const [first] = masterKeys;
      if (first === undefined) throw new Error('the settings hold no key');
      const by = { kind: 'cli', id: null, name: asked.actor } as const;
      const author = { by, at: systemClock.now(), address: null };
      const outcome = await alone((tx) => resetKeyring(tx, appendAudit, first, author));
      return tell(io, outcome, values.json === true);
    });
  },
};

function tell(io: CommandIo, outcome: ResetOutcome, isJson: boolean): number {
  if (outcome.outcome === 'no_keyring') return refuse(io, NAME, NO_KEYRING);
  const { active, wiped, sessionsEnded, ending } = outcome;
  if (isJson) {
    io.out(JSON.stringify({ active, sessions_ended: sessionsEnded, wiped }));
    return EXIT.done;
  }
  io.out(
    `${active} is active; ${counted(wiped.length, 'value')} wiped, ${counted(sessionsEnded, 'session')} ended.`,
  );
  if (wiped.length > 0) io.out('Enter again:');
  for (const { field, owner, name } of wiped) {
    io.out(`  ${owner}${name === null ? '' : ` (${name})`}: ${NOUNS[field]}`);
  }
  if (ending.length > 0) {
    io.out(`Do not hold this key and end within 30 s: ${ending.join(', ')}. Give them the new list.`);
  }
  return EXIT.done;
}
