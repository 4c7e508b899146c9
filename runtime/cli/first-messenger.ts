/** A messenger in memory beside `quickstart`: what a message looks like, before any real messenger is connected. */
import { randomBytes } from 'node:crypto';
import { access, readFile } from 'node:fs/promises';
import path from 'node:path';
import { startBridge } from './bridge-reference/server.ts';
import { createWhole } from './first-start.ts';

export const MESSENGER_PORT = 8090;
/** It shares the memory of the service, which may run for months. */
const KEPT_MESSAGES = 2_000;
/** One of the channels that it has. */
export const MESSENGER_CHANNEL = 'alerts';

export interface RunningMessenger {
  /** Of its bridge, and of its page. */
  readonly url: string;
  /** What the service has to send. */
  readonly token: string;
  close(): Promise<void>;
}

const fileIn = (folder: string) => path.join(folder, 'messenger-token');

/** Whether an earlier start had one. */
export function hadMessenger(folder: string): Promise<boolean> {
  return access(fileIn(folder)).then(
    () => true,
    () => false,
  );
}

/** @returns null when something else listens at the port */
export async function startMessenger(folder: string, port: number): Promise<RunningMessenger | null> {
  const token = await readToken(folder);
  const settings = {
    ...{ tokens: [token], without: new Set<never>(), editMaxAge: null, push: null },
    keeps: KEPT_MESSAGES,
  };
  try {
    const { url, close } = await startBridge(settings, port);
    return { url, token, close };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EADDRINUSE') return null;
    throw error;
  }
}

/** The same at every start: the Connection keeps it sealed. */
async function readToken(folder: string): Promise<string> {
  const file = fileIn(folder);
  if (await hadMessenger(folder)) return (await readFile(file, 'utf8')).trim();
  const token = randomBytes(24).toString('base64url');
  await createWhole(file, `${token}\n`);
  return token;
}
