/** The Organization's settings, the severities that arrive (organization §1, §5), and its master keys (secrets §5). */
import * as v from 'valibot';
import type { OrganizationView } from '../../../actors/access/organization.ts';
import type { OrganizationStore, SeverityCount } from '../../../actors/access/organization-change.ts';
import type { Directory, DirectorySource } from '../../../actors/directory.ts';
import type { HintBus } from '../../../actors/effects.ts';
import { severityOf } from '../../../actors/route/evaluate.ts';
import { DAY, formatInstantOrNull, type Micros } from '../../../runtime/clock.ts';
import { type KeyEntry, keyringBody } from '../../../runtime/secrets/key-report.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { invalid, preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { ProxyConfigInput, ProxyConfigShape, proxyBody, SecretStatus } from '../../schema/shapes.ts';
import { SeverityLevel } from '../../schema/words.ts';

/** The Organization's settings as they arrive and as they are answered (organization §2, §3). */
const LONGEST_RETENTION_DAYS = 36_500;
const LONGEST_GRACE_SECONDS = 3_153_600_000;

/** At least one is a rule of meaning, with 422; the greatest is one of form. */
const days = v.pipe(v.number(), v.integer(), v.maxValue(LONGEST_RETENTION_DAYS));

const settings = {
  name: d.text('Name of the Organization.'),
  time_zone: d.text('IANA time zone of whoever has none.'),
  severity_label: d.text('Label whose value gives the severity.'),
  severity_mapping: d.described(
    v.array(
      d.named(
        'SeverityMapping',
        v.object({
          value: d.text('Value of the label, 1 to 200 characters, each once.', 'page'),
          level: SeverityLevel,
        }),
        'The level of a value.',
      ),
    ),
    'Levels of values, at most 200. Values without a mapping are `warning`.',
  ),
  severity_styles: d.described(
    v.array(
      d.named(
        'SeverityStyle',
        v.object({
          level: SeverityLevel,
          emoji: d.text('Emoji of messages, 1 to 8 characters.'),
          color: d.text('Color as `#rrggbb`.', '#d92d20'),
        }),
        'How a level is shown.',
      ),
    ),
    'How each level is shown; every level once.',
  ),
  critical_is_urgent: d.flag('Whether the level `critical` is Urgent on every Route.'),
  instance_labels: d.described(
    v.array(v.string()),
    'Labels in which two Alerts about the same thing may differ, such as `pod`.',
  ),
  retention: d.named(
    'Retention',
    v.object({
      stored_snapshots_days: d.described(days, 'Bodies of Snapshots.'),
      alert_details_days: d.described(days, 'Alerts and Timelines of resolved Alert Groups.'),
      alert_group_summaries_days: d.described(days, 'Resolved Alert Groups themselves.'),
      audit_log_days: d.described(days, 'The Audit log.'),
    }),
    'Days for which things are kept, 1 to 36,500. Summaries at least as long as details.',
  ),
  totp_required: d.described(
    v.picklist(['nobody', 'local_users', 'everyone']),
    'Who needs a second factor: `nobody`, `local_users` (with a password) or `everyone`.',
  ),
  oidc_token_grace_seconds: d.described(
    v.pipe(v.number(), v.integer(), v.maxValue(LONGEST_GRACE_SECONDS)),
    'Seconds for which tokens of people work while the provider cannot be asked.',
  ),
};

const SettingsBase = d.named(
  'OrganizationBase',
  v.object(settings),
  'Settings that are answered as they are saved.',
);

const workdayStart = v.pipe(v.string(), v.regex(/^([01][0-9]|2[0-3]):[0-5][0-9]$/));
const weekStart = d.named(
  'Weekday',
  v.picklist(['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday']),
  'A day: `monday`, `tuesday`, `wednesday`, `thursday`, `friday`, `saturday` or `sunday`.',
);

const OrganizationBody = d.extending(
  SettingsBase,
  'OrganizationInput',
  v.object({
    ...settings,
    workday_start: d.described(
      v.optional(workdayStart),
      'When a workday begins, `HH:MM`. Left out it stays.',
    ),
    week_start: d.described(v.optional(weekStart), 'Day a week begins with. Left out it stays.'),
    outgoing_heartbeat: d.described(
      v.object({
        url: v.optional(
          v.nullable(d.url('Address, up to 2,000 characters. Left out it stays, null ends it.')),
        ),
        proxy: ProxyConfigInput,
      }),
      'A sign of life to a watcher elsewhere, once a minute.',
    ),
  }),
  'Settings of the Organization as they are saved.',
);

const OrganizationShape = d.extending(
  SettingsBase,
  'Organization',
  v.object({
    id: d.id('RG'),
    ...settings,
    workday_start: d.described(workdayStart, 'When a workday begins, `HH:MM`.'),
    week_start: weekStart,
    outgoing_heartbeat: d.described(
      v.object({
        url_status: d.described(
          SecretStatus,
          'Whether an address is stored. It holds a token, so it is not answered.',
        ),
        proxy: ProxyConfigShape,
      }),
      'A signal of Tocsin itself to a watcher elsewhere.',
    ),
    etag: d.text('Their version, as in the header `ETag`.'),
  }),
  'Settings of the installation.',
);

function organizationBody({ id, version, settings, heartbeat }: OrganizationView) {
  const { isUrlSet, urlAt, proxy, proxyPasswordAt } = heartbeat;
  return {
    id,
    ...settings,
    outgoing_heartbeat: {
      url_status: { set: isUrlSet, updated_at: formatInstantOrNull(urlAt) },
      proxy: proxyBody(proxy, proxyPasswordAt),
    },
    etag: `"${version}"`,
  };
}

export interface OrganizationOperationsDeps {
  readonly store: OrganizationStore;
  readonly directory: Pick<DirectorySource, 'reload'>;
  readonly hints: Pick<HintBus, 'send'>;
  /** Makes the engine look into the inbox. */
  readonly poke: () => void;
}

const PATH = '/organization';
const TAG = 'Organization';
const OF_SETTINGS = { description: 'The settings', schema: OrganizationShape, etag: true } as const;

/** `organization.severity_values_window`. */
const WINDOW_DAYS = 14;
const MOST_VALUES = 500;
const LONGEST_VALUE = 200;

const SeverityValues = d.named(
  'SeverityValues',
  v.object({
    items: d.described(
      v.array(
        v.object({
          value: d.text('The value.'),
          count: d.count('Alerts with this value.'),
          level: d.described(SeverityLevel, 'The level it counts as.'),
          mapped: d.flag('Whether there is a mapping for it.'),
        }),
      ),
      'At most 500, the most frequent first.',
    ),
    window_days: d.count('Days that were counted.'),
  }),
  'Values of the severity label that arrived lately.',
);

export function organizationOperations(deps: OrganizationOperationsDeps): readonly Operation[] {
  const { store } = deps;
  return [
    operation({
      id: 'getOrganization',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'Read the settings of the Organization',
      description: 'Everybody who is signed in may read them.',
      needs: 'authenticated',
      answers: { 200: OF_SETTINGS },
      handle: async () => settingsAnswer(await store.read()),
    }),

    operation({
      id: 'updateOrganization',
      method: 'PUT',
      path: PATH,
      tag: TAG,
      summary: 'Change the settings of the Organization',
      description: 'All fields are replaced. Shorter retention removes data at the next clean-up.',
      needs: 'organization:write',
      ifMatch: 'required',
      body: OrganizationBody,
      answers: { 200: OF_SETTINGS },
      handle: (call) => update(deps, call),
    }),

    operation({
      id: 'listSeverityValues',
      method: 'GET',
      path: `${PATH}/severity-values`,
      tag: TAG,
      summary: 'List the values of the severity label that arrived lately',
      description: 'Those of the last 14 days, to find values without a mapping.',
      needs: 'organization:read',
      answers: { 200: { description: 'The most frequent first', schema: SeverityValues } },
      async handle({ now, directory }) {
        const counts = await store.severityValues(now - WINDOW_DAYS * DAY, MOST_VALUES);
        const items = counts.map((counted) => severityValue(counted, directory));
        return { status: 200, body: { items, window_days: WINDOW_DAYS } };
      },
    }),
  ];
}

async function update(
  { store, directory, hints, poke }: OrganizationOperationsDeps,
  call: Call<unknown, v.InferOutput<typeof OrganizationBody>>,
): Promise<Answer> {
  const isCurrent = (version: number) => call.ifMatch?.matches(version) ?? false;
  const saving = await store.update(call.body, isCurrent, authorOf(call));
  switch (saving.outcome) {
    case 'stale':
      return preconditionFailed();
    case 'invalid':
      return invalid(saving.errors);
    case 'unchanged':
      return settingsAnswer(saving.organization);
    case 'saved':
      await directory.reload();
      if (saving.isUrgencyEdited) poke();
      hints.send({ type: 'organization', id: null });
      if (saving.isUrlChanged) hints.send({ type: 'system-status', id: null });
      return settingsAnswer(saving.organization);
  }
}

function settingsAnswer(organization: OrganizationView): Answer {
  return { status: 200, body: organizationBody(organization), etag: organization.version };
}

function severityValue({ value, count }: SeverityCount, { organization }: Directory) {
  const { level, raw } = severityOf({ [organization.severityLabel]: value }, organization);
  return { value: cut(value), count, level, mapped: raw === null };
}

function cut(value: string): string {
  const points = [...value];
  return points.length <= LONGEST_VALUE ? value : `${points.slice(0, LONGEST_VALUE).join('')}…`;
}

/** Which master keys there are, who holds them and which may go (secrets §5, api §9). */
export interface KeyringOperationsDeps {
  /** The active key first, then by id. */
  keys(now: Micros): Promise<readonly KeyEntry[]>;
}

const KeyringShape = d.named(
  'Keyring',
  v.object({
    keys: d.described(
      v.array(
        v.object({
          id: d.text('Id of the key.'),
          active: d.flag('Whether new values are sealed with it.'),
          held_by: d.described(v.array(v.string()), 'Ids of the live replicas that hold it.'),
          missing_on: d.described(v.array(v.string()), 'Ids of the live replicas that do not.'),
          needed: d.flag('Whether something can only be opened with it.'),
          removable: d.flag('Whether it may be taken away.'),
        }),
      ),
      'The active one first, then by id.',
    ),
  }),
  'The master keys that replicas hold.',
);

export function keyringOperations(deps: KeyringOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'getKeyring',
      method: 'GET',
      path: '/organization/keyring',
      tag: 'Organization',
      summary: 'Read which master keys are held, needed and removable',
      description: 'The active key first. Keys themselves are never answered.',
      needs: 'organization:read',
      answers: { 200: { description: 'The keyring', schema: KeyringShape } },
      handle: async ({ now }) => ({ status: 200, body: keyringBody(await deps.keys(now)) }),
    }),
  ];
}
