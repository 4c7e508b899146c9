/** Russian: outgoing webhooks. */
export const webhooks = {
  'webhook.mode': 'Отправляет',
  'webhookMode.events': 'События: один подписанный запрос на событие, для программ',
  'webhookMode.template': 'Свои запросы: создать сообщение и обновлять его',
  'webhook.kept': 'Переключить можно и позже: то, что отправляет другой вид, остаётся сохранённым.',
  'webhook.requestHelp':
    'Метод и URL, заголовки, пустая строка, тело. Каждая часть — шаблон; секреты читаются так: {secret}.',
  'webhookRole.create': 'create: новое сообщение',
  'webhookRole.update': 'update: сообщение показывает другое',
  'webhookRole.open_thread': 'open_thread: перед первым ответом',
  'webhookRole.reply_in_thread': 'reply_in_thread: ответ',
  'webhookRoleHelp.create':
    'Отправляется один раз на группу и один раз на шторм: тогда читайте .Storm, а не .AlertGroup.',
  'webhookRoleHelp.update': 'Отправляется, когда получается другой запрос.',
  'webhookRoleHelp.open_thread': 'Для чатов, где ветку надо открыть. Отправляется один раз.',
  'webhookRoleHelp.reply_in_thread': 'Текст — .Text, событие — .Event. Без этого запроса ответов нет.',
  'webhook.addRole': 'Добавить {role}',
  'webhook.removeRole': 'Убрать этот запрос',
  'webhook.request': 'Запрос',
  'webhook.extract': 'Значения из ответа',
  'webhook.extractHelp': 'JSONPath, например {path}; потом читается так: {value}.',
  'webhook.addValue': 'Добавить значение',
  'webhook.valueName': 'Имя',
  'webhook.valuePath': 'JSONPath',
} as const;
