/** The recorded pair of Alertmanagers as a story (`test/recordings`), at a pace and with one instance behind the other. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import * as v from 'valibot';
import { type Micros, parseInstant, SECOND } from '../../runtime/clock.ts';
import { BEGIN } from './engine.ts';
import { type Received, type Story, textOf } from './story.ts';

const FILE = path.join(import.meta.dirname, '../recordings/alertmanager-pair.jsonl.gz');

/** `t` is ms after the begin of the recording; lines of another shape say what was done to the pair. */
const PostSchema = v.object({ t: v.number(), path: v.string(), body: v.string() });

const labels = v.record(v.string(), v.string());
const BodySchema = v.object({
  groupKey: v.string(),
  status: v.picklist(['firing', 'resolved']),
  truncatedAlerts: v.number(),
  alerts: v.array(
    v.object({
      status: v.picklist(['firing', 'resolved']),
      ...{ labels, annotations: labels, startsAt: v.string(), fingerprint: v.string() },
    }),
  ),
});

/** Whose Snapshots are received later than they were. */
export type Behind = 'neither' | 'am0' | 'am1';

export const PACES: readonly number[] = [1, 10, 60];
export const BEHINDS: readonly Behind[] = ['neither', 'am0', 'am1'];

/** The instance that is behind is so by this much of the recording's time: some repeats of its group. */
const LAG = 20 * SECOND;

/** @param pace how many times slower than it was recorded */
export function recordedStory(pace: number, behind: Behind): Story {
  const lines = gunzipSync(readFileSync(FILE)).toString('utf8').trimEnd().split('\n');
  const received = lines.flatMap((line) => {
    const post = v.safeParse(PostSchema, JSON.parse(line));
    if (!post.success) return [];
    const { t, path: target, body } = post.output;
    const lag = target.startsWith(`/${behind}/`) ? LAG : 0;
    return [readBody(body, (t * 1_000 + lag) * pace)];
  });
  return { window: 45 * SECOND, steps: received.sort((one, other) => one.at - other.at) };
}

function readBody(body: string, at: Micros): Received {
  const { groupKey, status, truncatedAlerts, alerts } = v.parse(BodySchema, JSON.parse(body));
  return {
    at,
    feed: groupKey,
    over: status === 'resolved',
    cut: truncatedAlerts > 0,
    entries: alerts.map(({ status: state, fingerprint, labels: own, annotations, startsAt }) => ({
      name: fingerprint,
      labels: own,
      firing: state === 'firing',
      start: (parseInstant(startsAt) ?? Number.NaN) - BEGIN,
      text: textOf(annotations),
    })),
    body,
  };
}
