/**
 * Makes several processes look like one to their callers: hints reach browsers everywhere, and what a process remembers
 * of the configuration follows what any of them saves. A single process follows nothing.
 */
import type { DirectorySource } from '../../actors/directory.ts';
import type { Hint, HintBus } from '../../actors/effects.ts';
import type { IntegrationTokens } from '../../actors/integration/ports.ts';
import type { LinkSource } from '../../actors/links/configuration.ts';
import { createHintBus, createSharedHintBus } from '../../http/live/hint-bus.ts';
import { appendAudit } from '../../storage/access/audit.ts';
import type { WebhookSettingsSource } from '../../storage/configuration/destination-rows.ts';
import type { StoredDirectory } from '../../storage/configuration/directory.ts';
import type { StoredLinks } from '../../storage/configuration/link-source.ts';
import { createOutboundPolicyStore } from '../../storage/configuration/organization.ts';
import { createAnnouncementStore } from '../../storage/engine/announcements.ts';
import {
  type ConfigurationWatch,
  createConfigurationWatch,
  noConfigurationWatch,
} from '../../storage/engine/configuration-watch.ts';
import { readActiveKeyId } from '../../storage/keys/keyring.ts';
import type { Sql } from '../../storage/postgres/records.ts';
import type { Signals } from '../broadcast.ts';
import { type Broadcast, createBroadcast, noBroadcast } from '../broadcast.ts';
import { type Clock, SECOND, systemMonotonic, type Timer } from '../clock.ts';
import type { Log } from '../log.ts';
import type { OutboundClient } from '../outbound/client.ts';
import { type Member, memberText } from '../placement/coordination.ts';

export interface SharedDeps {
  readonly me: Member;
  readonly main: Sql;
  readonly clock: Clock;
  readonly log: Log;
  /** Null when this process is the only one. */
  readonly others: {
    readonly signals: Signals;
    hasIsolated(): boolean;
    onGone(listener: () => void): () => void;
  } | null;
}

export interface Shared {
  readonly broadcast: Broadcast;
  readonly hints: HintBus;
  /** Tells the browsers of this process alone. */
  readonly hintHere: (hint: Hint) => void;
}

export function createShared({ me, main, clock, log, others }: SharedDeps): Shared {
  if (others === null) {
    const hints = createHintBus();
    return { broadcast: noBroadcast, hints, hintHere: hints.send };
  }
  const broadcast = createBroadcast({
    me: memberText(me),
    signals: others.signals,
    fallback: createAnnouncementStore(main, clock),
    hasIsolated: () => others.hasIsolated(),
    clock,
    log,
  });
  logLiveUpdates(others.signals, clock, log);
  const hints = createSharedHintBus({ broadcast, clock });
  // A replica that was killed may have stored changes that it did not announce.
  const stopDoubting = others.onGone(() => broadcast.doubt());
  const stop = async () => {
    stopDoubting();
    hints.flush();
    await broadcast.stop();
  };
  return { broadcast: { ...broadcast, stop }, hints, hintHere: hints.sendHere };
}

/** Signals that are away for less make hints no later than without them: each subscription takes them away briefly. */
const TOLD_AFTER = SECOND;

/** While signals are away, hints between replicas are late by a second (operations §5.5 rule 2). */
function logLiveUpdates(signals: Signals, clock: Clock, log: Log): void {
  let telling: Timer | null = null;
  let wasTold = false;
  const tell = () => {
    wasTold = true;
    log('live_updates_failed', {
      error: 'other replicas cannot be told at once; hints are late by a second',
    });
  };
  signals.onState((isUp) => {
    telling?.cancel();
    telling = isUp ? null : clock.after(TOLD_AFTER, tell);
    if (isUp && wasTold) log('live_updates_restored');
    wasTold &&= !isUp;
  });
}

/** What a process remembers of the configuration. */
export interface Memory {
  readonly directory: StoredDirectory;
  readonly tokens: Pick<IntegrationTokens, 'invalidate'>;
  readonly webhookSettings: WebhookSettingsSource;
  readonly client: OutboundClient;
  readonly links: StoredLinks;
  /** Told which master key is active. */
  readonly activeKey: (keyId: string) => void;
}

export interface FollowDeps extends SharedDeps {
  readonly broadcast: Broadcast;
  readonly memory: Memory;
}

export interface Following {
  readonly watch: ConfigurationWatch;
  /** For whoever saves: the same memory; what changes it here is announced to the other replicas. */
  readonly saving: {
    readonly directory: DirectorySource;
    readonly tokens: { invalidate(): Promise<void> };
    readonly webhookSettings: Pick<WebhookSettingsSource, 'forget'>;
    readonly client: Pick<OutboundClient, 'setPolicy' | 'release'>;
    readonly links: LinkSource;
  };
}

const TOPIC = 'configuration';

/** Announces only that something was saved: receivers read what changed. */
export function followConfiguration(deps: FollowDeps): Following {
  const { broadcast, memory } = deps;
  const watch = deps.others === null ? noConfigurationWatch : watchOver(deps);
  const tell = () => broadcast.send(TOPIC, null);
  // A failed look is repeated within a second, and says so then.
  const lookSoon = () => void watch.look().catch(() => undefined);
  broadcast.on(TOPIC, lookSoon);
  return {
    watch,
    saving: {
      directory: {
        current: () => memory.directory.current(),
        async reload() {
          await Promise.all([memory.directory.reload(), tell()]);
        },
      },
      tokens: {
        async invalidate() {
          memory.tokens.invalidate();
          await tell();
        },
      },
      webhookSettings: {
        forget(id) {
          memory.webhookSettings.forget(id);
          void tell();
        },
      },
      client: {
        setPolicy(policy) {
          memory.client.setPolicy(policy);
          // Should a look be under way that has read the policy before, the next one puts it right.
          lookSoon();
          void tell();
        },
        release: (owner) => memory.client.release(owner),
      },
      links: {
        current: () => memory.links.current(),
        async reload() {
          await Promise.all([memory.links.reload(), tell()]);
        },
      },
    },
  };
}

function watchOver({ main, clock, log, memory }: FollowDeps): ConfigurationWatch {
  const { directory, tokens, webhookSettings, client, links } = memory;
  const policies = createOutboundPolicyStore(main, appendAudit);
  return createConfigurationWatch({
    sql: main,
    clock,
    monotonic: systemMonotonic,
    log,
    follow: {
      directory: (version) => directory.reach(version),
      integration_tokens: () => tokens.invalidate(),
      webhooks: () => webhookSettings.forgetAll(),
      links: (version) => links.reach(version),
      async keyring() {
        const active = await readActiveKeyId(main);
        if (active !== null) memory.activeKey(active);
      },
      async outbound_policy() {
        const { policy } = await policies.read();
        client.setPolicy(policy);
      },
    },
  });
}
