#!/usr/bin/env -S node --max-semi-space-size=32
/** The program `tocsin`: its commands, wired. */
import { runCommandLine } from './cli/command.ts';
import { everyCommand } from './cli/every-command.ts';
import { createReadSecret } from './cli/user/read-secret.ts';

/** A reader of the output that goes away, as `| head` does, ends neither the service nor the work of a command. */
for (const output of [process.stdout, process.stderr]) {
  output.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
}

process.exitCode = await runCommandLine(
  process.argv.slice(2),
  everyCommand(createReadSecret(process.stdin, (text) => process.stderr.write(text))),
  {
    env: process.env,
    out: (line) => console.log(line),
    err: (line) => console.error(line),
  },
);
