#!/bin/bash
# Runs the commands of the sections Compose and Upgrading of docs/deploying.md as they are printed there, on Linux, in a copy
# of the files and under image tags of its own: the first installation with three replicas, a Snapshot, an alert that goes
# through Prometheus and Alertmanager, the upgrade while a sender posts, and compose.single.yaml. Ports 8080 and 9090 and the
# network of .env.example must be free.
#   deploy/try-compose.sh                   on images that Docker pulls
#   deploy/try-compose.sh --local-images    on stand-ins for those that are not there, made of Debian's packages and of
#                                           deploy/image.sh --local-bases, for a machine without a registry of images;
#                                           needs root, buildah
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD
version=$(node -p "require('./package.json').version")
next=${version%.*}.$((${version##*.} + 1))
release=dist/tocsin-$version.tgz
# What is exported would win over the files.
unset "${!TOCSIN_@}" "${!SVC_@}" "${!COMPOSE_@}"
export COMPOSE_PROJECT_NAME=tocsin-try
made=("tocsin:$version-try" "tocsin:$next-try")

fail() {
  echo "$*" >&2
  exit 1
}
command -v docker >/dev/null || fail 'There is no docker. It needs Docker 25 and Compose 2.20, or newer.'
docker version >/dev/null || fail 'No Docker daemon answers.'
docker compose version >/dev/null || fail 'Docker has no plugin for compose.'
[ -f "$release" ] || fail "There is no $release. Run npm run pack first."
for port in 8080 9090; do
  ! (: </dev/tcp/127.0.0.1/$port) 2>/dev/null || fail "Something listens on port $port. Stop it first."
done

work=$(mktemp -d)
finish() {
  code=$?
  kill "${sender:-}" 2>/dev/null || true
  if cd "$work/deploy"; then
    [ $code = 0 ] || docker compose logs --tail 20 >&2 || true
    if ! docker compose down --volumes --remove-orphans >"$work/output" 2>&1; then
      cat "$work/output" >&2
      fail "Its containers use $work, which stays."
    fi
  fi
  # A later "docker compose up" must not take stand-ins for the images whose names they have.
  docker image rm "${made[@]}" >/dev/null 2>&1 || true
  rm -rf "$work"
}
trap finish EXIT
git ls-files deploy Dockerfile .dockerignore | xargs cp --parents -t "$work"
install -D "$release" "$work/$release"
cd "$work/deploy"

# Prints the first block of the page that has a text in it.
block() {
  awk -v text="$1" '/^```/ { if (index(block, text)) { printf "%s", block; exit } block = ""; next } { block = block $0 "\n" }' \
    "$source/docs/deploying.md"
}
# Replacements for the edit by hand and for the Helm command in the blocks.
vi() {
  sed -i 's|^SVC_PUBLIC_URL=.*|SVC_PUBLIC_URL=http://localhost:8080|; s|REPLACE_ME$|admin@example.org|' "$1"
  set_version "$version-try"
}
set_version() { sed -i "s/^#* *TOCSIN_VERSION=.*/TOCSIN_VERSION=$1/" "$work/deploy/.env"; }
helm() { :; }

milliseconds() { echo $(($(date +%s%N) / 1000000)); }

stand_ins() {
  cat <<'END'
FROM localhost/tocsin-build AS debian
ENV DEBIAN_FRONTEND=noninteractive PATH=/usr/lib/postgresql/15/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d && chmod +x /usr/sbin/policy-rc.d \
 && mkdir /etc/postgresql-common && echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.conf \
 && apt-get update && apt-get install -y --no-install-recommends \
      busybox haproxy postgresql prometheus prometheus-alertmanager redis-server \
 && usermod -u 999 postgres && groupmod -g 999 postgres && ln -s busybox /bin/wget \
 && install -d -o postgres -g postgres -m 1777 /var/lib/postgresql/data /var/run/postgresql \
 && install -d -o nobody -g nogroup /prometheus /alertmanager && install -d -o redis /data
FROM debian AS haproxy
USER haproxy
STOPSIGNAL SIGUSR1
CMD ["haproxy", "-W", "-db", "-f", "/usr/local/etc/haproxy/haproxy.cfg"]
FROM debian AS redis
WORKDIR /data
ENTRYPOINT ["sh", "-c", "exec \"$@\" --protected-mode no", "sh"]
FROM debian AS prometheus
USER nobody
ENTRYPOINT ["prometheus"]
FROM debian AS alertmanager
USER nobody
ENTRYPOINT ["prometheus-alertmanager"]
FROM debian AS postgres
ENV PGDATA=/var/lib/postgresql/data
STOPSIGNAL SIGINT
COPY --chmod=755 <<'SH' /bin/entrypoint
#!/bin/sh
set -eu
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  initdb --username="$POSTGRES_USER" --pwfile="$POSTGRES_PASSWORD_FILE" --locale=C.UTF-8
  echo 'host all all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
  echo "listen_addresses = '*'" >>"$PGDATA/postgresql.conf"
  pg_ctl -w -o "-c listen_addresses=''" start
  createdb --username="$POSTGRES_USER" "$POSTGRES_DB"
  pg_ctl -w stop
fi
exec "$@"
SH
ENTRYPOINT ["/bin/entrypoint"]
END
}

# stand_in IMAGE COMMAND...: makes an image by a command that ends in its name, unless there is one.
stand_in() {
  image=$1
  shift
  docker image inspect "$image" >/dev/null 2>&1 && return
  "$@" "$image"
  made+=("$image")
}
load_base() {
  buildah push -q "$1" "docker-archive:$work/base.tar:$1:latest"
  docker load -q -i "$work/base.tar"
  rm "$work/base.tar"
  made+=("$1")
}
local_images() {
  buildah inspect localhost/tocsin-run >/dev/null 2>&1 || "$source/deploy/image.sh" --local-bases >/dev/null
  load_base localhost/tocsin-build
  load_base localhost/tocsin-run
  stand_in "$(sed -n 's/^ARG BUILD_IMAGE=//p' ../Dockerfile)" docker tag localhost/tocsin-build
  stand_in "$(sed -n 's/^ARG RUN_IMAGE=//p' ../Dockerfile)" docker tag localhost/tocsin-run
  stand_ins >"$work/stand-ins"
  mkdir "$work/nothing"
  while read -r image; do
    name=${image##*/}
    stand_in "$image" docker build -q -f "$work/stand-ins" --target "${name%%:*}" "$work/nothing" -t
  done < <(sed -n 's/^    image: \([^$]*\)$/\1/p' compose.yaml)
}
if [ "${1:-}" = --local-images ]; then
  command -v buildah >/dev/null || fail 'There is no buildah. As root: apt-get install buildah debootstrap'
  local_images
fi

cat >"$work/drive.ts" <<END
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { Api } from '$source/test/harness/api.ts';
import { Sender } from '$source/test/harness/sender.ts';
import { until } from '$source/test/harness/until.ts';

const secret = (name: string) => readFileSync(\`secrets/\${name}\`, 'utf8').trim();
const sender = new Sender('http://127.0.0.1:8080/api/v1/ingest', secret('ingest-token'));
const alerts = (alertname: string) => [{ labels: { alertname } }];
const [, , job = '', ...names] = process.argv;

if (job === 'post') {
  const answer = await sender.post({ groupKey: 'posted', alerts: alerts(names[0] ?? '') });
  if (answer !== 202) throw new Error(\`answered \${answer}\`);
} else if (job === 'groups') {
  const login = { app_url: 'http://127.0.0.1:8080', login: 'admin@example.org', password: secret('admin-password') };
  const api = await Api.signIn(login);
  for (const name of names) {
    const group = async () => (await api.get(\`/alert-groups?q=\${name}\`)).items[0];
    const { number, title, status } = await until(name, group, 120);
    console.log(\`group #\${number}: \${title}, \${status}\`);
  }
} else {
  let ended = false;
  once(process, 'SIGTERM').then(() => (ended = true));
  const waits = [];
  let refused = 0;
  while (!ended) {
    const began = performance.now();
    while ((await sender.post({ alerts: alerts('Upgrade') }).catch(() => 0)) !== 202) {
      refused += 1;
      await pause(100);
      if (performance.now() - began > 60_000) throw new Error('refused for a minute');
    }
    waits.push(performance.now() - began);
    await pause(20);
  }
  const longest = Math.round(Math.max(...waits));
  console.log(\`\${waits.length} posts accepted, \${refused} refused and repeated, the longest after \${longest} ms\`);
}
END

# run TEXT [LINE]: runs the block with the text, or one line, and says how long it took.
run() {
  began=$(milliseconds)
  commands=${2:-$(block "$1")}
  [ -n "$commands" ] || fail "docs/deploying.md has no block with $1."
  # In a condition the shell would go on after a command that failed.
  set +e
  (set -e; eval "$commands") >"$work/output" 2>&1 </dev/null
  code=$?
  set -e
  [ $code = 0 ] || { cat "$work/output" >&2; exit 1; }
  echo "$1: $(($(milliseconds) - began)) ms"
}
doctor() { docker compose exec -T tocsin-1 /nodejs/bin/node /app/bin/tocsin.js doctor; }

# What a run that was killed left behind.
SVC_PUBLIC_URL=- SVC_BOOTSTRAP_ADMIN_EMAIL=- docker compose down --volumes --remove-orphans
cd "$work"
run 'docker compose up -d --build --wait'
cd deploy
docker compose ps --format '{{.Service}}: {{.Status}}'
doctor
node "$work/drive.ts" post Posted

cat >prometheus/ours.yaml <<'END'
groups: [{ name: ours, rules: [{ alert: FromPrometheus, expr: vector(1) }] }]
END
sed -i 's/- watchdog.yaml/&\n  - ours.yaml/' prometheus/prometheus.yml
docker compose restart prometheus alertmanager 2>/dev/null
node "$work/drive.ts" groups Posted FromPrometheus

tar -xzf "../$release" -C "$work"
sed -i "s/\"version\": \"$version\"/\"version\": \"$next\"/" ../package/package.json
tar -czf "../dist/tocsin-$next.tgz" -C "$work" package
rm "../$release"
set_version "$next-try"
node "$work/drive.ts" sender &
sender=$!
run 'docker compose build && docker compose run --rm migrate'
kill "$sender"
wait "$sender"
sender=
for n in 1 2 3; do
  image=$(docker inspect --format '{{.Config.Image}}' "$COMPOSE_PROJECT_NAME-tocsin-$n-1")
  [ "$image" = "tocsin:$next-try" ] || fail "tocsin-$n runs $image after the upgrade."
done
doctor | grep replicas
docker compose ps -q | xargs docker stats --no-stream --format '{{.Name}}: {{.MemUsage}}'

run 'docker compose stop tocsin-1' 'docker compose stop tocsin-1'
code=$(docker inspect --format '{{.State.ExitCode}}' "$COMPOSE_PROJECT_NAME-tocsin-1-1")
[ "$code" = 0 ] || fail "SIGTERM ended tocsin-1 with $code."
docker compose down --volumes 2>/dev/null

single=$(sed -n 's/^# .*: \(docker compose -f .*\)/\1/p' compose.single.yaml)
run "$single" "$single"
