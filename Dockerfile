# The image of Tributary: `serve` by default; `work` and `migrate` are the other processes of the Procfile.
# It contains what the npm package contains, so package.json says once what runs.

FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run package /build && mkdir /app && tar -xzf tributary-*.tgz -C /app --strip-components=1

FROM node:24-bookworm-slim
ENV NODE_ENV=production
COPY --from=build /app /app
RUN ln -s /app/dist/bin/tributary.js /usr/local/bin/tributary
WORKDIR /app
# `node` of the base image
USER 1000
EXPOSE 8080
# the database is left out: an API process that waits for Postgres must not be restarted
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/health/live`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tributary"]
CMD ["serve"]
