/** Access to live voice during a call: rotated keys, and the official client behind TLS. */
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import { afterAll, describe, expect, it } from 'vitest';
import { makeCertificate } from '../lib/testing/certificate.ts';
import { portOf } from '../lib/testing/listening.ts';
import { ADMIN_KEY, CLIENT_KEY, startLocked } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { VoiceCall } from './harness/voice-call.ts';

const gateway = new OneGateway(startLocked);

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

describe('the official client', () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-voice-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('works behind TLS, with the events that it knows', async ({ skip }) => {
    const certificate = makeCertificate(folder);
    if (certificate === null) return skip('this machine has no openssl to make a certificate with');
    const { key, cert } = certificate;
    const tlsProxy = createServer({ key, cert }, (tls) => {
      const plain = connect(gateway.port, '127.0.0.1');
      tls.pipe(plain).pipe(tls);
      for (const socket of [tls, plain]) socket.on('error', () => tls.destroy());
    });
    await new Promise<void>((done) => tlsProxy.listen(0, 'localhost', done));
    const port = portOf(tlsProxy);
    const client = new OpenAI({ apiKey: CLIENT_KEY, baseURL: `https://localhost:${port}/v1` });
    const voice = new OpenAIRealtimeWS({ model: 'agent', options: { ca: cert } }, client);
    try {
      const created = new Promise<string>((done) =>
        voice.once('session.created', ({ session }) => done(session.type)),
      );
      expect(await created).toBe('realtime');
      let text = '';
      voice.on('response.output_text.delta', ({ delta }) => (text += delta));
      const responseDone = new Promise<{ status?: string | undefined }>((done, fail) => {
        voice.once('response.done', ({ response }) => done(response));
        voice.once('error', fail);
      });
      voice.send({ type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } });
      voice.send({
        type: 'conversation.item.create',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Who are you?' }] },
      });
      voice.send({ type: 'response.create' });
      expect((await responseDone).status).toBe('completed');
      expect(text).not.toBe('');
    } finally {
      voice.close();
      tlsProxy.close();
    }
  });
});

describe('rotated keys', () => {
  it('a rotated client key closes the calls opened with it and no others', async () => {
    const mine = await VoiceCall.open(gateway, '?model=agent', bearer(CLIENT_KEY));
    const admins = await VoiceCall.open(gateway, '?model=agent', bearer(ADMIN_KEY));
    const rotated = await send(gateway, 'POST', '/api/auth/rotate', {
      key: ADMIN_KEY,
      body: { tier: 'client' },
    });
    expect(rotated.status).toBe(200);
    expect(await mine.waitForClose()).toEqual({ code: 4401, reason: 'auth.required' });
    await admins.update({ instructions: 'still there' });
    admins.close();
  });
});
