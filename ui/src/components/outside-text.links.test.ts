import { describe, expect, it } from 'vitest';
import { isWebAddress, splitAddresses } from './outside-text.ts';

describe('only http and https are links', () => {
  it.each([
    ['https://a.example/x', true],
    ['http://a.example', true],
    ['javascript:alert(1)', false],
    ['data:text/html,x', false],
    ['/relative', false],
  ])('%s: %s', (text, link) => {
    expect(isWebAddress(text)).toBe(link);
  });
});

it('finds addresses in text and leaves the punctuation behind them', () => {
  expect(splitAddresses('See https://a.example/x?y=1, then (https://b.example).')).toEqual([
    { text: 'See ', link: false },
    { text: 'https://a.example/x?y=1', link: true },
    { text: ', then (', link: false },
    { text: 'https://b.example', link: true },
    { text: ').', link: false },
  ]);
});
