/** A real Ray Serve LLM with a replica of vLLM on the CPU and a tiny model of random weights, as an upstream. Needs `--with torch`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type OpenAI from 'openai';
import { BadRequestError, NotFoundError } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';
import { failure } from '../../../daemon/test/harness/failure.ts';
import { startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { replyText, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { openaiClient, user } from '../../../daemon/test/harness/openai.ts';
import { type Server, startServer } from '../harness/server.ts';
import { TinyChats } from './tiny-chats.ts';
import { tinyVllmOrSkip, vllmVariables, writeVersion } from './vllm-environment.ts';

const APP = join(import.meta.dirname, 'ray_llm_app.py');
const MODEL = 'tiny-ray';
/** A model that the file of the upstream names and the cluster does not have. */
const ABSENT = 'absent-ray';
const CONTEXT = 512;
const MINUTE = 60_000;

const prepared = await tinyVllmOrSkip('Ray Serve LLM as an upstream');

function startRayServeLlm(): Promise<Server> {
  const { python = '', model = '' } = prepared ?? {};
  return startServer({
    command: (port, folder) => {
      writeVersion(join(folder, 'version'));
      // Without this file in its home Ray asks the metadata addresses of cloud providers where it runs.
      writeFileSync(join(folder, 'ray_bootstrap_config.yaml'), '{}\n');
      return [python, APP, String(port), model, MODEL, String(CONTEXT), folder];
    },
    env: (folder) => ({
      ...vllmVariables(join(folder, 'version')),
      RAY_USAGE_STATS_ENABLED: '0',
      // Processes that are late on a busy machine would be replaced again and again.
      RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S: '300',
      RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S: '60',
      RAY_SERVE_LLM_DEFAULT_HEALTH_CHECK_TIMEOUT_S: '60',
      // By default its workers have the nice value 15 and starve on a busy machine.
      RAY_worker_niceness: '0',
      // Despite its name this decides on Linux too: '0' binds all of Ray's ports to the loopback address.
      RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER: '0',
    }),
    // It answers before the engine is up.
    ready: '/v1/models',
    limitMs: 15 * MINUTE,
  });
}

describe.skipIf(prepared === null)('Ray Serve LLM as an upstream', () => {
  let ray: Server;
  beforeAll(async () => {
    ray = await startRayServeLlm();
  }, 16 * MINUTE);
  afterAll(async () => {
    await ray?.stop();
  }, 2 * MINUTE);
  const gateway = new OneGateway(() => {
    const file = `base_url = "http://127.0.0.1:${ray.port}/v1"\nkind = "vllm"\n`;
    return startGateway({
      files: {
        'config/slots/agent.toml': 'enabled = false\n',
        'config/upstreams/ray.toml': file,
        // The model list of this one is not read, so its model is requested although the cluster does not have it.
        'config/upstreams/stale.toml': `${file}models = ["${ABSENT}"]\n`,
      },
    });
  });
  let openai: OpenAI;
  beforeAll(() => {
    openai = openaiClient(gateway, { timeout: 3 * MINUTE });
  });

  const tiny = new TinyChats(() => openai, MODEL);
  const { chat } = tiny;

  it(
    'its model is listed with its window; the first request waits until the engine is up, and no probe declares it down',
    async () => {
      const models = async () => (await openai.models.list()).data;
      await until(async () => (await models()).some(({ id }) => id === MODEL), 'the model list to be read');
      expect(await openai.models.retrieve(MODEL)).toMatchObject({
        id: MODEL,
        context_length: CONTEXT,
        max_model_len: CONTEXT,
      });
      // The client of OpenAI waits 5 minutes at most.
      const first = await send(gateway, 'POST', '/v1/chat/completions', {
        body: { model: MODEL, messages: [user('hello')], max_tokens: 16 },
        idleTimeoutMs: 12 * MINUTE,
      });
      expect([first.status, replyText(first)]).toEqual([200, expect.any(String)]);
      const upstream = await send(gateway, 'GET', '/api/upstreams/ray');
      expect(upstream.json<UpstreamRecord>()).toMatchObject({ health: 'ok' });
      expect(gateway.output()).not.toContain('"health":"down"');
    },
    13 * MINUTE,
  );

  it('a stream has the same text and the same counts', () => tiny.expectEqualStream());

  it.each([
    ['/v1/responses', { input: 'hello', max_output_tokens: 16 }],
    ['/v1/messages', { messages: [user('hello')], max_tokens: 16 }],
    ['/v1/completions', { prompt: 'hello', max_tokens: 16 }],
  ])('%s', async (path, body) => {
    const response = await send(gateway, 'POST', path, { body: { model: MODEL, ...body } });
    expect([response.status, response.headers['x-svc-upstream']]).toEqual([200, 'ray']);
  });

  it('a client disconnect cancels the call in the replica', async () => {
    // Ray uses the request id of the gateway.
    const id = await tiny.leave(CONTEXT - 60);
    const cancelled = `${id} -- CALL chat CANCELLED`;
    await until(() => ray.output().includes(cancelled), 'the replica to log the cancelled call', MINUTE);
    expect(ray.output()).not.toContain(`${id} -- CALL chat OK`);
  });

  it('a prompt that is too long: context_length_exceeded, and characters are no tokens', async () => {
    const tokens = await failure(chat('hello world '.repeat(300)), BadRequestError);
    expect(tokens).toMatchObject({ code: 'context_length_exceeded', param: 'messages' });
    expect(tokens.error).toMatchObject({ details: { n_prompt_tokens: expect.any(Number), n_ctx: CONTEXT } });
    const characters = await failure(chat('hello world '.repeat(3_000)), BadRequestError);
    expect(characters).toMatchObject({ code: 'context_length_exceeded' });
    expect(characters.error).toMatchObject({ details: { n_ctx: CONTEXT } });
    expect(characters.error).not.toMatchObject({ details: { n_prompt_tokens: expect.any(Number) } });
  });

  it('an invalid value: the message of vLLM and its field, without the classes of Ray', async () => {
    const { status, message, param } = await failure(chat('hello', { max_tokens: 4_000 }), BadRequestError);
    expect([status, param]).toEqual([400, 'max_tokens']);
    expect(message).toContain('max_tokens=4000 cannot be greater than max_model_len=512');
    expect(message).not.toMatch(/Internal exception|Request ID/);
  });

  it('a model that the cluster does not have: 404 with its words', async () => {
    const error = await failure(chat('hello', { model: ABSENT }), NotFoundError);
    expect(error).toMatchObject({ status: 404, code: 'upstream.error' });
    expect(error.message).toContain(`Could not find base model with ID "${ABSENT}"`);
  });

  it('token counts of a chat, embeddings and rankings: refused as what the model cannot do', async () => {
    const count = await send(gateway, 'POST', '/v1/messages/count_tokens', {
      body: { model: MODEL, messages: [user('hello')] },
    });
    expect(count).toMatchObject({ status: 409, code: 'dispatch.capability_mismatch' });
    const rerank = await send(gateway, 'POST', '/v1/rerank', {
      body: { model: MODEL, query: 'a', documents: ['b', 'c'] },
    });
    expect([rerank.status, rerank.text]).toEqual([400, expect.stringContaining("'score' task")]);
    const vectors = await send(gateway, 'POST', '/v1/embeddings', { body: { model: MODEL, input: 'a' } });
    expect([vectors.status, vectors.text]).toEqual([400, expect.stringContaining("'embed' task")]);
  });
});
