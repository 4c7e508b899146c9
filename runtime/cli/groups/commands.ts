/** `tocsin groups …`: responders read and change Alert Groups through the API (operations §10). */
import * as v from 'valibot';
import { SNOOZE_PRESETS } from '../../../actors/alert-group/commands/snooze-presets.ts';
import { GROUP_STATUSES } from '../../../actors/model.ts';
import { DEFAULT_LIMIT, MAX_LIMIT } from '../../../http/schema/page.ts';
import { formatInstant, systemClock } from '../../clock.ts';
import { parsePublicId } from '../../public-id.ts';
import { type Command, type CommandIo, EXIT, type OptionValues, parseDuration } from '../command.ts';
import { ApiError, type CliApi, details, Group, openApi, Page, table, textOf } from './api.ts';

const COMMON = {
  json: { type: 'boolean' },
  url: { type: 'string' },
  'token-file': { type: 'string' },
} as const;

const COMMON_HELP = `  --url URL          address of the API (default: SVC_API_URL)
  --token-file FILE  file with the token (default: SVC_API_TOKEN, SVC_API_TOKEN_FILE)
  --json             print the answer of the API as one JSON object

Without these, ~/.config/tocsin/cli.json with mode 600 is read: {"api_url": "…", "token": "…"}.
Exit codes: 0 done, 1 failed or refused, 2 wrong usage.`;

const Changed = v.looseObject({ outcome: v.string(), alert_group: Group });
const Found = v.object({ items: v.array(v.looseObject({ id: v.string() })) });

/** What the words of a command ask for: a request, or why they cannot be meant. */
type Asked = { readonly body: Readonly<Record<string, unknown>> } | { readonly usage: string };

function listCommand(): Command {
  return groupsCommand('list', 'show open Alert Groups', {
    usage: '[--status STATUS] [--limit N] [--mine]',
    help: `Times are in the time zone of the terminal (TZ).

  --status STATUS    firing, acknowledged, snoozed or resolved (default: the three open ones)
  --limit N          at most so many, 1 to ${MAX_LIMIT} (default ${DEFAULT_LIMIT})
  --mine             those that you own
`,
    options: { status: { type: 'string' }, limit: { type: 'string' }, mine: { type: 'boolean' } },
    allowed: { status: GROUP_STATUSES, limit: { from: 1, to: MAX_LIMIT } },
    async act(api, values, io) {
      const query = new URLSearchParams();
      const status = textOf(values.status);
      if (status) query.set('status', status);
      query.set('limit', textOf(values.limit) ?? String(DEFAULT_LIMIT));
      if (values.mine) query.set('owner', 'me');
      const page = read(Page, await api.get(`/alert-groups?${query}`));
      if (values.json) io.out(JSON.stringify(page));
      else for (const line of table(page.items)) io.out(line);
      if (!values.json && page.next_cursor) io.err('There are more: raise --limit, or look at the UI.');
      return null;
    },
  });
}

function showCommand(): Command {
  return groupsCommand('show', 'show one Alert Group', {
    usage: '<#N or id>',
    operands: ['group'],
    async act(api, values, io) {
      const group = read(Group, await api.get(`/alert-groups/${await idOf(api, values)}`));
      if (values.json) io.out(JSON.stringify(group));
      else for (const line of details(group)) io.out(line);
      return null;
    },
  });
}

interface Change {
  readonly options: Command['options'];
  readonly allowed?: Command['allowed'];
  readonly help: string;
  asked(values: OptionValues): Asked;
}

const NOTHING_MORE: Change = { options: {}, help: '', asked: () => ({ body: {} }) };

function changeCommand(name: string, summary: string, change: Change = NOTHING_MORE): Command {
  return groupsCommand(name, summary, {
    usage: `<#N or id>${Object.keys(change.options).length > 0 ? ' [options]' : ''}`,
    help: change.help,
    options: change.options,
    ...(change.allowed ? { allowed: change.allowed } : {}),
    operands: ['group'],
    async act(api, values, io) {
      const asked = change.asked(values);
      if ('usage' in asked) return asked.usage;
      const path = `/alert-groups/${await idOf(api, values)}/${name}`;
      const { outcome, alert_group: group, ...rest } = read(Changed, await api.post(path, asked.body));
      if (values.json) io.out(JSON.stringify({ outcome, alert_group: group, ...rest }));
      else io.out(`#${group.number}: ${outcome}, now ${group.status}`);
      return null;
    },
  });
}

function noteCommand(): Command {
  return groupsCommand('note', 'add a Note to an Alert Group', {
    usage: '<#N or id> <text>',
    operands: ['group', 'text'],
    async act(api, values, io) {
      const path = `/alert-groups/${await idOf(api, values)}/notes`;
      const note = read(v.looseObject({ id: v.string() }), await api.post(path, { body: values.text }));
      io.out(values.json ? JSON.stringify(note) : 'Added.');
      return null;
    },
  });
}

function askedSnooze({ for: length, until, preset, 'no-end': noEnd }: OptionValues): Asked {
  if ([length, until, preset, noEnd].filter((value) => value !== undefined).length !== 1) {
    return { usage: 'Say exactly one of --for, --until, --preset and --no-end.' };
  }
  if (noEnd) return { body: { no_end: true } };
  if (preset !== undefined) return { body: { preset } };
  if (until !== undefined) return { body: { until } };
  const micros = parseDuration(String(length));
  if (micros === null) return { usage: '--for takes a length such as 90m, 12h or 3d.' };
  return { body: { until: formatInstant(systemClock.now() + micros) } };
}

interface Shape {
  readonly usage: string;
  readonly help?: string;
  readonly options?: Command['options'];
  readonly allowed?: Command['allowed'];
  readonly operands?: Command['operands'];
  /** @returns what is wrong with the words, or null. @throws {ApiError} for what is refused or does not work */
  act(api: CliApi, values: OptionValues, io: CommandIo): Promise<string | null>;
}

function groupsCommand(verb: string, summary: string, shape: Shape): Command {
  const name = `groups ${verb}`;
  return {
    name,
    summary,
    help: `Usage: tocsin ${name} ${shape.usage} [--json]\n\n${shape.help ?? ''}${COMMON_HELP}`,
    options: { ...COMMON, ...shape.options },
    ...(shape.operands ? { operands: shape.operands } : {}),
    ...(shape.allowed ? { allowed: shape.allowed } : {}),
    async run(values, io) {
      try {
        const wrong = await shape.act(openApi(values, io.env), values, io);
        if (wrong === null) return EXIT.done;
        io.err(`tocsin ${name}: ${wrong}`);
        return EXIT.usage;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        io.err(`tocsin ${name}: ${error.message}`);
        return EXIT.failed;
      }
    },
  };
}

/** `#12`, `12` or an id. @throws {ApiError} when there is no such group */
async function idOf(api: CliApi, { group }: OptionValues): Promise<string> {
  const text = String(group);
  const [, number] = /^#?(\d{1,15})$/.exec(text) ?? [];
  if (number === undefined) {
    const id = parsePublicId(text);
    if (id === null) throw new ApiError('Name the Alert Group by its number, such as #12, or by its id.');
    return id;
  }
  const [found] = read(Found, await api.get(`/alert-groups?number=${number}`)).items;
  if (!found) throw new ApiError(`There is no Alert Group #${number}.`);
  return found.id;
}

function read<S extends v.GenericSchema>(schema: S, answer: unknown): v.InferOutput<S> {
  const parsed = v.safeParse(schema, answer);
  if (parsed.success) return parsed.output;
  throw new ApiError('The answer is not one of the API of Tocsin. Is the address right?');
}

export const groupsCommands: readonly Command[] = [
  listCommand(),
  showCommand(),
  changeCommand('acknowledge', 'take an Alert Group over'),
  changeCommand('unacknowledge', 'give an Alert Group back'),
  changeCommand('resolve', 'end an Alert Group', {
    options: { note: { type: 'string' } },
    help: '  --note TEXT        a Note that goes with it\n',
    asked: ({ note }) => ({ body: note === undefined ? {} : { note } }),
  }),
  changeCommand('unresolve', 'open an Alert Group again'),
  changeCommand('snooze', 'silence the notices of an Alert Group for a while', {
    options: {
      for: { type: 'string' },
      until: { type: 'string' },
      preset: { type: 'string' },
      'no-end': { type: 'boolean' },
    },
    allowed: { preset: SNOOZE_PRESETS },
    help: `  --for 90m          for a while: minutes (m), hours (h) or days (d)
  --until TIME       until a time, such as 2026-11-23T09:00:00Z
  --preset NAME      until tomorrow or week_start
  --no-end           until somebody ends it
`,
    asked: askedSnooze,
  }),
  changeCommand('unsnooze', 'end the Snooze of an Alert Group'),
  noteCommand(),
];
