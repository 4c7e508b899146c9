/** Where an Alert Group was delivered (delivery §11, api §12). */
import * as v from 'valibot';
import type { GroupDelivery } from '../../actors/destination/group-delivery.ts';
import { formatInstant, formatInstantOrNull } from '../../runtime/clock.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import { type Operation, operation } from '../operation.ts';
import { notFound } from '../problem.ts';
import { DestinationRef, itemsOf } from '../shapes.ts';

export interface DeliveryOperationsDeps {
  /** One item a Destination, by name; null when there is no such Alert Group. */
  deliveries(groupId: PublicId): Promise<readonly GroupDelivery[] | null>;
}

const DeliveryShape = v.object({
  destination: DestinationRef,
  state: v.picklist([
    'pending',
    'delivered',
    'waiting_for_broken_destination',
    'not_delivered',
    'deleted_in_messenger',
    'withheld',
    'retired',
  ]),
  thread_not_attached: v.boolean(),
  possible_duplicate: v.boolean(),
  message_url: v.nullable(v.string()),
  error: v.nullable(v.string()),
  updated_at: v.string(),
});

export function deliveryOperations({ deliveries }: DeliveryOperationsDeps): readonly Operation[] {
  return [
    operation({
      id: 'listAlertGroupDeliveries',
      method: 'GET',
      path: '/alert-groups/{alert_group_id}/deliveries',
      tag: 'Alert Groups',
      summary: 'List where an Alert Group was delivered, by Destination name',
      needs: 'alert-groups:read',
      ids: { alert_group_id: 'AG' },
      answers: { 200: { description: 'One item a Destination', schema: itemsOf(DeliveryShape) } },
      async handle(call) {
        const found = await deliveries(call.params.alert_group_id as PublicId);
        return found ? { status: 200, body: { items: found.map(deliveryBody) } } : notFound();
      },
    }),
  ];
}

function deliveryBody(item: GroupDelivery) {
  const { destination, state, error, updatedAt } = item;
  const { id, name, type, brokenSince, brokenReason } = destination;
  return {
    destination: {
      id,
      name,
      type,
      health: {
        state: brokenSince === null ? 'healthy' : 'broken',
        since: formatInstantOrNull(brokenSince),
        reason: brokenReason,
      },
    },
    state,
    thread_not_attached: item.threadNotAttached,
    possible_duplicate: item.possibleDuplicate,
    message_url: item.messageUrl,
    error,
    updated_at: formatInstant(updatedAt),
  };
}
