import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
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

it('a sound that the browser holds back is asked for, and waits for no second one', () => {
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
  const view = { AudioContext, GainNode, OscillatorNode: Tone, document: { querySelector: () => null } };
  const desktop = createDesktop(view as never, {} as never);
  desktop.beep();
  desktop.beep();
  expect(made).toEqual([{ resumed: 2, closed: 0 }]);
  tones[0]?.onended();
  desktop.beep();
  expect(made).toEqual([
    { resumed: 2, closed: 1 },
    { resumed: 1, closed: 0 },
  ]);
});
