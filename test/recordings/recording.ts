/** What a recording holds and how it is read: gzip of JSON lines, in the order of their times. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';

const at = v.pipe(v.number(), v.integer());

const DISTURBANCES = ['restarted', 'reloaded', 'prometheus_restarted'] as const;
export type Disturbance = (typeof DISTURBANCES)[number];

/** Times are µs of real time after the begin of the recording. */
const LineSchema = v.variant('kind', [
  /** A webhook that was accepted, byte for byte; `from` is the instance that sent it. */
  v.object({ kind: v.literal('post'), at, from: v.number(), body: v.string() }),
  /** A sign of life that was accepted. */
  v.object({ kind: v.literal('heartbeat'), at, from: v.number() }),
  /** The truth: a rule was true from `at` until `until`. */
  v.object({ kind: v.literal('fired'), at, until: at, labels: v.record(v.string(), v.string()) }),
  /** The truth: what has these labels was silenced. */
  v.object({ kind: v.literal('silenced'), at, until: at, labels: v.record(v.string(), v.string()) }),
  /** The truth: the senders cut their lists. */
  v.object({ kind: v.literal('cut'), at, until: at }),
  /** What may make the senders say what is not so: an instance or a Prometheus was ended, or both took a configuration. */
  v.object({ kind: v.literal('disturbed'), at, what: v.picklist(DISTURBANCES) }),
  /** What was done to the senders, in words. */
  v.object({ kind: v.literal('story'), at, text: v.string() }),
]);

export type Line = v.InferOutput<typeof LineSchema>;

export function readRecording(name: string): Line[] {
  const packed = readFileSync(path.join(import.meta.dirname, name));
  const lines = gunzipSync(packed).toString('utf8').trimEnd().split('\n');
  return lines.map((line) => v.parse(LineSchema, JSON.parse(line)));
}
