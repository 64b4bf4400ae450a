# A static binary in an empty image, run by nobody.
FROM golang:1.26 AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# The web UI's types are made from the description that the server serves.
RUN CGO_ENABLED=0 go run ./cmd/rimewatch openapi > web/openapi.json

FROM node:22 AS ui
WORKDIR /src
COPY web/package.json web/package-lock.json web/
RUN cd web && npm ci --no-audit --no-fund
COPY --from=source /src/web web
COPY --from=source /src/internal/webui internal/webui
RUN cd web && npm run api && npm run build

FROM source AS build
COPY --from=ui /src/internal/webui/dist internal/webui/dist
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -pgo=cmd/rimewatch/server.pgo -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /rimewatch ./cmd/rimewatch \
 && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /rimewatch /rimewatch
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
EXPOSE 8080
ENV RIMEWATCH_DATA=/data RIMEWATCH_LISTEN=0.0.0.0:8080
HEALTHCHECK --interval=30s --start-period=60s CMD ["/rimewatch", "healthcheck"]
ENTRYPOINT ["/rimewatch"]
CMD ["serve"]
