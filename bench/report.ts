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
  readonly compared?: Compared;
}

/** How much of the same work was done a second, in the same run. */
export interface Compared {
  readonly product: number;
  /** Alertmanager. */
  readonly peer?: number;
  /** A bare loop that does the same durable work (`limit/`). */
  readonly limit?: number;
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
  /** Debian packages of programs without which it cannot run. */
  readonly needs?: readonly string[];
  /** Measured seconds when none are asked for. */
  readonly seconds?: number;
  /** Left out when no name is given. */
  readonly onlyByName?: true;
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

/** A row of the table at the end of a run. Empty: there is nothing to compare with, or no goal. */
export interface TableRow {
  readonly bench: string;
  readonly work: string;
  readonly product: string;
  readonly peer: string;
  readonly limit: string;
  readonly overPeer: string;
  readonly overLimit: string;
  readonly goal: string;
  readonly met: boolean | null;
}

const NOT_MEASURED = 'not measured';
const HEADINGS: TableRow = {
  ...{ bench: 'Bench', work: 'Work', product: 'Product', peer: 'Alertmanager', limit: 'Bare loop' },
  ...{ overPeer: '÷ Alertmanager', overLimit: '÷ bare loop', goal: 'Goal', met: null },
};

/** What has a goal or is compared, of all benches of a run; a bench that gave no figures is one row. */
export function tableOf(reports: readonly Report[]): readonly TableRow[] {
  return reports.flatMap(({ name, title, rows }) => {
    const shown = rows.filter(({ goal, compared }) => goal !== undefined || compared !== undefined);
    if (rows.length === 0) return [tableRow(name, { what: title, value: NOT_MEASURED })];
    return shown.map((row) => tableRow(name, row));
  });
}

function tableRow(bench: string, { what: work, value, goal = '', met, compared }: Row): TableRow {
  const rate = (figure: number | undefined) => (figure === undefined ? '' : measured(figure, perSecond));
  const over = (figure: number | undefined) =>
    compared === undefined || figure === undefined
      ? ''
      : measured(compared.product / figure, (ratio) => ratio.toFixed(2));
  return {
    ...{ bench, work, product: compared === undefined ? value : rate(compared.product) },
    ...{ peer: rate(compared?.peer), limit: rate(compared?.limit) },
    ...{ overPeer: over(compared?.peer), overLimit: over(compared?.limit), goal, met: met ?? null },
  };
}

function measured(figure: number, show: (figure: number) => string): string {
  return Number.isFinite(figure) ? show(figure) : NOT_MEASURED;
}

export function printTable(rows: readonly TableRow[]): void {
  const lines = [HEADINGS, ...rows].map(({ met, ...cells }) => ({
    mark: markOf(met),
    cells: Object.values(cells),
  }));
  const widths = Object.keys(HEADINGS).map((_, column) =>
    Math.max(...lines.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  console.log('');
  for (const { mark, cells } of lines)
    console.log(
      `${mark} ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
    );
}

function markOf(met: boolean | null): string {
  if (met === null) return ' ';
  return met ? '✓' : '✗';
}

export function printReport(report: Report): void {
  const width = Math.max(...report.rows.map((row) => row.what.length));
  const valueWidth = Math.max(...report.rows.map((row) => row.value.length));
  console.log(`\n${report.title}`);
  for (const row of report.rows) {
    const goal = row.goal ? `goal ${row.goal}` : '';
    console.log(
      `  ${markOf(row.met ?? null)} ${row.what.padEnd(width)}  ${row.value.padStart(valueWidth)}  ${goal}`.trimEnd(),
    );
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
    `${JSON.stringify({ commit, machine: machine(), node: process.version, table: tableOf(reports), reports }, null, 2)}\n`,
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
