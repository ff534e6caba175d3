# Two images: `docker build .` has the speech engines of Debian and the voice activity
# detector; `docker build --target pure .` is a static program alone, for text and for
# clients that bring their own speech.
#
# The server listens inside the container on every address, and therefore wants API keys:
#
#   docker run -p 8080:8080 -e HOCKET_API_KEYS="me $(openssl rand -hex 16)" \
#     -v hocket:/var/lib/hocket/.local/state hocket
#
# The volume holds the conversations and their key; without it they end with the container.

FROM golang:1.26-bookworm AS source
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .

FROM source AS build-pure
RUN CGO_ENABLED=0 go build -trimpath -o /hocket ./cmd/hocket && mkdir /state

FROM source AS build-speech
RUN apt-get update \
 && apt-get install -y --no-install-recommends gcc libc6-dev pkg-config npm python3-pip \
      libpocketsphinx-dev pocketsphinx-en-us flite1-dev
RUN make build && cp bin/hocket /hocket && mkdir -p third_party/models

FROM scratch AS pure
COPY --from=source /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build-pure /hocket /usr/local/bin/hocket
COPY --from=build-pure --chown=10001 /state /var/lib/hocket/.local/state
ENV XDG_STATE_HOME=/var/lib/hocket/.local/state
COPY --from=source /src/LICENSE /src/THIRD_PARTY.md /usr/share/doc/hocket/
USER 10001
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/hocket"]
CMD ["serve", "--addr", "0.0.0.0:8080"]

FROM debian:bookworm-slim AS speech
RUN apt-get update \
 && apt-get install -y --no-install-recommends ca-certificates \
      libpocketsphinx3 libsphinxbase3 pocketsphinx-en-us libflite1 \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --uid 10001 --create-home --home-dir /var/lib/hocket hocket
COPY --from=build-speech /hocket /usr/local/bin/hocket
COPY --from=build-speech /src/third_party/models /usr/local/lib/hocket
COPY --from=source /src/LICENSE /src/THIRD_PARTY.md /usr/share/doc/hocket/
USER hocket
WORKDIR /var/lib/hocket
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/hocket"]
CMD ["serve", "--addr", "0.0.0.0:8080"]
