import { existsSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitest/config';

const { platform, arch, versions } = process;
const LIBRARY = `node_modules/uWebSockets.js/dist/bin/uws_${platform}_${arch}_${versions.modules}.node`;
/** The HTTP library reads the first while it loads, whoever loads it first. Where it has no build, node:http is tested. */
const HTTP_LIBRARY = {
  UWS_HTTP_MAX_HEADERS_SIZE: '16640',
  ...(!existsSync(path.join(import.meta.dirname, LIBRARY)) && { SVC_HTTP_ENGINE: 'node' }),
};

/** They load the machine, or measure how long others wait: nothing runs beside them. */
const BUSY = [
  'test/browser/speed.test.ts',
  'test/cluster/rolling.test.ts',
  'test/peers/haproxy.test.ts',
  'test/smoke/large-bodies.test.ts',
];

/** Many cases, many seeds or sockets: what one waits for is in `unit`, the rest here. */
const LONG = [
  '**/{properties,*.mutation}.test.ts',
  '**/openapi{,.lint,-types}.test.ts',
  'actors/alert-group/ingestion/pair.test.ts',
  'actors/machines.test.ts',
  'actors/messages/chat-server.marked.test.ts',
  'actors/destination/actor.test.ts',
  'actors/feed/ingestion-model.test.ts',
  'actors/route/search.test.ts',
  'actors/templates/limits.test.ts',
  'bench/growth/growth.test.ts',
  'deploy/dashboard.test.ts',
  'http/{access-matrix,permissions}.test.ts',
  'http/ingest/{intake-passes,parse-cache,routes}.test.ts',
  'http/request/{dispatch,validate.refused-bodies}.test.ts',
  'http/resources/access/sessions.test.ts',
  'http/server/{body-budget,server}.test.ts',
  'runtime/{actor,placement}/simulation.test.ts',
  'runtime/cli/bridge-check.test.ts',
  'runtime/outbound/{client,proxy}.test.ts',
  'runtime/placement/leased.test.ts',
  'runtime/secrets/hiding.test.ts',
  'scripts/{documentation,house,platforms,sbom}.test.ts',
  'scripts/docs/docs.test.ts',
  'ui/src/i18n/catalogue.test.ts',
];
const UNIT = [
  '{runtime,actors,http,storage,bench,scripts,deploy}/**/*.test.ts',
  'ui/src/**/*.test.ts',
  'test/channels/*.test.ts',
];
/** Every answer of a server is held to the API description. */
const CHECKED = [
  './test/checked-fetch-setup.ts',
  ...(process.env.LATE_ANSWERS === undefined ? [] : ['./test/late-answers.ts']),
];
const WITH_SERVERS = ['**/*.pg.test.ts', '**/*.redis.test.ts'];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: UNIT,
          exclude: [...WITH_SERVERS, ...LONG],
          testTimeout: 10_000,
          maxWorkers: 2,
          // Test files share what they import: loading it anew for each would take half of the time.
          isolate: false,
          env: HTTP_LIBRARY,
        },
      },
      {
        test: {
          name: 'long',
          include: LONG,
          exclude: WITH_SERVERS,
          testTimeout: 10_000,
          maxWorkers: 2,
          isolate: false,
          env: HTTP_LIBRARY,
        },
      },
      {
        test: {
          name: 'postgres',
          include: ['{runtime,actors,http,storage}/**/*.pg.test.ts'],
          globalSetup: ['./test/postgres-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
          isolate: false,
          env: HTTP_LIBRARY,
        },
      },
      {
        test: {
          name: 'scenarios',
          setupFiles: CHECKED,
          include: ['test/{scenarios,plans}/*.test.ts'],
          globalSetup: ['./test/postgres-setup.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'plans',
          include: ['test/plans/*.test.ts'],
          env: { PLANS_GROUPS: '1000000' },
        },
      },
      {
        test: {
          name: 'redis',
          include: ['runtime/**/*.redis.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
          // Most of the time they wait for a Redis that is away.
          maxWorkers: 4,
        },
      },
      {
        test: {
          name: 'cluster',
          setupFiles: CHECKED,
          include: ['test/cluster/*.test.ts'],
          exclude: BUSY,
          globalSetup: ['./test/service-setup.ts'],
          testTimeout: 180_000,
          hookTimeout: 60_000,
          // Most of the time they wait: for leases to end, for processes to start.
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'system',
          setupFiles: CHECKED,
          include: ['test/{crash,smoke,peers,browser,upgrade}/**/*.test.ts'],
          exclude: BUSY,
          globalSetup: ['./test/service-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          maxWorkers: 2,
        },
      },
      {
        test: {
          name: 'alone',
          setupFiles: CHECKED,
          include: ['test/{chaos,fuzz}/*.test.ts', ...BUSY],
          globalSetup: ['./test/service-setup.ts'],
          testTimeout: 300_000,
          hookTimeout: 300_000,
          fileParallelism: false,
        },
      },
    ],
  },
});
