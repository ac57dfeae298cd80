/** Speculative decoding with a real llama-server: n-grams, a draft model, and a model without layers for it. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { replyText, send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { slot } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';

const program = part('llama-server');
const REPLY = 'one two three one two three one two three';

const slotFile = (keys: string) =>
  `engine = "llama-server"\ncommand = ${JSON.stringify([program])}\ndevice = "cpu"\nparallel = 1\nmodel = "chat"\ncontext = 512\nautoload = false\n${keys}`;

const SLOTS: Readonly<Record<string, string>> = {
  plain: '',
  ngram: 'speculation = "ngram"\n',
  'ngram-limit': 'speculation = "ngram"\ndraft_tokens = 8\n',
  draft: 'speculation = "draft"\ndraft_model = "small"\n',
  'draft-limit': 'speculation = "draft"\ndraft_model = "small"\ndraft_tokens = 2\n',
  missing: 'speculation = "draft"\ndraft_model = "absent"\n',
  mtp: 'speculation = "mtp"\n',
};

const gateway = new OneGateway(() =>
  startGateway({
    models: { chat: tinyChat({ reply: REPLY }), small: tinyChat({ reply: REPLY, width: 32 }) },
    files: {
      'config/slots/agent.toml': 'autoload = false\nmodel = "chat"\n',
      ...Object.fromEntries(
        Object.entries(SLOTS).map(([name, keys]) => [`config/slots/${name}.toml`, slotFile(keys)]),
      ),
    },
  }),
);

const sendChat = (model: string) =>
  send(gateway, 'POST', '/v1/chat/completions', {
    body: { model, messages: [{ role: 'user', content: 'x' }], temperature: 0, max_tokens: 24 },
    idleTimeoutMs: 120_000,
  });

describe.skipIf(program === null)('speculation with llama-server', () => {
  it.each([
    ['ngram', ['--spec-type', 'ngram-simple']],
    ['ngram-limit', ['--spec-type', 'ngram-simple', '--spec-ngram-simple-size-m', '8']],
    ['draft', ['--spec-type', 'draft-simple', '--spec-draft-model']],
    ['draft-limit', ['--spec-type', 'draft-simple', '--spec-draft-n-max', '2']],
  ])('%s gives the answer of the model alone', async (name, words) => {
    const expected = replyText(await sendChat('plain'));
    const answer = await sendChat(name);
    expect([answer.status, replyText(answer)]).toEqual([200, expected]);
    const { pid } = await slot(gateway, name);
    const argv = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    expect(words.every((word) => argv.includes(word))).toBe(true);
  });

  it('without its draft model the slot serves and says so', async () => {
    expect((await sendChat('missing')).status).toBe(200);
    expect((await slot(gateway, 'missing')).degraded).toMatch(/draft model absent was not found/);
  });

  it('a model without layers for prediction fails with a reason, and another slot with the model answers', async () => {
    const answer = await sendChat('mtp');
    expect([answer.status, replyText(answer)]).toEqual([200, replyText(await sendChat('plain'))]);
    const { state, failure } = await slot(gateway, 'mtp');
    console.info(`mtp without its layers: ${failure?.reason}`);
    expect([state, failure?.reason]).toEqual(['error', expect.stringMatching(/llama-server|engine|model/i)]);
  });
});
