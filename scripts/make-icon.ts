/** Draws `ui/public/tocsin-mark-256.png` from the SVG mark: `node scripts/make-icon.ts`. */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const file = (name: string) => fileURLToPath(new URL(`../ui/public/${name}`, import.meta.url));
const svg = await readFile(file('tocsin-mark.svg'), 'utf8');
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu'],
});
const page = await browser.newPage({ viewport: { width: 256, height: 256 } });
await page.setContent(`<style>body{margin:0}svg{display:block;width:256px;height:256px}</style>${svg}`);
await page.screenshot({ path: file('tocsin-mark-256.png'), omitBackground: true });
await browser.close();
