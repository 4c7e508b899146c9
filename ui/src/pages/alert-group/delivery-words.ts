/** The message of an Alert Group at one Destination in words (delivery §11, ui §4 rule 10). */
import type { DeliveryItem } from '../../api/shapes.ts';
import type { I18n } from '../../i18n/i18n.svelte.ts';

/** Why nothing is sent although something is wanted; null where nothing waits. */
function waitingFor({ state, machine }: DeliveryItem): 'storm' | 'route' | 'broken' | null {
  if (machine.root === 'held.storm') return 'storm';
  if (machine.root === 'held.unjudged') return 'route';
  return state === 'waiting_for_broken_destination' ? 'broken' : null;
}

function underWay({ machine }: DeliveryItem): 'publish' | 'edit' | 'reply' | null {
  if (machine.root === 'publishing') return 'publish';
  if (machine.root === 'editing') return 'edit';
  return machine.thread === 'replying' ? 'reply' : null;
}

/**
 * What was sent, what is being sent and what waits for what, in this order. What is due next is not among them: it
 * counts down.
 * @param when writes an instant that is past
 */
export function deliverySentences(
  item: DeliveryItem,
  { t }: Pick<I18n, 't'>,
  when: (instant: string) => string,
): readonly string[] {
  const waits = waitingFor(item);
  const running = underWay(item);
  return [
    ...(item.posted_at === null ? [] : [t('deliverySaid.posted', { time: when(item.posted_at) })]),
    ...(item.edited_at === null ? [] : [t('deliverySaid.edited', { time: when(item.edited_at) })]),
    ...(running === null ? [] : [t(`deliveryNow.${running}`)]),
    ...(waits === null ? [] : [t(`deliveryWaits.${waits}`)]),
  ];
}
