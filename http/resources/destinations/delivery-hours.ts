/** What was delivered to each Destination in the last 24 hours (delivery §7.6). */
import * as v from 'valibot';
import {
  type DeliveryHour,
  type DeliveryHoursReader,
  HOURS_SHOWN,
} from '../../../actors/destination/ports.ts';
import { formatInstant, HOUR } from '../../../runtime/clock.ts';
import { type Operation, operation } from '../../operation.ts';
import * as d from '../../schema/described.ts';
import { EntityRef } from '../../schema/shapes.ts';

export interface DeliveryHoursDeps {
  readonly hours: DeliveryHoursReader;
}

const perHour = (description: string) => d.described(v.array(d.count('How many.')), description);

const DeliveryHoursShape = d.named(
  'DeliveryHours',
  v.object({
    hours: d.described(
      v.array(d.time('When it began.')),
      'The 24 hours, the oldest first; the last one lasts.',
    ),
    items: d.described(
      v.array(
        v.object({
          destination: EntityRef,
          delivered: d.count('Requests that were taken.'),
          failed: d.count('Requests that failed, each attempt.'),
          delivered_per_hour: perHour('Of `delivered`, by hour.'),
          failed_per_hour: perHour('Of `failed`, by hour.'),
        }),
      ),
      'Every Destination, by name.',
    ),
  }),
  'Requests that delivered to Destinations, by the hour.',
);

export function deliveryHoursOperations({ hours }: DeliveryHoursDeps): readonly Operation[] {
  return [
    operation({
      id: 'listDeliveryHours',
      method: 'GET',
      path: '/delivery-hours',
      tag: 'Destinations',
      summary: 'Count what was delivered in the last 24 hours',
      description: 'The present hour and the 23 before it. Checks, tests and probes do not count.',
      needs: 'destinations:read',
      answers: { 200: { description: 'By Destination and hour', schema: DeliveryHoursShape } },
      async handle({ directory, now }) {
        const { from, counts } = await hours.read(now);
        const byDestination = new Map<string, DeliveryHour[]>();
        for (const hour of counts) {
          const others = byDestination.get(hour.destinationId);
          if (others) others.push(hour);
          else byDestination.set(hour.destinationId, [hour]);
        }
        const items = [...directory.destinationsById.values()]
          .map(({ id, name }) => ({ destination: { id, name }, ...figures(byDestination.get(id) ?? []) }))
          .sort((left, right) => (left.destination.name < right.destination.name ? -1 : 1));
        const starts = Array.from({ length: HOURS_SHOWN }, (_, index) => formatInstant(from + index * HOUR));
        return { status: 200, body: { hours: starts, items } };
      },
    }),
  ];
}

function figures(counts: readonly DeliveryHour[]) {
  const delivered = Array.from({ length: HOURS_SHOWN }, () => 0);
  const failed = [...delivered];
  for (const hour of counts) {
    delivered[hour.index] = hour.delivered;
    failed[hour.index] = hour.failed;
  }
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    delivered: sum(delivered),
    failed: sum(failed),
    delivered_per_hour: delivered,
    failed_per_hour: failed,
  };
}
