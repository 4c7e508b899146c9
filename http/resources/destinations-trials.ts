/** Tests and previews of Destinations (delivery §13, webhooks §6, api §15). */
import * as v from 'valibot';
import type { DestinationFields } from '../../actors/destination/ports.ts';
import type {
  DestinationTrial,
  PreviewItem,
  TrialRequest,
  TrialStep,
} from '../../actors/destination/trials/trial.ts';
import type { TrialScenes, TrialSource } from '../../actors/destination/trials/trial-scenes.ts';
import { newPublicId } from '../../runtime/public-id.ts';
import { authorOf } from '../author.ts';
import { NOT_IMPLEMENTED } from '../errors.ts';
import { publicId } from '../fields.ts';
import { type Answer, type Call, type Operation, operation } from '../operation.ts';
import { type FieldError, invalid, notFound, refuse } from '../problem.ts';
import { itemsOf } from '../shapes.ts';
import {
  DESTINATION_ID,
  type DestinationOperationsDeps,
  destinationId,
  provedToWork,
} from './destinations.ts';
import { HealthShape, healthBody } from './destinations-common.ts';

export interface DestinationTrialDeps extends Pick<DestinationOperationsDeps, 'store' | 'system'> {
  readonly scenes: TrialScenes;
  /** By type; null where this build cannot try one. */
  readonly trials: Readonly<Record<DestinationFields['type'], DestinationTrial | null>>;
}

const TrialInput = v.object({
  source: v.optional(
    v.nullable(
      v.object({
        kind: v.picklist(['example', 'alert_group']),
        alert_group_id: v.optional(v.nullable(publicId)),
      }),
    ),
  ),
});
type TrialInput = v.InferOutput<typeof TrialInput>;

const RequestShape = v.object({
  method: v.string(),
  url: v.string(),
  headers: v.array(v.object({ name: v.string(), value: v.string() })),
  body: v.nullable(v.string()),
});

const StepShape = v.object({
  name: v.picklist(['message', 'event', 'create']),
  request: v.nullable(RequestShape),
  response_status: v.nullable(v.number()),
  response_body: v.nullable(v.string()),
  extracted: v.nullable(v.record(v.string(), v.nullable(v.string()))),
  duration_ms: v.number(),
  error_class: v.picklist([
    'none',
    'retry_after',
    'transient',
    'fatal',
    'unknown',
    'template_error',
    'blocked',
    'limited',
  ]),
  error: v.nullable(v.string()),
});

const TestShape = v.object({
  steps: v.array(StepShape),
  health: HealthShape,
  request_log_run: v.nullable(v.string()),
});

const PreviewShape = v.object({
  name: v.picklist(['message', 'event', 'create', 'update', 'open_thread', 'reply_in_thread']),
  format: v.picklist(['markdown', 'html', 'commonmark', 'json', 'plain']),
  text: v.nullable(v.string()),
  request: v.nullable(RequestShape),
});

export function destinationTrialOperations(deps: DestinationTrialDeps): readonly Operation[] {
  return [
    operation({
      id: 'testDestination',
      method: 'POST',
      path: '/destinations/{destination_id}/tests',
      tag: 'Destinations',
      summary: 'Send a test message, Quiet and outside every Thread; one that arrives ends Broken',
      needs: 'destinations:test',
      ids: DESTINATION_ID,
      body: TrialInput,
      bodyOptional: true,
      answers: { 200: { description: 'How it went, request by request', schema: TestShape } },
      refusals: NOT_TRIED,
      handle: (call) => test(deps, call),
    }),

    operation({
      id: 'previewDestination',
      method: 'POST',
      path: '/destinations/{destination_id}/previews',
      tag: 'Destinations',
      summary: 'Show what would be sent; nothing is',
      needs: 'destinations:test',
      ids: DESTINATION_ID,
      body: TrialInput,
      bodyOptional: true,
      answers: { 200: { description: 'What would be sent', schema: itemsOf(PreviewShape) } },
      refusals: NOT_TRIED,
      async handle(call) {
        const chosen = await choose(deps, call);
        if ('refuse' in chosen) return chosen.refuse;
        const { trial, ...asked } = chosen;
        const items = await trial.preview(asked);
        return { status: 200, body: { items: items.map(previewBody) } };
      },
    }),
  ];
}

const NOT_TRIED = [[501, 'not-implemented', '']] as const;

async function test(deps: DestinationTrialDeps, call: Call<unknown, TrialInput>): Promise<Answer> {
  const chosen = await choose(deps, call);
  if ('refuse' in chosen) return chosen.refuse;
  const { trial, source, ...asked } = chosen;
  const { destination } = asked;
  const run = newPublicId('RN');
  const { steps, message } = await trial.test({ ...asked, run, by: call.principal() });
  await deps.store.tested(destination, { source, steps, message }, authorOf(call));
  const works = steps.every(({ errorClass }) => errorClass === 'none');
  const { health } = works ? await provedToWork(deps, destination, call.now) : destination;
  const wasSent = steps.some(({ request }) => request !== null);
  return {
    status: 200,
    body: {
      steps: steps.map(stepBody),
      health: healthBody(health),
      request_log_run: wasSent ? run : null,
    },
  };
}

/** What is tried, and on which Alert Group. */
async function choose(deps: DestinationTrialDeps, call: Call<unknown, TrialInput>) {
  const destination = await deps.store.read(destinationId(call));
  if (!destination) return { refuse: notFound() };
  const trial = deps.trials[destination.fields.type];
  if (!trial) return { refuse: refuse(NOT_IMPLEMENTED) };
  const source = sourceOf(call.body);
  if (!source) return { refuse: invalid([NO_GROUP]) };
  const scene = await deps.scenes(source, destination, call);
  return scene ? { destination, trial, source, scene } : { refuse: invalid([UNKNOWN_GROUP]) };
}

/** Null: an Alert Group is wanted, and none is named. */
function sourceOf({ source }: TrialInput): TrialSource | null {
  if (source?.kind !== 'alert_group') return { kind: 'example' };
  const groupId = source.alert_group_id ?? null;
  return groupId && { kind: 'alert_group', groupId };
}

function stepBody(step: TrialStep): v.InferOutput<typeof StepShape> {
  return {
    name: step.name,
    request: step.request && requestBody(step.request),
    response_status: step.responseStatus,
    response_body: step.responseBody,
    extracted: step.extracted && { ...step.extracted },
    duration_ms: Math.round(step.duration / 1000),
    error_class: step.errorClass,
    error: step.error,
  };
}

function previewBody({ name, format, text, request }: PreviewItem): v.InferOutput<typeof PreviewShape> {
  return { name, format, text, request: request && requestBody(request) };
}

function requestBody({ method, url, headers, body }: TrialRequest): v.InferOutput<typeof RequestShape> {
  return { method, url, headers: headers.map(([name, value]) => ({ name, value })), body };
}

const NO_GROUP: FieldError = {
  pointer: '/source/alert_group_id',
  code: 'required',
  detail: 'Name the Alert Group, or take the example.',
};

const UNKNOWN_GROUP: FieldError = {
  pointer: '/source/alert_group_id',
  code: 'unknown_id',
  detail: 'No Route of this Destination has such an Alert Group.',
};
