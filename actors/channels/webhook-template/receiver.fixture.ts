/** A template-mode webhook with a receiver that answers as it is told, for tests. */
import { randomBytes } from 'node:crypto';
import { Registry } from 'prom-client';
import { SECOND } from '../../../runtime/clock.ts';
import { createOutboundCaller } from '../../../runtime/outbound/caller.ts';
import type { OutboundResult } from '../../../runtime/outbound/client.ts';
import { createOutboundMetrics } from '../../../runtime/outbound/metrics.ts';
import type { RequestRecord } from '../../../runtime/outbound/request-log/record.ts';
import type { PublicId } from '../../../runtime/public-id.ts';
import { createKeyring, masterKey } from '../../../runtime/secrets/keyring.ts';
import type { TemplateSettings } from '../../destination/ports.ts';
import { peopleOf } from '../../destination/sending/people.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import type { TemplateConfig } from '../../destination/webhook-config.ts';
import type { Directory } from '../../directory.ts';
import { group412, settings as messageSettings } from '../../messages/messages.fixture.ts';
import { NO_PROXY } from '../../proxy-config.ts';
import { EXAMPLE_GROUP } from './request-data.ts';
import type { RequestDeps } from './send-request.ts';

export const DESTINATION = 'DSK7M3QX9P2RTA' as PublicId;
export const NOW = 1_791_020_467 * SECOND;
export const SECRET = 'hunter2-very-secret';
const ANN = {
  id: 'SR1111111111AA' as PublicId,
  name: 'Ann',
  login: 'ann',
  status: 'active',
  timeZone: null,
} as const;
export const ANN_ID = ANN.id;

const key = masterKey(randomBytes(32));
const keyring = createKeyring([key], key.id);
const sealer = keyring.sealer(key.id);

export const CONFIG: TemplateConfig = {
  create: {
    request: `POST https://chat.example/messages
Authorization: Bearer {{ .Secrets.token }}

{"text":{{ if .Storm }}"{{ .Storm.AlertGroupCount }} of {{ .Storm.Route }}{{ else }}{{ printf "#%d %s" .AlertGroup.Number .AlertGroup.Title | toJson }}{{ end }},"notify":{{ .Notify }}}{{ range .Mentions }} {{ mention . }}{{ end }}`,
    extract: [{ name: 'id', path: '$.data.id' }],
  },
  update: {
    request:
      'PUT https://chat.example/messages/{{ .Response.id }}\nX-Key: {{ .Secrets.token }}\n\n{{ if .AlertGroup }}{{ .AlertGroup.Status }}{{ else }}{{ .Storm.Final }}{{ end }} {{ .Final }}',
    extract: [],
  },
  open_thread: {
    request: 'POST https://chat.example/messages/{{ .Response.id }}/thread',
    extract: [{ name: 'thread', path: '$.thread' }],
  },
  reply_in_thread: {
    request: 'POST https://chat.example/threads/{{ .Response.thread }}\n\n{{ .Event }}: {{ .Text }}',
    extract: [],
  },
};

export function templateSettings(template: Partial<TemplateConfig> = {}): TemplateSettings {
  return {
    id: DESTINATION,
    template: { ...CONFIG, ...template },
    secrets: new Map([['token', sealer.seal('destination.secret', `${DESTINATION}/token`, SECRET)]]),
    signingSecret: sealer.seal('destination.signing_secret', DESTINATION, `whsec_${key.id}AAAA`),
    previousSigningSecret: null,
    proxy: NO_PROXY,
    proxyPassword: null,
    version: '1.1',
  };
}

export const directory: Pick<Directory, 'usersById'> = { usersById: new Map([[ANN.id, ANN]]) };

export const scene: GroupScene = {
  group: group412(),
  data: { ...EXAMPLE_GROUP, number: 412, title: 'Disk "full"' },
  settings: messageSettings(),
  routeId: 'RT1111111111AA' as PublicId,
  resolvedAt: null,
  ownerId: null,
  people: peopleOf(new Map(), new Map()),
};

export interface Received {
  readonly line: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Receiver {
  readonly deps: RequestDeps;
  readonly received: Received[];
  readonly records: RequestRecord[];
}

type Answer =
  | { readonly status: number; readonly body?: string; readonly headers?: Record<string, string> }
  | 'lost';

/** Answers in turn, and fails the test with a request for which there is no answer left. */
export function receiver(answers: readonly Answer[]): Receiver {
  const received: Received[] = [];
  const records: RequestRecord[] = [];
  const left = [...answers];
  const clock = { now: () => NOW };
  const caller = createOutboundCaller({
    client: {
      async request(request): Promise<OutboundResult> {
        if (request.mayBegin && !request.mayBegin())
          return { kind: 'failed', code: 'withheld', error: 'withheld' };
        received.push({
          line: `${request.method} ${request.url.href}`,
          headers: Object.fromEntries(request.headers.map(([name, value]) => [name.toLowerCase(), value])),
          body: request.body?.toString('utf8') ?? '',
        });
        const answer = left.shift();
        if (answer === undefined) throw new Error(`an unexpected request: ${received.at(-1)?.line}`);
        if (answer === 'lost') return { kind: 'failed', code: 'timeout', error: 'no answer within 10 s' };
        const { status, headers = {}, body = '' } = answer;
        return { kind: 'answer', status, headers, body: Buffer.from(body), tooLarge: false };
      },
    },
    recorder: { record: (make) => void records.push(make()) },
    metrics: createOutboundMetrics(new Registry()),
    clock: clock as RequestDeps['clock'],
    log: () => undefined,
    userAgent: 'Tocsin/test',
  });
  const deps = {
    caller,
    keyring,
    clock: clock as RequestDeps['clock'],
    log: () => undefined,
    random: randomBytes,
  };
  return { deps, received, records };
}
