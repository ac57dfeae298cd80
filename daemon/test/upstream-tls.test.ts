/** TLS of upstreams: nobody is trusted without a certificate that the gateway knows, and an own authority can be named. */
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamTestView } from '../contract/upstreams.ts';
import { portOf } from '../lib/testing/listening.ts';
import { type Certificate, makeCertificate } from './harness/certificate.ts';
import { Front } from './harness/front-gateway.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-tls-'));

const made = makeCertificate(folder);
if (made === null)
  console.warn('upstream-tls: skipped, because this machine has no openssl to make a certificate with');

describe.skipIf(made === null)('TLS', () => {
  const wary = new Front();
  const told = new Front();
  let server: Server;
  let heard = 0;
  beforeAll(async () => {
    const { key, cert, certFile } = made as Certificate;
    server = createServer({ key, cert }, (_req, res) => {
      heard += 1;
      res.end('{"data":[{"id":"safe"}]}');
    });
    await new Promise<void>((done) => server.listen(0, 'localhost', done));
    await Promise.all([wary.start(), told.start({}, {}, { NODE_EXTRA_CA_CERTS: certFile })]);
  });
  afterAll(async () => {
    await Promise.all([wary.end(), told.end(), new Promise((done) => server.close(done))]);
    rmSync(folder, { recursive: true, force: true });
  });

  const tried = async (front: Front, host: string, scheme = 'https') => {
    const port = portOf(server);
    const name = `${scheme}-${host.replaceAll('.', '-')}`;
    await front.add(name, `base_url = "${scheme}://${host}:${port}/v1"\nkey_env = "UPSTREAM_CLOUD"\n`);
    return (await front.at('POST', `/api/upstreams/${name}/test`)).json<UpstreamTestView>().steps[0];
  };

  it('a certificate that nobody vouches for gets neither a request nor the key', async () => {
    expect(await tried(wary, 'localhost')).toMatchObject({
      ok: false,
      message: expect.stringContaining('self-signed'),
    });
    expect(heard).toBe(0);
  });

  it('an authority that is named is trusted, for its names only', async () => {
    expect(await tried(told, 'localhost')).toMatchObject({ ok: true, status: 200 });
    const before = heard;
    expect(await tried(told, '127.0.0.1')).toMatchObject({
      ok: false,
      message: expect.stringContaining('certificate'),
    });
    expect(heard).toBe(before);
  });

  it('plain HTTP to a TLS port is told as what it is', async () => {
    expect(await tried(told, 'localhost', 'http')).toMatchObject({ ok: false });
  });
});
