import { describe, expect, it, vi } from 'vitest';
import { createHintBoard, type Hint, readHint } from './hints.ts';

function board() {
  const due: (() => void)[] = [];
  const hints = createHintBoard({ set: (run) => due.push(run) });
  const passSecond = () => {
    for (const run of due.splice(0)) run();
  };
  return { hints, passSecond };
}

const group = (id: string | null): Hint => ({ type: 'alert-group', id });

describe('hint board', () => {
  it('tells only those who show the object, and everybody of the type when the id is null', () => {
    const { hints } = board();
    const told: string[] = [];
    hints.on('alert-group', 'AG1', () => told.push('one'));
    hints.on('alert-group', null, () => told.push('list'));
    hints.on('route', null, () => told.push('routes'));

    hints.arrived(group('AG2'));
    expect(told).toEqual(['list']);
    hints.arrived(group(null));
    expect(told).toEqual(['list', 'one', 'list']);
  });

  it('merges a burst about one object to the first and one at the end of the second', () => {
    const { hints, passSecond } = board();
    let reads = 0;
    hints.on('alert-group', 'AG1', () => {
      reads += 1;
    });
    for (let n = 0; n < 20; n += 1) hints.arrived(group('AG1'));
    expect(reads).toBe(1);
    passSecond();
    expect(reads).toBe(2);
    passSecond();
    expect(reads).toBe(2);
  });

  it('tells of an object again, and everybody else, after a listener threw', () => {
    const reported = vi.fn();
    vi.stubGlobal('reportError', reported);
    const { hints, passSecond } = board();
    let reads = 0;
    let others = 0;
    hints.on('alert-group', 'AG1', () => {
      reads += 1;
      if (reads === 1) throw new TypeError('a fault');
    });
    hints.on('alert-group', 'AG1', () => (others += 1));
    hints.arrived(group('AG1'));
    passSecond();
    hints.arrived(group('AG1'));
    expect([reads, others, reported.mock.calls.length]).toEqual([2, 2, 1]);
    vi.unstubAllGlobals();
  });

  it('stops telling after the subscription ended, and tells everybody when all may be old', () => {
    const { hints } = board();
    const told: string[] = [];
    const leave = hints.on('alert-group', 'AG1', () => told.push('gone'));
    hints.on('route', 'RT1', () => told.push('route'));
    leave();
    hints.invalidateAll();
    expect(told).toEqual(['route']);
  });
});

describe('reading a hint', () => {
  it.each([
    ['{"type":"route","id":"RT1"}', { type: 'route', id: 'RT1' }],
    ['{"type":"alert-groups","id":null}', { type: 'alert-groups', id: null }],
    ['{"type":3}', null],
    ['[]', null],
    ['x', null],
  ])('%s', (text, hint) => {
    expect(readHint(text)).toEqual(hint);
  });
});
