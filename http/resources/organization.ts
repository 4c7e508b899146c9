/** The Organization's settings, and the severities that arrive (organization §1, §5; api §9). */
import * as v from 'valibot';
import type { OrganizationView } from '../../actors/access/organization.ts';
import type { OrganizationStore, SeverityCount } from '../../actors/access/organization-ports.ts';
import type { Directory, DirectorySource } from '../../actors/directory.ts';
import type { HintBus } from '../../actors/effects.ts';
import { SEVERITY_LEVELS } from '../../actors/model.ts';
import { severityOf } from '../../actors/route/severity.ts';
import { DAY } from '../../runtime/clock.ts';
import { authorOf } from '../author.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { invalid, preconditionFailed } from '../problem.ts';
import { OrganizationBody, OrganizationShape, organizationBody } from './organization-shapes.ts';

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

const SeverityValues = v.object({
  items: v.array(
    v.object({
      value: v.string(),
      count: v.number(),
      level: v.picklist(SEVERITY_LEVELS),
      mapped: v.boolean(),
    }),
  ),
  window_days: v.number(),
});

export function organizationOperations(deps: OrganizationOperationsDeps): readonly Operation[] {
  const { store } = deps;
  return [
    operation({
      id: 'getOrganization',
      method: 'GET',
      path: PATH,
      tag: TAG,
      summary: 'Read the settings of the Organization',
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
      if (saving.isRouteTold) poke();
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
