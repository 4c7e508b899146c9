/** `tocsin doctor`: looks at an installation without changing anything, and says what to do (operations §10). */
import { type Clock, systemClock } from '../clock.ts';
import { systemResolve } from '../outbound/judge-target.ts';
import { createMask } from '../secrets/masking.ts';
import { type Command, EXIT } from './command.ts';
import { connectionsCheck, destinationsCheck, publicUrlCheck } from './doctor/address-checks.ts';
import { type CheckResult, isWell, jsonOf, lineOf, presentable, runChecks } from './doctor/check.ts';
import { databaseChecks, openReadOnly } from './doctor/database-checks.ts';
import { keyChecks, secretsOf, settingsCheck } from './doctor/keys-checks.ts';
import { redisCheck } from './doctor/redis-check.ts';
import { replicasCheck } from './doctor/replicas-check.ts';
import { upkeepChecks } from './doctor/upkeep-checks.ts';
import { type CheckedConfig, readCheckedConfig, thisMachine } from './settings.ts';

const HELP = `Usage: tocsin doctor [--offline] [--json]

Checks settings, database, Redis, replicas, keys, clocks, partitions, queues, Integrations, Connections and Destinations,
with the environment of the service. It changes nothing, sends nothing to bridges and Destinations, and needs no running
service. One line a check:

  OK <check>: <detail>      all is well
  WARN <check>: <detail>    works, and somebody should look at it
  FAIL <check>: <detail>    Tocsin cannot work like this

  --offline  leave out the checks of Connections and Destinations
  --json     print one JSON object: {"ok", "checks": [{"name", "status", "detail"}]}

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage.`;

export const doctor: Command = {
  name: 'doctor',
  summary: 'check an installation without changing it, and say what to do',
  help: HELP,
  options: { offline: { type: 'boolean' }, json: { type: 'boolean' } },
  async run(values, io) {
    const read = readCheckedConfig(io.env, { acceptPrintedKeys: false, machine: thisMachine() });
    const results: CheckResult[] = [];
    const mask = 'errors' in read ? createMask([]) : createMask(secretsOf(read.config));
    const report = (result: CheckResult) => {
      const shown = presentable(result, mask);
      results.push(shown);
      if (!values.json) io.out(lineOf(shown));
    };
    await examine(read, { isOffline: values.offline === true, clock: systemClock, report });
    if (values.json) io.out(jsonOf(results));
    return isWell(results) ? EXIT.done : EXIT.failed;
  },
};

interface Examination {
  readonly isOffline: boolean;
  readonly clock: Clock;
  report(result: CheckResult): void;
}

/** Without settings there is nothing else to look at. */
async function examine(read: CheckedConfig, { isOffline, clock, report }: Examination): Promise<void> {
  const settings = settingsCheck(read);
  if ('errors' in read) return runChecks([settings], clock, report);
  const { config, masterKeys } = read;
  const main = openReadOnly(config.database, config.prepareStatements);
  const session = openReadOnly(config.sessionDatabase, true);
  const addresses = { ...config, masterKeys, database: main, resolve: systemResolve, clock };
  const checks = [
    settings,
    ...databaseChecks({
      settings: config.database,
      sessionSettings: config.sessionDatabase,
      main,
      session,
      clock,
    }),
    redisCheck({ url: config.redisUrl, prefix: config.redisPrefix, database: main, clock }),
    replicasCheck(main, clock),
    ...keyChecks({ database: main, masterKeys, clock }),
    ...upkeepChecks(main, clock),
    publicUrlCheck(addresses),
    ...(isOffline ? [] : [connectionsCheck(addresses), destinationsCheck(addresses)]),
  ];
  try {
    await runChecks(checks, clock, report);
  } finally {
    await Promise.all([main.close(), session.close()]);
  }
}
