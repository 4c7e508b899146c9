/** The page docs/settings.md, written from the table of settings. */
import { SETTING_NAMES, type SettingName, settingOf } from './config-settings.ts';

const HEAD = `# Settings

\`tocsin serve\` is configured by environment variables, read once at its start; everything else is configured in the
web interface. \`tocsin quickstart\` needs none of them.

- A setting marked *secret* can also come from a file: \`NAME_FILE\` names it, and one newline at its end is removed.
  Setting both forms is an error.
- An empty variable counts as not set, except where the table says otherwise.
- A value that breaks its rule stops the start. Everything that is wrong is told at once, one line each on stderr.
- An unknown variable that starts with \`SVC_\` is logged as \`unknown_variable\` and otherwise ignored.
- HTTP_PROXY and its kin, PG* variables and NODE_TLS_REJECT_UNAUTHORIZED change nothing. NODE_EXTRA_CA_CERTS adds
  trusted roots.

`;

/** Generated; a test compares it with the committed page. */
export function settingsPage(): string {
  const rows = SETTING_NAMES.map((name) => row(name));
  return `${HEAD}${['| Setting | When not set | What it is |', '| --- | --- | --- |', ...rows].join('\n')}\n`;
}

function row(name: SettingName): string {
  const { fallback, about, secret, required } = settingOf(name);
  const marks = [secret ? '*secret*' : '', required ? '**required**' : ''].filter((mark) => mark !== '');
  return `| \`${name}\`${marks.length > 0 ? ` ${marks.join(' ')}` : ''} | ${fallback} | ${about} |`;
}
