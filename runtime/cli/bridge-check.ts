/** `tocsin bridge-check`: asks a bridge everything that the protocol demands of it. */
import { randomBytes } from 'node:crypto';
import { SECOND, systemClock } from '../clock.ts';
import { type HostPort, parseHostPort } from '../config.ts';
import { createMask } from '../secrets/masking.ts';
import { createInbox, type Listener, listen, type PushInbox } from './bridge-check/inbox.ts';
import { openTerminal } from './bridge-check/person.ts';
import { isWell, jsonOf, linesOf, summaryOf } from './bridge-check/run.ts';
import { isHttpUrl, isPushSecret, isToken, sendOverNetwork } from './bridge-check/send.ts';
import { ALL_CHECKS, checkBridge, type Session } from './bridge-check/session.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';

const NAME = 'tocsin bridge-check';

export const bridgeCheck: Command = {
  name: 'bridge-check',
  summary: 'check a bridge against the bridge protocol',
  help: `Usage: ${NAME} <base_url> --token T [--channel C] [--missing-channel M] [--handle H] [--unknown-handle U]
                           [--second-token T2] [--push-listen HOST:PORT --push-secret S] [--interactive | --sim]
                           [--only IDS] [--json]

Checks that a bridge keeps the rules of the protocol, and posts messages named "Bridge check" to do so: give it a channel
for that. What the bridge does not declare and what lacks an option is skipped. One line a check, and below a FAIL the
reason, requests and answers, without tokens:

  PASS <id> <rule>   FAIL, what must be is not   WARN, what should be is not   SKIP, not checked and why

  --token T            the bearer token of the bridge
  --channel C          a channel where the bot may post
  --missing-channel M  the id of a channel that does not exist
  --handle H           a handle of somebody, of the kind that the bridge looks up
  --unknown-handle U   one of nobody
  --second-token T2    another token of the same bridge
  --push-listen H:P    where this listens for pushed events; the bridge must be told to push there
  --push-secret S      what they are signed with
  --interactive        asks you to press, write, delete and send, and waits 60 s each time
  --sim                has /_sim/ of the bridge do that; the reference bridge has it
  --only IDS           these checks, such as P1,P2, and those that they need
  --json               print one JSON object: {"ok", "base_url", "checks": [{"id", "status", "text", "reason", "exchanges"}]}

Exit codes: 0 nothing failed, 1 something failed, 2 wrong usage or unreachable.`,
  options: {
    token: { type: 'string' },
    channel: { type: 'string' },
    'missing-channel': { type: 'string' },
    handle: { type: 'string' },
    'unknown-handle': { type: 'string' },
    'second-token': { type: 'string' },
    'push-listen': { type: 'string' },
    'push-secret': { type: 'string' },
    interactive: { type: 'boolean' },
    sim: { type: 'boolean' },
    only: { type: 'string' },
    json: { type: 'boolean' },
  },
  operands: ['base_url'],
  async run(values, io) {
    const asked = readAsked(values);
    if (typeof asked === 'string') {
      io.err(`${NAME}: ${asked}`);
      io.err(`"${NAME} --help" shows its options.`);
      return EXIT.usage;
    }
    // Pauses alone do not keep a process alive.
    const alive = setInterval(() => undefined, 60_000);
    try {
      return await check(asked, io);
    } finally {
      clearInterval(alive);
    }
  },
};

interface Asked {
  readonly session: Omit<Session, 'person'>;
  readonly person: 'sim' | 'asked' | null;
  readonly listen: HostPort | null;
  readonly isJson: boolean;
}

/** What is wrong, or what was asked. */
function readAsked(values: OptionValues): Asked | string {
  const text = (name: string): string | null => (typeof values[name] === 'string' ? values[name] : null);
  const baseUrl = (text('base_url') ?? '').replace(/\/+$/, '');
  if (!isHttpUrl(baseUrl)) return '<base_url> is an http(s) address without user, query and fragment.';
  const [token, secondToken] = [text('token'), text('second-token')];
  if (token === null || !isToken(token))
    return '--token is needed: 1 to 512 printable characters without spaces.';
  if (secondToken !== null && !isToken(secondToken))
    return '--second-token is 1 to 512 printable characters without spaces.';
  const [pushListen, pushSecret] = [text('push-listen'), text('push-secret')];
  if ((pushListen === null) !== (pushSecret === null)) return '--push-listen and --push-secret go together.';
  const listening = pushListen === null ? null : parseHostPort(pushListen);
  if (pushListen !== null && listening === null) return '--push-listen is HOST:PORT.';
  if (pushSecret !== null && !isPushSecret(pushSecret))
    return '--push-secret is whsec_ and the base64 of at least 24 bytes.';
  if (values.interactive && values.sim) return '--interactive and --sim exclude each other.';
  if (values.interactive && values.json) return '--interactive and --json exclude each other.';
  const only = text('only')?.split(',') ?? null;
  const unknown = only?.find((id) => !ALL_CHECKS.some((known) => known.id === id));
  if (unknown !== undefined) return `--only knows no check "${unknown}".`;
  return {
    session: {
      ...{ baseUrl, token, secondToken, pushSecret, only },
      ...{ channel: text('channel'), missingChannel: text('missing-channel') },
      ...{ handle: text('handle'), unknownHandle: text('unknown-handle') },
    },
    person: values.sim ? 'sim' : values.interactive ? 'asked' : null,
    listen: listening,
    isJson: values.json === true,
  };
}

async function check({ session, person, listen: address, isJson }: Asked, io: CommandIo): Promise<number> {
  const { token, secondToken, pushSecret, baseUrl } = session;
  const mask = createMask([token, secondToken, pushSecret].filter((secret) => secret !== null));
  const inbox = address && createInbox({ now: systemClock.now, after: afterSeconds });
  const listener = address && inbox ? await listening(address, inbox) : null;
  if (typeof listener === 'string') {
    io.err(`${NAME}: --push-listen: ${listener}`);
    return EXIT.usage;
  }
  const terminal = person === 'asked' ? openTerminal(io) : null;
  try {
    const outcome = await checkBridge(
      { ...session, person: terminal?.ask ?? (person === 'sim' ? 'sim' : null) },
      { send: sendOverNetwork, clock: systemClock, random: randomBytes, inbox },
      (result) => {
        if (!isJson) for (const line of linesOf(result, mask)) io.out(line);
      },
    );
    if (outcome.kind === 'unreachable') {
      io.err(mask(`${NAME}: ${baseUrl} cannot be reached: ${outcome.reason}`));
      return EXIT.usage;
    }
    io.out(isJson ? jsonOf(baseUrl, outcome.results, mask) : summaryOf(outcome.results));
    return isWell(outcome.results) ? EXIT.done : EXIT.failed;
  } finally {
    terminal?.close();
    await listener?.close();
  }
}

/** The listener, or why there is none. */
async function listening({ host, port }: HostPort, inbox: PushInbox): Promise<Listener | string> {
  try {
    return await listen(host, port, inbox);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function afterSeconds(seconds: number, run: () => void) {
  return systemClock.after(seconds * SECOND, run);
}
