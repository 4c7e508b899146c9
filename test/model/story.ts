/**
 * What senders said, in order of arrival, as one line a Snapshot: `600 G A1m+0 B1m-30"x" over cut`. That is: received at
 * 600 s, sender group G, A1m firing since 0 s, B1m (annotation x) resolved with start 30 s, group status resolved, list
 * truncated. `restart` throws the process away. The first line is the duplicate window: `window 45`.
 */
import { type Micros, SECOND } from '../../runtime/clock.ts';

export interface Entry {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly firing: boolean;
  /** µs after the begin of the story. */
  readonly start: Micros;
  /** Its annotations, whatever they are, as {@link textOf} says them. */
  readonly text: string;
}

/** One Snapshot. Each name occurs once. */
export interface Received {
  /** Receipt, µs after the begin of the story. */
  readonly at: Micros;
  /** The sender's group (`groupKey`). */
  readonly feed: string;
  /** The sender calls the whole group resolved. */
  readonly over: boolean;
  /** The sender left Alerts out for their number. */
  readonly cut: boolean;
  readonly entries: readonly Entry[];
  /** The bytes, where they were recorded; otherwise they are made of the rest. */
  readonly body?: string;
}

export type Step = Received | 'restart';

export interface Story {
  /** duplicate_window, µs. */
  readonly window: Micros;
  /** In order of arrival. */
  readonly steps: readonly Step[];
}

/** Labels of `A1m`: its alertname groups, its pod makes Replacements, its job does neither. */
export function labelsOf(name: string): Entry['labels'] {
  const [alertname = '', pod = '', job = ''] = name;
  return { alertname, pod, job };
}

/** Annotations as one text: the value of `text` where there is no other. */
export function textOf(annotations: Readonly<Record<string, string>>): string {
  const { text = '', ...others } = annotations;
  const pairs = Object.entries(others).sort(([one], [other]) => (one < other ? -1 : 1));
  return pairs.length === 0 ? text : JSON.stringify([text, pairs]);
}

export function storyText({ window, steps }: Story): string {
  return [`window ${window / SECOND}`, ...steps.map(stepText)].join('\n');
}

export function stepText(step: Step): string {
  if (step === 'restart') return step;
  const { at, feed, over, cut, entries } = step;
  const words = entries.map(({ name, firing, start, text }) => {
    return `${name}${firing ? '+' : '-'}${start / SECOND}${text && `"${text}"`}`;
  });
  return [at / SECOND, feed, ...words, ...(over ? ['over'] : []), ...(cut ? ['cut'] : [])].join(' ');
}

const ENTRY = /^([A-Z]\d[a-z])([+-])(-?[\d.]+)(?:"(\w*)")?$/;

/** Reads what {@link storyText} wrote. @throws when a line is not understood */
export function readStory(text: string): Story {
  const [head = '', ...lines] = text.trim().split('\n');
  const window = Number(/^window ([\d.]+)$/.exec(head.trim())?.[1]) * SECOND;
  if (!(window > 0)) throw new Error(`a story begins with its window, not with: ${head}`);
  return { window, steps: lines.map((line) => readStep(line.trim())) };
}

function readStep(line: string): Step {
  if (line === 'restart') return line;
  const [at = '', feed = '', ...words] = line.split(' ');
  const entries = words.filter((word) => word !== 'over' && word !== 'cut');
  if (Number.isNaN(Number(at)) || feed === '') throw new Error(`not a step: ${line}`);
  return {
    at: Math.round(Number(at) * SECOND),
    feed,
    over: words.includes('over'),
    cut: words.includes('cut'),
    entries: entries.map((word) => readEntry(word)),
  };
}

function readEntry(word: string): Entry {
  const [, name, sign, start, text = ''] = ENTRY.exec(word) ?? [];
  if (name === undefined) throw new Error(`not an entry: ${word}`);
  return {
    name,
    labels: labelsOf(name),
    firing: sign === '+',
    start: Math.round(Number(start) * SECOND),
    text,
  };
}
