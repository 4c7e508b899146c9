/** Bodies just recorded, so that the request that usually follows at once reads nothing from the database. Bounded. */
export interface WebhookBodies {
  put(eventId: string, body: string): void;
  get(eventId: string): string | undefined;
  drop(eventId: string): void;
}

/** @param mostCharacters of all bodies together; the oldest go first */
export function createWebhookBodies(mostCharacters = 32 * 1024 * 1024): WebhookBodies {
  const held = new Map<string, string>();
  let characters = 0;
  const drop = (eventId: string): void => {
    characters -= held.get(eventId)?.length ?? 0;
    held.delete(eventId);
  };
  return {
    get: (eventId) => held.get(eventId),
    drop,
    put(eventId, body) {
      drop(eventId);
      held.set(eventId, body);
      characters += body.length;
      for (const oldest of held.keys()) {
        if (characters <= mostCharacters) return;
        drop(oldest);
      }
    },
  };
}
