import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { BOUNDS, complaints, complaintsOfTheWay, figures, filesOnTheWay, wrongArrows } from './house.ts';

const root = mkdtempSync(path.join(tmpdir(), 'tocsin-house-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const MODULES: Readonly<Record<string, string>> = {
  'runtime/clock.ts': 'export const clock = 1;',
  'runtime/actor/index.ts': 'export const engine = 1;',
  'runtime/actor/host.ts': 'export const host = 1;',
  'runtime/outbound/connect.ts': "import { connect } from 'node:net'; export const open = connect;",
  'runtime/main.ts': "import '../storage/access/access.ts'; import '../http/server/server.ts';",
  'runtime/upwards.ts': "import type { Model } from '../actors/model.ts'; export type Same = Model;",
  'actors/model.ts': 'export interface Model { a: 1 }',
  'actors/feed/actor.ts':
    "import { engine } from '../../runtime/actor/index.ts'; export const feed = engine;",
  'actors/feed/past.ts': "import { host } from '../../runtime/actor/host.ts'; export const past = host;",
  'actors/feed/machine.ts': "import { randomBytes } from 'node:crypto'; export const chance = randomBytes;",
  'actors/feed/socket.ts': "import { connect } from 'node:net'; export const socket = connect;",
  'actors/feed/typed.ts': "import type { Socket } from 'node:net'; export type Same = Socket;",
  'actors/route/one.ts': "import type { Two } from './two.ts'; export interface One { two: Two }",
  'actors/route/two.ts': "import type { One } from './one.ts'; export interface Two { one: One }",
  'storage/access/access.ts': "import type { Model } from '../actors/model.ts'; export type Access = Model;",
  'http/server/server.ts': "import { clock } from '../runtime/clock.ts'; export const server = clock;",
  'http/past.ts': "import type { Access } from '../storage/access/access.ts'; export type Same = Access;",
};

test('every import against the direction is named, types included, and nothing else', async () => {
  for (const [file, text] of Object.entries(MODULES)) {
    mkdirSync(path.join(root, path.dirname(file)), { recursive: true });
    writeFileSync(path.join(root, file), text);
  }
  const arrows = await wrongArrows(root);
  expect([...arrows].sort()).toEqual([
    'actors-pure-of-node: actors/feed/machine.ts → crypto',
    'actors-pure-of-node: actors/feed/socket.ts → net',
    'engine-through-its-index: actors/feed/past.ts → runtime/actor/host.ts',
    'http-imports-actors-and-runtime: http/past.ts → storage/access/access.ts',
    'kept-behind: sockets: actors/feed/socket.ts → net',
    'machines-are-pure: actors/feed/machine.ts → crypto',
    'no-cycle: actors/route/one.ts → actors/route/two.ts → actors/route/one.ts',
    'runtime-imports-nothing-above: runtime/upwards.ts → actors/model.ts',
  ]);
});

test('each figure beyond its bound is a sentence', () => {
  const small = Array.from({ length: BOUNDS.smallFiles + 1 }, (_, n) => [`http/${n}/a.ts`, 'x\n'] as const);
  const crowd = Array.from(
    { length: BOUNDS.filesOfOneFolder + 1 },
    (_, n) => [`actors/a${n}.ts`, 'x\n'.repeat(31)] as const,
  );
  const wide = ['runtime/wide.ts', `${'x'.repeat(121)}\n`.repeat(BOUNDS.wideLines + 1)] as const;
  const long = ['storage/long.ts', 'x\n'.repeat(BOUNDS.linesOfOne + 1)] as const;
  expect(complaints(figures(new Map([...small, ...crowd, long, wide])))).toEqual([
    `${small.length} files of 30 lines or fewer; at most ${BOUNDS.smallFiles}`,
    `${BOUNDS.wideLines + 1} lines of more than 120 characters; at most ${BOUNDS.wideLines}`,
    `storage/long.ts is longer than ${BOUNDS.linesOfOne} lines`,
    `actors holds ${crowd.length} files; at most ${BOUNDS.filesOfOneFolder}`,
  ]);
  expect(complaints(figures(new Map([['http/a.ts', 'x\n'.repeat(31)]])))).toEqual([]);
});

test("an alert's way is counted on its page, and a file that is not there is named", () => {
  const page = (files: readonly string[]) =>
    files.map((file) => `| \`${file}\` | does something |\n`).join('');
  const many = Array.from({ length: BOUNDS.filesOnTheWay + 1 }, (_, n) => `actors/${n}.ts`);
  expect(filesOnTheWay(`| File | What it does |\n|---|---|\n${page(['a.ts', 'b.ts'])}`)).toEqual([
    'a.ts',
    'b.ts',
  ]);
  expect(complaintsOfTheWay(filesOnTheWay(page(many)), (file) => file !== 'actors/3.ts')).toEqual([
    `${many.length} files on an alert's way; at most ${BOUNDS.filesOnTheWay}`,
    'docs/life-of-an-alert.md names actors/3.ts, which is not there',
  ]);
});
