/**
 * Refused tokens and signatures in the Audit log (access §11). A refusal costs its request a count in memory; entries
 * are written later, few of each source, with how many refusals they stand for.
 */
import { type Clock, HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import { auditEntry } from '../audit.ts';
import type { AuditEntry } from '../effects.ts';
import { sourceKey } from './throttle.ts';

/** How long refusals are counted before they are recorded. */
export const COUNTED_FOR: Micros = 10 * SECOND;

/** Sources that one replica distinguishes, of all kinds together; those beyond share one entry without an address. */
export const SOURCES_APART = 1_000;

/** Entries that one replica writes at a time. */
export const ENTRIES_AT_ONCE = 20;

/**
 * From one entry of a source and kind to its next, on all replicas together; the last one holds for every later entry.
 */
const WAITS: readonly Micros[] = [MINUTE, 10 * MINUTE, HOUR];

const ACTIONS = {
  api_token: 'api_token.refused',
  integration_token: 'integration_token.refuse',
  callback: 'connection.callback_refused',
} as const;

export interface RefusedProof {
  readonly kind: keyof typeof ACTIONS;
  readonly address: string;
  /** What the proof was of or for, when that is known. */
  readonly resourceId: string | null;
  readonly reason: 'unknown' | 'expired' | 'owner_inactive' | 'recheck_required' | 'unproven';
}

export interface RefusedProofs {
  /** Counts a refusal. Neither waits nor throws. */
  note(refused: RefusedProof): void;
}

export interface RefusedProofsDeps {
  /** Writes an entry unless one with this key is too recent. @returns null when written, otherwise when it may be */
  readonly record: (
    entry: AuditEntry,
    limit: { readonly key: string; readonly waits: readonly Micros[] },
  ) => Promise<Micros | null>;
  readonly clock: Clock;
  readonly log: Log;
}

interface Counted {
  /** The last one; without an address when it stands for several sources. */
  last: Omit<RefusedProof, 'address'> & { readonly address: string | null };
  count: number;
  notBefore: Micros;
}

export function createRefusedProofs({ record, clock, log }: RefusedProofsDeps): RefusedProofs {
  const counted = new Map<string, Counted>();
  let isDue = false;

  const recordSoon = () => {
    if (isDue) return;
    isDue = true;
    clock.after(COUNTED_FOR, () => void recordDue());
  };

  const recordDue = async () => {
    const now = clock.now();
    const due = [...counted].filter(([, { notBefore }]) => notBefore <= now).slice(0, ENTRIES_AT_ONCE);
    for (const [key, one] of due) {
      const { count } = one;
      try {
        const wait = await record(entryOf(one, now), { key: `refused/${key}`, waits: WAITS });
        if (wait !== null) one.notBefore = wait;
        // Those that came meanwhile are the next entry's, behind what waits already.
        else {
          counted.delete(key);
          if (one.count > count) counted.set(key, { ...one, count: one.count - count });
        }
      } catch (error) {
        // They stay counted, and are recorded once the database answers.
        log('audit_entry_delayed', { action: ACTIONS[one.last.kind], error: String(error) });
        break;
      }
    }
    isDue = false;
    if (counted.size > 0) recordSoon();
  };

  return {
    note(refused) {
      const own = `${refused.kind}/${sourceKey(refused.address)}`;
      const isApart = counted.has(own) || counted.size < SOURCES_APART;
      const key = isApart ? own : `${refused.kind}/others`;
      const last = isApart ? refused : { ...refused, address: null };
      const known = counted.get(key);
      if (known) Object.assign(known, { last, count: known.count + 1 });
      else counted.set(key, { last, count: 1, notBefore: 0 });
      recordSoon();
    },
  };
}

const SYSTEM = { kind: 'system', id: null, name: 'system' } as const;

function entryOf({ last, count }: Counted, at: Micros): AuditEntry {
  const { kind, address, resourceId, reason } = last;
  return auditEntry(
    { by: SYSTEM, at, address },
    { action: ACTIONS[kind], resourceId, resourceName: null, details: { reason, count } },
  );
}
