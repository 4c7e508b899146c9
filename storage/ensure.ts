/** What every start makes sure of among Routes, Integrations and Link rules (operations §2.2). */
import { EXPLORE, EXPLORE_TABLE } from '../actors/links/explore.ts';
import { ON_CALL_POLICY, PROFILE_GROUP_KEY } from '../actors/route/profiles.ts';
import type { Micros } from '../runtime/clock.ts';
import { newPublicId } from '../runtime/public-id.ts';
import { insertRule } from './link-rules.ts';
import type { Transaction } from './records.ts';

/** Idempotent; runs inside the start-up lock. What exists is left as people made it. */
export async function ensureDefaults(tx: Transaction, now: Micros): Promise<void> {
  await ensureDefaultRoute(tx, now);
  await ensureBuiltinIntegration(tx, now);
  await ensureExplore(tx, now);
}

async function ensureDefaultRoute(tx: Transaction, now: Micros): Promise<void> {
  await tx`
    insert into routes (
      id, version, position, is_default, name, description, matchers, urgent, group_key, destination_ids, policy,
      created_at
    )
    select
      ${newPublicId('RT')}, 1, 0, true, 'Default', '', '[]', false,
      ${JSON.stringify(PROFILE_GROUP_KEY)}::text::jsonb, '[]', ${JSON.stringify(ON_CALL_POLICY)}::text::jsonb, ${now}
    where not exists (select 1 from routes where is_default)`;
}

/** The source of Internal alerts. */
async function ensureBuiltinIntegration(tx: Transaction, now: Micros): Promise<void> {
  await tx`
    insert into integrations (
      id, version, builtin, name, description, static_labels, duplicate_window_seconds, heartbeat_enabled,
      heartbeat_timeout_seconds, created_at
    )
    select ${newPublicId('NT')}, 1, true, 'Tocsin', '', '{}', 45, false, 300, ${now}
    where not exists (select 1 from integrations where builtin)`;
}

async function ensureExplore(tx: Transaction, now: Micros): Promise<void> {
  const found = await tx`select 1 from link_rules where builtin`;
  if (found.length > 0) return;
  await insertRule(tx, { fields: EXPLORE, reads: [EXPLORE_TABLE], builtin: true, at: now });
}
