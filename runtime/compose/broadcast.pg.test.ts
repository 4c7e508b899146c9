import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Hint } from '../../actors/effects.ts';
import { cellOf } from '../../actors/links/configuration.ts';
import { createWebhookSettings } from '../../storage/configuration/destination-rows.ts';
import { createDirectory } from '../../storage/configuration/directory.ts';
import { createLinkSource } from '../../storage/configuration/link-source.ts';
import { createIntegrationTokens } from '../../storage/integrations/tokens.ts';
import { firstStart, insertDestination, NOW } from '../../test/configuration.ts';
import { empty } from '../../test/emptied.ts';
import { createManualClock } from '../../test/fakes/manual-clock.ts';
import { createSignalsHub, type HubMember } from '../../test/fakes/signals.ts';
import { useDatabase } from '../../test/postgres.ts';
import { SECOND } from '../clock.ts';
import type { OutboundPolicy } from '../outbound/address-policy.ts';
import type { OutboundClient } from '../outbound/client.ts';
import { newPublicId, type PublicId } from '../public-id.ts';
import { createShared, followConfiguration } from './broadcast.ts';

const database = useDatabase();
const HASH = Buffer.from('a token');

beforeEach(async () => {
  const sql = database.sql();
  await firstStart(sql);
  await empty(sql, 'announcements');
  await sql`update organization_outbound_policy set policy = 'standard'`;
});

/** What one process keeps in memory, with others to tell or alone. */
async function remembering(id: string, signals: HubMember | null) {
  const sql = database.sql();
  const clock = createManualClock();
  const logged: string[] = [];
  const log = (event: string) => logged.push(event);
  const policies: OutboundPolicy['policy'][] = [];
  const gone = new Set<() => void>();
  const onGone = (listener: () => void) => {
    gone.add(listener);
    return () => void gone.delete(listener);
  };
  const others = signals && { signals, hasIsolated: () => false, onGone };
  const sharing = { me: { id, boot: '1' }, main: sql, clock, log, others };
  const { broadcast, hints } = createShared(sharing);
  const directory = createDirectory({ sql, clock, log });
  await directory.reload();
  const tokens = createIntegrationTokens({ sql, clock, log, isTrusted: () => watch.isTrusted() });
  const webhookSettings = createWebhookSettings(sql, clock);
  const client = { setPolicy: ({ policy }) => policies.push(policy), release: () => undefined } as Pick<
    OutboundClient,
    'setPolicy' | 'release'
  > as OutboundClient;
  const links = createLinkSource(sql, clock);
  await links.reload();
  const activeKeys: string[] = [];
  const activeKey = (keyId: string) => activeKeys.push(keyId);
  const memory = { directory, tokens, client, links, webhookSettings, activeKey };
  const { watch, saving } = followConfiguration({ ...sharing, broadcast, memory });
  broadcast.start();
  watch.start();
  await watch.look();
  onTestFinished(async () => {
    watch.stop();
    await broadcast.stop();
  });
  const lose = () => {
    for (const listener of gone) listener();
  };
  return { clock, logged, policies, hints, watch, saving, lose, activeKeys, ...memory };
}

async function two() {
  const hub = createSignalsHub();
  const signals = [hub.member(), hub.member()] as const;
  const [here, there] = [await remembering('a', signals[0]), await remembering('b', signals[1])];
  return { hub, signals, here, there };
}

const routeName = (process: { directory: { current(): { routes: readonly { name: string }[] } } }) =>
  process.directory.current().routes[0]?.name;
const renameRoute = (name: string) => database.sql()`update routes set name = ${name}`;

async function createToken(): Promise<PublicId> {
  const id = newPublicId('NK');
  await database.sql()`
    insert into integration_tokens (id, integration_id, hash, created_at)
    select ${id}, id, ${HASH}, ${NOW} from integrations where builtin`;
  return id;
}
const revoke = () => database.sql()`update integration_tokens set revoked_at = ${NOW}`;

describe('what one replica saves, another', () => {
  test('has read again soon after it was told', async () => {
    const { here, there } = await two();
    await renameRoute('Renamed');
    await here.saving.directory.reload();
    expect(routeName(here)).toBe('Renamed');
    await expect.poll(() => routeName(there)).toBe('Renamed');
  });

  test('shows to a caller that comes after the answer, though it was told nothing', async () => {
    const { hub, here, there } = await two();
    hub.lose(() => true);
    await renameRoute('Renamed');
    await here.saving.directory.reload();
    await there.watch.look();
    expect(routeName(there)).toBe('Renamed');
  });

  test('sees within a second when nobody asks and nobody tells', async () => {
    const { hub, here, there } = await two();
    hub.lose(() => true);
    await renameRoute('Renamed');
    await here.saving.directory.reload();
    there.clock.advance(SECOND);
    await expect.poll(() => routeName(there)).toBe('Renamed');
  });

  test('follows as the active master key, which a command changed and told nobody of', async () => {
    const { there } = await two();
    await database.sql()`
      insert into keyring (active_key_id, canary) values ('k-1', 'k-0123456789abcdef:AAAA')`;
    there.clock.advance(SECOND);
    await expect.poll(() => there.activeKeys).toEqual(['k-1']);
  });

  test('refuses a token for, once it was told or a second later', async () => {
    const { hub, here, there } = await two();
    await createToken();
    await there.watch.look();
    expect(await there.tokens.find(HASH)).not.toBeNull();
    await revoke();
    await here.saving.tokens.invalidate();
    await expect.poll(() => there.tokens.find(HASH)).toBeNull();

    await database.sql()`update integration_tokens set revoked_at = null`;
    await there.watch.look();
    expect(await there.tokens.find(HASH)).not.toBeNull();
    hub.lose(() => true);
    await revoke();
    await here.saving.tokens.invalidate();
    there.clock.advance(SECOND);
    await expect.poll(() => there.tokens.find(HASH)).toBeNull();
  });

  test('makes links with', async () => {
    const { here, there } = await two();
    await database.sql()`
      insert into lookup_tables (id, version, name, description, columns, entries, created_at)
      values (${newPublicId('TB')}, 1, 'teams', '', '["chat"]', '[["core", "#core"]]', ${NOW})`;
    await here.saving.links.reload();
    const cell = ({ links }: typeof there) => cellOf(links.current(), 'teams', 'core', 'chat');
    expect(cell(here)).toBe('#core');
    await expect.poll(() => cell(there)).toBe('#core');
  });

  test('sends to with the new settings', async () => {
    const { here, there } = await two();
    const id = await insertDestination(database.sql(), 'Pager');
    await there.watch.look();
    expect(await there.webhookSettings.events(id)).toBeNull();
    await database.sql()`update destinations set events = '{"url": "https://x.test", "headers": []}'`;
    here.saving.webhookSettings.forget(id);
    await expect.poll(() => there.webhookSettings.events(id)).not.toBeNull();
  });

  test('connects by the new outbound policy', async () => {
    const { here, there } = await two();
    await database.sql()`update organization_outbound_policy set policy = 'strict'`;
    here.saving.client.setPolicy({ policy: 'strict', allowed: [], denied: [] });
    expect(here.policies.at(-1)).toBe('strict');
    await expect.poll(() => there.policies.at(-1)).toBe('strict');
  });
});

describe('without signals', () => {
  test('a save is seen within a second, and hints are late by as much', async () => {
    const { signals, here, there } = await two();
    for (const member of signals) member.setUp(false);
    const heard: (Hint | null)[] = [];
    there.hints.listen((hint) => heard.push(hint));
    const rows = async () => (await database.sql()`select 1 from announcements`).length;
    // Null once the rows are followed.
    await expect
      .poll(() => {
        there.clock.advance(SECOND);
        return heard;
      })
      .toEqual([null]);

    await renameRoute('Renamed');
    await here.saving.directory.reload();
    here.hints.send({ type: 'route', id: null });
    here.clock.advance(SECOND / 10);
    await expect.poll(rows).toBe(2);
    there.clock.advance(SECOND);
    await expect.poll(() => heard).toEqual([null, { type: 'route', id: null }]);
    await expect.poll(() => routeName(there)).toBe('Renamed');
  });

  test('that is logged, and so is that it is over', async () => {
    const { signals, there } = await two();
    signals[1].setUp(false);
    there.clock.advance(SECOND);
    signals[1].setUp(true);
    expect(there.logged).toEqual(['live_updates_failed', 'live_updates_restored']);
  });

  test('a moment without them, as every new subscription takes, is not worth a line', async () => {
    const { signals, there } = await two();
    signals[1].setUp(false);
    there.clock.advance(SECOND / 2);
    signals[1].setUp(true);
    there.clock.advance(SECOND);
    expect(there.logged).toEqual([]);
  });
});

test('when a replica is gone, hints of it may be lost', async () => {
  const { there } = await two();
  const heard: (Hint | null)[] = [];
  there.hints.listen((hint) => heard.push(hint));
  there.lose();
  expect(heard).toEqual([null]);
});

test('a process that is alone asks nothing and trusts what it knows', async () => {
  const alone = await remembering('a', null);
  await renameRoute('Renamed');
  await alone.watch.look();
  expect([routeName(alone), alone.watch.isTrusted()]).toEqual(['Default', true]);
  await alone.saving.directory.reload();
  expect(routeName(alone)).toBe('Renamed');
});
