/** The reference of the command line, from the table of commands that `tocsin` reads. */
import { everyCommand } from '../../runtime/cli/every-command.ts';

export function cliPage(): string {
  const commands = everyCommand(async () => '');
  const rows = commands.map(
    ({ name, summary }) => `| [\`tocsin ${name}\`](#tocsin-${name.replaceAll(' ', '-')}) | ${summary} |`,
  );
  const parts = commands.map(({ name, help }) => `## tocsin ${name}\n\n\`\`\`text\n${help.trim()}\n\`\`\`\n`);
  return [
    '# Command line\n',
    'Made from the commands that the program reads. `tocsin <command> --help` prints the same text; without a command',
    'Tocsin serves. Exit codes: 0 done, 1 failed or refused, 2 wrong usage.\n',
    '| Command | Does |\n|---|---|',
    `${rows.join('\n')}\n`,
    ...parts,
  ].join('\n');
}
