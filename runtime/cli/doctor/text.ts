/** Durations, lists and instants for people. */
import { DAY, HOUR, MINUTE, type Micros, SECOND } from '../../clock.ts';

const UNITS = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
] as const;

/** `45 s`, `12 min`, `3 h`, `2 d`: whole numbers of the largest unit that it fills. */
export function duration(micros: Micros): string {
  const [unit, name] = UNITS.find(([size]) => micros >= size) ?? [SECOND, 's'];
  return `${Math.max(0, Math.floor(micros / unit))} ${name}`;
}

/** Milliseconds with one decimal. */
export function milliseconds(micros: Micros): string {
  return `${(micros / 1000).toFixed(1)} ms`;
}

const SHOWN = 5;

/** The first few by name, the others counted. */
export function some(names: readonly (string | number)[]): string {
  const shown = names.slice(0, SHOWN).join(', ');
  return names.length > SHOWN ? `${shown} and ${names.length - SHOWN} more` : shown;
}

/** `1 replica`, `3 replicas`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
