/** What a bench gives back, how it is printed and where it is kept. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import path from 'node:path';

export interface Row {
  readonly what: string;
  readonly value: string;
  readonly goal?: string;
  /** Whether the goal was met; absent when there is none. */
  readonly met?: boolean;
}

export interface Report {
  readonly name: string;
  readonly title: string;
  readonly rows: readonly Row[];
  /** Everything measured, for later comparison. */
  readonly raw: unknown;
}

export interface Bench {
  readonly name: string;
  readonly title: string;
  /** Measured seconds when none are asked for. */
  readonly seconds?: number;
  /** A goal that is missed fails the run. */
  readonly isStrict?: true;
  run(options: BenchOptions): Promise<Omit<Report, 'name' | 'title'>>;
}

export interface BenchOptions {
  /** Measured seconds of each load. */
  readonly seconds: number;
  readonly warmupSeconds: number;
  progress(line: string): void;
}

export function printReport(report: Report): void {
  const width = Math.max(...report.rows.map((row) => row.what.length));
  const valueWidth = Math.max(...report.rows.map((row) => row.value.length));
  console.log(`\n${report.title}`);
  for (const row of report.rows) {
    const mark = row.met === undefined ? ' ' : row.met ? '✓' : '✗';
    const goal = row.goal ? `goal ${row.goal}` : '';
    console.log(`  ${mark} ${row.what.padEnd(width)}  ${row.value.padStart(valueWidth)}  ${goal}`.trimEnd());
  }
}

/** Writes `bench/results/<time>.json` and gives its path. */
export function keepReports(reports: readonly Report[]): string {
  const folder = path.join(import.meta.dirname, 'results');
  mkdirSync(folder, { recursive: true });
  const file = path.join(folder, `${new Date().toISOString().replaceAll(':', '-')}.json`);
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  writeFileSync(
    file,
    `${JSON.stringify({ commit, machine: machine(), node: process.version, reports }, null, 2)}\n`,
  );
  return file;
}

export function machine(): string {
  const [first] = cpus();
  return `${cpus().length} cores (${first?.model ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
}

export const perSecond = (value: number) => `${Math.round(value).toLocaleString('en-GB')}/s`;
export const millis = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

/** NaN when there are none. */
export function percentiles(values: readonly number[]): { p50: number; p95: number; p99: number } {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
}
