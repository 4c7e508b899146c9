/** Every command of `tocsin`, in the order of its help. */
import { machinePages, machines } from '../../actors/machines.ts';
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
import { machinesCommand } from './machines.ts';
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
    machinesCommand(machines, machinePages),
    version,
  ];
}

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
