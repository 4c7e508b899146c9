/** Every statement that the service sends, with the plan by which the server carried it out (auto_explain). */
import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import type { Sql } from '../../storage/postgres/records.ts';
import { until } from '../harness/until.ts';

/** Server settings that write each plan to the log, with what it read. */
export const RECORDING = {
  ...{ logging_collector: 'on', log_destination: 'jsonlog', log_filename: 'plans', log_rotation_size: '0' },
  log_min_messages: 'log',
  session_preload_libraries: 'auto_explain',
  'auto_explain.log_min_duration': '0',
  'auto_explain.log_format': 'json',
  'auto_explain.log_analyze': 'on',
  'auto_explain.log_buffers': 'on',
  'auto_explain.log_timing': 'off',
  'auto_explain.log_nested_statements': 'on',
} as const;
/** Where they are, below the folder of the server's files. */
export const RECORDED = 'log/plans.json';
/** Beginning of the names of connections whose plans are read. */
const SERVICE = 'tocsin ';
const PLAN = /^duration: [\d.]+ ms {2}plan:\n/;

const LogLine = v.object({
  application_name: v.optional(v.string(), ''),
  message: v.optional(v.string(), ''),
});
const count = v.optional(v.number(), 0);
const Node = v.object({
  'Node Type': v.string(),
  'Relation Name': v.optional(v.string()),
  'Index Name': v.optional(v.string()),
  'Actual Rows': count,
  'Actual Loops': count,
  'Rows Removed by Filter': count,
  'Rows Removed by Index Recheck': count,
  'Shared Hit Blocks': count,
  'Shared Read Blocks': count,
  Plans: v.optional(v.array(v.lazy((): v.GenericSchema<unknown, Node> => Node)), []),
});
interface Node extends Omit<v.InferOutput<typeof Node>, 'Plans'> {
  readonly Plans: readonly Node[];
}
const Explained = v.object({ 'Query Text': v.string(), Plan: Node });

export interface RecordedPlan {
  /** In one line, without runs of blanks. */
  readonly statement: string;
  /** Tables, partitions included, that were read from end to end or until enough was found. */
  readonly scanned: readonly string[];
  /** Rows that scans of tables and indexes gave or passed over. */
  readonly rows: number;
  /** Pages of 8 KiB, wherever they were. */
  readonly buffers: number;
}

/** Reads what was recorded since it was asked last. The server writes its log a moment later, so the end is marked. */
export function planReader(logFile: string, marking: Sql): () => Promise<readonly RecordedPlan[]> {
  let from = 0;
  let marks = 0;
  return async () => {
    const mark = `end of part ${++marks}`;
    await marking.unsafe(`select '${mark}'`);
    const lines = await until(mark, async () => {
      const text = readFileSync(logFile).subarray(from).toString();
      return text.includes(mark) && text.endsWith('\n') ? text.split('\n') : undefined;
    });
    from = statSync(logFile).size;
    return lines.flatMap((line) => (line === '' ? [] : plansIn(line)));
  };
}

function plansIn(line: string): RecordedPlan[] {
  const { application_name: client, message } = v.parse(LogLine, JSON.parse(line));
  if (!client.startsWith(SERVICE) || !PLAN.test(message)) return [];
  const { 'Query Text': text, Plan: tree } = v.parse(Explained, JSON.parse(message.replace(PLAN, '')));
  const nodes = [...everyNode(tree)];
  return [
    {
      statement: text.replaceAll(/\s+/g, ' ').trim(),
      scanned: nodes.flatMap((node) =>
        node['Node Type'] === 'Seq Scan' && node['Actual Loops'] > 0 ? (node['Relation Name'] ?? []) : [],
      ),
      rows: Math.round(nodes.reduce((sum, node) => sum + rowsRead(node), 0)),
      buffers: tree['Shared Hit Blocks'] + tree['Shared Read Blocks'],
    },
  ];
}

function* everyNode(node: Node): Generator<Node> {
  yield node;
  for (const child of node.Plans) yield* everyNode(child);
}

function rowsRead(node: Node): number {
  if (node['Relation Name'] === undefined && node['Index Name'] === undefined) return 0;
  const each = node['Actual Rows'] + node['Rows Removed by Filter'] + node['Rows Removed by Index Recheck'];
  return each * node['Actual Loops'];
}
