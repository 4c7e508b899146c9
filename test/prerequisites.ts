/** Sees to the programs that the tests drive: installs what is missing, or says what to do. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

interface Program {
  readonly file: string;
  readonly debianPackage: string;
  readonly usedFor: string;
}

const PROGRAMS: readonly Program[] = [
  { file: '/usr/bin/chromium', debianPackage: 'chromium', usedFor: 'the browser tests' },
  {
    file: '/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf',
    debianPackage: 'fonts-dejavu-core',
    usedFor: 'the pictures of pages',
  },
  { file: '/usr/bin/firefox-esr', debianPackage: 'firefox-esr', usedFor: 'the test in a second browser' },
  { file: '/usr/bin/prometheus', debianPackage: 'prometheus', usedFor: 'the tests with a real Prometheus' },
  {
    file: '/usr/bin/prometheus-alertmanager',
    debianPackage: 'prometheus-alertmanager',
    usedFor: 'the tests with a real Alertmanager',
  },
  {
    file: '/usr/lib/postgresql/15/bin/postgres',
    debianPackage: 'postgresql-15',
    usedFor: 'the storage tests on the oldest supported PostgreSQL',
  },
  { file: '/usr/sbin/haproxy', debianPackage: 'haproxy', usedFor: 'the tests with a real load balancer' },
  { file: '/usr/sbin/pgbouncer', debianPackage: 'pgbouncer', usedFor: 'the test behind a connection pooler' },
  { file: '/usr/bin/redis-server', debianPackage: 'redis-server', usedFor: 'the tests of several replicas' },
  { file: '/usr/bin/systemd-analyze', debianPackage: 'systemd', usedFor: 'the test of the systemd unit' },
  {
    file: '/usr/bin/script',
    debianPackage: 'bsdutils',
    usedFor: 'the questions that are asked at a terminal',
  },
  { file: '/usr/bin/java', debianPackage: 'default-jre-headless', usedFor: 'the generator of clients' },
  { file: '/usr/bin/python3', debianPackage: 'python3', usedFor: 'the generated client in Python' },
  ...['certifi', 'dateutil', 'six', 'urllib3'].map((module) => ({
    file: `/usr/lib/python3/dist-packages/${module}${module === 'six' ? '.py' : ''}`,
    debianPackage: `python3-${module}`,
    usedFor: 'the generated client in Python',
  })),
];

/** @returns what to install when programs of these Debian packages are not there; null when all are */
export function missingPrograms(
  debianPackages: readonly string[],
  exists: (file: string) => boolean = existsSync,
): string | null {
  const missing = PROGRAMS.filter(
    ({ file, debianPackage }) => debianPackages.includes(debianPackage) && !exists(file),
  );
  if (missing.length === 0) return null;
  const files = missing.map(({ file }) => file).join(', ');
  return `${files} is missing. As root: apt-get install ${missing.map(({ debianPackage }) => debianPackage).join(' ')}`;
}

/** Installs every missing program with apt, or ends with a sentence that names what is still missing. */
export function installPrerequisites(): void {
  const missing = PROGRAMS.filter((program) => !existsSync(program.file));
  if (missing.length === 0) return;
  const packages = missing.map((program) => program.debianPackage);
  if (process.getuid?.() === 0) install(packages);
  const absent = missing.filter((program) => !existsSync(program.file));
  if (absent.length === 0) return;
  const list = absent.map((program) => `  ${program.debianPackage} (for ${program.usedFor})`).join('\n');
  const command = `apt-get install ${absent.map((program) => program.debianPackage).join(' ')}`;
  console.error(
    `The tests need these packages, all of which Debian 12 has:\n${list}\nAs root: ${command}\nThen run the tests again; "npm run test:unit" needs none of them.`,
  );
  process.exit(1);
}

/** apt installs none of a list in which a package is unknown: then each is installed alone. */
function install(packages: readonly string[]): void {
  console.log(`Installing what the tests need: ${packages.join(', ')}`);
  const options = { stdio: 'inherit', env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } } as const;
  const apt = (...words: string[]) => spawnSync('apt-get', [...words, '-q'], options).status === 0;
  const add = (...names: string[]) => apt('install', '-y', '--no-install-recommends', ...names);
  apt('update');
  if (!add(...packages)) for (const name of packages) add(name);
}
