/** A real Open WebUI with chats and documents through the gateway. Needs `--with torch` because of its size (2 GB). */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { tinyEmbed } from '../../../daemon/models/testing/gguf/tiny-embed.ts';
import { CLIENT_KEY, startLocked } from '../../../daemon/test/harness/gateway.ts';
import { type HttpResponse, type SendOptions, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { contentOf, dataOf } from '../../../daemon/test/harness/stream.ts';
import { pythonEnvironment } from '../harness/python-environment.ts';
import { type Server, startServer } from '../harness/server.ts';
import { availableOrSkip } from '../harness/unavailable.ts';

const MINUTE = 60_000;
const REPLY = 'Hello from the gateway.';
const COLLECTION = 'notes';

const python = await availableOrSkip('Open WebUI on top of the gateway', () =>
  pythonEnvironment({
    name: 'open-webui',
    lock: join(import.meta.dirname, 'open-webui-requirements.txt'),
    limitMs: 15 * MINUTE,
  }),
);

const startWebui = (gatewayUrl: string): Promise<Server> =>
  startServer({
    command: (port) => {
      const serve = 'import open_webui; open_webui.app()';
      return [python ?? '', '-c', serve, 'serve', '--host', '127.0.0.1', '--port', String(port)];
    },
    env: (folder) => ({
      DATA_DIR: join(folder, 'data'),
      WEBUI_SECRET_KEY: 'test-secret-3f9b1c7d',
      WEBUI_AUTH: 'False',
      OFFLINE_MODE: 'true',
      HF_HUB_OFFLINE: '1',
      ENABLE_OLLAMA_API: 'false',
      ENABLE_PERSISTENT_CONFIG: 'False',
      OPENAI_API_BASE_URL: `${gatewayUrl}/v1`,
      OPENAI_API_KEY: CLIENT_KEY,
      RAG_EMBEDDING_ENGINE: 'openai',
      RAG_OPENAI_API_BASE_URL: `${gatewayUrl}/v1`,
      RAG_OPENAI_API_KEY: CLIENT_KEY,
      RAG_EMBEDDING_MODEL: 'embed',
      ANONYMIZED_TELEMETRY: 'false',
      DO_NOT_TRACK: 'true',
      SCARF_NO_ANALYTICS: 'true',
    }),
    ready: '/health',
    limitMs: 6 * MINUTE,
  });

describe.skipIf(python === null)('Open WebUI on top of the gateway', () => {
  const gateway = new OneGateway(() =>
    startLocked({
      models: { talker: tinyChat({ reply: REPLY, context: 32_768 }), vectors: tinyEmbed() },
      files: { 'config/slots/agent.toml': 'model = "talker"\ncontext = 32768\n' },
    }),
  );
  let webui: Server;
  let key = '';
  beforeAll(async () => {
    webui = await startWebui(gateway.url);
    const login = await send(webui, 'POST', '/api/v1/auths/signin', { body: { email: '', password: '' } });
    key = login.json<{ token: string }>().token;
  }, 7 * MINUTE);
  afterAll(async () => {
    await webui?.stop();
  }, MINUTE);

  const call = (method: string, path: string, options: SendOptions = {}): Promise<HttpResponse> =>
    send(webui, method, path, { key, idleTimeoutMs: MINUTE, ...options });
  const chat = (stream: boolean) =>
    call('POST', '/api/chat/completions', {
      body: { model: 'agent', messages: [{ role: 'user', content: 'Hi' }], stream },
    });

  it('the models of the gateway are in its list', async () => {
    const { data } = (await call('GET', '/api/models')).json<{ data: { id: string }[] }>();
    expect(data.map(({ id }) => id)).toEqual(expect.arrayContaining(['talker', 'agent']));
  });

  it('a chat, plain and streamed', async () => {
    const plain = await chat(false);
    expect(plain.status, plain.text.slice(0, 500)).toBe(200);
    const { choices } = plain.json<{ choices: { message: { content: string } }[] }>();
    expect(choices[0]?.message.content).toBe(REPLY);
    const streamed = await chat(true);
    expect(dataOf(streamed.text).at(-1)?.trim()).toBe('[DONE]');
    expect(contentOf(streamed.text)).toBe(REPLY);
  });

  it('a document is embedded by the gateway and found again', async () => {
    const content = 'the cat sat on the mat';
    const body = { name: 'cat.txt', content, collection_name: COLLECTION };
    const stored = await call('POST', '/api/v1/retrieval/process/text', { body });
    expect(stored.status, stored.text.slice(0, 500)).toBe(200);
    const query = { collection_names: [COLLECTION], query: 'a cat on a mat', k: 1 };
    const found = await call('POST', '/api/v1/retrieval/query/collection', { body: query });
    expect(found.text).toContain(content);
    const requests = await gateway.sendAsAdmin('GET', '/api/requests');
    expect(requests.text).toContain('embeddings');
  });

  it('its connection test accepts the address and key of the gateway', async () => {
    const body = { url: `${gateway.url}/v1`, key: CLIENT_KEY };
    const answer = await call('POST', '/openai/verify', { body });
    expect(answer.status, answer.text.slice(0, 500)).toBe(200);
    expect(answer.text).toContain('talker');
  });
});
