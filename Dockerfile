# The image of a source tree: a static binary in an empty image, run by nobody. A release's image holds the same (tools/release).
FROM golang:1.26 AS build
COPY --from=node:22 /usr/local/bin/node /usr/local/bin/
COPY --from=node:22 /usr/local/lib/node_modules /usr/local/lib/node_modules
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY web/package.json web/package-lock.json web/
RUN cd web && npm ci --no-audit --no-fund
COPY . .
ARG VERSION=dev
RUN make build VERSION=${VERSION} && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /src/bin/rimewatch /rimewatch
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
EXPOSE 8080
ENV RIMEWATCH_DATA=/data RIMEWATCH_LISTEN=0.0.0.0:8080
HEALTHCHECK --interval=30s --start-period=60s CMD ["/rimewatch", "healthcheck"]
ENTRYPOINT ["/rimewatch"]
CMD ["serve"]
