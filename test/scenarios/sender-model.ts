/**
 * What a sender itself said about its Alerts: its bodies, read as ingestion §6.2, §6.3 and §6.6 want them read, but by
 * looking back over all of them, where the service goes from one to the next. It knows nothing of what the service did.
 */
import { MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';
import type { Line } from '../recordings/recording.ts';

/** In which way an Alert ended. */
export type Ending = 'own_entry' | 'group_wide' | 'gone' | 'stale';

export interface SentBody {
  readonly at: Micros;
  readonly groupKey: string;
  /** It calls the whole group resolved. */
  readonly isOver: boolean;
  /** Its list is not the whole one. */
  readonly isCut: boolean;
  /** Starts by fingerprint, ms since the epoch by the sender's clock. */
  readonly firing: ReadonlyMap<string, number>;
  readonly resolved: ReadonlyMap<string, number>;
}

export interface Ended {
  readonly fingerprint: string;
  readonly by: string;
  readonly at: Micros;
  /** How the Alert ended before that; null when it never had. */
  readonly previous: { readonly at: Micros; readonly by: string } | null;
}

const GONE_AFTER = 5 * MINUTE;
/** Within this time of one another what two senders of a pair say may have overtaken the other: the duplicate window. */
const MOMENTS = 45 * SECOND;

export class SenderModel {
  readonly #bodies: readonly SentBody[];
  readonly #staleAfter: Micros;
  readonly #overs = new Map<SentBody, boolean>();

  /**
   * @param time of the replay for a time of the recording
   * @param repeatInterval with which the sender was configured, by the time of the replay
   */
  constructor(lines: readonly Line[], time: (at: Micros) => Micros, repeatInterval: Micros) {
    this.#bodies = lines.flatMap((line) =>
      line.kind === 'post' ? [readBody(line.body, time(line.at))] : [],
    );
    this.#staleAfter = 3 * repeatInterval;
  }

  /** The bodies received at that very moment. */
  at(at: Micros): SentBody[] {
    return this.#bodies.filter((body) => body.at === at);
  }

  /** What bodies may end by themselves: Alerts that they call resolved, and all others that their group ever listed. */
  possibleEnds(): { readonly fingerprint: string; readonly at: Micros; readonly by: Ending }[] {
    return this.#bodies.flatMap(({ at, groupKey, resolved, isOver }, index) => {
      const earlier = this.#bodies.slice(0, index).filter((body) => isOver && body.groupKey === groupKey);
      const listed = new Set(earlier.flatMap(({ firing }) => [...firing.keys()]));
      return [
        ...[...resolved.keys()].map((fingerprint) => ({ fingerprint, at, by: 'own_entry' as const })),
        ...[...listed].map((fingerprint) => ({ fingerprint, at, by: 'group_wide' as const })),
      ];
    });
  }

  /** Whether what the sender had said by then ends the Alert in the way that is claimed. */
  ends({ fingerprint, by, at, previous }: Ended): boolean {
    const from = previous?.at ?? Number.NEGATIVE_INFINITY;
    const said = this.#bodies.filter((body) => from < body.at && body.at <= at);
    const ended = this.#newestStart(fingerprint, from);
    // Copies that were under way when its own entry ended it list nothing.
    const listedFrom = previous?.by === 'own_entry' ? from + MOMENTS : from;
    const listings = said.filter(({ firing, at: told }) => {
      const start = firing.get(fingerprint);
      return start !== undefined && (start > ended || told >= listedFrom);
    });
    if (listings.length === 0) return false;
    const byGroup = [...new Set(listings.map(({ groupKey }) => groupKey))].map((groupKey) =>
      said.filter((body) => body.groupKey === groupKey),
    );
    const now = this.at(at);
    const isAbsent = (group: readonly SentBody[]) => isMissed(group, fingerprint);
    const isSilent = (group: readonly SentBody[]) => at - lastListing(group, fingerprint) >= this.#staleAfter;
    switch (by) {
      case 'own_entry':
        return now.some(({ resolved }) =>
          isNews(fingerprint, resolved.get(fingerprint), { ended, listings }),
        );
      case 'group_wide':
        return now.some(
          (body) =>
            this.#callsAllOver(body) &&
            !body.firing.has(fingerprint) &&
            !body.resolved.has(fingerprint) &&
            listings.some(({ groupKey }) => groupKey === body.groupKey),
        );
      case 'gone': {
        const isOut = (group: readonly SentBody[]) => isAbsent(group) || isTakenBack(group, fingerprint);
        return (
          byGroup.some((group) => group.at(-1)?.at === at && isOut(group)) &&
          byGroup.every((group) => isOut(group) || isSilent(group))
        );
      }
      case 'stale':
        return byGroup.some(isSilent) && byGroup.every((group) => isAbsent(group) || isSilent(group));
      default:
        return false;
    }
  }

  /** Whether a body that calls its group over says so of what it does not name, too: it tells an end that its group did not. */
  #callsAllOver(body: SentBody): boolean {
    const known = this.#overs.get(body);
    if (known !== undefined) return known;
    const isOver =
      body.isOver &&
      (body.firing.size + body.resolved.size === 0 ||
        [...body.resolved].some(([fingerprint, start]) => this.#isFirstTold(fingerprint, start, body)));
    this.#overs.set(body, isOver);
    return isOver;
  }

  #isFirstTold(fingerprint: string, start: number, { at, groupKey }: SentBody): boolean {
    const before = this.#bodies.filter((body) => body.groupKey === groupKey && body.at < at);
    const last = before.findLastIndex(({ firing }) => firing.has(fingerprint));
    const listed = before[last]?.firing.get(fingerprint);
    if (listed === undefined) return false;
    const newest = Math.max(...before.map(({ firing }) => firing.get(fingerprint) ?? listed));
    if (start < newest || before.some(({ resolved }) => (resolved.get(fingerprint) ?? -Infinity) >= newest))
      return false;
    const since = before.slice(last);
    return !isMissed(since, fingerprint) && !since.slice(1).some((body) => this.#callsAllOver(body));
  }

  /** Of the Alert, as far as it was told until then. */
  #newestStart(fingerprint: string, until: Micros): number {
    const bodies = this.#bodies.filter(({ at }) => at <= until);
    return Math.max(...startsIn(bodies, fingerprint));
  }
}

interface Firing {
  /** Start of the firing before. */
  readonly ended: number;
  readonly listings: readonly SentBody[];
}

/** Whether an entry that calls the Alert resolved is about the firing that the listings tell of, and no earlier one. */
function isNews(fingerprint: string, entry: number | undefined, { ended, listings }: Firing): boolean {
  if (entry === undefined) return false;
  const told = startsIn(listings, fingerprint);
  if (entry < Math.max(...told)) return false;
  return told.includes(entry) || entry > ended;
}

function startsIn(bodies: readonly SentBody[], fingerprint: string): number[] {
  return bodies.flatMap(({ firing, resolved }) =>
    [firing.get(fingerprint), resolved.get(fingerprint)].filter((start) => start !== undefined),
  );
}

/** Whether whole lists of the group left the Alert out for long enough since the last that named it. */
function isMissed(group: readonly SentBody[], fingerprint: string): boolean {
  const without = group.filter(({ at, isCut }) => !isCut && at > lastListing(group, fingerprint));
  const [first, last] = [without[0], without.at(-1)];
  return first !== undefined && last !== undefined && last.at - first.at >= GONE_AFTER;
}

/** Whether the group said since that what it listed last is over, while another one keeps it firing. */
function isTakenBack(group: readonly SentBody[], fingerprint: string): boolean {
  const last = lastListing(group, fingerprint);
  const start = group.find(({ at }) => at === last)?.firing.get(fingerprint) ?? Number.POSITIVE_INFINITY;
  return group.some(({ at, isOver, resolved }) => {
    const ended = resolved.get(fingerprint);
    return at > last && (ended === undefined ? isOver : ended >= start);
  });
}

function lastListing(group: readonly SentBody[], fingerprint: string): Micros {
  return group.findLast(({ firing }) => firing.has(fingerprint))?.at ?? Number.NEGATIVE_INFINITY;
}

function readBody(text: string, at: Micros): SentBody {
  const { groupKey, status, truncatedAlerts, alerts } = JSON.parse(text);
  const startsOf = (wanted: string) =>
    new Map<string, number>(
      alerts.flatMap((alert: { status: string; fingerprint: string; startsAt: string }) =>
        alert.status === wanted ? [[alert.fingerprint, Date.parse(alert.startsAt)]] : [],
      ),
    );
  return {
    at,
    groupKey,
    isOver: status === 'resolved',
    isCut: truncatedAlerts > 0,
    firing: startsOf('firing'),
    resolved: startsOf('resolved'),
  };
}
