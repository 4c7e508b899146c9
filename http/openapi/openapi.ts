/** This API as an OpenAPI 3.1 document, as JSON and as YAML, derived from the operation table (api §18). */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type { Operation } from '../operation.ts';
import type { ApiDescription } from '../resources/system/system.ts';
import bodyExamples from './body-examples.json' with { type: 'json' };
import { describedMachineOperation, MACHINE_OPERATIONS } from './machine-operations.ts';
import { ANY_CREDENTIAL, describedOperation, ProblemShape } from './operation.ts';
import { createSchemaReader, type Json, shareRepeated } from './schema.ts';
import { describedWebhooks } from './webhook.ts';

const API = '/api/v1';

/** Texts are quoted: parsers of YAML 1.1 read some plain ones, such as `no` and `=`, as something else. */
const YAML_STYLE = {
  defaultStringType: 'QUOTE_DOUBLE',
  defaultKeyType: 'PLAIN',
  compat: 'yaml-1.1',
  lineWidth: 0,
} as const;

export function describeApi(operations: readonly Operation[], version: string): ApiDescription {
  const json = JSON.stringify(openApiDocument(operations, version));
  const hash = createHash('sha256').update(json).digest('base64url').slice(0, 22);
  let yaml: string | null = null;
  return {
    json,
    /** Written when first read: it takes some 0.2 s, and most processes are never asked for it. */
    get yaml() {
      yaml ??= stringify(JSON.parse(json), YAML_STYLE);
      return yaml;
    },
    etag: `"${hash}"`,
  };
}

/** @throws {Error} when two different schemas have one name */
export function openApiDocument(operations: readonly Operation[], version: string): Json {
  const reader = createSchemaReader();
  // Refusals refer to it by its name.
  reader.answer(ProblemShape);
  const { paths, parameters, responses } = shareRepeated(
    pathsOf([
      ...operations.map((operation) => ({
        path: API + operation.path,
        method: operation.method,
        described: describedOperation(operation, reader),
      })),
      ...MACHINE_OPERATIONS.map((described) => ({
        path: described.path,
        method: described.method,
        described: describedMachineOperation(described, reader),
      })),
    ]),
  );
  const webhooks = describedWebhooks(reader);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Tocsin',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The installation that serves this document.' }],
    tags: TAGS,
    security: ANY_CREDENTIAL,
    paths,
    webhooks,
    components: {
      securitySchemes: SECURITY_SCHEMES,
      headers: HEADERS,
      parameters,
      responses,
      schemas: Object.fromEntries(
        [...reader.components].sort(([a], [b]) => (a < b ? -1 : 1)).map(withExample),
      ),
    },
  };
}

/** Bodies as clients send them, by the name of their schema. */
const BODY_EXAMPLES: Json = bodyExamples;

function withExample([name, schema]: readonly [string, Json]): readonly [string, Json] {
  const example = BODY_EXAMPLES[name];
  return [name, example === undefined ? schema : { ...schema, examples: [example] }];
}

const INTRODUCTION = `Alert grouping and on-call for Prometheus Alertmanager.

- Bodies are one JSON object. Fields and query parameters that an operation does not know are ignored, so what was read can be sent back. A query parameter that is an array may be repeated; any of its values will do, where it does not say otherwise. Clients ignore fields and enum values they do not know.
- Times are RFC 3339; answers use UTC. Durations are whole seconds in fields named \`…_seconds\`.
- Lists answer \`items\` and \`next_cursor\`. Pass \`next_cursor\` as \`cursor\` to read on; it is null at the end.
- Configuration carries a version in the header \`ETag\` and the field \`etag\`. Send it in \`If-Match\` when you change it.
- Refusals are problem documents (RFC 9457). Branch on \`type\`, \`code\` and \`errors[].code\` only; \`x-problems\` lists them for each status.
- \`x-permission\` names the Permission that an operation needs, or \`authenticated\`, \`integration-token\` or \`none\`.`;

interface PathEntry {
  readonly path: string;
  readonly method: string;
  readonly described: Json;
}

function pathsOf(entries: readonly PathEntry[]): Readonly<Record<string, Readonly<Record<string, Json>>>> {
  const paths: Record<string, Record<string, Json>> = {};
  for (const { path, method, described } of entries) {
    paths[path] = { ...paths[path], [method.toLowerCase()]: described };
  }
  return paths;
}

const SECURITY_SCHEMES = {
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: 'svc_session',
    description:
      'A web session. Every method but GET and HEAD also needs the header `X-CSRF-Token` with the `csrf_token` of the session.',
  },
  token: {
    type: 'http',
    scheme: 'bearer',
    description:
      'A Personal access token (`svc_pat_…`) or the token of a Service account (`svc_sat_…`). At most 100 requests at once and 20 a second.',
  },
  integrationToken: {
    type: 'http',
    scheme: 'bearer',
    description: 'The token of an Integration (`svc_int_…`); it may also be the last part of the path.',
  },
};

const HEADERS = {
  ETag: {
    description: 'The version of the resource, with its quotes. Send it back in `If-Match`.',
    schema: { type: 'string', examples: ['"3"'] },
  },
  Location: {
    description: 'The path of the resource that was created.',
    schema: { type: 'string', format: 'uri-reference' },
  },
  Link: {
    description:
      'The next page as `<…>; rel="next"`; absent on the last, and where it would be longer than 2,048 characters.',
    schema: { type: 'string' },
  },
  RetryAfter: {
    description: 'Whole seconds to wait before the next attempt.',
    schema: { type: 'integer', minimum: 1 },
  },
};

/** The tags of the API description, in the order of the UI; what no page shows comes last. */
const TAGS = [
  {
    name: 'Alert Groups',
    description: 'Groups of Alerts: lists, counts, Commands, Notes, Timeline, deliveries, statistics.',
  },
  { name: 'Saved views', description: 'Named filters of the list of Alert Groups: own and shared ones.' },
  { name: 'Integrations', description: 'Senders of Snapshots: their tokens, Heartbeats, Alerts and bodies.' },
  { name: 'Routes', description: 'Which Alerts form which Alert Groups, and where they are delivered.' },
  { name: 'Connections', description: 'Bots and bridges through which Tocsin reaches messengers.' },
  { name: 'Destinations', description: 'Channels of messengers and webhooks that Alert Groups are sent to.' },
  { name: 'Request log', description: 'Recorded requests to and from messengers and webhooks.' },
  { name: 'Users', description: 'People, their Roles and the ways they sign in.' },
  { name: 'Service accounts', description: 'Identities of programs and their tokens.' },
  { name: 'OIDC', description: 'Sign-in through an identity provider.' },
  { name: 'Organization', description: 'Settings of the installation, outbound policy, master keys.' },
  { name: 'Link rules', description: 'Templates of links that Alert Groups show.' },
  { name: 'Lookup tables', description: 'Values by key that templates read.' },
  { name: 'Templates', description: 'Rendering of templates without storing them.' },
  { name: 'Audit log', description: 'Who changed what, and who signed in.' },
  { name: 'System', description: 'The state of the service, its actors, and this description.' },
  { name: 'Profile', description: 'Your own profile, second factor, tokens and Account links.' },
  { name: 'Account links', description: 'Which account of a messenger acts for which person.' },
  { name: 'Sessions', description: 'Sign-in and sign-out.' },
  { name: 'Live updates', description: 'Hints about changes as server-sent events.' },
  { name: 'Ingestion', description: 'What senders call, on the ingest listener.' },
  { name: 'Callbacks', description: 'What messengers and bridges call, on the ingest listener.' },
  { name: 'Internal', description: 'Probes and metrics, on the internal listener.' },
  { name: 'Webhooks', description: 'Requests that Tocsin sends to receivers of events.' },
] as const;
