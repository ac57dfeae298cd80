/** A real vLLM on the CPU with a tiny model of random weights, as an upstream. Needs `--with torch`. */
import { join } from 'node:path';
import type OpenAI from 'openai';
import { BadRequestError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { failure } from '../../../daemon/test/harness/failure.ts';
import { KEYS_FILE, startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient } from '../../../daemon/test/harness/openai.ts';
import { type Server, startServer } from '../harness/server.ts';
import { TinyChats } from './tiny-chats.ts';
import { tinyVllmOrSkip, vllmVariables, writeVersion } from './vllm-environment.ts';

const MODEL = 'tiny-vllm';
const SLASHED = 'org/tiny-slash';
const CONTEXT = 512;
const KEY = 'sk-test-vllm-4b7e1d9a';
const MINUTE = 60_000;

const prepared = await tinyVllmOrSkip('vLLM as an upstream');

async function startVllm(): Promise<Server> {
  const { python = '', model = '' } = prepared ?? {};
  return startServer({
    command: (port, folder) => {
      writeVersion(join(folder, 'version'));
      const serve = ['-m', 'vllm.entrypoints.cli.main', 'serve', model];
      const names = ['--served-model-name', MODEL, SLASHED, '--api-key', KEY];
      const address = ['--host', '127.0.0.1', '--port', String(port)];
      const size = ['--max-model-len', String(CONTEXT), '--max-num-seqs', '8', '--dtype', 'float32'];
      const tools = ['--enable-auto-tool-choice', '--tool-call-parser', 'hermes', '--enforce-eager'];
      // With random weights the model would fill its answer with blanks wherever JSON allows them.
      const json = ['--structured-outputs-config', '{"backend": "xgrammar", "disable_any_whitespace": true}'];
      return [python, ...serve, ...names, ...address, ...size, ...tools, ...json];
    },
    env: (folder) => vllmVariables(join(folder, 'version')),
    ready: '/health',
    limitMs: 12 * MINUTE,
  });
}

describe.skipIf(prepared === null)('vLLM as an upstream', () => {
  let vllm: Server;
  beforeAll(async () => {
    vllm = await startVllm();
  }, 13 * MINUTE);
  afterAll(async () => {
    await vllm?.stop();
  }, MINUTE);
  const gateway = new OneGateway(() =>
    startGateway({
      files: {
        'config/api.env': `${KEYS_FILE['config/api.env']}UPSTREAM_VLLM=${KEY}\n`,
        'config/slots/agent.toml': 'enabled = false\n',
        'config/upstreams/vllm.toml': `base_url = "http://127.0.0.1:${vllm.port}/v1"\nkind = "vllm"\nkey_env = "UPSTREAM_VLLM"\n`,
      },
    }),
  );
  let openai: OpenAI;
  beforeAll(async () => {
    openai = openaiClient(gateway, { timeout: 3 * MINUTE });
    const isListed = async () => (await openai.models.list()).data.some(({ id }) => id === MODEL);
    await until(isListed, 'the model list to be read');
  });

  const tiny = new TinyChats(() => openai, MODEL);
  const { chat } = tiny;
  /** Running requests of vLLM, from its own metrics. */
  async function running(): Promise<number> {
    const text = await (await fetch(`http://127.0.0.1:${vllm.port}/metrics`)).text();
    return Number(/^vllm:num_requests_running\{.*\} (\S+)$/m.exec(text)?.[1]);
  }

  /** A bias against blanks: random weights would write nothing else where JSON allows them. */
  async function noBlanks(): Promise<Record<string, number>> {
    const ids = [' ', '\n', '\r', '\t'].map(async (prompt) => {
      const body = { model: MODEL, prompt, add_special_tokens: false };
      const answer = await send(vllm, 'POST', '/tokenize', { body, key: KEY });
      return answer.json<{ tokens: number[] }>().tokens;
    });
    return Object.fromEntries((await Promise.all(ids)).flat().map((id) => [String(id), -100]));
  }

  it.each([MODEL, SLASHED])(
    '%s is listed with its window and answers',
    async (model) => {
      expect(await openai.models.retrieve(model)).toMatchObject({ id: model, max_model_len: CONTEXT });
      const { choices, usage } = await chat('hello', { model });
      expect(choices[0]?.message.content).toEqual(expect.any(String));
      expect(usage?.completion_tokens).toBeGreaterThan(0);
      expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    },
    4 * MINUTE,
  );

  it('a stream has the same text and the same counts', () => tiny.expectEqualStream());

  it('n = 2', async () => {
    const { choices } = await chat('hello', { n: 2, temperature: 1, seed: 3 });
    expect(choices.map(({ index }) => index)).toEqual([0, 1]);
  });

  it(
    'json_schema: the answer parses and matches',
    async () => {
      const schema = {
        type: 'object',
        properties: { colour: { enum: ['red', 'green'] }, ready: { type: 'boolean' } },
        required: ['colour', 'ready'],
        additionalProperties: false,
      };
      const { choices } = await chat('hello', {
        max_tokens: 100,
        response_format: { type: 'json_schema', json_schema: { name: 'state', strict: true, schema } },
      });
      expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({
        colour: expect.stringMatching(/^(red|green)$/),
        ready: expect.any(Boolean),
      });
    },
    4 * MINUTE,
  );

  it(
    'tool_choice with a name: a call with arguments of the schema',
    async () => {
      const parameters = {
        type: 'object',
        properties: { zone: { enum: ['kitchen', 'hall'] } },
        required: ['zone'],
        additionalProperties: false,
      };
      const { choices } = await chat('hello', {
        max_tokens: 150,
        logit_bias: await noBlanks(),
        // Without `strict` vLLM lets the arguments be any JSON value, and random weights write a number.
        tools: [{ type: 'function', function: { name: 'light', parameters, strict: true } }],
        tool_choice: { type: 'function', function: { name: 'light' } },
      });
      const [call] = choices[0]?.message.tool_calls ?? [];
      if (call?.type !== 'function') throw new Error(`no function call: ${JSON.stringify(choices)}`);
      expect(call.function.name).toBe('light');
      expect(JSON.parse(call.function.arguments)).toEqual({
        zone: expect.stringMatching(/^(kitchen|hall)$/),
      });
    },
    4 * MINUTE,
  );

  it('a prompt that is too long: context_length_exceeded', async () => {
    const error = await failure(chat('hello world '.repeat(300)), BadRequestError);
    expect(error).toMatchObject({ status: 400, code: 'context_length_exceeded' });
  });

  it('a client disconnect ends the work of vLLM', async () => {
    await tiny.leave(CONTEXT - 60);
    await until(async () => (await running()) === 0, 'vLLM to be idle', 10_000);
  });
});
