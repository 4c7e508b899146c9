/**
 * Runs at the end of `npm ci`. Links the Node.js that `npm ci` brought where npm has not, and ends `npm ci` with a sentence
 * where it brought none and the one that is there is too old for Tocsin. The `engines` in package.json are about the Node.js
 * that runs npm, which may be older. Written so that an older one reads it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const { config, optionalDependencies } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
const link = new URL('node_modules/.bin/node', root);
const brought = Object.keys(optionalDependencies).find(
  (name) => name.startsWith('node-') && existsSync(new URL(`node_modules/${name}`, root)),
);
// npm 9 and 10 remove the packages of other platforms after linking, and with them the link that has the same name.
const npm = process.env.npm_execpath ?? '';
if (brought && !existsSync(link) && npm.endsWith('npm-cli.js')) {
  const words = [npm, 'rebuild', '--ignore-scripts', brought];
  spawnSync(process.execPath, words, { cwd: fileURLToPath(root), stdio: ['ignore', 'ignore', 'inherit'] });
}

const [leastMajor, leastMinor] = config.runsOnNode.slice('>='.length).split('.').map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
// A dry run installs nothing, so that a missing link is no error.
const isMissing = process.env.npm_config_dry_run !== 'true' && !existsSync(link);
if (isMissing && (major < leastMajor || (major === leastMajor && minor < leastMinor))) {
  const fault = brought ? `did not link ${brought}` : 'brings no Node.js for this platform';
  console.error(
    `npm ci ${fault}. Install Node.js ${leastMajor}.${leastMinor} or newer; this is ${process.version}.`,
  );
  process.exitCode = 1;
}
