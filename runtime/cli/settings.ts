/** From SVC_* variables to the settings of the service, with what is wrong told at once. */
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { cpus, hostname } from 'node:os';
import type { ServiceSettings } from '../compose/database.ts';
import {
  type Config,
  type ConfigWarning,
  type Machine,
  readConfig,
  replicaIdOf,
  type SecretKeysText,
} from '../config.ts';
import { createLog, type Log, type LogLevel } from '../log.ts';
import { type KeyList, parseKeyList } from '../secrets/key-list.ts';
import type { CommandIo } from './command.ts';

export type SettingsResult =
  | { readonly settings: ServiceSettings; readonly migrateOnStart: boolean }
  /** One line each, for stderr. */
  | { readonly errors: readonly string[] };

export interface SettingsOptions {
  /** Keys that are printed in documentation are fine for trying out only. */
  readonly acceptPrintedKeys: boolean;
  readonly machine: Machine;
}

/** Worth a log line or a WARN, not worth stopping for. */
export type SettingsWarning = ConfigWarning | { readonly event: 'secret_keys_file_mode' };

export type CheckedConfig =
  | {
      readonly config: Config;
      readonly masterKeys: ServiceSettings['masterKeys'];
      readonly warnings: readonly SettingsWarning[];
    }
  /** One line each. */
  | { readonly errors: readonly string[] };

/** What the defaults of this process depend on. Asked once a process: every call makes up another suffix. */
export function thisMachine(): Machine {
  return { cpus: cpus().length, hostName: hostname(), random: randomBytes(4).toString('hex') };
}

/** Reads and checks everything, keys included; logs nothing. */
export function readCheckedConfig(env: CommandIo['env'], options: SettingsOptions): CheckedConfig {
  const read = readConfig(env, (file) => readFileSync(file, 'utf8'), options.machine);
  if ('errors' in read) {
    const keys = read.secretKeys && readKeys(read.secretKeys, options);
    return { errors: keys && !keys.ok ? [...read.errors, keys.problem] : read.errors };
  }
  const { config, warnings } = read;
  const keys = readKeys(config.secretKeys, options);
  if (!keys.ok) return { errors: [keys.problem] };
  const isOpen = isReadableByOthers(env.SVC_SECRET_KEYS_FILE);
  return {
    config,
    masterKeys: keys.keys,
    warnings: isOpen ? [...warnings, { event: 'secret_keys_file_mode' }] : warnings,
  };
}

function readKeys({ variable, text }: SecretKeysText, { acceptPrintedKeys }: SettingsOptions): KeyList {
  const separator = variable.endsWith('_FILE') ? 'line' : 'comma';
  return parseKeyList(text, { variable, separator, acceptPrinted: acceptPrintedKeys });
}

/** {@link readCheckedConfig} in the shape of the service; logs what is worth a warning. */
export function readSettings(env: CommandIo['env'], log: Log, options: SettingsOptions): SettingsResult {
  const read = readCheckedConfig(env, options);
  if ('errors' in read) return read;
  for (const warning of read.warnings) warn(log, warning);
  return { settings: settingsOf(read.config, read.masterKeys), migrateOnStart: read.config.migrateOnStart };
}

/**
 * The log of a command, before its configuration is read: only the level matters, and a wrong one is told later.
 * @param write where a command whose output is its result logs instead of stdout
 */
export function logFor(
  env: CommandIo['env'],
  fallback: LogLevel,
  machine: Machine,
  write?: (line: string) => void,
): Log {
  const given = env.SVC_LOG_LEVEL;
  const level = given === 'info' || given === 'warn' || given === 'error' ? given : fallback;
  const destination = write && { write: (text: string) => write(text.trimEnd()) };
  return createLog({ level, replica: replicaIdOf(env, machine), ...(destination ? { destination } : {}) });
}

function settingsOf(config: Config, masterKeys: ServiceSettings['masterKeys']): ServiceSettings {
  const { secretKeys: _keys, migrateOnStart: _, bootstrapAdmin, redisUrl, redisPrefix, ...same } = config;
  const redis = redisUrl === null ? null : { url: redisUrl, prefix: redisPrefix };
  return { ...same, masterKeys, bootstrap: bootstrapAdmin, redis, processing: 'on' };
}

function warn(log: Log, warning: SettingsWarning): void {
  const { event, ...fields } = warning;
  log(event, fields);
}

function isReadableByOthers(file: string | undefined): boolean {
  return file !== undefined && file !== '' && (statSync(file).mode & 0o077) !== 0;
}
