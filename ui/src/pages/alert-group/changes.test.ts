import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { TimelineEntry } from '../../api/shapes.ts';
import { en } from '../../i18n/en.ts';
import type { I18n, Key } from '../../i18n/i18n.svelte.ts';
import { formatMessage } from '../../i18n/message.ts';
import { forgetLooks, keepLook, lastLook, MOST_LOOKS } from '../../state/last-looks.ts';
import { changesText, createChanges, summarize } from './changes.svelte.ts';

beforeEach(() => {
  // Without the compiler of Svelte a state is a plain variable.
  vi.stubGlobal('$state', { raw: <T>(value: T) => value });
});
afterEach(() => vi.unstubAllGlobals());

const plurals = new Intl.PluralRules('en');
const numbers = new Intl.NumberFormat('en');
const text = (key: string, values: Record<string, string | number> = {}) =>
  formatMessage(en[key as Key], values, plurals, numbers);
const i18n = {
  t: text,
  word: (family: string, code: string) => text(`${family}.${code}`),
} as unknown as I18n;

const ME = 'USME';
const ADA = { id: 'USADA', name: 'Ada' };
const SYSTEM = { kind: 'system', reason: 'alert' } as const;

/** An entry of the system, but for what is given. */
function entry(sequence: number, fields: Partial<TimelineEntry>): TimelineEntry {
  return { id: `TE${sequence}`, kind: 'alerts', actor: SYSTEM, sequence, ...fields } as TimelineEntry;
}
const added = (sequence: number, ...fingerprints: string[]) =>
  entry(sequence, { event: 'alerts_added', fingerprints });
const resolved = (sequence: number, ...fingerprints: string[]) =>
  entry(sequence, { event: 'alert_resolved', fingerprints });
const by = ({ id, name }: { id: string; name: string }) => ({ actor: { kind: 'user', id, name } }) as const;
const note = (sequence: number, author: { id: string; name: string }) =>
  entry(sequence, {
    kind: 'notes',
    event: 'note_added',
    ...by(author),
    note: { author } as TimelineEntry['note'] & object,
  });
const status = (sequence: number, from: string, to: string, fields: Partial<TimelineEntry> = {}) =>
  entry(sequence, { kind: 'status', from_status: from, to_status: to, owner: null, ...fields } as never);

/** What is said of the entries above `from`, given oldest first. */
const said = (from: number, entries: readonly TimelineEntry[], isPart = false) =>
  changesText(summarize(entries.toReversed(), from, ME, isPart), i18n);

describe('what changed', () => {
  const created = entry(1, { kind: 'status', event: 'created', fingerprints: ['a'], to_status: 'firing' });

  it.each<[string, readonly TimelineEntry[], string]>([
    ['new Alerts, each once', [added(2, 'b'), added(3, 'b', 'c')], '2 new Alerts'],
    [
      'Alerts that took the place of another',
      [entry(2, { event: 'alert_replaced', fingerprints: ['b'] })],
      '1 new Alert',
    ],
    ['an Alert that came and went is resolved', [added(2, 'b'), resolved(3, 'b')], '1 Alert resolved'],
    ['an Alert that went and came fires again', [resolved(2, 'a'), added(3, 'a')], '1 Alert firing again'],
    [
      'the status and the Owner',
      [status(2, 'firing', 'acknowledged', { ...by(ADA), owner: ADA as never })],
      'now Acknowledged · Owner: Ada',
    ],
    [
      'a resolution has no Owner to miss',
      [status(2, 'firing', 'resolved', { event: 'resolved', fingerprints: ['a'] })],
      'now Resolved · 1 Alert resolved',
    ],
    [
      'a status that came back is an entry',
      [status(2, 'firing', 'snoozed'), status(3, 'snoozed', 'firing')],
      '2 other entries',
    ],
    ['Notes and their authors, once each', [note(2, ADA), note(3, ADA)], '2 Notes (Ada)'],
    [
      'at most three authors',
      ['D', 'C', 'B', 'A'].map((name, index) => note(2 + index, { id: name, name })),
      '4 Notes (A, B, C, …)',
    ],
    [
      'a rise to Urgent, beside the status and the Owner',
      [
        added(2, 'b'),
        status(3, 'acknowledged', 'firing', {
          event: 'urgency_raised',
          previous_owner: ADA as never,
          to_severity_level: 'critical',
        }),
      ],
      'now Firing · rose to Urgent · severity rose to Critical · 1 new Alert · no Owner any more',
    ],
    [
      'a rise to Urgent that changes nothing else',
      [status(2, 'firing', 'firing', { event: 'urgency_raised', to_severity_level: null })],
      'rose to Urgent',
    ],
    [
      'the level that the severity rose to last',
      [
        entry(2, { event: 'severity_raised', to_severity_level: 'warning' }),
        entry(3, { event: 'severity_raised', to_severity_level: 'critical' }),
      ],
      'severity rose to Critical',
    ],
    [
      'changed annotations, once',
      [entry(2, { event: 'annotations_changed' }), entry(3, { event: 'annotations_changed' })],
      'annotations changed',
    ],
    ['anything else', [entry(2, { kind: 'timers', event: 'ack_timeout' })], '1 other entry'],
    ['nothing of what the reader did', [note(2, { id: ME, name: 'Me' }), added(3, 'b')], '1 new Alert'],
    [
      'no status that the reader set',
      [status(2, 'firing', 'snoozed'), status(3, 'snoozed', 'firing', by({ id: ME, name: 'Me' }))],
      '1 other entry',
    ],
  ])('%s', (_, entries, expected) => {
    expect(said(1, [created, ...entries])).toBe(expected);
  });

  it('an Owner who left is missed', () => {
    const entries = [
      status(1, 'firing', 'acknowledged', { owner: ADA as never }),
      status(2, 'acknowledged', 'firing', { event: 'auto_unacknowledged', previous_owner: ADA as never }),
    ];
    expect(said(1, entries)).toBe('now Firing · no Owner any more');
  });

  it('says that there is more than was loaded', () => {
    expect(said(1, [added(9, 'b')], true)).toBe('1 new Alert · and older changes');
  });

  it('counts hundreds of Alerts that come and go in linear time', () => {
    const entries = Array.from({ length: 500 }, (_, turn) => {
      const all = Array.from({ length: 400 }, (__, index) => `f${index}`);
      return turn % 2 === 0 ? added(turn + 2, ...all) : resolved(turn + 2, ...all);
    });
    const begun = performance.now();
    expect(said(1, entries)).toBe('400 Alerts resolved');
    expect(performance.now() - begun).toBeLessThan(1_000);
  });
});

function store() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

describe('a look', () => {
  function tab(storage = store()) {
    const view = { hidden: false };
    const changes = createChanges({ storage, userId: ME, groupId: 'AG1', isHidden: () => view.hidden });
    const found = () => changes.entries.map(({ sequence }) => sequence);
    return { storage, view, changes, found };
  }

  it('finds what came since the last one, and nothing at the first', () => {
    const first = tab();
    first.changes.arrived([added(2, 'b'), added(1, 'a')], false);
    expect(first.found()).toEqual([]);
    expect(first.changes.summary).toBeNull();
    const second = tab(first.storage);
    second.changes.arrived([added(4, 'd'), added(3, 'c'), added(2, 'b')], true);
    expect(second.found()).toEqual([4, 3]);
    expect(second.changes.summary?.isPart).toBe(false);
    const third = tab(first.storage);
    third.changes.arrived([added(4, 'd')], true);
    expect(third.found()).toEqual([]);
  });

  it('knows when not all of it was loaded', () => {
    const { storage } = tab();
    keepLook(storage, ME, 'AG1', 2);
    const { changes } = tab(storage);
    changes.arrived([added(9, 'd'), added(8, 'c')], true);
    expect(changes.summary?.isPart).toBe(true);
  });

  it('marks nothing that arrives before the reader, and keeps what it found', () => {
    const { storage } = tab();
    keepLook(storage, ME, 'AG1', 1);
    const { changes, found } = tab(storage);
    changes.arrived([added(2, 'b')], false);
    changes.arrived([added(3, 'c'), added(2, 'b')], false);
    expect(found()).toEqual([2]);
    expect(lastLook(storage, ME, 'AG1')).toBe(3);
  });

  it('ends when the tab is hidden', () => {
    const { storage, view, changes, found } = tab();
    changes.arrived([added(1, 'a')], false);
    view.hidden = true;
    changes.visibilityChanged();
    changes.arrived([added(2, 'b'), added(1, 'a')], false);
    expect(lastLook(storage, ME, 'AG1')).toBe(1);
    view.hidden = false;
    changes.visibilityChanged();
    expect(found()).toEqual([2]);
    expect(lastLook(storage, ME, 'AG1')).toBe(2);
  });

  it('has nothing to say about entries of Destinations', () => {
    const { storage } = tab();
    keepLook(storage, ME, 'AG1', 1);
    const { changes } = tab(storage);
    changes.arrived([{ id: 'DE1', kind: 'delivery', actor: SYSTEM } as TimelineEntry, added(1, 'a')], false);
    expect(changes.summary).toBeNull();
  });
});

describe('what the browser keeps of looks', () => {
  it('is of a bounded number of Alert Groups, the oldest look dropped', () => {
    const storage = store();
    for (let index = 0; index < MOST_LOOKS; index++) keepLook(storage, ME, `AG${index}`, index);
    keepLook(storage, ME, 'AG0', 7);
    keepLook(storage, ME, 'AGnew', 1);
    expect(lastLook(storage, ME, 'AG1')).toBeNull();
    expect(lastLook(storage, ME, 'AG0')).toBe(7);
    expect(lastLook(storage, ME, 'AG2')).toBe(2);
    expect(JSON.stringify([...storage.kept]).length).toBeLessThan(10_000);
  });

  it('is of one person, until they sign out', () => {
    const storage = store();
    keepLook(storage, ME, 'AG1', 3);
    expect(lastLook(storage, 'USADA', 'AG1')).toBeNull();
    keepLook(storage, 'USADA', 'AG2', 1);
    expect(lastLook(storage, ME, 'AG1')).toBeNull();
    forgetLooks(storage);
    expect(storage.kept.size).toBe(0);
  });

  it.each(['{', '7', 'null', '{"userId":"USME","looks":{}}', '{"userId":"USME","looks":[["AG1"],[2,3]]}'])(
    'counts as nothing when it is foreign: %s',
    (content) => {
      const storage = store();
      storage.kept.set('tocsin.looks', content);
      expect(lastLook(storage, ME, 'AG1')).toBeNull();
    },
  );

  it('does without a storage that refuses', () => {
    const closed = {
      ...store(),
      getItem: () => {
        throw new Error('closed');
      },
      setItem: () => {
        throw new Error('full');
      },
    };
    keepLook(closed, ME, 'AG1', 1);
    expect(lastLook(closed, ME, 'AG1')).toBeNull();
  });
});
