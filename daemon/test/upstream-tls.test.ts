/** TLS of upstreams: only known certificates are trusted, and a private authority can be configured. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamTestView } from '../contract/upstreams.ts';
import { type Certificate, makeCertificate } from '../lib/testing/certificate.ts';
import { portOf } from '../lib/testing/listening.ts';
import { Front } from './harness/front-gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));

const certificate = makeCertificate(folder);
if (certificate === null)
  console.warn('upstream-tls: skipped, because this machine has no openssl to make a certificate with');

describe.skipIf(certificate === null)('TLS', () => {
  const defaultFront = new Front();
  const trustingFront = new Front();
  let server: Server;
  let requestCount = 0;
  beforeAll(async () => {
    const { key, cert, certFile } = certificate as Certificate;
    server = createServer({ key, cert }, (_req, res) => {
      requestCount += 1;
      res.end('{"data":[{"id":"safe"}]}');
    });
    await new Promise<void>((done) => server.listen(0, 'localhost', done));
    await Promise.all([defaultFront.start(), trustingFront.start({}, {}, { NODE_EXTRA_CA_CERTS: certFile })]);
  });
  afterAll(async () => {
    await Promise.all([
      defaultFront.close(),
      trustingFront.close(),
      new Promise((done) => server.close(done)),
    ]);
    rmSync(folder, { recursive: true, force: true });
  });

  const testUpstream = async (front: Front, host: string, scheme = 'https') => {
    const port = portOf(server);
    const name = `${scheme}-${host.replaceAll('.', '-')}`;
    await front.add(name, `base_url = "${scheme}://${host}:${port}/v1"\nkey_env = "UPSTREAM_CLOUD"\n`);
    return (await front.send('POST', `/api/upstreams/${name}/test`)).json<UpstreamTestView>().steps[0];
  };

  it('a server with an untrusted certificate receives neither a request nor the key', async () => {
    expect(await testUpstream(defaultFront, 'localhost')).toMatchObject({
      ok: false,
      message: expect.stringContaining('self-signed'),
    });
    expect(requestCount).toBe(0);
  });

  it('a configured authority is trusted, for its names only', async () => {
    expect(await testUpstream(trustingFront, 'localhost')).toMatchObject({ ok: true, status: 200 });
    const before = requestCount;
    expect(await testUpstream(trustingFront, '127.0.0.1')).toMatchObject({
      ok: false,
      message: expect.stringContaining('certificate'),
    });
    expect(requestCount).toBe(before);
  });

  it('plain HTTP to a TLS port is an error', async () => {
    expect(await testUpstream(trustingFront, 'localhost', 'http')).toMatchObject({ ok: false });
  });
});
