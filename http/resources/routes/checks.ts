/** What a Route's body must mean beyond its shape: everything that is 422 (routes §1 to §4), dry runs of templates aside. */
import type { Directory, Matcher, RoutePolicy } from '../../../actors/directory.ts';
import type { ChangedTemplates, RouteTemplateFault } from '../../../actors/previews/template-checks.ts';
import { matcherProblems } from '../../../actors/route/matcher.ts';
import {
  type RoutePolicyInput,
  settledPolicy,
  TEMPLATE_KEYS,
  TEMPLATE_LIMIT,
} from '../../../actors/route/policy.ts';
import type { RouteFields, StoredRoute } from '../../../actors/route/ports.ts';
import { codePoints } from '../../../actors/text.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import type { FieldError } from '../../problem.ts';
import { duplicates, nameErrors, templateError } from '../../schema/fields.ts';
import type { RouteInput } from './shapes.ts';

/** Every error of the body. `current` is the Route to be changed, null for a new one. */
export function routeErrors(
  input: RouteInput,
  current: StoredRoute | null,
  directory: Pick<Directory, 'destinationsById'>,
): readonly FieldError[] {
  return [
    ...nameErrors(input.name),
    ...matchersErrors(input.matchers, current?.isDefault ?? false),
    ...duplicates(input.group_key, '/group_key'),
    ...destinationErrors(input.destination_ids, directory.destinationsById),
    ...policyErrors(input.policy, current?.fields.policy ?? null),
  ];
}

/** What is stored: names trimmed, what was left out kept. */
export function routeFields(input: RouteInput, current: StoredRoute | null): RouteFields {
  const { description } = input;
  return {
    ...input,
    name: input.name.trim(),
    description: description === undefined ? (current?.fields.description ?? '') : (description ?? ''),
    policy: settledPolicy(input.policy, current?.fields.policy ?? null),
  };
}

/** What is 422 about `/matchers`. */
export function matchersErrors(matchers: readonly Matcher[], ofDefault: boolean): readonly FieldError[] {
  if (ofDefault && matchers.length > 0) {
    const detail = 'The Default route takes what no other Route took; it has no Matchers.';
    return [{ pointer: '/matchers', code: 'unsupported', detail }];
  }
  return matcherProblems(matchers).map(({ index, message }) => ({
    pointer: `/matchers/${index}/value`,
    code: 'invalid_regex',
    detail: message,
  }));
}

/** Unknown and repeated Destinations of `/destination_ids`. */
export function destinationErrors(
  ids: readonly PublicId[],
  destinationsById: Pick<Directory['destinationsById'], 'has'>,
): readonly FieldError[] {
  const unknown = ids.flatMap((id, index): FieldError[] => {
    if (destinationsById.has(id)) return [];
    const detail = 'There is no such Destination; it may have been deleted.';
    return [{ pointer: `/destination_ids/${index}`, code: 'unknown_id', detail }];
  });
  const told = new Set(unknown.map((error) => error.pointer));
  const repeated = duplicates(ids, '/destination_ids');
  return [...unknown, ...repeated.filter((error) => !told.has(error.pointer))];
}

function policyErrors(input: RoutePolicyInput, stored: RoutePolicy | null): readonly FieldError[] {
  const { reminders } = input;
  const errors = [
    ...duplicates(input.snooze_durations_seconds, '/policy/snooze_durations_seconds'),
    ...templateErrors(settledPolicy(input, stored).templates, stored),
  ];
  if (reminders.cap_seconds >= reminders.first_interval_seconds) return errors;
  const detail = 'The cap may not be shorter than the first interval.';
  return [...errors, { pointer: '/policy/reminders/cap_seconds', code: 'out_of_range', detail }];
}

/** Templates that are too long. Whether the others can be rendered takes a while to find out. */
function templateErrors(
  templates: RoutePolicy['templates'],
  stored: RoutePolicy | null,
): readonly FieldError[] {
  return TEMPLATE_KEYS.flatMap((key): FieldError[] => {
    const template = templates[key];
    if (template === null || template === stored?.templates[key] || fits(template)) return [];
    const detail = `A template has at most ${TEMPLATE_LIMIT} characters.`;
    return [{ pointer: `/policy/templates/${key}`, code: 'too_long', detail }];
  });
}

/** What a save would change the Route's templates to; those that are too long are refused anyway. */
export function changedTemplates(input: RoutePolicyInput, stored: RoutePolicy | null): ChangedTemplates {
  const { templates } = settledPolicy(input, stored);
  const changed = TEMPLATE_KEYS.flatMap((key) => {
    const template = templates[key];
    const isChanged = template !== null && template !== stored?.templates[key] && fits(template);
    return isChanged ? [[key, template] as const] : [];
  });
  return Object.fromEntries(changed);
}

export function templateFaultErrors(faults: readonly RouteTemplateFault[]): readonly FieldError[] {
  return faults.map(({ template, error }) => templateError(`/policy/templates/${template}`, error));
}

function fits(template: string): boolean {
  return codePoints(template) <= TEMPLATE_LIMIT;
}
