import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { tinyChat } from '../models/testing/gguf/tiny-chat.ts';
import { encodeGguf } from '../models/testing/gguf/writer.ts';
import { startGateway } from './harness/gateway.ts';
import { newHome } from './harness/home.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';

const home = newHome();
const folder = join(home, 'weights');
const NAMES = ['模型一', '模型二', 'Modèle'] as const;

const gateway = new OneGateway(() => {
  mkdirSync(folder, { recursive: true });
  for (const name of NAMES)
    writeFileSync(join(folder, `${name}.gguf`), encodeGguf(tinyChat({ name: 'tiny', context: 512 })));
  return startGateway({
    home,
    files: {
      'config/config.toml': `[models]\nfolders = ["${folder}"]\n`,
      'config/slots/agent.toml': `model = "${NAMES[1]}"\ncontext = 512\n`,
    },
  });
});

test('models keep the letters of their file names, on every API', async () => {
  const list = (await send(gateway, 'GET', '/v1/models')).json<{ data: { id: string }[] }>();
  expect(list.data.map(({ id }) => id)).toEqual(expect.arrayContaining([...NAMES]));
  const one = await send(gateway, 'GET', `/v1/models/${encodeURIComponent(NAMES[0])}`);
  expect(one.json()).toMatchObject({ id: NAMES[0] });

  const messages = [{ role: 'user', content: 'hi' }];
  const requests: [string, object][] = [
    ['/v1/chat/completions', { messages, max_tokens: 4 }],
    ['/v1/responses', { input: 'hi', max_output_tokens: 4 }],
    ['/v1/messages', { messages, max_tokens: 4 }],
  ];
  for (const model of [NAMES[1], 'agent'])
    for (const [path, body] of requests) {
      const answer = await send(gateway, 'POST', path, { body: { model, ...body }, idleTimeoutMs: 60_000 });
      expect(answer.status, answer.text).toBe(200);
      expect(answer.json()).toMatchObject({ model: NAMES[1] });
      expect(answer.headers['x-svc-model']).toBe(`UTF-8''${encodeURIComponent(NAMES[1])}`);
    }
});
