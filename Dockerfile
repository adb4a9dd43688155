# syntax=docker/dockerfile:1

# The version that `rowlock version` and the User-Agent show.
ARG VERSION=dev

FROM golang:1.26-bookworm AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=${VERSION}" -o /out/rowlock ./cmd/rowlock
# What the empty image cannot make for itself: a place that the user may write.
RUN mkdir -p /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /out/rowlock /rowlock
COPY --from=build --chown=65532:65532 /out/data /data
USER 65532:65532
ENV ROWLOCK_DATA_DIR=/data
EXPOSE 8080
ENTRYPOINT ["/rowlock"]
CMD ["serve"]
