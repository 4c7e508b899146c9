import { readVersion } from '../version.ts';
import { type Command, EXIT } from './command.ts';

export const version: Command = {
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
