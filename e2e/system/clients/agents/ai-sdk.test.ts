/** The AI SDK with its default providers of OpenAI (Responses) and Anthropic (Messages) against the embedded engine. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startForClients } from '../../../../daemon/test/harness/client-gateway.ts';
import { CLIENT_KEY } from '../../../../daemon/test/harness/gateway.ts';
import { OneGateway } from '../../../../daemon/test/harness/one-gateway.ts';
import { runProgram } from '../../harness/program.ts';
import { availableOrSkip } from '../../harness/unavailable.ts';
import { agentPackages } from './packages.ts';

const REPLY = 'Hello from the tiny model.';
const SCRIPT = join(import.meta.dirname, 'ai-sdk.mjs');
const LIMIT_MS = 90_000;
/** Until a person sees that the key is wrong. */
const WRONG_KEY_LIMIT_MS = 2_000;

const packages = await availableOrSkip('the AI SDK', agentPackages);

describe.skipIf(packages === null)('the AI SDK', () => {
  const gateway = new OneGateway(() => startForClients());

  it.each(['openai', 'anthropic'])(
    '%s: tools, a second turn, a stream, a PDF, a schema, a wrong key',
    async (provider) => {
      const script = readFileSync(SCRIPT, 'utf8');
      const args = ['--input-type=module', '-e', script, provider, gateway.url, CLIENT_KEY];
      const output = await runProgram(process.execPath, args, { limitMs: LIMIT_MS, cwd: packages ?? '' });
      const found = JSON.parse(output) as { wrongKey: { ms: number } };
      expect(found).toEqual({
        zones: ['UTC', 'UTC', 'UTC'],
        looped: REPLY,
        steps: ['tool-calls', 'stop'],
        again: REPLY,
        streamed: REPLY,
        afterPdf: REPLY,
        shaped: { name: expect.any(String), count: expect.any(Number) },
        wrongKey: {
          message: expect.stringContaining('This key is not valid'),
          status: 401,
          ms: expect.any(Number),
        },
      });
      expect(found.wrongKey.ms).toBeLessThan(WRONG_KEY_LIMIT_MS);
    },
  );
});
