/**
 * `npm run dev`: the UI as its sources are now, reloaded when they change, before a real service with seeded data in a
 * folder that is removed at the end. With `SVC_INSPECT=1` its actors are shown in Stately Inspector (`inspect.ts`).
 */
import { once } from 'node:events';
import path from 'node:path';
import { createInspectorServer } from '@statelyai/inspect/server';
import { createServer } from 'vite';
import { seed } from '../test/harness/seeded.ts';
import { Installation } from '../test/harness/tocsin.ts';
import { devSettings } from './dev-settings.ts';

const PORT = Number(process.env.PORT ?? 5173);
const address = `http://localhost:${PORT}`;
const ui = path.resolve(import.meta.dirname, '..', 'ui');

// `npm start` makes one signal of those that npm, the terminal and this script send.
const program = [path.join(import.meta.dirname, 'start.ts'), '--messenger', '0'];
const { service, inspectorPort } = devSettings(process.env, address);
// A setting of this script, which the service does not know.
delete process.env.SVC_INSPECT;
const inspector =
  inspectorPort === null ? null : createInspectorServer({ port: inspectorPort, autoOpen: false });
const tocsin = new Installation(service, program);
const ended = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
try {
  console.log('Tocsin starts and is filled …');
  const ready = await tocsin.start();
  const { people, close } = await seed(ready);
  const vite = await createServer({
    root: ui,
    configFile: path.join(ui, 'vite.config.ts'),
    server: {
      ...{ host: 'localhost', port: PORT, strictPort: true },
      proxy: { '/api': ready.app_url, '/runbooks': ready.app_url, '/docs': ready.app_url },
    },
  });
  await vite.listen();
  console.log(`${address}\nSign in as one of:`);
  for (const { login, password } of [ready, ...people]) console.log(`  ${login}  ${password}`);
  if (inspectorPort !== null) console.log(`Actors: http://localhost:${inspectorPort}`);
  await ended;
  await tocsin.stop();
  await Promise.all([vite.close(), close()]);
} finally {
  inspector?.stop();
  await tocsin.remove();
}
