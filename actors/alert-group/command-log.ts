/** What log and metrics are told of every Command, whichever way it came (Alert Group chapter §6.1). */
import type { Log } from '../../runtime/log.ts';
import type { PublicId } from '../../runtime/public-id.ts';
import type { Principal } from '../model.ts';
import type { CommandName, CommandOutcome, CommandRefusal } from './messages.ts';
import type { AlertGroupMetrics } from './metrics.ts';

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
