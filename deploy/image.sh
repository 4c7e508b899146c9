#!/bin/sh
# Builds the container image tocsin:VERSION from the release that "npm run pack" made, for the platform of this machine.
# It takes buildah, podman or docker, whichever is there first; words given are passed on, such as --build-arg.
#   deploy/image.sh                    on base images that the builder pulls
#   deploy/image.sh --local-bases      on base images made here, for a machine without a registry of images: Debian by
#                                      debootstrap, and Node.js with its libraries and the certificates; needs root, buildah
set -eu
cd "$(dirname "$0")/.."

version=$(node -p "require('./package.json').version")
revision=$(git rev-parse --short HEAD 2>/dev/null || echo unknown)
release=dist/tocsin-$version.tgz
[ -f "$release" ] || { echo "There is no $release. Run npm run pack first." >&2; exit 1; }

# Copies a program's shared libraries, and all of the C library, below a folder.
libraries() {
  { ldd "$1" | grep -o '/[^ ]*'; dpkg -L libc6 | grep '^/lib.*/lib[^/]*\.so'; } | sort -u |
    while read -r library; do cp -L --parents "$library" "$2"; done
}

# An image without history: base NAME FOLDER [option of buildah config...]
base() {
  name=$1 folder=$2
  shift 2
  container=$(buildah from scratch)
  buildah add -q "$container" "$folder" / >/dev/null
  buildah config "$@" "$container"
  buildah commit -q --rm "$container" "$name" >/dev/null
}

local_bases() {
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  node=$(node -p 'process.execPath')
  npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")

  debootstrap --variant=minbase bookworm "$work/build" http://deb.debian.org/debian >/dev/null
  install -D "$node" "$work/build/usr/local/bin/node"
  cp -r "$npm" "$work/build/usr/local/lib/npm"
  ln -s ../lib/npm/bin/npm-cli.js "$work/build/usr/local/bin/npm"
  cp -L --parents /etc/ssl/certs/ca-certificates.crt "$work/build"
  base localhost/tocsin-build "$work/build" --env NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt

  mkdir -p "$work/run/tmp" "$work/run/etc"
  chmod 1777 "$work/run/tmp"
  install -D "$node" "$work/run/nodejs/bin/node"
  libraries "$node" "$work/run"
  cp -L --parents /etc/ssl/certs/ca-certificates.crt "$work/run"
  printf 'root:x:0:0::/:\nnonroot:x:65532:65532::/tmp:\n' >"$work/run/etc/passwd"
  printf 'root:x:0:\nnonroot:x:65532:\n' >"$work/run/etc/group"
  printf 'hosts: files dns\n' >"$work/run/etc/nsswitch.conf"
  base localhost/tocsin-run "$work/run" --env SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
}

if [ "${1:-}" = --local-bases ]; then
  shift
  local_bases
  set -- --build-arg BUILD_IMAGE=localhost/tocsin-build --build-arg RUN_IMAGE=localhost/tocsin-run "$@"
fi

for builder in buildah podman docker; do
  if command -v $builder >/dev/null; then
    # Without the format of Docker the health check is left out.
    case $builder in docker) format= ;; *) format=--format=docker ;; esac
    exec $builder build $format --tag "tocsin:$version" --build-arg "VERSION=$version" \
      --build-arg "REVISION=$revision" "$@" .
  fi
done
echo 'There is no buildah, podman or docker.' >&2
exit 1
