/**
 * How owners make requests: one attempt through the client, what came of it in the words that all owners share, and
 * everything that is told of it besides: metrics, log lines, the Request log.
 */
import type { Clock } from '../clock.ts';
import type { Log } from '../log.ts';
import { newPublicId } from '../public-id.ts';
import { createMask, type Mask } from '../secrets/masking.ts';
import type { HeaderList, OutboundClient, OutboundRequest, OutboundResult, OutboundTrace } from './client.ts';
import type { ClientOutcome, OutboundMetrics } from './metrics.ts';
import { createRecordMask } from './request-log/mask-record.ts';
import type { RequestAbout, RequestRecord } from './request-log/record.ts';
import type { RequestRecorder } from './request-log/recorder.ts';
import { type AnswerMapping, judgeResult, type Verdict } from './verdict.ts';

export interface OutboundCall {
  readonly request: Omit<OutboundRequest, 'observe'>;
  /** Every secret of the owner, whether or not the request holds it; none of them is shown anywhere. */
  readonly secrets: readonly string[];
  /** Headers of the request, in small letters, whose values are made of secrets, however short. */
  readonly secretHeaders?: ReadonlySet<string>;
  readonly mapping: AnswerMapping;
  /** Null leaves it out of the Request log: identity providers and the outgoing heartbeat. */
  readonly about: RequestAbout | null;
  /** Shown the record as the Request log keeps it, by whoever answers a person with it. */
  readonly observe?: (record: RequestRecord) => void;
}

export interface Called {
  readonly result: OutboundResult;
  readonly verdict: Verdict;
}

export interface OutboundCaller {
  /** One attempt. A request that was withheld leaves no trace. */
  call(call: OutboundCall): Promise<Called>;
}

export interface CallerDeps {
  readonly client: Pick<OutboundClient, 'request'>;
  readonly recorder: Pick<RequestRecorder, 'record'>;
  readonly metrics: OutboundMetrics;
  readonly clock: Clock;
  readonly log: Log;
  /** `Tocsin/<version>`. */
  readonly userAgent: string;
}

interface Finished extends Called {
  readonly call: OutboundCall;
  readonly request: OutboundCall['request'];
  readonly trace: OutboundTrace;
  readonly mask: Mask;
}

export function createOutboundCaller(deps: CallerDeps): OutboundCaller {
  return {
    async call(call) {
      const { clock, client } = deps;
      const request = { ...call.request, headers: withDefaults(call.request.headers, deps.userAgent) };
      let trace: OutboundTrace = untraced(clock.now());
      const result = await client.request({
        ...request,
        observe(seen) {
          trace = seen;
        },
      });
      const mask = createMask([...call.secrets, ...inHost(request.url, call.secrets)]);
      const verdict = judgeResult(result, call.mapping, { url: request.url, now: clock.now(), mask });
      if (result.kind === 'failed' && result.code === 'withheld') return { result, verdict };
      const finished = { call, request, result, verdict, trace, mask };
      deps.metrics.request(request.class, clientOutcome(verdict), trace.ended - trace.began);
      tellLog(deps.log, finished);
      if (call.about !== null) keepRecord(deps, call.about, finished);
      return { result, verdict };
    },
  };
}

/** Secrets that are a part of the host's name, as URLs write it: in small letters. */
function inHost({ hostname }: URL, secrets: readonly string[]): readonly string[] {
  return secrets.map((secret) => secret.toLowerCase()).filter((secret) => hostname.includes(secret));
}

/** Of a client that observes nothing. */
function untraced(now: number): OutboundTrace {
  return { via: 'direct', began: now, ended: now, isUnverified: false, answerHeaders: null };
}

function withDefaults(headers: HeaderList, userAgent: string): HeaderList {
  const names = new Set(headers.map(([name]) => name.toLowerCase()));
  return [
    ...headers,
    ...(names.has('user-agent') ? [] : [['User-Agent', userAgent] as const]),
    ...(names.has('accept-encoding') ? [] : [['Accept-Encoding', 'identity'] as const]),
  ];
}

function clientOutcome(verdict: Verdict): ClientOutcome {
  return verdict.class === 'gone' ? 'fatal' : verdict.class;
}

function tellLog(log: Log, { request, result, trace, mask }: Finished): void {
  if (result.kind !== 'blocked' && !trace.isUnverified) return;
  const { protocol, hostname } = request.url;
  const where = { client: request.class, scheme: protocol.slice(0, -1), host: mask(hostname) };
  if (result.kind === 'blocked') log('outbound_blocked', { ...where, rule: result.refusal.rule });
  else log('outbound_unverified_address', where);
}

/** Made when the log has time for it, unless somebody waits for it. */
function keepRecord({ recorder }: CallerDeps, about: RequestAbout, finished: Finished): void {
  const { observe } = finished.call;
  const record = observe && recordOf(about, finished);
  recorder.record(() => record ?? recordOf(about, finished));
  if (record) observe(record);
}

function recordOf(about: RequestAbout, finished: Finished): RequestRecord {
  const { call, request, result, verdict, trace, mask } = finished;
  const masked = createRecordMask(call.secrets, mask, call.secretHeaders);
  const answered = result.kind === 'answer';
  return {
    ...about,
    id: newPublicId('RQ'),
    at: trace.began,
    direction: 'outbound',
    method: request.method,
    url: masked.url(request.url),
    status: answered ? result.status : null,
    latency: trace.ended - trace.began,
    via: trace.via,
    errorClass: verdict.class === 'ok' ? null : verdict.class,
    errorCode: verdict.class === 'ok' ? null : verdict.code,
    error: verdict.class === 'ok' ? null : verdict.error,
    ...(verdict.class === 'ok' && verdict.isEmptyPoll ? { isEmptyPoll: true } : {}),
    request: masked.message(request.headers, request.body),
    response: answered ? masked.message(trace.answerHeaders ?? [], result.body) : null,
  };
}
