/** Secrets and signing secrets of a webhook (webhooks §2, api §15). Values go in and never come out. */
import * as v from 'valibot';
import { MOST_SECRETS, type SecretChange, type SecretEntry } from '../../../actors/destination/ports.ts';
import { SECRET_NAME } from '../../../actors/templates/index.ts';
import { formatInstant } from '../../../runtime/clock.ts';
import { type Answer, authorOf, type Call, type Operation, operation } from '../../operation.ts';
import { conflict, type FieldError, invalid, notFound, preconditionFailed } from '../../problem.ts';
import * as d from '../../schema/described.ts';
import { itemsOf } from '../../schema/shapes.ts';
import { DESTINATION_ID, type DestinationOperationsDeps, destinationId, tellSaved } from './saving.ts';
import { SigningSecretStatusShape, signingSecretBody } from './webhook.ts';

const SECRETS_PATH = '/destinations/{destination_id}/secrets';
const SECRET_PATH = `${SECRETS_PATH}/{name}`;
const SECRET_PARAMETER = { name: 'Name by which templates read the Secret.' };
const SIGNING_PATH = '/destinations/{destination_id}/signing-secret';

const NAME_CHARACTERS = 64;
const VALUE_BYTES = 8192;

const SecretShape = d.named(
  'NamedSecret',
  v.object({
    name: d.text('Name by which templates read it.'),
    set: d.flag('Always true: a Secret without a value is deleted.'),
    updated_at: d.time('When its value was last set.'),
  }),
  'A Secret that templates of a webhook may read, without its value.',
);
const SecretInput = d.named(
  'SecretInput',
  v.object({ value: d.described(v.string(), 'The value. It is stored encrypted and never answered.') }),
  'The value of a Secret.',
);

const NOT_WEBHOOK = [409, 'conflict', 'not_webhook_destination'] as const;

export function destinationSecretOperations(deps: DestinationOperationsDeps): readonly Operation[] {
  const { store, hints } = deps;

  const announce = (call: Call): void => {
    const id = destinationId(call);
    tellSaved(deps, id);
    hints.send({ type: 'destination', id });
  };

  return [
    operation({
      id: 'listDestinationSecrets',
      method: 'GET',
      path: SECRETS_PATH,
      tag: 'Destinations',
      summary: 'List the names of the Secrets',
      description: 'Values are never answered. The `ETag` is that of all Secrets together.',
      needs: 'destinations:read',
      ids: DESTINATION_ID,
      answers: { 200: { description: 'By name', schema: itemsOf(SecretShape), etag: true } },
      refusals: [NOT_WEBHOOK],
      async handle(call) {
        const refused = await refusedType(deps, call);
        if (refused) return refused;
        const secrets = await store.secrets(destinationId(call));
        if (!secrets) return notFound();
        const items = secrets.items.map(secretBody);
        return { status: 200, body: { items }, etag: secrets.version };
      },
    }),

    operation({
      id: 'putDestinationSecret',
      method: 'PUT',
      path: SECRET_PATH,
      paths: SECRET_PARAMETER,
      tag: 'Destinations',
      summary: 'Create or replace a Secret',
      description: 'Templates read it by its name from the next request on.',
      needs: 'destinations:write',
      ids: DESTINATION_ID,
      ifMatch: 'optional',
      body: SecretInput,
      answers: { 200: { description: 'The Secret without its value', schema: SecretShape, etag: true } },
      refusals: [NOT_WEBHOOK],
      async handle(call) {
        const refused = await refusedType(deps, call);
        if (refused) return refused;
        const id = destinationId(call);
        const name = secretName(call);
        const { value } = call.body;
        const errors = [...nameErrors(name), ...valueErrors(value)];
        if (errors.length > 0) return (await judgedBefore(deps, call)) ?? invalid(errors);
        const change = await store.putSecret(id, { name, value }, isCurrent(call), authorOf(call));
        if (change.outcome !== 'saved') return refusalOf(change);
        announce(call);
        return {
          status: 200,
          body: secretBody({ name, isSet: true, updatedAt: change.updatedAt }),
          etag: change.version,
        };
      },
    }),

    operation({
      id: 'deleteDestinationSecret',
      method: 'DELETE',
      path: SECRET_PATH,
      paths: SECRET_PARAMETER,
      tag: 'Destinations',
      summary: 'Delete a Secret; templates that read it fail from then on',
      description: '404 when there is none of this name.',
      needs: 'destinations:write',
      ids: DESTINATION_ID,
      ifMatch: 'optional',
      answers: { 204: { description: 'Deleted' } },
      refusals: [NOT_WEBHOOK],
      async handle(call) {
        const refused = await refusedType(deps, call);
        if (refused) return refused;
        const change = await store.deleteSecret(
          destinationId(call),
          secretName(call),
          isCurrent(call),
          authorOf(call),
        );
        if (change.outcome !== 'saved') return refusalOf(change);
        announce(call);
        return { status: 204 };
      },
    }),

    operation({
      id: 'getSigningSecretStatus',
      method: 'GET',
      path: SIGNING_PATH,
      tag: 'Destinations',
      summary: 'Read whether a signing secret is set, and whether a previous one still signs',
      description: 'The secret itself is never answered.',
      needs: 'destinations:read',
      ids: DESTINATION_ID,
      answers: { 200: { description: 'Its status', schema: SigningSecretStatusShape } },
      refusals: [NOT_WEBHOOK],
      async handle(call) {
        const refused = await refusedType(deps, call);
        if (refused) return refused;
        const destination = await store.read(destinationId(call));
        if (!destination) return notFound();
        return { status: 200, body: signingSecretBody(destination.signingSecret) };
      },
    }),

    operation({
      id: 'generateSigningSecret',
      method: 'POST',
      path: SIGNING_PATH,
      tag: 'Destinations',
      summary: 'Make a new signing secret; the present one goes on signing until it is retired',
      description: 'Until the previous secret is retired, requests carry the signatures of both.',
      needs: 'destinations:write',
      ids: DESTINATION_ID,
      answers: {
        201: {
          description: 'The new secret, in this answer only',
          schema: v.object({
            secret: d.text('The new signing secret, `whsec_…`. In this answer only.'),
            status: SigningSecretStatusShape,
          }),
        },
      },
      refusals: [NOT_WEBHOOK],
      async handle(call) {
        const refused = await refusedType(deps, call);
        if (refused) return refused;
        const generated = await store.generateSigningSecret(destinationId(call), authorOf(call));
        if (!generated) return notFound();
        announce(call);
        const { secret, status } = generated;
        return { status: 201, body: { secret, status: signingSecretBody(status) } };
      },
    }),

    operation({
      id: 'retirePreviousSigningSecret',
      method: 'DELETE',
      path: `${SIGNING_PATH}/previous`,
      tag: 'Destinations',
      summary: 'End the previous signing secret',
      description: 'Do it once every receiver knows the new secret.',
      needs: 'destinations:write',
      ids: DESTINATION_ID,
      answers: { 204: { description: 'Retired, or there was none' } },
      refusals: [NOT_WEBHOOK],
      async handle(call) {
        const refused = await refusedType(deps, call);
        if (refused) return refused;
        const retired = await store.retirePreviousSigningSecret(destinationId(call), authorOf(call));
        if (retired === 'unknown') return notFound();
        if (retired === 'retired') announce(call);
        return { status: 204 };
      },
    }),
  ];
}

/** Secrets and signatures belong to webhooks alone. */
async function refusedType({ store }: DestinationOperationsDeps, call: Call): Promise<Answer | null> {
  const destination = await store.read(destinationId(call));
  if (!destination) return notFound();
  return destination.fields.type === 'webhook' ? null : NOT_A_WEBHOOK;
}

function secretName(call: Pick<Call, 'params'>): string {
  return String(call.params.name);
}

function isCurrent({ ifMatch }: Pick<Call, 'ifMatch'>) {
  return ifMatch && ((version: number) => ifMatch.matches(version));
}

/** Existence and version are judged before meaning (api §1.3). */
async function judgedBefore({ store }: DestinationOperationsDeps, call: Call): Promise<Answer | null> {
  const secrets = await store.secrets(destinationId(call));
  if (!secrets) return notFound();
  return call.ifMatch && !call.ifMatch.matches(secrets.version) ? preconditionFailed() : null;
}

function refusalOf(change: Exclude<SecretChange, { outcome: 'saved' }>): Answer {
  if (change.outcome === 'unknown') return notFound();
  return change.outcome === 'stale' ? preconditionFailed() : TOO_MANY;
}

function nameErrors(name: string): readonly FieldError[] {
  if (SECRET_NAME.test(name) && name.length <= NAME_CHARACTERS) return [];
  const detail = `A name is a letter or underscore, then letters, digits and underscores; at most ${NAME_CHARACTERS}.`;
  return [{ pointer: '/path/name', code: 'invalid_format', detail }];
}

function valueErrors(value: string): readonly FieldError[] {
  if (value === '')
    return [{ pointer: '/value', code: 'too_short', detail: 'Give the value of the Secret.' }];
  if (Buffer.byteLength(value) <= VALUE_BYTES) return [];
  return [{ pointer: '/value', code: 'too_long', detail: `A value has at most ${VALUE_BYTES} bytes.` }];
}

function secretBody({ name, isSet, updatedAt }: SecretEntry) {
  return { name, set: isSet, updated_at: formatInstant(updatedAt) };
}

const NOT_A_WEBHOOK = conflict(
  'not_webhook_destination',
  'Only an outgoing webhook has Secrets and signs its requests.',
);

const TOO_MANY = invalid([
  {
    pointer: '/path/name',
    code: 'out_of_range',
    detail: `A Destination has at most ${MOST_SECRETS} Secrets. Delete one first.`,
  },
]);
