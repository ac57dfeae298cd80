/** wyoming-openai, which puts Home Assistant's voice protocol in front of the gateway: a text is spoken and understood. */
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scratch } from '../../../daemon/lib/testing/scratch.ts';
import { freePort } from '../../../daemon/slots/runners/ports.ts';
import { CLIENT_KEY, KEYS_FILE } from '../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { startTones, TONE_TEXT } from '../../../daemon/test/harness/tone-gateway.ts';
import { endWell, startIsolated } from '../harness/isolated.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const FOLDER = join(import.meta.dirname, 'python');
const LIMIT_MS = 100_000;

const python = await availableOrSkip('wyoming-openai', () =>
  pythonEnvironment({
    name: 'wyoming',
    lock: join(FOLDER, 'wyoming-requirements.txt'),
    limitMs: 120_000,
    minMinor: 12,
  }),
);

describe.skipIf(python === null)('wyoming-openai', () => {
  const gateway = new OneGateway(() => startTones({ files: KEYS_FILE, env: { SVC_REQUIRE_AUTH: 'on' } }));

  it('speaks with the voice and understands it; a wrong key is in its log', async () => {
    const script = join(FOLDER, 'wyoming_calls.py');
    const port = String(await freePort());
    const program = await startIsolated([python ?? '', script, gateway.url, CLIENT_KEY, port, TONE_TEXT], {
      ports: [gateway.port],
      env: {},
      home: scratch(),
      cwd: scratch(),
      limitMs: LIMIT_MS,
    });
    const lines = (await endWell(program)).trimEnd().split('\n');
    expect(JSON.parse(lines.at(-1) ?? '')).toEqual({
      models: ['stt'],
      voices: ['alloy'],
      transcript: TONE_TEXT,
      wrong_key_in_log: true,
    });
  });
});
