/**
 * Ends `npm ci` with a sentence where it brings no Node.js and the one that is there is too old for Tocsin. The `engines` in
 * package.json are about the Node.js that runs npm, which may be older. Written so that an older one reads it.
 */
import { readFileSync } from 'node:fs';

const { config } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
const [leastMajor, leastMinor] = config.runsOnNode.slice('>='.length).split('.').map(Number);
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < leastMajor || (major === leastMajor && minor < leastMinor)) {
  console.error(
    `npm ci brings no Node.js for this platform. Install Node.js ${leastMajor}.${leastMinor} or newer; this is ${process.version}.`,
  );
  process.exitCode = 1;
}
