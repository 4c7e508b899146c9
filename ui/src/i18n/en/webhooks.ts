/** Outgoing webhooks: what they send, and requests that people write themselves. */
export const webhooks = {
  'webhook.mode': 'Sends',
  'webhookMode.events': 'Events: one signed request per event, for programs',
  'webhookMode.template': 'Requests of your own: create a message and keep it up to date',
  'webhook.kept': 'You can switch later: what the other kind sends stays saved.',
  'webhook.requestHelp':
    'Method and URL, headers, a blank line, the body. Each part is a template; Secrets are read as {secret}.',
  'webhook.example': 'Begin with',
  'webhook.exampleHelp':
    'An example for a receiver of this kind. It stays on offer until you write something.',
  'webhookExample.chat': 'Chat',
  'webhookExample.issues': 'Issue tracker',
  'webhookExample.status_page': 'Status page',
  'webhookRole.create': 'create: a new message',
  'webhookRole.update': 'update: the message shows something else',
  'webhookRole.open_thread': 'open_thread: before the first reply',
  'webhookRole.reply_in_thread': 'reply_in_thread: a reply',
  'webhookRoleHelp.create':
    'Sent once per Alert Group, and once for a Storm: then read .Storm, not .AlertGroup.',
  'webhookRoleHelp.update': 'Sent when what it renders to changes.',
  'webhookRoleHelp.open_thread': 'For chats that need a Thread to be opened. Sent once.',
  'webhookRoleHelp.reply_in_thread': 'Its text is .Text, its event is .Event. Without it nothing is replied.',
  'webhook.addRole': 'Add {role}',
  'webhook.removeRole': 'Remove this request',
  'webhook.request': 'Request',
  'webhook.extract': 'Values from the answer',
  'webhook.extractHelp': 'A JSONPath such as {path}; read later as {value}.',
  'webhook.addValue': 'Add a value',
  'webhook.valueName': 'Name',
  'webhook.valuePath': 'JSONPath',
} as const;
