import { expect, test } from 'vitest';
import { render } from './markdown.ts';

const M1 = {
  ref: 'm1',
  type: 'user',
  user: { external_id: 'u-17', username: null, display_name: null, bot: false },
};

test.each([
  ['*a* **b** `c`', '<p><em>a</em> <strong>b</strong> <code>c</code></p>\n'],
  ['one\\\ntwo', '<p>one<br />\ntwo</p>\n'],
  ['~~out~~ in ~~out~~', '<p><del>out</del> in <del>out</del></p>\n'],
  ['~~a *b* c~~', '<p><del>a <em>b</em> c</del></p>\n'],
  ['~~a *b~~ c*', '<p>~~a <em>b~~ c</em></p>\n'],
  ['\\~\\~kept\\~\\~ and ~~~ and ~~', '<p>~~kept~~ and ~~~ and ~~</p>\n'],
  ['<script>alert(1)</script>', '<!-- raw HTML omitted -->\n'],
  ['[x](javascript:alert(1))', '<p><a>x</a></p>\n'],
  ['[@Alice](svc-mention:m1)', '<p><strong class="mention">@Alice</strong></p>\n'],
  ['[@Bob <b>](svc-mention:m2)', '<p>@Bob <!-- raw HTML omitted --></p>\n'],
  ['> a\n>\n> - b', '<blockquote>\n<p>a</p>\n<ul>\n<li>b</li>\n</ul>\n</blockquote>\n'],
])('%j is drawn safely', (body, html) => {
  expect(render(body, [M1])).toBe(html);
});

test('without native Mentions a marker is its text', () => {
  expect(render('[@Alice](svc-mention:m1)', [])).toBe('<p>@Alice</p>\n');
});
