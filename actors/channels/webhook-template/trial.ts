/** Tests of outgoing webhooks: one event or one create, sent at once and never repeated (webhooks §6). */
import type { Called } from '../../../runtime/outbound/caller.ts';
import { createMask } from '../../../runtime/secrets/masking.ts';
import { newEventId } from '../../destination/messages.ts';
import type { SealedSettings, StoredDestination, TemplateSettings } from '../../destination/ports.ts';
import type { GroupScene } from '../../destination/sending/scene.ts';
import { beginStep, type Limited } from '../access.ts';
import {
  type AskedTrial,
  type DestinationTrial,
  type TrialClass,
  type TrialResult,
  type TrialStep,
  trialResult,
} from '../interactive.ts';
import type { RefusedRequest } from '../webhook-events/opening.ts';
import { buildWebhookRequest, renderTestBody } from '../webhook-events/request.ts';
import { previewWebhook, type WebhookTrialDeps } from './preview.ts';
import { UPDATE } from './request-data.ts';
import {
  buildTemplateRequest,
  callReady,
  extractionOf,
  refusal,
  type SendableRequest,
  type WantedRequest,
} from './send-request.ts';

type Step = ReturnType<typeof beginStep>;

const TEST_TITLE = '🧪 Test message: ';

export function createWebhookTrial(deps: WebhookTrialDeps): DestinationTrial {
  return {
    async test(asked) {
      const name = modeOf(asked.destination) === 'template' ? 'create' : 'event';
      const step = beginStep(deps, asked, name);
      const made = await (name === 'event' ? sendEvent(deps, asked, step) : sendCreate(deps, asked, step));
      return { steps: [made], message: null };
    },
    preview: (asked) => previewWebhook(deps, asked),
  };
}

async function sendEvent(deps: WebhookTrialDeps, asked: AskedTrial, step: Step): Promise<TrialStep> {
  const { clock, keyring, random, publicUrl } = deps;
  const { scene } = asked;
  const settings = required(await deps.settings.events(asked.destination.id));
  const now = clock.now();
  const group = await deps.views(scene);
  const text = renderTestBody({ actor: asked.by, at: now, group }, scene.data.number, publicUrl);
  const body = Buffer.from(text, 'utf8');
  const built = buildWebhookRequest({ settings, keyring, eventId: newEventId(random), body, now });
  if (built.outcome !== 'ready') return step.ended(refusedResult(deps, built));
  return step.ended(resultOf(await call(deps, step, settings, { ...built, method: 'POST', body })));
}

async function sendCreate(deps: WebhookTrialDeps, asked: AskedTrial, step: Step): Promise<TrialStep> {
  const { clock, keyring, random } = deps;
  const settings = required(await deps.settings.template(asked.destination.id));
  const wanted = testCreate(settings, asked.scene);
  const eventId = newEventId(random);
  const built = buildTemplateRequest(wanted, { sealed: settings, keyring, eventId, now: clock.now() });
  if (built.outcome !== 'ready') return step.ended(refusedResult(deps, built));
  const called = await call(deps, step, settings, built);
  const made = step.ended(resultOf(called));
  if (!('verdict' in called) || called.verdict.class !== 'ok' || wanted.template.extract.length === 0)
    return made;
  const mask = createMask(built.secrets);
  const { values } = extractionOf(wanted, called);
  const shown = wanted.template.extract.map(({ name }) => {
    const value = values[name];
    return [name, value === undefined ? null : mask(value)] as const;
  });
  return { ...made, extracted: Object.fromEntries(shown) };
}

function testCreate({ template }: TemplateSettings, { data, settings }: GroupScene): WantedRequest {
  const group = { ...data, title: `${TEST_TITLE}${data.title}` };
  return {
    ...{ role: 'create', template: template.create, settings },
    ...{ subject: { kind: 'group', group }, telling: UPDATE, values: {} },
  };
}

function call(
  deps: WebhookTrialDeps,
  step: Step,
  settings: SealedSettings,
  ready: SendableRequest,
): Promise<Called | Limited> {
  return step.call(null, async ({ class: is, destinationId, check, observe }, timeout) => {
    const about = { attempt: 1, destinationId, alertGroupId: null, check: check.as, checkRun: check.run };
    const options = { class: is, timeout, about, observe };
    return (await callReady(deps, settings, ready, step.name, options)).called;
  });
}

function resultOf(called: Called | Limited): TrialResult {
  if (!('verdict' in called)) return trialResult(called);
  const { verdict } = called;
  return { errorClass: classOf(verdict), error: verdict.class === 'ok' ? null : verdict.error };
}

function refusedResult(deps: WebhookTrialDeps, built: RefusedRequest): TrialResult {
  const { class: errorClass, error } = refusal(deps, built);
  return { errorClass, error };
}

function classOf({ class: verdict }: Called['verdict']): TrialClass {
  switch (verdict) {
    case 'ok':
      return 'none';
    case 'gone':
      return 'fatal';
    case 'redirect':
      return 'unknown';
    default:
      return verdict;
  }
}

function modeOf({ fields, id }: StoredDestination): 'events' | 'template' {
  if (fields.type !== 'webhook') throw new Error(`Destination ${id} is no webhook`);
  return fields.mode;
}

/** A Destination that was deleted between two reads. */
function required<Settings>(settings: Settings | null): Settings {
  if (settings === null) throw new Error('the settings of a webhook are gone');
  return settings;
}
