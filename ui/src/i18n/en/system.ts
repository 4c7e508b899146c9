/** English: the System status and the notices above every page. */
export const system = {
  'nav.admin': 'Admin',
  'nav.systemStatus': 'System status',
  'systemNotice.recovering':
    'Tocsin was away until {since}. What it missed comes with the next repeats; until {until} data may be incomplete.',
  'systemNotice.noLeader':
    'No replica has led since {since}. Paused: retention, the figures of the whole installation, and moving work between replicas. Alerts are still received, grouped and delivered.',
  'systemNotice.details': 'System status',

  'systemStatus.readAt': 'Read at {time}',
  'systemStatus.readAgain': 'Read again',
  'systemStatus.allWell': 'Everything works',
  'systemStatus.allWellText': {
    one: '{count} replica acts for all {shards} shards; nothing waits longer than it should.',
    other: '{count} replicas act for all {shards} shards; nothing waits longer than it should.',
  },
  'systemStatus.attention': {
    one: '{count} thing needs attention',
    other: '{count} things need attention',
  },
  'systemStatus.found.noLeader': 'No replica leads',
  'systemStatus.found.withoutOwner': {
    one: '{count} shard has no owner: its Alert Groups wait',
    other: '{count} shards have no owner: their Alert Groups wait',
  },
  'systemStatus.found.redisAway':
    'Redis is away: nothing is lost, replicas hear of each other a second later',
  'systemStatus.found.broken': {
    one: '{count} Destination is Broken',
    other: '{count} Destinations are Broken',
  },
  'systemStatus.found.snapshotsWait': {
    one: '{count} Snapshot waits, for more than a minute',
    other: '{count} Snapshots wait, the oldest for more than a minute',
  },
  'systemStatus.found.messagesWait': {
    one: '{count} message between replicas waits, for more than a minute',
    other: '{count} messages between replicas wait, the oldest for more than a minute',
  },
  'systemStatus.found.integrations': {
    one: '{count} Integration needs a look',
    other: '{count} Integrations need a look',
  },
  'systemStatus.found.templates': {
    one: '{count} template fails',
    other: '{count} templates fail',
  },
  'systemStatus.found.storms': { one: '{count} Storm goes on', other: '{count} Storms go on' },
  'systemStatus.found.heartbeatFailed': 'The last outgoing heartbeat failed',
  'systemStatus.found.versionsDiffer': {
    one: 'Replicas run {count} version',
    other: 'Replicas run {count} different versions',
  },
  'systemStatus.found.recovering': 'Tocsin recovers from a downtime',

  'systemStatus.replicas': 'Replicas',
  'systemStatus.replica': 'Replica',
  'systemStatus.leader': 'Leader',
  'systemStatus.shards': 'Shards',
  'systemStatus.shardsOf': '{count} of {total} shards',
  'systemStatus.withoutOwner': 'Without owner',
  'systemStatus.shardsTaken': {
    one: '{count} shard got a new owner in the last hour',
    other: '{count} shards got a new owner in the last hour',
  },
  'systemStatus.version': 'Version',
  'systemStatus.startedAt': 'Started',
  'systemStatus.lastSeen': 'Last seen',
  'systemStatus.keys': 'Master keys',
  'systemStatus.noReplicas': 'No replica gave a sign of life in the last two minutes.',
  'systemStatus.modeSingle': 'A single process: no Redis is set',
  'systemStatus.redisUp': 'Redis is reached',
  'systemStatus.redisAway': 'Redis is away',

  'keyring.title': 'Master keys',
  'keyring.key': 'Key',
  'keyring.use': 'Use',
  'keyring.active': 'Active',
  'keyring.needed': 'Needed: keep it in every list',
  'keyring.removable': 'Removable',
  'keyring.heldBy': 'Held by',
  'keyring.missingOn': 'Missing on',
  'keyring.nobody': 'no running replica',
  'keyring.none': 'none',
  'keyring.commands': 'Another key is made active, and the keys are checked, on the command line:',

  'systemStatus.queues': 'Queues',
  'systemStatus.snapshots': 'Snapshots to process',
  'systemStatus.inbox': 'Messages between replicas',
  'systemStatus.nothingWaits': 'nothing waits',
  'systemStatus.waiting': { one: '{count} waits', other: '{count} wait' },
  'systemStatus.oldest': 'oldest',

  'systemStatus.deliveries': 'Deliveries',
  'systemStatus.deliveriesWell': 'No delivery waits, no Destination is Broken.',
  'systemStatus.queued': { one: '{count} delivery waits', other: '{count} deliveries wait' },
  'systemStatus.templateFails': '{template} fails',
  'systemStatus.storm': { one: 'Storm of {count} Alert Group', other: 'Storm of {count} Alert Groups' },
  'templateName.root_message': 'Root message',
  'templateName.line': 'Line',
  'templateName.ack_timeout_notice': 'Notice of a missing Owner',
  'templateName.webhook_request': 'Request of the webhook',

  'systemStatus.integrations': 'Integrations',
  'systemStatus.integrationsWell': 'No Integration needs a look.',
  'integrationIssue.heartbeat_lost': 'Heartbeat lost',
  'integrationIssue.snapshot_truncated': 'Snapshots are cut by the sender',

  'systemStatus.availability': 'Availability',
  'systemStatus.recovery': 'Last downtime',
  'systemStatus.noDowntime': 'None is recorded.',
  'systemStatus.downtime': 'Away for {duration}, until',
  'systemStatus.recoversUntil': 'Data may be incomplete until',
  'systemStatus.recovered': 'Recovered',

  'systemStatus.heartbeat': 'Outgoing heartbeat',
  'systemStatus.heartbeatOff':
    'Not set up. Without it nobody outside notices when all of Tocsin stands still.',
  'systemStatus.heartbeatOk': 'Sent',
  'systemStatus.heartbeatFailed': 'Failed',
  'systemStatus.heartbeatWaiting': 'Not sent yet',
  'systemStatus.build': 'Build',
} as const;
