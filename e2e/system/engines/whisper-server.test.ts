/** A slot with the engine whisper-server on a real whisper-server of whisper.cpp: transcriptions through /v1, and its errors. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { tinyWhisper } from '../../../daemon/models/ggml/testing/tiny-whisper.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { type HttpResponse, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { slot } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';

const program = part('whisper-server');
const gateway = new OneGateway(() => {
  const home = newHome();
  const model = join(home, 'ear.bin');
  writeFileSync(model, tinyWhisper('a word in your ear'));
  const ear = `type = "stt"\nengine = "whisper-server"\ndevice = "cpu"\ncommand = ${JSON.stringify([program])}\nmodel = ${JSON.stringify(model)}\n`;
  return startGateway({
    home,
    files: { 'config/slots/agent.toml': 'autoload = false\n', 'config/slots/ear.toml': ear },
  });
});

describe.skipIf(program === null)('whisper-server', () => {
  /** One second of silence. */
  function wav(): Buffer {
    const [rate, bytes] = [16_000, 32_000];
    const head = Buffer.alloc(44);
    head.write('RIFF');
    head.writeUInt32LE(36 + bytes, 4);
    head.write('WAVEfmt ', 8);
    for (const [at, value] of [
      [16, 16],
      [24, rate],
      [28, rate * 2],
      [40, bytes],
    ] as const) {
      head.writeUInt32LE(value, at);
    }
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [32, 2],
      [34, 16],
    ] as const)
      head.writeUInt16LE(value, at);
    head.write('data', 36);
    return Buffer.concat([head, Buffer.alloc(bytes)]);
  }
  function transcribe(audio: Buffer): Promise<HttpResponse> {
    const field = (name: string, more = '') =>
      `--xyz\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`;
    const body = Buffer.concat([
      Buffer.from(`${field('model')}ear\r\n${field('file', '; filename="a.wav"')}`),
      audio,
      Buffer.from('\r\n--xyz--\r\n'),
    ]);
    const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
    return send(gateway, 'POST', '/v1/audio/transcriptions', { body, headers });
  }

  it('transcribes through /v1', async () => {
    const answer = await transcribe(wav());
    expect([answer.status, answer.json<{ text: string }>().text.trim()]).toEqual([200, 'a word in your ear']);
    expect(await slot(gateway, 'ear')).toMatchObject({ engine: 'whisper-server', parallel: 1, model: 'ear' });
  });

  it('its plain-text error for an unreadable file becomes 400 with the field', async () => {
    const answer = await transcribe(Buffer.from('no sound'));
    expect([answer.status, answer.code]).toEqual([400, 'upstream.error']);
    expect(answer.json()).toMatchObject({ error: { param: 'file', details: { upstream_status: 400 } } });
  });
});
