/**
 * Evaluates rules and tells Alertmanagers as Prometheus does: an alert is sent when it begins, again once the resend
 * delay has passed since (so every second evaluation), with an end four intervals ahead, and as resolved for fifteen
 * intervals after its end. The last is why it is there: Prometheus itself does so for fifteen minutes, whatever its
 * intervals are.
 */
import type { Rule } from './rules.ts';

/** ms */
export const EVALUATION_INTERVAL = 1_000;
const RESEND_DELAY = 1_000;
const END_AHEAD = 4 * EVALUATION_INTERVAL;
const RESOLVED_RETENTION = 15 * EVALUATION_INTERVAL;

/** As `POST /api/v2/alerts` takes it. */
export interface SentAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt: string;
  readonly endsAt: string;
  readonly generatorURL: string;
}

/** Times are ms since the epoch. */
interface Active {
  readonly since: number;
  endedAt: number | null;
  sentAt: number | null;
}

export class Evaluator {
  readonly #rules: readonly Rule[];
  readonly #known = new Map<Rule, Active>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  /**
   * One evaluation; what is to be sent now.
   * @param second after the begin of the recording
   * @param now ms since the epoch
   */
  evaluate(second: number, now: number): SentAlert[] {
    const send: SentAlert[] = [];
    for (const rule of this.#rules) {
      this.#judge(rule, rule.trueAt(second), now);
      const active = this.#known.get(rule);
      if (!active || !isDue(active, now)) continue;
      active.sentAt = now;
      send.push(sentAlert(rule, active, now));
    }
    return send;
  }

  #judge(rule: Rule, holds: boolean, now: number): void {
    const active = this.#known.get(rule);
    const fired = active !== undefined && active.endedAt === null;
    if (holds && !fired) this.#known.set(rule, { since: now, endedAt: null, sentAt: null });
    else if (!holds && active && fired) active.endedAt = now;
    else if (active?.endedAt && now - active.endedAt > RESOLVED_RETENTION) this.#known.delete(rule);
  }
}

function isDue({ sentAt, endedAt }: Active, now: number): boolean {
  if (sentAt === null) return true;
  if (endedAt !== null && endedAt > sentAt) return true;
  return sentAt + RESEND_DELAY + 50 < now;
}

function sentAlert({ labels }: Rule, { since, endedAt }: Active, now: number): SentAlert {
  const entity = labels.instance ?? labels.pod ?? labels.queue ?? labels.job ?? 'everything';
  return {
    labels,
    annotations: { summary: `${labels.alertname} on ${entity}` },
    startsAt: new Date(since).toISOString(),
    endsAt: new Date(endedAt ?? now + END_AHEAD).toISOString(),
    generatorURL: 'http://prometheus.example:9090/graph',
  };
}
