/**
 * `npm run test:go-templates [-- --count N --seed N]`: renders generated templates with Go's text/template and with the
 * service's own language and prints every difference that the language does not mean to have.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { parseTemplate, renderTemplate } from '../../actors/templates/template.ts';
import { plainFormat } from '../../actors/templates/types.ts';
import { randomSource } from '../harness/random.ts';
import { DATA } from './data.ts';
import { dice, type Features, Generator, spoiled } from './generator.ts';
import { type Answer, isMeant } from './meant.ts';

const { values } = parseArgs({
  options: { count: { type: 'string', default: '20000' }, seed: { type: 'string', default: '1' } },
});

const sources = generate(Number(values.count), Number(values.seed), featuresOf(goVersion()));
const answers = askGo(sources);
let [differences, bothFail] = [0, 0];
for (const [index, source] of sources.entries()) {
  const [go, own] = [answers[index] ?? { ok: false, text: 'no answer' }, askOwn(source)];
  if (!go.ok && !own.ok) bothFail++;
  if (go.ok === own.ok && (!go.ok || go.text === own.text)) continue;
  if (isMeant(go, own, isSpoiled(index))) continue;
  if (++differences <= 20)
    console.log(`${JSON.stringify(source)}\n  Go:  ${shown(go)}\n  own: ${shown(own)}\n`);
}
console.log(`${sources.length} templates, ${bothFail} of them fail in both, ${differences} differences`);
process.exit(differences > 0 ? 1 : 0);

function shown({ ok, text }: Answer): string {
  return `${ok ? 'gives' : 'fails'} ${JSON.stringify(text)}`;
}

/** Every fourth template is. */
function isSpoiled(index: number): boolean {
  return index % 4 === 3;
}

function generate(count: number, seed: number, features: Features): string[] {
  const source = dice(randomSource(seed));
  const generator = new Generator(source, features);
  return Array.from({ length: count }, (_, index) => {
    const template = generator.template();
    return isSpoiled(index) ? spoiled(template, source) : template;
  });
}

function goVersion(): readonly [major: number, minor: number] {
  const found = spawnSync('go', ['version'], { encoding: 'utf8' });
  const version = /go(\d+)\.(\d+)/.exec(found.stdout ?? '');
  if (version) return [Number(version[1]), Number(version[2])];
  console.error(
    'Go is not installed, and this test compares with its text/template: apt-get install -y golang-go',
  );
  process.exit(2);
}

function featuresOf([major, minor]: readonly [number, number]): Features {
  return { rangeOverInt: major > 1 || minor >= 22, elseWith: major > 1 || minor >= 23 };
}

function askGo(asked: readonly string[]): readonly Answer[] {
  const output = execFileSync('go', ['run', path.join(import.meta.dirname, 'main.go')], {
    input: JSON.stringify(asked),
    maxBuffer: 2 ** 30,
    encoding: 'utf8',
  });
  return JSON.parse(output) as readonly Answer[];
}

function askOwn(source: string): Answer {
  const parsed = parseTemplate('webhook_request', source);
  const result = parsed.ok
    ? renderTemplate(parsed.template, DATA, {
        format: plainFormat,
        now: 0,
        zone: 'UTC',
        lookup: () => '',
        mention: () => null,
      })
    : parsed;
  if (result.ok) return { ok: true, text: result.text };
  const { line, column, message } = result.error;
  return { ok: false, text: `line ${line}, column ${column}: ${message}` };
}
