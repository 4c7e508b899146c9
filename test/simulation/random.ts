import { spawnSync } from 'node:child_process';

/** Random numbers that a seed decides. */
export interface Random {
  /** In [0, 1). */
  next(): number;
  /** A whole number in [0, below). */
  int(below: number): number;
  between(low: number, high: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  bytes(size: number): Uint8Array;
  /** A source of its own that later draws here do not disturb. */
  fork(): Random;
}

/** splitmix32: small, fast and good enough to tell runs apart. */
export function seededRandom(seed: number): Random {
  let state = seed | 0;
  const next = () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
  };
  const int = (below: number) => Math.floor(next() * below);
  return {
    next,
    int,
    between: (low, high) => low + next() * (high - low),
    chance: (probability) => next() < probability,
    pick: (items) => items[int(items.length)]!,
    bytes: (size) => Uint8Array.from({ length: size }, () => int(256)),
    fork: () => seededRandom(int(2 ** 31)),
  };
}

/** The seed of a run of tests: what is asked for, else of the commit, so that each commit tries others and repeats its own. */
export function seedOfRun(asked: string | undefined): number {
  if (asked !== undefined) return Number(asked);
  const head = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: import.meta.dirname, encoding: 'utf8' }).stdout;
  return Number.parseInt(head?.slice(0, 5) || '1', 16);
}
