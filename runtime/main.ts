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
