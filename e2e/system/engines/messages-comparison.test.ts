/**
 * `POST /v1/messages` of a real llama-server, compared with the gateway's translation to a chat of the same server. The
 * second part has the differences that are the reason why the gateway does not forward these requests (docs/adr/0032). When one
 * of them fails, reconsider that decision.
 */
import { readFileSync, rmSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CHATML_THINKING } from '../../../daemon/models/testing/gguf/chat-templates.ts';
import { TINY_REPLY, tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { CALL } from '../../../daemon/test/harness/dialect-gateway.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { newHome, writeModel } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import {
  type LlamaServer,
  llamaServerVersion,
  startLlamaServer,
} from '../../../daemon/test/harness/llama-server.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';
import { versionOf } from './comparison/known-differences.ts';

const PROGRAM = part('llama-server');
/** Differences of another version are logged, not failures. */
const found = PROGRAM === null ? undefined : llamaServerVersion(PROGRAM);
const table = join(import.meta.dirname, '..', '..', '..', 'docs', 'internals', 'llama-server-differences.md');
const strict = found === versionOf(readFileSync(table, 'utf8'));
if (PROGRAM !== null && !strict)
  console.warn(`NOT STRICT: llama-server ${found} is not the version of the table`);

const hi = [{ role: 'user' as const, content: 'Hello!' }];
const body = { model: 'talker', max_tokens: 60, messages: hi };
const TOOL = {
  name: CALL.name,
  description: 'Tells the time.',
  input_schema: { type: 'object' as const, properties: { zone: { type: 'string' } }, required: ['zone'] },
};

describe.skipIf(PROGRAM === null)("llama-server's own Messages compared with the translation", () => {
  const servers: Record<string, LlamaServer> = {};
  const files: Record<string, string> = {};
  let weights = '';

  beforeAll(async () => {
    weights = newHome();
    const models = {
      talker: tinyChat({ tool: CALL }),
      thinker: tinyChat({
        template: CHATML_THINKING,
        script: ['<think>', '\nHm.\n', '</think>', '\n\nNoon.'],
      }),
    };
    for (const [id, model] of Object.entries(models)) {
      const path = writeModel(weights, id, model);
      const server = await startLlamaServer(PROGRAM as string, { path, id, context: 1024, parallel: 1 });
      servers[id] = server;
      files[`config/slots/${id}.toml`] =
        `engine = "llama-server"\nrunner = "attach"\nurl = "http://127.0.0.1:${server.port}"\nmodel = "${id}"\n`;
    }
  });
  afterAll(async () => {
    await Promise.all(Object.values(servers).map((server) => server.stop()));
    rmSync(weights, { recursive: true, force: true });
  });
  const gateway = new OneGateway(() => startGateway({ files }));

  const serverOf = ({ model }: { model: string }) => servers[model] as LlamaServer;
  const targets = (request: { model: string }) => [serverOf(request), gateway] as const;
  const client = ({ port }: { port: number }) =>
    new Anthropic({ apiKey: null, authToken: 'x', baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });

  describe('equal responses', () => {
    /** Removes ids, which are random, and cached token counts, which depend on earlier requests. */
    const summary = (message: Anthropic.Message) => ({
      content: message.content.map((block) =>
        block.type === 'tool_use' ? { ...block, id: typeof block.id } : block,
      ),
      head: [message.type, message.role, message.model, message.stop_reason, message.stop_sequence],
      prompt: message.usage.input_tokens + (message.usage.cache_read_input_tokens ?? 0),
      output: message.usage.output_tokens,
    });

    it.each([
      ['a text', body],
      ['with system words', { ...body, system: 'Be brief.' }],
      ['an answer that is cut', { ...body, max_tokens: 2 }],
      ['a call', { ...body, tools: [TOOL] }],
      [
        'the turn after a call',
        {
          ...body,
          tools: [TOOL],
          messages: [
            ...hi,
            {
              role: 'assistant' as const,
              content: [{ type: 'tool_use' as const, id: 'a', name: CALL.name, input: CALL.args }],
            },
            {
              role: 'user' as const,
              content: [{ type: 'tool_result' as const, tool_use_id: 'a', content: 'noon' }],
            },
          ],
        },
      ],
      ['thoughts', { ...body, model: 'thinker' }],
    ])('%s, whole and streamed', async (_, request) => {
      const [theirs, ours] = targets(request);
      const whole = summary(await client(theirs).messages.create(request));
      expect(summary(await client(ours).messages.create(request))).toEqual(whole);
      for (const side of [theirs, ours])
        expect(summary(await client(side).messages.stream(request).finalMessage())).toEqual(whole);
    });

    it('a count', async () => {
      const prompt = { model: 'talker', messages: hi, tools: [TOOL], system: 'Be brief.' };
      const [theirs, ours] = await Promise.all(
        targets(prompt).map((side) => client(side).messages.countTokens(prompt)),
      );
      expect(ours).toEqual(theirs);
    });
  });

  describe('defects of the native route', () => {
    interface RawResponse {
      readonly status: number;
      readonly text: string;
      readonly headers: IncomingHttpHeaders;
    }
    const promptOf = ({ text }: RawResponse): number => {
      const { usage } = JSON.parse(text) as Anthropic.Message;
      return usage.input_tokens + (usage.cache_read_input_tokens ?? 0);
    };
    const textOf = ({ text }: RawResponse) =>
      (JSON.parse(text) as { content: { text?: string }[] }).content[0]?.text;
    const errorOf = ({ text }: RawResponse) =>
      JSON.parse(text) as { type?: string; error: { message: string } };
    /** Returns the maximum number of blocks that are open when another one starts. */
    const openAtStart = ({ text }: RawResponse): number => {
      let open = 0;
      let maxOpen = 0;
      for (const [, event] of text.matchAll(/^event: content_block_(start|stop)$/gm)) {
        open += event === 'start' ? 1 : -1;
        maxOpen = Math.max(maxOpen, open);
      }
      return maxOpen - 1;
    };

    it.each<
      [
        string,
        { model: string; [field: string]: unknown },
        (response: RawResponse) => unknown,
        theirs: unknown,
        ours: unknown,
      ]
    >([
      [
        'tool_choice: none still calls a tool',
        { ...body, tools: [TOOL], tool_choice: { type: 'none' } },
        ({ text }) => (JSON.parse(text) as { stop_reason: string }).stop_reason,
        'tool_use',
        'end_turn',
      ],
      [
        'an output schema is ignored',
        {
          ...body,
          output_config: {
            format: {
              type: 'json_schema',
              schema: { type: 'object', properties: { a: { type: 'boolean' } }, required: ['a'] },
            },
          },
        },
        (response) => textOf(response) === TINY_REPLY,
        true,
        false,
      ],
      [
        'thinking cannot be disabled',
        { ...body, model: 'thinker', thinking: { type: 'disabled' } },
        (response) => promptOf(response) > 30,
        false,
        true,
      ],
      [
        'a document is dropped silently',
        {
          ...body,
          messages: [
            {
              role: 'user',
              content: [
                {
                  type: 'document',
                  source: { type: 'text', media_type: 'text/plain', data: 'word '.repeat(40) },
                },
                { type: 'text', text: 'Sum it up.' },
              ],
            },
          ],
        },
        (response) => promptOf(response) > 100,
        false,
        true,
      ],
      [
        'the billing header reaches the model',
        {
          ...body,
          system: [
            {
              type: 'text',
              text: 'x-anthropic-billing-header: cc_version=2.1; cc_entrypoint=cli; cch=0a1b2;',
            },
          ],
        },
        (response) => promptOf(response) > 60,
        true,
        false,
      ],
      [
        'a server tool of Anthropic becomes a function that is never run, and is not named as ignored',
        { ...body, tools: [{ type: 'web_search_20250305', name: 'web_search' }] },
        ({ status, headers }) => [status, headers['x-svc-ignored']],
        [200, undefined],
        [200, 'web_search_20250305'],
      ],
      ['an empty list of messages is accepted', { ...body, messages: [] }, ({ status }) => status, 200, 422],
      [
        'an unknown role is accepted',
        { ...body, messages: [{ role: 'robot', content: 'x' }] },
        ({ status }) => status,
        200,
        422,
      ],
      [
        'the error of a prompt that is too long lacks the text that agents match',
        { ...body, messages: [{ role: 'user', content: 'x'.repeat(4_000) }] },
        (response) => [
          errorOf(response).type,
          errorOf(response).error.message.startsWith('prompt is too long'),
        ],
        [undefined, false],
        ['error', true],
      ],
      [
        'a block starts while another one is open',
        { ...body, model: 'thinker', stream: true },
        openAtStart,
        1,
        0,
      ],
      [
        'a stream has no ping events',
        { ...body, stream: true },
        ({ text }) => text.includes('event: ping'),
        false,
        true,
      ],
    ])('%s', async (_, request, summarize, native, translated) => {
      const [theirs, ours] = targets(request);
      const sendTo = (to: { port: number }) => send(to, 'POST', '/v1/messages', { body: request });
      expect(summarize(await sendTo(ours))).toEqual(translated);
      if (strict) expect(summarize(await sendTo(theirs))).toEqual(native);
    });
  });

  it('the native route has more information in two places only: token counts at the start, and the stop sequence', async () => {
    const request = { ...body, stop_sequences: ['tiny'], stream: true };
    const sendTo = async (to: { port: number }) =>
      (await send(to, 'POST', '/v1/messages', { body: request })).text;
    const [theirs, ours] = await Promise.all(targets(request).map(sendTo));
    const counted = (text: string | undefined) =>
      /event: message_start\ndata: .*"input_tokens":[1-9]/.test(text ?? '');
    expect(counted(ours)).toBe(false);
    expect(ours).toContain('"stop_reason":"end_turn","stop_sequence":null');
    if (!strict) return;
    expect(counted(theirs)).toBe(true);
    // The stop reason nevertheless says that the turn ended by itself.
    expect(theirs).toContain('"stop_reason":"end_turn","stop_sequence":"tiny"');
  });
});
