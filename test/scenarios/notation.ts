/** How scenarios write times and alerts, as close to the tables as text allows. */
import { HOUR, MINUTE, type Micros, SECOND } from '../../runtime/clock.ts';

const UNITS = { h: HOUR, m: MINUTE, s: SECOND } as const;

/** `t13` or `t13m` (minutes), `t4h`, `t30s`, `t19:59` (minutes and seconds), after the scenario's begin, µs. */
export function momentOf(text: string): Micros {
  const clock = /^t(\d+):(\d\d)$/.exec(text);
  if (clock) return Number(clock[1]) * MINUTE + Number(clock[2]) * SECOND;
  const plain = /^t(\d+)([hms])?$/.exec(text);
  if (!plain) throw new Error(`${text} is no moment of a scenario`);
  return Number(plain[1]) * UNITS[(plain[2] ?? 'm') as keyof typeof UNITS];
}

/** The way back from {@link momentOf}, to the second: `t13`, `t4h`, `t19:59`. Whole hours from 3 h on are hours. */
export function momentText(since: Micros): string {
  const seconds = Math.floor(since / SECOND);
  if (seconds % 3600 === 0 && seconds >= 3 * 3600) return `t${seconds / 3600}h`;
  const rest = String(seconds % 60).padStart(2, '0');
  return seconds % 60 === 0 ? `t${seconds / 60}` : `t${Math.floor(seconds / 60)}:${rest}`;
}

const SEVERITIES: Readonly<Record<string, string>> = { I: 'info', C: 'critical' };

/**
 * Labels of `X1`, `X2` (warning, n), `XI` (info), `XC` (critical), `Xb` (cluster b), `P1` (pod p1), and so on with any
 * other letter as alertname.
 */
export function labelsOf(name: string): Record<string, string> {
  const alertname = name.slice(0, 1);
  const kind = name.slice(1);
  const labels = {
    alertname,
    cluster: kind === 'b' ? 'b' : 'a',
    severity: SEVERITIES[kind.slice(0, 1)] ?? 'warning',
  };
  return alertname === 'P' ? { ...labels, pod: `p${kind}` } : { ...labels, n: kind };
}
