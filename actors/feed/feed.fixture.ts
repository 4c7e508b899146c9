/** One feed with a pretended world around it: Snapshots in the notation of ingestion §15 go in, parts come out. */
import type { Turn } from '../../runtime/actor/index.ts';
import { SECOND } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { ALERT_GROUP, type SnapshotPart } from '../alert-group/messages.ts';
import type { Directory, IntegrationConfig } from '../directory.ts';
import { INTEGRATION as INTEGRATION_KIND, type IntegrationMessage } from '../integration/messages.ts';
import { createFeedActor } from './actor.ts';
import type { SnapshotReported } from './effects.ts';
import type { FeedState } from './machine.ts';
import { feedAddress } from './messages.ts';
import type { AskedPlace, Home, Places } from './ports.ts';
import { parseSnapshot, type Snapshot } from './snapshot.ts';

export const T = 1_790_000_000 * SECOND;
export const GROUP = 'AG0000000000AA' as PublicId;
const INTEGRATION = 'NT0000000000AB' as PublicId;
const GROUP_KEY = '{}/{team="db"}:{alertname="DiskFull"}';
const ROUTE = 'RT0000000000AB' as PublicId;

const INSTANCES: Record<string, string> = { A: 'db-a', B: 'db-b', C: 'db-c', X: 'web-x' };
const S0 = Date.parse('2026-10-03T09:58:00Z') / 1000;
/** Start of `A+1`, µs. */
export const S1 = (S0 + 60) * SECOND;

/** Places as storage finds them, out of the memory of a test. */
export function placesBy(
  homeOf: (fingerprint: string) => Home | undefined,
  targetOf: (slot: NonNullable<AskedPlace['slot']>) => PublicId,
  fresh: ReadonlySet<PublicId> = new Set(),
): Places {
  return {
    find: async (_, asked) => {
      const homes = new Map<string, Home>();
      const targets = new Map<string, PublicId>();
      for (const { fingerprint, slot } of asked) {
        const home = homeOf(fingerprint);
        if (home) homes.set(fingerprint, home);
        if (slot && !home?.live) targets.set(fingerprint, targetOf(slot));
      }
      return { homes, targets, fresh: new Set(fresh) };
    },
  };
}

export interface Options {
  readonly group?: 'firing' | 'resolved';
  readonly truncated?: number;
  readonly summary?: string;
  readonly replayed?: true;
  readonly reason?: string;
}

/** `A+` firing with start s0, `A+1` with a later one, `A-` resolved with s0. */
export function snapshotOf(entries: string, options: Options = {}): Snapshot {
  const alerts = entries.split(' ').flatMap((text) => {
    const match = /^([A-Z]\d*)([+-])(\d*)$/.exec(text);
    if (!match) return [];
    const [, name = '', sign, later] = match;
    return {
      status: sign === '+' ? 'firing' : 'resolved',
      labels: { alertname: 'DiskFull', instance: INSTANCES[name] ?? name },
      annotations: { summary: options.summary ?? 'disk' },
      startsAt: new Date((S0 + Number(later) * 60) * 1000).toISOString(),
      fingerprint: name,
    };
  });
  const parsed = parseSnapshot(
    Buffer.from(
      JSON.stringify({
        groupKey: GROUP_KEY,
        status: options.group ?? 'firing',
        truncatedAlerts: options.truncated ?? 0,
        alerts,
        ...(options.reason ? { notification_reason: options.reason } : {}),
      }),
    ),
  );
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.snapshot;
}

function directory(): Directory {
  const route = {
    id: ROUTE,
    name: 'Default',
    isDefault: true,
    deleted: false,
    matchers: [],
    urgent: false,
    groupKey: ['alertname'],
    destinationIds: [],
  };
  return {
    organization: { severityLabel: 'severity', severityMapping: [] },
    routes: [route],
    integrationsById: new Map([
      [
        INTEGRATION,
        {
          id: INTEGRATION,
          name: 'lab',
          builtin: false,
          deleted: false,
          deletedAt: null,
          ended: false,
          staticLabels: { cluster: 'b' },
          duplicateWindowSeconds: 45,
          heartbeat: { enabled: false, timeoutSeconds: 300 },
        },
      ],
    ]),
  } as unknown as Directory;
}

/** What one Snapshot led to. */
export interface Heard {
  readonly parts: readonly SnapshotPart[];
  /** What the Integration is told. */
  readonly told: readonly IntegrationMessage[];
  /** Keys of receivers that are known to be new. */
  readonly toNew: readonly string[];
  readonly report: SnapshotReported;
  /** The state object is the one from before. */
  readonly unchanged: boolean;
  readonly asked: boolean;
}

export class FeedUnderTest {
  /** Saves the Integration: what is given replaces what was. */
  configure(change: Partial<IntegrationConfig>): void {
    const [before] = this.directory.integrationsById.values();
    if (!before) throw new Error('there is no Integration');
    const integrationsById = new Map([[INTEGRATION as string, { ...before, ...change }]]);
    this.directory = { ...this.directory, integrationsById };
  }

  readonly homes = new Map<string, Home>();
  /** Groups that no Slot named before. */
  readonly fresh = new Set<PublicId>();
  directory = directory();
  #seq = 0;
  readonly #definition = createFeedActor({
    directory: () => this.directory,
    places: placesBy(
      (fingerprint) => this.homes.get(fingerprint),
      () => GROUP,
      this.fresh,
    ),
  });
  state = this.#definition.start('');
  readonly rows = this.#definition.emptyRows('');
  readonly #self = feedAddress(`${INTEGRATION}.abc`);

  /** A Snapshot received `at` seconds after T. */
  async hear(at: number, entries: string, options: Options = {}): Promise<Heard> {
    const message = {
      type: 'snapshot' as const,
      seq: ++this.#seq,
      snapshotId: 'SS0000000000AB' as PublicId,
      receivedAt: T + at * SECOND,
      snapshot: snapshotOf(entries, options),
      replayed: options.replayed === true,
    };
    const actor = { self: this.#self, state: this.state, rows: this.rows };
    const preparing = this.#definition.prepare?.(actor, message) ?? null;
    const turn = this.#definition.receive(actor, message, {
      now: message.receivedAt,
      from: null,
      prepared: preparing === null ? undefined : await preparing,
      random: (size) => new Uint8Array(size),
    });
    const unchanged = this.#keep(turn.state);
    return {
      ...sentBy(turn),
      toNew: turn.sends.flatMap(({ to, isNew }) => (isNew ? [to.key] : [])),
      report: turn.performs[0] as SnapshotReported,
      unchanged,
      asked: preparing !== null,
    };
  }

  /** The Integration looked `at` seconds after T, and found that nothing was heard since `heardAt`. */
  fallSilent(
    at: number,
    silence: {
      readonly heardAt: number;
      readonly cutoff: number;
      readonly stale?: boolean;
      readonly onlyOlderEnds?: true;
    },
  ): Pick<Heard, 'parts' | 'told' | 'unchanged'> {
    const actor = { self: this.#self, state: this.state, rows: this.rows };
    const message = {
      type: 'silent' as const,
      groupKey: GROUP_KEY,
      heardAt: T + silence.heardAt * SECOND,
      cutoff: T + silence.cutoff * SECOND,
      stale: silence.stale ?? true,
      ...(silence.onlyOlderEnds && { onlyOlderEnds: true as const }),
      at: T + at * SECOND,
    };
    const env = { now: message.at, from: null, prepared: undefined, random: () => new Uint8Array() };
    const turn = this.#definition.receive(actor, message, env);
    return { ...sentBy(turn), unchanged: this.#keep(turn.state) };
  }

  /** As a restart would: what is not persisted is not remembered. */
  #keep(state: FeedState): boolean {
    const unchanged = this.state === state;
    this.state = unchanged ? this.state : this.#definition.restore(this.#definition.persist(state));
    return unchanged;
  }

  /** The home says that Alerts do not fire any more, since `at` seconds after T. */
  end(at: number, ...fingerprints: string[]): void {
    const actor = { self: this.#self, state: this.state, rows: this.rows };
    const message = { type: 'ended' as const, fingerprints, at: T + at * SECOND };
    const env = { now: message.at, from: null, prepared: undefined, random: () => new Uint8Array() };
    this.state = this.#definition.receive(actor, message, env).state;
    for (const fingerprint of fingerprints) this.homes.set(fingerprint, resolvedHome(at));
  }
}

function sentBy({ sends }: Turn<FeedState>): Pick<Heard, 'parts' | 'told'> {
  const messages = (kind: string): unknown[] =>
    sends.filter(({ to }) => to.kind === kind).map(({ message }) => message);
  return {
    parts: messages(ALERT_GROUP) as readonly SnapshotPart[],
    told: messages(INTEGRATION_KIND) as readonly IntegrationMessage[],
  };
}

/** A home where an Alert with start s0 was resolved by its own entry. */
export function resolvedHome(at: number): Home {
  return {
    groupId: GROUP,
    live: true,
    history: {
      state: 'resolved',
      startsAt: S0 * SECOND,
      endedStart: S0 * SECOND,
      resolvedAt: T + at * SECOND,
      resolvedBy: 'own_entry',
    },
  };
}
