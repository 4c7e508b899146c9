/** Shapes that many answers share. */
import * as v from 'valibot';

export const EntityRef = v.object({ id: v.string(), name: v.string() });

export const AlertGroupRef = v.object({ id: v.string(), number: v.number() });
export type AlertGroupRef = v.InferOutput<typeof AlertGroupRef>;

export const UserRef = v.object({
  id: v.string(),
  name: v.string(),
  login: v.string(),
  deactivated: v.boolean(),
});

export const ActorRef = v.object({
  kind: v.picklist(['user', 'service_account']),
  id: v.string(),
  name: v.string(),
  login: v.optional(v.string()),
  deactivated: v.boolean(),
});

export const SecretStatus = v.object({ set: v.boolean(), updated_at: v.nullable(v.string()) });

export const MatcherShape = v.object({
  label: v.string(),
  op: v.picklist(['=', '!=', '=~', '!~']),
  value: v.string(),
});

export const Labels = v.record(v.string(), v.string());

export const LimiterShape = v.object({ limit: v.number(), per_seconds: v.number() });

export const DestinationRef = v.object({
  id: v.string(),
  name: v.string(),
  type: v.picklist(['webhook', 'chat_server', 'channel_bot', 'bridge']),
  health: v.object({
    state: v.picklist(['healthy', 'broken']),
    since: v.nullable(v.string()),
    reason: v.nullable(v.string()),
  }),
});

/** `{items, next_cursor}` of a paged list. */
export function pageOf<Item extends v.GenericSchema>(item: Item) {
  return v.object({ items: v.array(item), next_cursor: v.nullable(v.string()) });
}

/** `{items}` of a list that is not paged. */
export function itemsOf<Item extends v.GenericSchema>(item: Item) {
  return v.object({ items: v.array(item) });
}
