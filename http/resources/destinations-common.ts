/** What Destinations of every type have in common, as it arrives and as it is answered (api §15). */
import * as v from 'valibot';
import type { DestinationFields, StoredDestination } from '../../actors/destination/ports.ts';
import type { Directory } from '../../actors/directory.ts';
import { formatInstant } from '../../runtime/clock.ts';
import { name, nameErrors } from '../fields.ts';
import type { FieldError } from '../problem.ts';
import { EntityRef, LimiterShape } from '../shapes.ts';
import {
  changedMentions,
  MentionsInput,
  MentionsShape,
  mentionErrors,
  mentionsBody,
} from './destinations-mentions.ts';

const DEFAULT_LIMITER = { limit: 5, per_seconds: 1 } as const;
const LIMITER_BOUNDS = { limit: 1000, per_seconds: 3600 } as const;

export const commonInput = {
  name,
  mentions: v.optional(v.nullable(MentionsInput)),
  limiter: v.optional(v.nullable(v.object({ limit: v.number(), per_seconds: v.number() }))),
};
const CommonInput = v.object(commonInput);
type CommonInput = v.InferOutput<typeof CommonInput>;

export const HealthShape = v.object({
  state: v.picklist(['healthy', 'broken']),
  since: v.nullable(v.string()),
  reason: v.nullable(v.string()),
});

export const commonShape = {
  id: v.string(),
  name: v.string(),
  mentions: MentionsShape,
  limiter: LimiterShape,
  health: HealthShape,
  routes: v.array(EntityRef),
  created_at: v.string(),
  etag: v.string(),
};
const CommonShape = v.object(commonShape);

/** 422 of what every type has. */
export function commonErrors(
  input: CommonInput,
  type: DestinationFields['type'],
  directory: Pick<Directory, 'usersById'>,
): readonly FieldError[] {
  return [
    ...nameErrors(input.name),
    ...mentionErrors(input.mentions, type, directory),
    ...limiterErrors(input),
  ];
}

/** What is left out keeps its value, null goes back to the default (seed 2 §2.1 rule 4). */
export function commonFields(input: CommonInput, current: StoredDestination | null) {
  const { limiter } = input;
  return {
    name: input.name.trim(),
    mentions: changedMentions(input.mentions, current?.fields.mentions),
    limiter:
      limiter === undefined ? (current?.fields.limiter ?? DEFAULT_LIMITER) : (limiter ?? DEFAULT_LIMITER),
  };
}

export function commonBody(
  { id, fields, health, createdAt, version }: StoredDestination,
  directory: Pick<Directory, 'routes'>,
): v.InferOutput<typeof CommonShape> {
  const routes = directory.routes.filter((route) => route.destinationIds.includes(id));
  return {
    id,
    name: fields.name,
    mentions: mentionsBody(fields.mentions),
    limiter: fields.limiter,
    health: healthBody(health),
    routes: routes.map((route) => ({ id: route.id, name: route.name })),
    created_at: formatInstant(createdAt),
    etag: `"${version}"`,
  };
}

export function healthBody(health: StoredDestination['health']): v.InferOutput<typeof HealthShape> {
  if (health.state === 'healthy') return { state: health.state, since: null, reason: null };
  return { state: health.state, since: formatInstant(health.since), reason: health.reason };
}

function limiterErrors({ limiter }: CommonInput): readonly FieldError[] {
  if (!limiter) return [];
  return (['limit', 'per_seconds'] as const).flatMap((field): FieldError[] => {
    const value = limiter[field];
    if (Number.isInteger(value) && value >= 1 && value <= LIMITER_BOUNDS[field]) return [];
    const detail = `This is a whole number from 1 to ${LIMITER_BOUNDS[field]}.`;
    return [{ pointer: `/limiter/${field}`, code: 'out_of_range', detail }];
  });
}
