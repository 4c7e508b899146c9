/** `tocsin bridge-reference`: an example of a bridge, with a messenger in memory to look at. */
import { isHttpUrl, isPushSecret, isToken } from './bridge-check/send.ts';
import { startBridge } from './bridge-reference/server.ts';
import { type Settings, SWITCHES, type Switch } from './bridge-reference/shapes.ts';
import { type Command, type CommandIo, EXIT, type OptionValues } from './command.ts';

const NAME = 'tocsin bridge-reference';

export const bridgeReference: Command = {
  name: 'bridge-reference',
  summary: 'run the example of a bridge, with a messenger in memory',
  help: `Usage: ${NAME} --token T[,T2] [--port 8090] [--push-url URL --push-secret S] [--without buttons,…]
                               [--edit-max-age 120]

A bridge to a messenger that lives in its memory and is a web page: channels, Threads, buttons, direct chats. For trying
out, for authors of bridges, and for tests, which drive it under /_sim/. It listens on 127.0.0.1 only, because its page
asks nobody who they are. A restart forgets everything. Needs no configuration; Ctrl-C ends it.

  --token T[,T2]       what the service sends as bearer token; each token is a bot with messages of its own
  --port N             where it listens; 8090 when not given, 0 takes a free one
  --push-url URL       where the events of the first token are pushed to: the callback address of the Connection
  --push-secret S      what pushed events are signed with: whsec_ and the base64 of at least 24 bytes
  --without NAMES      what it does without, separated by commas: ${SWITCHES.slice(0, 4).join(', ')},
                       ${SWITCHES.slice(4).join(', ')}
  --edit-max-age N     seconds after which a message can no longer be edited, at least 60; for ever when not given

Exit codes: 0 ended, 1 failed, 2 wrong usage.`,
  options: {
    port: { type: 'string' },
    token: { type: 'string' },
    'push-url': { type: 'string' },
    'push-secret': { type: 'string' },
    without: { type: 'string' },
    'edit-max-age': { type: 'string' },
  },
  async run(values, io) {
    const asked = readAsked(values);
    if (typeof asked === 'string') {
      io.err(`${NAME}: ${asked}`);
      io.err(`"${NAME} --help" shows its options.`);
      return EXIT.usage;
    }
    return runUntilSignal(asked, io);
  },
};

interface Asked {
  readonly port: number;
  readonly settings: Omit<Settings, 'pageUrl'>;
}

/** What is wrong, or what was asked. */
function readAsked(values: OptionValues): Asked | string {
  const text = (name: string): string | null => (typeof values[name] === 'string' ? values[name] : null);
  const tokens = text('token')?.split(',') ?? [];
  if (tokens.length === 0 || !tokens.every(isToken))
    return '--token is needed: 1 to 512 printable characters without spaces.';
  if (new Set(tokens).size < tokens.length) return '--token names a token twice.';
  const port = wholeNumber(text('port') ?? '8090');
  if (port === null || port > 65_535) return '--port is a number from 0 to 65535.';
  const [url, secret] = [text('push-url'), text('push-secret')];
  if ((url === null) !== (secret === null)) return '--push-url and --push-secret go together.';
  if (url !== null && !isHttpUrl(url)) return '--push-url is an http(s) address.';
  if (secret !== null && !isPushSecret(secret))
    return '--push-secret is whsec_ and the base64 of at least 24 bytes.';
  const without = (text('without') ?? '').split(',').filter((name) => name !== '');
  const unknown = without.find((name) => !isSwitch(name));
  if (unknown !== undefined) return `--without knows no "${unknown}".`;
  if (url === null && without.includes('poll'))
    return '--without poll leaves no way for events: give --push-url.';
  const editMaxAge = text('edit-max-age') === null ? null : wholeNumber(text('edit-max-age') ?? '');
  if (text('edit-max-age') !== null && (editMaxAge === null || editMaxAge < 60))
    return '--edit-max-age is at least 60 seconds.';
  const push = url === null || secret === null ? null : { url, secret };
  return { port, settings: { tokens, without: new Set(without.filter(isSwitch)), editMaxAge, push } };
}

function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

function isSwitch(name: string): name is Switch {
  return SWITCHES.some((known) => known === name);
}

async function runUntilSignal({ port, settings }: Asked, io: CommandIo): Promise<number> {
  try {
    const bridge = await startBridge(settings, port);
    io.out(`The bridge is at ${bridge.url}, and so is the page of its messenger.`);
    await new Promise<void>((ended) => {
      process.once('SIGINT', () => ended());
      process.once('SIGTERM', () => ended());
    });
    await bridge.close();
    return EXIT.done;
  } catch (error) {
    io.err(`${NAME}: ${error instanceof Error ? error.message : String(error)}`);
    return EXIT.failed;
  }
}
