import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startHttp } from '../test/http-server.ts';

const SCRIPT = `// ${'all work and no play '.repeat(200)}`;
const INDEX = '<!doctype html><title>Tocsin</title>';

let uiFolder: string;

beforeAll(async () => {
  uiFolder = await mkdtemp(join(tmpdir(), 'tocsin-ui-'));
  await mkdir(join(uiFolder, 'assets'));
  await writeFile(join(uiFolder, 'index.html'), INDEX);
  await writeFile(join(uiFolder, 'assets', 'main-4f2a.js'), SCRIPT);
  await writeFile(join(uiFolder, 'tocsin-mark-256.png'), randomBytes(64));
});

afterAll(() => rm(uiFolder, { recursive: true }));

describe('the built UI', () => {
  test.each(['/', '/alert-groups', '/profile?x=1', '/%zz', '/../../etc/passwd'])(
    '%s is the index page',
    async (path) => {
      const { send } = await startHttp({ uiFolder });
      const answer = await send('GET', path);
      expect([answer.status, answer.text]).toEqual([200, INDEX]);
      expect(answer.headers).toMatchObject({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'content-security-policy':
          "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; connect-src 'self'; " +
          "worker-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
      });
    },
  );

  test.each(['/assets', '/assets/', '/assets/.', '/.git/config', '/.DS_Store', '/assets/.DS_Store'])(
    'no folder is listed and no hidden file is served: %s',
    async (path) => {
      await writeFile(join(uiFolder, 'assets', '.DS_Store'), 'main-4f2a.js');
      const { send } = await startHttp({ uiFolder });
      const { text } = await send('GET', path);
      expect(text).not.toContain('4f2a');
    },
  );

  test('hashed assets are cached for good, others asked for again; unknown ones are 404', async () => {
    const { send } = await startHttp({ uiFolder });
    const script = await send('GET', '/assets/main-4f2a.js');
    expect(script.headers).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
      vary: 'Accept-Encoding',
    });
    expect((await send('GET', '/tocsin-mark-256.png')).headers['cache-control']).toBe('no-cache');
    expect((await send('GET', '/assets/main-old.js')).json).toMatchObject({ status: 404 });
  });

  test.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip;q=0.5, br;q=0', 'gzip', gunzipSync],
    ['identity', undefined, (bytes: Buffer) => bytes],
    ['', undefined, (bytes: Buffer) => bytes],
  ] as const)('accepting %j it comes as %s with a tag of its own', async (accepted, encoding, unpack) => {
    const { send } = await startHttp({ uiFolder });
    const headers = { 'accept-encoding': accepted };
    const answer = await send('GET', '/assets/main-4f2a.js', { headers });
    expect(answer.headers['content-encoding']).toBe(encoding);
    expect(unpack(answer.bytes).toString()).toBe(SCRIPT);
    expect(answer.headers.etag).toMatch(
      encoding ? new RegExp(`^"[\\w-]{22}-${encoding}"$`) : /^"[\w-]{22}"$/,
    );

    const again = await send('GET', '/assets/main-4f2a.js', {
      headers: { ...headers, 'if-none-match': answer.headers.etag ?? '' },
    });
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', answer.headers.etag]);
    expect(again.headers['content-length']).toBe(answer.headers['content-length']);
  });

  test('HEAD tells the length only', async () => {
    const { send } = await startHttp({ uiFolder });
    const answer = await send('HEAD', '/');
    expect([answer.status, answer.text, answer.headers['content-length']]).toEqual([
      200,
      '',
      String(INDEX.length),
    ]);
  });
});

describe('the docs', () => {
  const PAGE = '<!doctype html><title>Operating</title>';

  beforeAll(async () => {
    await mkdir(join(uiFolder, 'docs', 'runbooks'), { recursive: true });
    await writeFile(join(uiFolder, 'docs', 'index.html'), '<title>Docs</title>');
    await writeFile(join(uiFolder, 'docs', 'operating.html'), PAGE);
    await writeFile(join(uiFolder, 'docs', '404.html'), '<title>Not here</title>');
  });

  test.each(['/docs/operating', '/docs/operating/', '/docs/operating.html', '/docs/%6fperating?x=1'])(
    '%s is a page, asked for again by its tag, without a session, under the policy of the UI',
    async (path) => {
      const { send } = await startHttp({ uiFolder });
      const { status, text, headers } = await send('GET', path);
      expect([status, text]).toEqual([200, PAGE]);
      const policy = (await send('GET', '/')).headers['content-security-policy'];
      expect(headers).toMatchObject({ 'cache-control': 'no-cache', 'content-security-policy': policy });
      const again = await send('GET', path, { headers: { 'if-none-match': headers.etag ?? '' } });
      expect(again.status).toBe(304);
    },
  );

  test.each([['/docs'], ['/docs/']])('%s is the first page', async (path) => {
    const { send } = await startHttp({ uiFolder });
    expect((await send('GET', path)).text).toBe('<title>Docs</title>');
  });

  test.each([
    ...['/docs/nothing', '/docs/runbooks', '/docs/operating.html.html', '/docs//operating'],
    ...[
      '/docs/../index',
      '/docs/..%2findex',
      '/docs/%2e%2e/%2e%2e/package',
      '/docs/..%2f..%2f..%2fetc/passwd',
    ],
  ])('%s is the page that says there is none, with 404', async (path) => {
    const { send } = await startHttp({ uiFolder });
    const { status, text } = await send('GET', path);
    expect([status, text]).toEqual([404, '<title>Not here</title>']);
  });

  test('without a build they say how to make one', async () => {
    const { send } = await startHttp();
    const { status, text } = await send('GET', '/docs/operating');
    expect([status, text]).toEqual([503, expect.stringContaining('npm run docs')]);
  });
});

test('without a build every page says how to make one', async () => {
  const { send } = await startHttp();
  const answer = await send('GET', '/alert-groups');
  expect([answer.status, answer.headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8']);
  expect(answer.text).toContain('npm run build');
});
