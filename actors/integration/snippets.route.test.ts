import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { routeSnippet } from './snippets.ts';

describe('the recommended snippet of a route path', () => {
  it('is the way to the route, with the interval on the last', () => {
    expect(parse(routeSnippet('{}/{team="db",env=~"a/b,c"}/{severity="critical"}'))).toEqual({
      route: {
        routes: [
          {
            matchers: ['team="db"', 'env=~"a/b,c"'],
            routes: [{ matchers: ['severity="critical"'], repeat_interval: '10m' }],
          },
        ],
      },
    });
  });

  it.each(['{}', 'one-key', '', '{}/no braces', '{a="b"'])('of %j is for the route at the top', (path) => {
    expect(parse(routeSnippet(path))).toEqual({ route: { repeat_interval: '10m' } });
  });

  it.each(['ü', '😀', 'a\nb: c', '\\"', '\u0085\u2028', "it's # {{ .x }}"])(
    'is ASCII and cannot be broken by the value %j',
    (value) => {
      const snippet = routeSnippet(`{}/{a=${JSON.stringify(value)}}`);
      expect(snippet).toMatch(/^[\n\x20-\x7e]+$/);
      expect(parse(snippet).route.routes).toEqual([
        { matchers: [`a=${JSON.stringify(value)}`], repeat_interval: '10m' },
      ]);
    },
  );
});
