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
if (brought && !existsSync(link) && process.env.npm_execpath) {
  const words = [process.env.npm_execpath, 'rebuild', '--ignore-scripts', brought];
  spawnSync(process.execPath, words, { cwd: fileURLToPath(root), stdio: ['ignore', 'ignore', 'inherit'] });
}

const [leastMajor, leastMinor] = config.runsOnNode.slice('>='.length).split('.').map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
// A dry run brings nothing, whatever it says that it would.
const isDry = process.env.npm_config_dry_run === 'true';
if (!isDry && !existsSync(link) && (major < leastMajor || (major === leastMajor && minor < leastMinor))) {
  console.error(
    `npm ci brings no Node.js for this platform. Install Node.js ${leastMajor}.${leastMinor} or newer; this is ${process.version}.`,
  );
  process.exitCode = 1;
}
