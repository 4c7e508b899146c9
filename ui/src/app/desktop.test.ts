import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AlertGroup } from '../api/shapes.ts';
import { createDesktop, iconOf } from './desktop.ts';

const PAGE = readFileSync(new URL('../../index.html', import.meta.url), 'utf8');
const QUIET = /rel="icon"[^>]*href="([^"]*)"/.exec(PAGE)![1]!;

it('the icon of the page is its mark, gray while nobody knows', () => {
  const mark = readFileSync(new URL('../../public/favicon.svg', import.meta.url), 'utf8');
  const drawn = decodeURIComponent(QUIET).replaceAll("'", '"');
  expect(drawn).toBe(`data:image/svg+xml,${mark.replace(/<title>.*<\/title>/, '').replace(/\n */g, '')}`);
  expect(iconOf(0, QUIET)).toBe(QUIET);
  expect(decodeURIComponent(iconOf(null, QUIET)).replaceAll("'", '"')).toBe(
    drawn.replaceAll('#4b44d6', '#6b6d7c'),
  );
});

it.each([
  [1, '1'],
  [42, '42'],
  [99, '99'],
  [100, '99+'],
])('the icon of %d says %s', (firing, expected) => {
  const icon = iconOf(firing, QUIET);
  expect(icon).toMatch(/^data:image\/svg\+xml,/);
  expect(decodeURIComponent(icon)).toContain(`>${expected}</text>`);
});

it('a call for a group that was called for before, and one for several, is one of its own', () => {
  const shown: { tag: string; renotify: boolean }[] = [];
  class Notification {
    static readonly permission = 'granted';
    constructor(_title: string, { tag, renotify }: { tag: string; renotify: boolean }) {
      shown.push({ tag, renotify });
    }
  }
  const view = { Notification, document: { querySelector: () => null } };
  const desktop = createDesktop(view as never, { t: () => '', word: () => '' } as never);
  const group = (at: string) => ({ id: 'AG1', last_changed_at: at, route: { name: '' } }) as AlertGroup;
  for (const at of ['09:00', '12:00', '12:00']) desktop.show([group(at)], () => {});
  expect(shown.map(({ tag }) => tag)).toEqual(['AG1 09:00', 'AG1 12:00', 'AG1 12:00']);
  desktop.show(
    Array.from({ length: 4 }, () => group('12:00')),
    () => {},
  );
  expect(shown[3]).toEqual({ tag: 'tocsin', renotify: true });
});

it('a sound that the browser holds back is asked for with each press until it sounded', () => {
  const made: { resumed: number; closed: number }[] = [];
  const tones: { onended: () => void }[] = [];
  class AudioContext {
    readonly counts = { resumed: 0, closed: 0 };
    readonly currentTime = 0;
    constructor() {
      made.push(this.counts);
    }
    async resume() {
      this.counts.resumed += 1;
    }
    async close() {
      this.counts.closed += 1;
    }
  }
  class Tone {
    onended = () => {};
    constructor() {
      tones.push(this);
    }
    connect = (to: unknown) => to;
    start() {}
    stop() {}
  }
  class GainNode {
    connect() {}
  }
  const page = { AudioContext, GainNode, OscillatorNode: Tone, document: { querySelector: () => null } };
  const view = Object.assign(new EventTarget(), page);
  const desktop = createDesktop(view as never, {} as never);
  desktop.beep();
  desktop.beep();
  expect(made).toEqual([{ resumed: 2, closed: 0 }]);
  for (const press of ['keydown', 'pointerdown']) view.dispatchEvent(new Event(press));
  expect(made).toEqual([{ resumed: 4, closed: 0 }]);
  tones[0]?.onended();
  view.dispatchEvent(new Event('keydown'));
  desktop.beep();
  expect(made).toEqual([
    { resumed: 4, closed: 1 },
    { resumed: 1, closed: 0 },
  ]);
});
