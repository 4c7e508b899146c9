/** The third layer of the composition root: everything that speaks to messengers and receivers of webhooks. */
import { createDeliveryMetrics } from '../../actors/destination/metrics.ts';
import { type Connections, createConnections } from './connections.ts';
import type { Engine } from './engine.ts';
import type { Ground } from './ground.ts';
import { createMessages, type Messages } from './messages.ts';
import { createTemplateWork, type TemplateWork } from './templates.ts';

export interface Channels {
  readonly connections: Connections;
  readonly templates: TemplateWork;
  readonly messages: Messages;
  /** Begins no further call; resolves when those under way have ended. */
  finish(): Promise<void>;
}

export function createChannels(ground: Ground, { system, hints }: Engine): Channels {
  const { settings, version, outbound, wake, webhooks } = ground;
  const shared = {
    ...ground,
    caller: outbound.caller,
    sql: ground.database.main,
    ...{ publicUrl: settings.publicUrl, ingestUrl: settings.ingestUrl },
    version: version.version,
    ...{ system, hints },
  };
  const connections = createConnections({
    ...shared,
    recorder: outbound.recorder,
    messagesWait: wake.everyone,
  });
  const templates = createTemplateWork(shared);
  const deliveryMetrics = createDeliveryMetrics(ground.registry);
  const messages = createMessages({ ...shared, connections, templates, deliveryMetrics });
  ground.ports.channels.fill({
    sendMessage: messages.send,
    performForConnection: connections.perform,
    isCalling: messages.isCalling,
    forgetSettings(id) {
      webhooks.forget(id);
      messages.forget(id);
    },
  });
  return { connections, templates, messages, finish: messages.finish };
}
