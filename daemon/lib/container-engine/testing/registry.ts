import { createHash, randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { listenOnLoopback } from '../../testing/listening.ts';
import { tarOf } from './tar.ts';

/** An OCI registry with one image for tests, without TLS. */
export interface TestRegistry {
  /** `127.0.0.1:PORT`. */
  readonly host: string;
  readonly image: string;
  /** Releases the rest of the layer. Until then less than half of it is sent slowly. */
  release(): void;
  close(): void;
}

const LAYER_BYTES = 6 << 20;
const TRICKLE = 512;
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';
const digestOf = (bytes: Buffer): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;

function createImage() {
  const tar = tarOf('weights', randomBytes(LAYER_BYTES));
  const layer = gzipSync(tar, { level: 0 });
  const config = Buffer.from(
    JSON.stringify({
      architecture: process.arch === 'arm64' ? 'arm64' : 'amd64',
      os: 'linux',
      config: {},
      rootfs: { type: 'layers', diff_ids: [digestOf(tar)] },
    }),
  );
  const part = (mediaType: string, bytes: Buffer) => ({
    mediaType,
    size: bytes.length,
    digest: digestOf(bytes),
  });
  const manifest = Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: MANIFEST,
      config: part('application/vnd.oci.image.config.v1+json', config),
      layers: [part('application/vnd.oci.image.layer.v1.tar+gzip', layer)],
    }),
  );
  return { layer, config, manifest };
}

export async function startRegistry(): Promise<TestRegistry> {
  const { layer, config, manifest } = createImage();
  const gate = new AbortController();
  /** Sends half of it at once and the rest slowly, because a puller reports progress only when bytes arrive. */
  const sendSlowly = async (res: ServerResponse) => {
    res.writeHead(200, { 'content-length': layer.length, 'content-type': 'application/octet-stream' });
    let sent = layer.length >> 1;
    res.write(layer.subarray(0, sent));
    for (; !gate.signal.aborted && !res.destroyed; sent += TRICKLE) {
      res.write(layer.subarray(sent, sent + TRICKLE));
      await pause(50);
    }
    res.end(layer.subarray(sent));
  };
  const server = createServer((req, res) => {
    const { method, url = '' } = req;
    const send = (type: string, bytes: Buffer) => {
      res.writeHead(200, {
        'content-type': type,
        'content-length': bytes.length,
        'docker-content-digest': digestOf(bytes),
      });
      res.end(method === 'HEAD' ? undefined : bytes);
    };
    if (url === '/v2/') return send('application/json', Buffer.from('{}'));
    if (url.startsWith('/v2/big/manifests/')) return send(MANIFEST, manifest);
    if (url.endsWith(digestOf(config))) return send('application/octet-stream', config);
    if (url.endsWith(digestOf(layer)) && method === 'GET') return void sendSlowly(res);
    res
      .writeHead(404, { 'content-type': 'application/json' })
      .end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
  });
  const host = `127.0.0.1:${await listenOnLoopback(server)}`;
  return {
    host,
    image: `${host}/big:1`,
    release: () => gate.abort(),
    close: () => {
      gate.abort();
      server.closeAllConnections();
      server.close();
    },
  };
}
