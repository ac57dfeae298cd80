/**
 * Slots with the engine llama-server on a real llama-server of llama.cpp: chat, embeddings and rerank through /v1, its key,
 * its log, a GPU that it does not have, and SIGKILL.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../../daemon/models/testing/gguf/tiny-embed.ts';
import { tinyRerank } from '../../../daemon/models/testing/gguf/tiny-rerank.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { replyText, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction, slot, waitForSlotState } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';

const CHAT = '/v1/chat/completions';
const program = part('llama-server');

const slotFile = (model: string, device: string, more = '') =>
  `engine = "llama-server"\ncommand = ${JSON.stringify([program])}\ndevice = "${device}"\nparallel = 1\nmodel = "${model}"\n${more}`;

const gateway = new OneGateway(() =>
  startGateway({
    models: {
      chat: tinyChat({ reply: 'another engine speaks' }),
      vectors: tinyEmbed({ context: 1024 }),
      ranks: tinyRerank(),
    },
    files: {
      'config/slots/agent.toml': 'autoload = false\nmodel = "chat"\n',
      'config/slots/llama.toml': slotFile('chat', 'cpu', 'context = 512\n'),
      'config/slots/gpu.toml': slotFile('chat', 'vulkan'),
      'config/slots/gpu-2.toml': slotFile('chat', 'vulkan:1'),
      'config/slots/embed.toml': slotFile('vectors', 'cpu'),
      'config/slots/rerank.toml': slotFile('ranks', 'cpu'),
    },
  }),
);

const post = (path: string, body: object) => send(gateway, 'POST', path, { body });
const sendChat = (model: string) =>
  post(CHAT, { model, messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 16 });
const argvOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1');
const reasonOf = (record: SlotRecord) => record.failure?.reason;

describe.skipIf(program === null)('llama-server', () => {
  it('answers a chat under its alias, with a key that is never exposed', async () => {
    const answer = await sendChat('llama');
    expect(replyText(answer)).toBe('another engine speaks');
    expect(answer.json()).toMatchObject({ model: 'chat', usage: { completion_tokens: expect.any(Number) } });
    const record = await slot(gateway, 'llama');
    expect(record).toMatchObject({ engine: 'llama-server', runner: 'process', device: 'cpu', context: 512 });
    const environ = readFileSync(`/proc/${record.pid}/environ`, 'latin1');
    const key = /LLAMA_API_KEY=([\w-]{43})/.exec(environ)?.[1] ?? '';
    expect(key).toHaveLength(43);
    expect(argvOf(record.pid as number)).not.toContain(key);
    const log = readFileSync(join(gateway.home, 'state', 'logs', 'llama.log'), 'utf8');
    expect(log + gateway.output()).not.toContain(key);
  });

  it('embeds a text that fills the context and exceeds the default batch size', async () => {
    const input = Array.from({ length: 900 }, () => 'a').join(' ');
    const answer = await post('/v1/embeddings', { model: 'embed', input });
    expect(answer.status).toBe(200);
    const { data, usage } = answer.json<{
      data: { embedding: number[] }[];
      usage: { prompt_tokens: number };
    }>();
    expect(data[0]?.embedding).toHaveLength(64);
    expect(usage.prompt_tokens).toBeGreaterThan(512);
    expect((await slot(gateway, 'embed')).engine).toBe('llama-server');
  });

  it('reranks documents on the path that clients use', async () => {
    const documents = ['quantum flux xylophone', 'the cat sat on the mat', 'a dog barks'];
    const answer = await post('/v1/rerankings', { model: 'rerank', query: 'cat on mat', documents });
    expect(answer.status).toBe(200);
    expect(answer.json<{ results: { index: number }[] }>().results[0]?.index).toBe(1);
  });

  it('without the configured GPU the load fails instead of a silent fallback to the CPU', async () => {
    expect((await runSlotAction(gateway, 'gpu', 'load')).code).toBe('slot.failed');
    expect(reasonOf(await slot(gateway, 'gpu'))).toContain('has no backend for the GPU');
    expect((await runSlotAction(gateway, 'gpu-2', 'load')).code).toBe('slot.failed');
    expect(reasonOf(await slot(gateway, 'gpu-2'))).toContain('invalid device: Vulkan0');
  });

  it('fails when it is killed during a response, and is restarted', async () => {
    await sendChat('llama');
    const { pid } = await slot(gateway, 'llama');
    process.kill(pid as number, 'SIGKILL');
    expect(reasonOf(await waitForSlotState(gateway, 'llama', 'error'))).toContain('SIGKILL');
    expect(replyText(await sendChat('llama'))).toBe('another engine speaks');
  });
});
