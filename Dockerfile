# The service as an image: `serve` (the default) or `worker`, beside a Postgres and a Temporal of yours. See docker-compose.yml.
FROM node:22.22.2-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json client/package.json
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
COPY workflows workflows
COPY activities activities
COPY examples examples
COPY dashboard dashboard
RUN node scripts/build.mjs && test -f dist/dashboard/index.html

FROM node:22.22.2-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY client/package.json client/package.json
# The optional packages are the embedded Postgres and colours of the dependencies' own: neither is used here.
RUN npm ci --omit=dev --omit=optional --no-audit --no-fund
# Temporal's package has the native part of each system: only this one's is used.
RUN cd node_modules/@temporalio/core-bridge/releases \
  && test -d "$(uname -m)-unknown-linux-gnu" \
  && find . -mindepth 1 -maxdepth 1 ! -name "$(uname -m)-unknown-linux-gnu" -exec rm -r {} +

FROM node:22.22.2-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 NODE_OPTIONS=--enable-source-maps
WORKDIR /app
COPY package.json LICENSE ./
COPY bin bin
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
RUN ln -s /app/bin/ratchet.mjs /usr/local/bin/ratchet
USER node
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + (process.env.PORT || 8787) + '/livez').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["ratchet"]
CMD ["serve"]
