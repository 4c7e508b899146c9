#!/bin/bash
# Drives the image of deploy/image.sh through the main job with runc, as root, beside a PostgreSQL 15 and a Redis of its own:
# migrate, serve, health check, a Snapshot, its group by the API, SIGTERM. The root file system is read-only, the user 65532
# without capabilities; the network is that of the machine.
set -eu
cd "$(dirname "$0")/.."
image=localhost/tocsin:$(node -p "require('./package.json').version")
work=$(mktemp -d)
export XDG_RUNTIME_DIR="$work"
postgres=/usr/lib/postgresql/15/bin
pids=

finish() {
  runc kill tocsin KILL 2>/dev/null || true
  runc delete --force tocsin 2>/dev/null || true
  for pid in $pids; do kill "$pid" && wait "$pid" 2>/dev/null || true; done
  [ -z "${container:-}" ] || buildah rm "$container" >/dev/null
  rm -rf "$work"
}
trap finish EXIT

until_ready() {
  for _ in $(seq 150); do
    "$@" >/dev/null 2>&1 && return
    sleep 0.2
  done
  echo "Waited 30 s: $*" >&2
  exit 1
}

for program in buildah runc runuser openssl redis-server "$postgres/postgres"; do
  command -v "$program" >/dev/null && continue
  echo "There is no $program. As root: apt-get install buildah runc util-linux openssl redis-server postgresql-15" >&2
  exit 1
done
for port in 8080 8081 8082; do
  if (: </dev/tcp/127.0.0.1/$port) 2>/dev/null; then
    echo "Something listens on port $port, where the image would. Stop it first." >&2
    exit 1
  fi
done

install -d -o postgres "$work/postgres"
chmod 711 "$work"
runuser -u postgres -- $postgres/initdb -D "$work/postgres/data" -A trust -U tocsin --locale=C.UTF-8 >/dev/null
runuser -u postgres -- $postgres/postgres -D "$work/postgres/data" -p 55432 -k "$work/postgres" >"$work/postgres.log" 2>&1 &
pids="$pids $!"
redis-server --port 56379 --save '' --dir "$work" >"$work/redis.log" 2>&1 &
pids="$pids $!"
until_ready $postgres/psql -h 127.0.0.1 -p 55432 -U tocsin -c 'create database tocsin' postgres
until_ready redis-cli -p 56379 ping

container=$(buildah from --pull-never "$image")
root=$(buildah mount "$container")
openssl rand -base64 32 >"$work/secret-keys"
chmod 444 "$work/secret-keys"
printf 'A password of %s\n' "$(openssl rand -hex 8)" >"$work/password"

# What the image says of itself, and what a hardened installation adds.
cat >"$work/bundle.js" <<'END'
const [work, root, text, ...words] = process.argv.slice(2);
const { config } = JSON.parse(text).Docker;
const env = {
  SVC_DATABASE_URL: 'postgres://tocsin@127.0.0.1:55432/tocsin', SVC_REDIS_URL: 'redis://127.0.0.1:56379',
  SVC_SECRET_KEYS_FILE: '/secrets/secret-keys', SVC_PUBLIC_URL: 'http://127.0.0.1:8080',
  SVC_BOOTSTRAP_ADMIN_EMAIL: 'admin@example.org',
  SVC_BOOTSTRAP_ADMIN_PASSWORD: require('node:fs').readFileSync(`${work}/password`, 'utf8').trim(),
};
const mount = (destination, type, source, ...options) => ({ destination, type, source, options });
const [uid, gid] = config.User.split(':').map(Number);
console.log(JSON.stringify({
  ociVersion: '1.0.0',
  root: { path: root, readonly: true },
  process: {
    user: { uid, gid }, cwd: config.WorkingDir, noNewPrivileges: true, capabilities: {},
    args: words[0] === 'health' ? config.Healthcheck.Test.slice(1) : [...config.Entrypoint, ...words],
    env: [...(config.Env ?? []), ...Object.entries(env).map((entry) => entry.join('='))],
  },
  mounts: [
    mount('/proc', 'proc', 'proc'), mount('/dev', 'tmpfs', 'tmpfs', 'nosuid', 'mode=755'),
    mount('/tmp', 'tmpfs', 'tmpfs', 'nosuid', 'nodev', 'mode=1777'),
    mount('/etc/resolv.conf', 'bind', '/etc/resolv.conf', 'bind', 'ro'),
    mount('/etc/hosts', 'bind', '/etc/hosts', 'bind', 'ro'),
    mount('/secrets/secret-keys', 'bind', `${work}/secret-keys`, 'bind', 'ro'),
  ],
  linux: { namespaces: ['pid', 'ipc', 'mount', 'uts'].map((type) => ({ type })) },
}));
END
describe() { node "$work/bundle.js" "$work" "$root" "$(buildah inspect "$container")" "$@"; }
mkdir -p "$work/bundle" "$root/secrets"
touch "$root/secrets/secret-keys"

describe migrate >"$work/bundle/config.json"
runc run --bundle "$work/bundle" tocsin
describe serve >"$work/bundle/config.json"
runc run --bundle "$work/bundle" tocsin >"$work/tocsin.log" 2>&1 &
service=$!
describe health | node -e "
const { process: of } = JSON.parse(require('node:fs').readFileSync(0, 'utf8'));
console.log(JSON.stringify(of));" >"$work/health.json"
started=$(date +%s%N)
for _ in $(seq 100); do runc exec --process "$work/health.json" tocsin 2>/dev/null && healthy=yes && break; sleep 0.2; done
[ -n "${healthy:-}" ] || { cat "$work/tocsin.log"; exit 1; }
echo "healthy by its HEALTHCHECK after $((($(date +%s%N) - started) / 1000000)) ms"
if runc exec tocsin /nodejs/bin/node -e "require('node:fs').writeFileSync('/app/x', '')" 2>/dev/null; then
  echo 'The root file system can be written.' >&2
  exit 1
fi

cat >"$work/drive.ts" <<END
import { Api } from '$PWD/test/harness/api.ts';
import { Sender } from '$PWD/test/harness/sender.ts';
import { until } from '$PWD/test/harness/until.ts';

const [, , password = ''] = process.argv;
const api = await Api.signIn({ app_url: 'http://127.0.0.1:8080', login: 'admin@example.org', password });
const integration = await api.post('/integrations', {
  ...{ name: 'Image', connection_mode: 'webhook_only', static_labels: {}, duplicate_window_seconds: 45 },
  heartbeat: { enabled: false },
});
const { value: token } = await api.post(\`/integrations/\${integration.id}/tokens\`, {});
const sender = new Sender('http://127.0.0.1:8081/api/v1/ingest', token);
console.log('posted:', await sender.post({ alerts: [{ labels: { alertname: 'FromTheImage' } }] }));
const [group] = await until('the group', async () => {
  const { items } = await api.get('/alert-groups');
  return items.length > 0 && items;
});
console.log('group:', group.title, group.status);
END
node "$work/drive.ts" "$(cat "$work/password")"
pid=$(runc state tocsin | node -p "JSON.parse(require('node:fs').readFileSync(0, 'utf8')).pid")
echo "image of $(buildah images --format '{{.Size}}' "$image"), $(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$pid/status") MiB of memory"

began=$(date +%s%N)
runc kill tocsin TERM
code=0
wait "$service" || code=$?
echo "ended with $code after $((($(date +%s%N) - began) / 1000000)) ms"
[ "$code" = 0 ] || { tail -20 "$work/tocsin.log" >&2; exit 1; }
