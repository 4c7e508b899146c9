/**
 * Evaluates rules and tells Alertmanagers as Prometheus does: an alert is sent when it begins, again once the resend
 * delay has passed since (so every second evaluation), with an end four intervals ahead, and as resolved for fifteen
 * intervals after its end.
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

export interface Turn {
  readonly rule: Rule;
  readonly fires: boolean;
}

export class Evaluator {
  readonly #rules: readonly Rule[];
  readonly #known = new Map<Rule, Active>();

  constructor(rules: readonly Rule[]) {
    this.#rules = rules;
  }

  /**
   * One evaluation.
   * @param second after the begin of the recording
   * @param now ms since the epoch
   */
  evaluate(
    second: number,
    now: number,
  ): { readonly send: readonly SentAlert[]; readonly turns: readonly Turn[] } {
    const turns: Turn[] = [];
    const send: SentAlert[] = [];
    for (const rule of this.#rules) {
      const turned = this.#judge(rule, rule.trueAt(second), now);
      if (turned !== null) turns.push({ rule, fires: turned });
      const active = this.#known.get(rule);
      if (!active || !isDue(active, now)) continue;
      active.sentAt = now;
      send.push(sentAlert(rule, active, now));
    }
    return { send, turns };
  }

  /** It is started anew: everything begins now for it, and what ended it does not know. */
  forget(): void {
    this.#known.clear();
  }

  /** Whether the rule began or ceased to fire now; null when neither. */
  #judge(rule: Rule, holds: boolean, now: number): boolean | null {
    const active = this.#known.get(rule);
    const fired = active !== undefined && active.endedAt === null;
    if (holds && !fired) {
      this.#known.set(rule, { since: now, endedAt: null, sentAt: null });
      return true;
    }
    if (!holds && active && fired) {
      active.endedAt = now;
      return false;
    }
    if (active?.endedAt && now - active.endedAt > RESOLVED_RETENTION) this.#known.delete(rule);
    return null;
  }
}

function isDue({ sentAt, endedAt }: Active, now: number): boolean {
  if (sentAt === null) return true;
  if (endedAt !== null && endedAt > sentAt) return true;
  return sentAt + RESEND_DELAY + 50 < now;
}

function sentAlert({ labels }: Rule, { since, endedAt }: Active, now: number): SentAlert {
  const entity =
    labels.instance ?? labels.pod ?? labels.queue ?? labels.service ?? labels.job ?? 'everything';
  return {
    labels,
    annotations: { summary: `${labels.alertname} on ${entity}` },
    startsAt: new Date(since).toISOString(),
    endsAt: new Date(endedAt ?? now + END_AHEAD).toISOString(),
    generatorURL: 'http://prometheus.example:9090/graph',
  };
}
