/** What the present state of an actor means for the drawing of its machine. Pure. */
import type { Diagram, DiagramArrow, Transition } from '../../../../scripts/machines/diagram.ts';
import type { AlertGroup, TimelineEntry } from '../../api/shapes.ts';
import type { ActorCount, ActorState } from '../../api/system.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';
import type { HintType } from '../../live/hints.ts';

/** The paths of all states that a value of XState stands for: `{ open: 'firing' }` is `open` and `open.firing`. */
export function presentStates(value: unknown, within = ''): readonly string[] {
  if (typeof value === 'string') return [within + value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => [
    within + name,
    ...presentStates(inner, `${within}${name}.`),
  ]);
}

/** Whether the machine is that of an actor: a delivery is drawn, and is rows of its Destination. */
export function isActor(kind: string): boolean {
  return kind !== 'delivery';
}

/**
 * How many actors of the kind are in each state of the drawing, those in states within it included; null for a
 * delivery, which is drawn and is no actor.
 */
export function countsByState(
  { kind, states }: Pick<Diagram, 'kind' | 'states'>,
  counts: readonly ActorCount[],
): ReadonlyMap<string, number> | null {
  if (!isActor(kind)) return null;
  const found = new Map(states.map(({ id }) => [id, 0]));
  for (const each of counts) {
    if (each.kind !== kind) continue;
    for (const path of presentStates(each.state)) found.set(path, (found.get(path) ?? 0) + each.count);
  }
  return found;
}

/** The states of an Alert Group as far as everybody may see them; which timer runs in them the group does not tell. */
export function groupStates({
  status,
  unclaimed,
  resolution,
}: Pick<AlertGroup, 'status' | 'unclaimed' | 'resolution'>): readonly string[] {
  if (status === 'resolved') {
    return presentStates({ resolved: resolution?.by === 'user' ? 'person' : 'system' });
  }
  return presentStates(unclaimed ? { firing: 'unclaimed' } : status);
}

/** px: of a canvas on a phone. */
const MOST_PIXELS = 16_000_000;
const LONGEST_SIDE = 8_192;

/** Of a picture of a drawing with its labels: twice as large, or as large as a phone can draw it. */
export function pictureSize(width: number, height: number): [width: number, height: number] {
  const scale = Math.min(
    2,
    LONGEST_SIDE / Math.max(width, height),
    Math.sqrt(MOST_PIXELS / (width * height)),
  );
  return [Math.floor(width * scale), Math.floor(height * scale)];
}

export interface Choice {
  /** Path of a state, or null for all. */
  readonly state: string | null;
  /** Name of an event, or null for all. */
  readonly event: string | null;
  /** Part of a name: of a state, an event, a guard or an action. */
  readonly text: string;
}

export const EVERYTHING: Choice = { state: null, event: null, text: '' };

/** Whether the choice leaves anything out. */
export function isNarrow({ state, event, text }: Choice): boolean {
  return state !== null || event !== null || text.trim() !== '';
}

/** The transitions of a choice: those that leave or reach the state, of the event, with the text in a name. */
export function chosenTransitions({ transitions }: Diagram, choice: Choice): readonly Transition[] {
  const wanted = choice.text.trim().toLowerCase();
  return transitions.filter(
    (each) =>
      touches(each, choice.state) &&
      (choice.event === null || choice.event === each.event) &&
      [each.from, each.to, each.event, each.guard, ...each.actions].some((name) =>
        (name ?? '').toLowerCase().includes(wanted),
      ),
  );
}

/** The names of all events, in the order of the alphabet; `always` is none. */
export function eventsOf({ transitions }: Pick<Diagram, 'transitions'>): readonly string[] {
  return [...new Set(transitions.map(({ event }) => event))].filter((event) => event !== 'always').sort();
}

function touches({ from, to }: Transition, state: string | null): boolean {
  return state === null || from === null || from === state || to === state;
}

/** Whether the arrow stands for one of the transitions. */
export function isArrowOf(arrow: DiagramArrow, transitions: readonly Transition[]): boolean {
  return transitions.some(
    ({ from, to, event, guard }) =>
      arrow.from === from &&
      arrow.to === (to ?? from) &&
      arrow.labels.includes(guard === null ? event : `${event} [${guard}]`),
  );
}

/** Whether an actor in these states takes the transition when its event comes and its guard holds. */
export function isPossible({ from }: Transition, present: readonly string[]): boolean {
  return from === null || present.includes(from);
}

/** `feed/NT…` in two: the kind never holds a slash, the key may. */
export function splitActor(text: string): { readonly kind: string; readonly key: string } {
  const slash = text.indexOf('/');
  return { kind: text.slice(0, slash), key: text.slice(slash + 1) };
}

/** The address of the page of an actor. */
export function actorHref(kind: string, key: string): string {
  return `/machines/${encodeURIComponent(kind)}/${encodeURIComponent(key)}`;
}

/** Where the thing itself is shown, by kind of actor. */
const PAGES: Readonly<Record<string, string>> = {
  alert_group: '/alert-groups',
  connection: '/connections',
  destination: '/destinations',
  integration: '/integrations',
  route: '/routes',
};

const HINTS: Readonly<Record<string, HintType>> = {
  alert_group: 'alert-group',
  connection: 'connection',
  destination: 'destination',
  integration: 'integration',
  route: 'route',
};

/** The live hints that tell of changes of such an actor; null when there are none. */
export function hintOf(kind: string): HintType | null {
  return HINTS[kind] ?? null;
}

/** The page of what the actor stands for; null when it has none. */
export function subjectHref(kind: string, key: string): string | null {
  const page = PAGES[kind];
  return page === undefined ? null : `${page}/${encodeURIComponent(key)}`;
}

/** A kind of actor in words; one that this build has no word for by its own name. */
export function kindName(i18n: Pick<I18n, 'word'>, kind: string): string {
  const name = i18n.word('actorKind', kind);
  return name === kind ? kind.replaceAll('_', ' ') : name;
}

type Message = ActorState['messages'][number];

/** The sorts of effects in the order in which they take place: both of the first with the commit. */
const EFFECT_KINDS = [
  'send',
  'record',
  'perform',
] as const satisfies readonly Message['effects'][number]['kind'][];

/** What a message led to, by sort, each in words: `group.event → Destination × 3`. Sorts without any are absent. */
export function effectsByKind(i18n: Pick<I18n, 'word' | 'locale'>, effects: Message['effects']) {
  return EFFECT_KINDS.map((kind) => ({
    kind,
    texts: effects.filter((effect) => effect.kind === kind).map((effect) => effectText(i18n, effect)),
  })).filter(({ texts }) => texts.length > 0);
}

function effectText(
  i18n: Pick<I18n, 'word' | 'locale'>,
  { type, to, count }: Message['effects'][number],
): string {
  const receiver = to === null ? '' : ` → ${kindName(i18n, to)}`;
  return `${type}${receiver}${count === 1 ? '' : ` × ${count.toLocaleString(i18n.locale)}`}`;
}

/** What a drawing adds to a transition, of one that is not drawn: the replica has another release. */
const UNDRAWN = { row: null };

/** The transitions that a machine took, as they are drawn. */
export function drawnTransitions(
  drawn: readonly Transition[],
  taken: Message['transitions'],
): readonly Transition[] {
  return taken.map((each) => drawn.find((one) => isSame(one, each)) ?? { ...UNDRAWN, ...each });
}

function isSame(one: Transition, other: Message['transitions'][number]): boolean {
  const { from, to, event, guard } = other;
  return one.from === from && one.to === to && one.event === event && one.guard === guard;
}

/** Milliseconds from the turn of a message to its commit; null while that is under way. */
export function commitDelay({ at, committed_at }: Pick<Message, 'at' | 'committed_at'>): number | null {
  return committed_at === null ? null : Math.max(0, Date.parse(committed_at) - Date.parse(at));
}

/** What came of the messages that an Alert Group was given. Pure. */
interface Dated {
  readonly at: string;
}

/**
 * The Timeline entries that a message led to: both bear the moment of its turn. Empty when it led to none; null when that
 * is not known, because the message is older than the entries at hand.
 * @param entries the newest first
 * @param complete whether there are no older ones
 */
export function entriesOf<Entry extends Dated = TimelineEntry>(
  message: Dated,
  entries: readonly Entry[],
  complete: boolean,
): readonly Entry[] | null {
  const told = entries.filter(({ at }) => at === message.at);
  if (told.length > 0 || complete) return told;
  const oldest = entries.at(-1);
  return oldest !== undefined && Date.parse(message.at) > Date.parse(oldest.at) ? [] : null;
}
