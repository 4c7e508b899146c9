#!/usr/bin/env -S node --max-semi-space-size=32
/** The program `tocsin`: its commands, wired. */
import { machinePages, machines } from '../actors/machines.ts';
import { bridgeCheck } from './cli/bridge-check.ts';
import { bridgeReference } from './cli/bridge-reference.ts';
import { runCommandLine } from './cli/command.ts';
import { doctor } from './cli/doctor.ts';
import { ingestReplay } from './cli/ingest-replay.ts';
import { keysReset } from './cli/keys/reset.ts';
import { keysRotate } from './cli/keys/rotate.ts';
import { keysStatus } from './cli/keys/status.ts';
import { keysVerify } from './cli/keys/verify.ts';
import { machinesCommand } from './cli/machines.ts';
import { migrate } from './cli/migrate.ts';
import { quickstart } from './cli/quickstart.ts';
import { serve } from './cli/serve.ts';
import { userList } from './cli/user/list.ts';
import { createReadSecret } from './cli/user/read-secret.ts';
import { userResetPassword } from './cli/user/reset-password.ts';
import { userResetTotp } from './cli/user/reset-totp.ts';
import { userSetupLink } from './cli/user/setup-link.ts';
import { userUnlock } from './cli/user/unlock.ts';
import { version } from './cli/version.ts';

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  [
    quickstart,
    serve,
    migrate,
    doctor,
    keysStatus,
    keysVerify,
    keysRotate,
    keysReset,
    userList,
    userResetPassword(createReadSecret(process.stdin, (text) => process.stderr.write(text))),
    userSetupLink,
    userResetTotp,
    userUnlock,
    ingestReplay,
    bridgeCheck,
    bridgeReference,
    machinesCommand(machines, machinePages),
    version,
  ],
  {
    env: process.env,
    out: (line) => console.log(line),
    err: (line) => console.error(line),
  },
);
