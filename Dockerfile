# The gateway alone. Commands of the agent run inside this container unless another terminal backend is chosen.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY . .
# Installs what builds, too, and writes dist.
RUN npm ci

FROM node:24-bookworm-slim

RUN apt-get update \
  && apt-get install -y --no-install-recommends bash ca-certificates git procps tini \
  && rm -rf /var/lib/apt/lists/*

WORKDIR /app
COPY package.json package-lock.json .npmrc build.js ./
# The image has Node 24 itself, so the binary that npm brings for other machines goes.
RUN npm ci --omit=dev && rm -rf node_modules/node-linux-*
COPY bin bin
COPY src src
COPY platforms platforms
COPY tools tools
COPY toolsets toolsets
COPY config.example.yaml ./
COPY --from=build /app/dist dist

RUN useradd --create-home --uid 10001 hermes \
  && install -d -o hermes -m 0700 /data \
  && install -d -o hermes node_modules/.cache
USER hermes
ENV HERMES_HOME=/data GATEWAY_HOST=0.0.0.0 NODE_ENV=production
VOLUME /data
EXPOSE 8642
HEALTHCHECK --interval=30s --timeout=3s CMD ["node", "-e", "fetch('http://127.0.0.1:8642/healthz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["tini", "--", "node", "bin/hermes-gateway.js"]
CMD ["start"]
