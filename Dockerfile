# A static binary in an empty image, run by nobody.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=dev
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /rimewatch ./cmd/rimewatch \
 && mkdir /data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /rimewatch /rimewatch
COPY --from=build --chown=65532:65532 /data /data
USER 65532:65532
VOLUME /data
EXPOSE 8080
ENV RIMEWATCH_DATA=/data RIMEWATCH_LISTEN=0.0.0.0:8080
ENTRYPOINT ["/rimewatch"]
CMD ["serve"]
