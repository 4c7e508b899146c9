/** What Alert Groups measure, and what is logged of Commands (operations §8, alert-groups §6.1). */
import { Counter, Histogram, type Registry } from 'prom-client';
import { SECOND } from '../../runtime/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Principal, Transport } from '../model.ts';
import type { StatusChanged } from './effects.ts';
import type { CommandName, CommandOutcome, CommandRefusal } from './messages.ts';

/** Seconds: a minute to a day. */
const BUCKETS = [60, 300, 600, 1800, 3600, 7200, 14_400, 28_800, 43_200, 86_400];

export type AlertGroupMetrics = ReturnType<typeof createAlertGroupMetrics>;

export function createAlertGroupMetrics(registry: Registry) {
  const registers = [registry];
  const reopened = new Counter({
    name: 'svc_alert_groups_reopened_total',
    help: 'Alert Groups reopened.',
    labelNames: ['route'],
    registers,
  });
  const created = new Counter({
    name: 'svc_alert_groups_created_total',
    help: 'Alert Groups created.',
    labelNames: ['route'],
    registers,
  });
  const resolved = new Counter({
    name: 'svc_alert_groups_resolved_total',
    help: 'Resolutions of Alert Groups.',
    labelNames: ['route', 'by'],
    registers,
  });
  const durations = (name: string, help: string) =>
    new Histogram({ name, help, labelNames: ['route'], buckets: BUCKETS, registers });
  const toAcknowledge = durations(
    'svc_alert_group_time_to_ack_seconds',
    'From the start of an Alert Group to its first acknowledgement.',
  );
  const toResolve = durations(
    'svc_alert_group_time_to_resolve_seconds',
    'From the start of an Alert Group to a resolution.',
  );
  const commands = new Counter({
    name: 'svc_commands_total',
    help: 'Commands by what came of them.',
    labelNames: ['command', 'transport', 'outcome'],
    registers,
  });
  return {
    statusChanged(change: StatusChanged) {
      const { routeId: route, timeToAcknowledge, timeToResolve } = change;
      if (change.from === null) created.inc({ route });
      if (change.to === 'resolved')
        resolved.inc({ route, by: change.transport === null ? 'system' : 'user' });
      if (change.reopened) reopened.inc({ route });
      if (timeToAcknowledge !== null) toAcknowledge.observe({ route }, timeToAcknowledge / SECOND);
      if (timeToResolve !== null) toResolve.observe({ route }, timeToResolve / SECOND);
    },
    command(
      command: CommandName,
      transport: Transport,
      outcome: Exclude<CommandOutcome['outcome'], 'unknown'> | 'failed',
    ) {
      commands.inc({ command, transport, outcome });
    },
  };
}

/** What log and metrics record of every Command, on any transport (alert-groups §6.1). */
export interface CommandLog {
  readonly log: Log;
  readonly metrics?: Pick<AlertGroupMetrics, 'command'> | undefined;
}

export interface ToldCommand {
  readonly command: CommandName;
  readonly group: PublicId;
  readonly by: Principal;
}

export function tellOutcome({ log, metrics }: CommandLog, told: ToldCommand, outcome: CommandOutcome): void {
  if (outcome.outcome === 'unknown') return;
  metrics?.command(told.command, told.by.transport, outcome.outcome);
  if (outcome.outcome === 'refused') tellRefused(log, told, outcome.code);
  else log('command_executed', { ...fieldsOf(told), outcome: outcome.outcome });
}

/** `forbidden`: the Role does not grant it. */
export function tellRefused(log: Log, told: ToldCommand, code: CommandRefusal | 'forbidden'): void {
  log('command_refused', { ...fieldsOf(told), code });
}

export function tellFailed({ log, metrics }: CommandLog, told: ToldCommand, error: unknown): void {
  metrics?.command(told.command, told.by.transport, 'failed');
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  log('command_failed', { ...fieldsOf(told), error: text });
}

function fieldsOf({ command, group, by }: ToldCommand) {
  return { command, group, actor: by.id, transport: by.transport };
}
