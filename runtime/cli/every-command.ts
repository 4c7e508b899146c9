/** Every command of `tocsin`, in the order of its help. */
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import { readVersion } from '../version.ts';
import { backup, restore } from './backup.ts';
import { bridgeCheck } from './bridge-check.ts';
import { bridgeReference } from './bridge-reference.ts';
import { type Command, EXIT } from './command.ts';
import { doctor } from './doctor.ts';
import { groupsCommands } from './groups/commands.ts';
import { ingestFailed } from './ingest-failed.ts';
import { ingestReplay } from './ingest-replay.ts';
import { init } from './init.ts';
import { keysReset } from './keys/reset.ts';
import { keysRotate } from './keys/rotate.ts';
import { keysStatus, keysVerify } from './keys/status.ts';
import { messengerCheck } from './messenger-check.ts';
import { migrate } from './migrate.ts';
import { quickstart } from './quickstart.ts';
import { serve } from './run-service.ts';
import { userList, userResetPassword, userResetTotp, userSetupLink, userUnlock } from './user/commands.ts';
import type { createReadSecret } from './user/read-secret.ts';

/** @param readSecret asks for a password, at a prompt or from stdin */
export function everyCommand(readSecret: ReturnType<typeof createReadSecret>): readonly Command[] {
  return [
    quickstart,
    init,
    serve,
    migrate,
    backup,
    restore,
    doctor,
    keysStatus,
    keysVerify,
    keysRotate,
    keysReset,
    userList,
    userResetPassword(readSecret),
    userSetupLink,
    userResetTotp,
    userUnlock,
    ingestFailed,
    ingestReplay,
    ...groupsCommands,
    messengerCheck,
    bridgeCheck,
    bridgeReference,
    machines,
    version,
  ];
}

/** Drawn by `npm run machines`. */
const DRAWINGS = path.join(import.meta.dirname, '../../docs/machines');

const machines: Command = {
  name: 'machines',
  summary: 'write the drawing of every state machine as JSON, Mermaid and SVG',
  help: 'Usage: tocsin machines --out DIR\n\nWrites the drawings into DIR. Needs no configuration.',
  options: { out: { type: 'string' } },
  async run({ out }, io) {
    if (typeof out !== 'string' || out === '') {
      io.err('tocsin machines: say where to with --out DIR.');
      return EXIT.usage;
    }
    await mkdir(out, { recursive: true });
    for (const file of (await readdir(DRAWINGS)).sort()) {
      await copyFile(path.join(DRAWINGS, file), path.join(out, file));
      io.out(file);
    }
    return EXIT.done;
  },
};

const version: Command = {
  name: 'version',
  summary: 'print product, version and commit',
  help: 'Usage: tocsin version [--json]\n\nPrints what this build is. Needs no configuration.',
  options: { json: { type: 'boolean' } },
  async run(values, io) {
    const found = readVersion(io.env);
    io.out(
      values.json
        ? JSON.stringify({ product: 'Tocsin', ...found })
        : `Tocsin ${found.version} (${found.commit})`,
    );
    return EXIT.done;
  },
};
