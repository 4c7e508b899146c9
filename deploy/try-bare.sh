#!/bin/bash
# Does what README.md says on a Debian that has nothing but its npm and curl, as a user other than root: npm ci, npm start,
# a first alert, an end by SIGTERM, and the next start, which still has the alert. Needs Docker with an image debian:trixie,
# or root and debootstrap to make it.
#   deploy/try-bare.sh [bookworm]     the version of Debian; trixie unless given
set -euo pipefail
cd "$(dirname "$0")/.."
debian=${1:-trixie}
command -v docker >/dev/null || { echo 'There is no docker.' >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! docker image inspect "debian:$debian" >/dev/null 2>&1 && ! docker pull -q "debian:$debian"; then
  debootstrap --variant=minbase "$debian" "$work/root" >/dev/null
  tar -C "$work/root" -c . | docker import - "debian:$debian" >/dev/null
fi
mkdir "$work/source"
git archive HEAD | tar -x -C "$work/source"
cat >"$work/user.sh" <<'END'
set -euo pipefail
export NODE_EXTRA_CA_CERTS=/roots.crt npm_config_cafile=/roots.crt
cp -r /source ~/tocsin && cd ~/tocsin
npm ci
for start in first second; do
  npm start >~/start.log 2>&1 &
  npm=$!
  until curl -sf http://127.0.0.1:8082/health/ready >/dev/null; do
    kill -0 $npm || { cat ~/start.log; exit 1; }
    sleep 0.2
  done
  if [ $start = first ]; then
    until token=$(grep -om1 'svc_int_[A-Za-z0-9_-]*' ~/start.log); do sleep 0.2; done
    curl -sf http://127.0.0.1:8081/api/v1/ingest -H "Authorization: Bearer $token" --data '{"groupKey": "first",
      "status": "firing", "alerts": [{"status": "firing", "labels": {"alertname": "FirstAlert"}, "annotations": {},
      "startsAt": "'"$(date -u +%FT%TZ)"'"}]}'
  fi
  until curl -s http://127.0.0.1:8082/metrics | grep '^svc_alert_groups{.*firing"} 1$'; do sleep 1; done
  kill $npm
  until [ ! -e data/postgres/owner ]; do sleep 0.2; done
  echo "the $start start served and ended"
done
END
cat >"$work/root.sh" <<'END'
set -eu
export DEBIAN_FRONTEND=noninteractive
(apt-get update && apt-get install -y --no-install-recommends npm curl) >/dev/null 2>&1
echo "Node.js $(node --version), npm $(npm --version)"
useradd -m ada && su ada -c 'bash /user.sh'
END
timeout 600 docker run --rm -v "$work/source:/source:ro" -v "$work/user.sh:/user.sh:ro" -v "$work/root.sh:/root.sh:ro" \
  -v /etc/ssl/certs/ca-certificates.crt:/roots.crt:ro "debian:$debian" bash /root.sh
