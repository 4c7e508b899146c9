/** Operations on Alert Groups (api §12). */
import type { Answer, ApiClient, Query } from './client.ts';
import type {
  AlertGroup,
  AlertItem,
  CommandAnswer,
  CommandName,
  DeliveryItem,
  GroupContext,
  GroupCounts,
  GroupFolds,
  Items,
  LinkedPerson,
  Note,
  Page,
  PageRequest,
  RelatedGroup,
  Schemas,
  SnoozePresets,
  SnoozeRequest,
  TimelineEntry,
  UserRef,
} from './shapes.ts';

/** Commands that carry nothing. */
export type PlainCommand = Exclude<CommandName, 'resolve' | 'snooze' | 'add_note'>;

export type BulkCommand = Omit<Schemas['BulkCommandInput'], 'alert_group_ids'>;

export type AlertGroupsApi = ReturnType<typeof createAlertGroupsApi>;

export function createAlertGroupsApi(client: ApiClient) {
  const of = (id: string) => `/alert-groups/${id}`;

  return {
    list: (filters: Query, page: PageRequest, keptAs?: string): Promise<Answer<Page<AlertGroup>>> =>
      client.get('/alert-groups', { query: { ...filters, ...page }, keptAs }),
    counts: (filters: Query): Promise<Answer<GroupCounts>> =>
      client.get('/alert-group-counts', { query: filters }),
    folds: (filters: Query): Promise<Answer<GroupFolds>> =>
      client.get('/alert-group-folds', { query: filters }),
    read: (id: string): Promise<Answer<AlertGroup>> => client.get(of(id)),
    alerts: (id: string, page: PageRequest): Promise<Answer<Page<AlertItem>>> =>
      client.get(`${of(id)}/alerts`, { query: { ...page } }),
    timeline: (
      id: string,
      page: PageRequest,
      order: 'asc' | 'desc',
      kinds: readonly string[],
    ): Promise<Answer<Page<TimelineEntry>>> =>
      client.get(`${of(id)}/timeline`, { query: { ...page, order, kind: kinds } }),
    notes: (id: string, page: PageRequest): Promise<Answer<Page<Note>>> =>
      client.get(`${of(id)}/notes`, { query: { ...page } }),
    related: (id: string, page: PageRequest): Promise<Answer<Page<RelatedGroup>>> =>
      client.get(`${of(id)}/related`, { query: { ...page } }),
    context: (id: string): Promise<Answer<GroupContext>> => client.get(`${of(id)}/context`),
    deliveries: (id: string): Promise<Answer<Items<DeliveryItem>>> => client.get(`${of(id)}/deliveries`),
    /** People for pickers, deleted ones included, by name. @param q part of a name or login */
    people: (q: string, page: PageRequest): Promise<Answer<Page<UserRef>>> =>
      client.get('/user-directory', { query: { q, ...page } }),
    /** Everybody, and whether a Mention through the Connection reaches them. */
    peopleAt: (connectionId: string, page: PageRequest): Promise<Answer<Page<LinkedPerson>>> =>
      client.get('/user-directory', { query: { connection_id: connectionId, ...page } }),
    snoozePresets: (timeZone: string): Promise<Answer<SnoozePresets>> =>
      client.get('/snooze-presets', { query: { time_zone: timeZone } }),

    command: (id: string, command: PlainCommand): Promise<Answer<CommandAnswer>> =>
      client.post(`${of(id)}/${command.replaceAll('_', '-')}`),
    resolve: (id: string, note: string | null): Promise<Answer<CommandAnswer>> =>
      client.post(`${of(id)}/resolve`, { body: { note } satisfies Schemas['ResolveInput'] }),
    snooze: (id: string, snooze: SnoozeRequest): Promise<Answer<CommandAnswer>> =>
      client.post(`${of(id)}/snooze`, { body: snooze }),
    addNote: (id: string, body: string): Promise<Answer<Note>> =>
      client.post(`${of(id)}/notes`, { body: { body } satisfies Schemas['NoteInput'] }),
    bulk: (ids: readonly string[], bulk: BulkCommand): Promise<Answer<Schemas['BulkAnswer']>> =>
      client.post('/alert-groups/bulk-commands', {
        body: { ...bulk, alert_group_ids: ids } satisfies Schemas['BulkCommandInput'],
        long: true,
      }),
  };
}
