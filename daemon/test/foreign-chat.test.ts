/**
 * What each kind of engine and upstream receives of a chat (docs/spec/specification.md#chat-deviations). Stand-ins record
 * what they receive; the embedded engine shows by its answer what it read, and so does llama-server in
 * e2e/system/engines/foreign-chat.test.ts.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { json, type ReceivedRequest, type StandIn, standIn } from './harness/stand-in.ts';
import { expectThinkingSwitch } from './harness/thinking.ts';
import { tinyModel } from './harness/tiny-gateway.ts';

const CHAT = '/v1/chat/completions';
const hi = [{ role: 'user', content: 'hi' }];

/** Engines by the model that each serves; two slots share it, one of which has a default of its own. */
const ENGINES = { 'llama-server': 'l-1', vllm: 'org/v-1', flm: 'llama3.2:1b', custom: 'c-1' } as const;
/** Upstreams of the own network, by kind. */
const NEAR = ['openai', 'llama-server', 'vllm', 'svc'] as const;

type Json = Record<string, unknown>;
const kwargs = (value: Json) => ({ chat_template_kwargs: value });
const ON = kwargs({ enable_thinking: true });
const OFF = kwargs({ enable_thinking: false });

interface Row {
  readonly said: Json;
  /** What arrives beside `model` and `messages`: at a slot or upstream without a default, and at one whose default is off. */
  readonly plain: Json;
  readonly quiet: Json;
  /** At a provider of somebody else. */
  readonly far: Json;
}

const ROWS: Readonly<Record<string, Row>> = {
  'nothing said': { said: {}, plain: {}, quiet: OFF, far: {} },
  'thinking on': { said: { enable_thinking: true }, plain: ON, quiet: ON, far: {} },
  'thinking off': { said: { enable_thinking: false }, plain: OFF, quiet: OFF, far: {} },
  'thinking null': { said: { enable_thinking: null }, plain: {}, quiet: OFF, far: {} },
  'both said: the inner one counts': {
    said: { enable_thinking: true, ...kwargs({ x: 1, enable_thinking: false }) },
    plain: kwargs({ x: 1, enable_thinking: false }),
    quiet: kwargs({ x: 1, enable_thinking: false }),
    far: {},
  },
  'other words for the template': {
    said: kwargs({ x: 1 }),
    plain: kwargs({ x: 1 }),
    quiet: kwargs({ enable_thinking: false, x: 1 }),
    far: {},
  },
  'omni false': { said: { omni: false }, plain: {}, quiet: OFF, far: {} },
  'omni that is no boolean': { said: { omni: 'yes' }, plain: {}, quiet: OFF, far: {} },
  'fields of OpenAI and of others': {
    said: {
      reasoning_effort: 'low',
      reasoning: { effort: 'low' },
      top_k: 4,
      user: 'me',
      stream_options: null,
    },
    plain: {
      reasoning_effort: 'low',
      reasoning: { effort: 'low' },
      top_k: 4,
      user: 'me',
      stream_options: null,
    },
    quiet: {
      reasoning_effort: 'low',
      reasoning: { effort: 'low' },
      top_k: 4,
      user: 'me',
      stream_options: null,
      ...OFF,
    },
    far: {
      reasoning_effort: 'low',
      reasoning: { effort: 'low' },
      top_k: 4,
      user: 'me',
      stream_options: null,
    },
  },
};

const SYSTEMS = [
  { role: 'user', content: 'first' },
  { role: 'system', content: 'be brief' },
  { role: 'developer', content: 'be kind' },
];
const MERGED = [{ role: 'system', content: 'be brief\n\nbe kind' }, SYSTEMS[0]];
const DEVELOPER = [{ role: 'developer', content: 'be kind' }, ...hi];

const servers: Record<string, StandIn> = {};

/** Lists its models and answers every chat. */
const chatter =
  (...ids: string[]) =>
  ({ url }: ReceivedRequest) => {
    if (url.split('?')[0]?.endsWith('/models')) return json(200, { data: ids.map((id) => ({ id })) });
    const message = { role: 'assistant', content: 'ok' };
    return json(200, {
      id: 'x',
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    });
  };

const files: Record<string, string> = {
  'config/slots/agent.toml': 'model = "tiny"\ncontext = 512\nautoload = false\n',
};
beforeAll(async () => {
  for (const [engine, model] of Object.entries(ENGINES)) {
    servers[engine] = await standIn(chatter(model));
    const text = `engine = "${engine}"\nrunner = "attach"\nurl = "${servers[engine]?.url}"\nmodel = "${model}"\n`;
    files[`config/slots/${engine}-plain.toml`] = text;
    files[`config/slots/${engine}-quiet.toml`] = `${text}enable_thinking = false\n`;
  }
  for (const kind of [...NEAR, 'far'] as const) {
    const at = await standIn(chatter(`m-${kind}`));
    servers[`up-${kind}`] = at;
    const where = kind === 'far' ? 'remote = true\n' : `kind = "${kind}"\n`;
    files[`config/upstreams/up-${kind}.toml`] = `base_url = "${at.url}"\n${where}models = ["m-${kind}"]\n`;
  }
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));
const gateway = new OneGateway(() => startGateway({ models: { tiny: tinyModel() }, files }));

/** Sends a chat and answers what the stand-in heard of it: one request, its body. */
async function heard(
  server: string,
  body: Json,
  path = CHAT,
): Promise<{ url: string; body: Json; headers: Json }> {
  const at = servers[server] as StandIn;
  // The first request loads the slot, which asks questions of its own.
  const marked = { ...body, ...(path === CHAT ? { seed: 4711 } : { temperature: 0.4711 }) };
  const before = at.requests.length;
  const headers = { 'x-svc-priority': 'batch', 'x-svc-anything': 'secret', cookie: 'svc_session=secret' };
  const response = await send(gateway, 'POST', path, { body: marked, headers });
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  const ours = at.requests.slice(before).filter(({ body: text }) => text.includes('4711'));
  expect(ours).toHaveLength(1);
  const [only] = ours as [ReceivedRequest];
  const { seed: _, temperature: __, ...told } = JSON.parse(only.body) as Json;
  return { url: only.url, body: told, headers: only.headers as Json };
}

const rows = Object.entries(ROWS);
const engines = Object.entries(ENGINES);

describe.each(engines)('engine %s (stand-in)', (engine, model) => {
  it.each(rows)('%s', async (_, { said, plain, quiet }) => {
    for (const [kind, more] of [
      ['plain', plain],
      ['quiet', quiet],
    ] as const) {
      const { body, headers } = await heard(engine, {
        model: `svc/${engine}-${kind}`,
        messages: hi,
        ...said,
      });
      expect(body).toEqual({ model, messages: hi, ...more });
      expect(JSON.stringify(headers)).not.toMatch(/secret|batch/);
    }
  });

  it('system messages are one and first, developer is system, names are its own', async () => {
    const slot = `${engine}-plain`;
    expect((await heard(engine, { model: slot, messages: SYSTEMS })).body).toEqual({
      model,
      messages: MERGED,
    });
    expect((await heard(engine, { model, messages: DEVELOPER })).body.messages).toEqual([
      { role: 'system', content: 'be kind' },
      ...hi,
    ]);
  });

  it('the tool loop and other APIs leave none of their own fields either', async () => {
    const asked = { model: `svc/${engine}-plain`, messages: hi, omni: true, tool_choice: 'none' };
    // A stand-in that answers a stream with a whole answer is heard too.
    const { body } = await heard(engine, asked);
    expect(body).toMatchObject({ model, messages: hi, stream: true });
    expect(body).not.toHaveProperty('omni');
    const response = { model: `svc/${engine}-plain`, input: 'hi', reasoning: { effort: 'none' } };
    expect((await heard(engine, response, '/v1/responses')).body).toMatchObject(OFF);
    const message = {
      model: `svc/${engine}-plain`,
      messages: hi,
      max_tokens: 5,
      thinking: { type: 'enabled', budget_tokens: 9 },
    };
    expect((await heard(engine, message, '/v1/messages')).body).toMatchObject(ON);
  });
});

describe.each(NEAR)('upstream of the own network, kind %s (stand-in)', (kind) => {
  const model = `m-${kind}`;

  it('has the rules of a slot without a default', async () => {
    for (const { said, plain } of Object.values(ROWS)) {
      const { body, headers } = await heard(`up-${kind}`, { model, messages: hi, ...said });
      expect(body).toEqual({ model, messages: hi, ...plain });
      expect(JSON.stringify(headers)).not.toMatch(/secret|batch/);
    }
    expect((await heard(`up-${kind}`, { model, messages: DEVELOPER })).body.messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
    ]);
  });
});

describe('a provider of somebody else (stand-in)', () => {
  const model = 'm-far';

  it.each(rows)('%s', async (_, { said, far }) => {
    const { body, headers } = await heard('up-far', { model, messages: hi, ...said });
    expect(body).toEqual({ model, messages: hi, ...far });
    expect(JSON.stringify(headers)).not.toMatch(/secret|batch/);
  });

  it('system messages are merged, a developer message stays one', async () => {
    expect((await heard('up-far', { model, messages: SYSTEMS })).body).toEqual({ model, messages: MERGED });
    expect((await heard('up-far', { model, messages: DEVELOPER })).body).toEqual({
      model,
      messages: DEVELOPER,
    });
  });

  it('nothing of ours comes through the tool loop, Responses or Messages', async () => {
    const own = ['omni', 'enable_thinking', 'chat_template_kwargs', '_svc'];
    const asked: [string, Json][] = [
      [CHAT, { model, messages: hi, omni: true, enable_thinking: true, tool_choice: 'none' }],
      ['/v1/responses', { model, input: 'hi', reasoning: { effort: 'none' }, enable_thinking: true, ...OFF }],
      ['/v1/messages', { model, messages: hi, max_tokens: 5, thinking: { type: 'disabled' }, ...ON }],
    ];
    for (const [path, body] of asked) {
      const told = (await heard('up-far', body, path)).body;
      for (const name of own) expect(told, `${path} ${name}`).not.toHaveProperty(name);
    }
  });
});

it('the embedded engine shows by its answer which thinking switch it read', () =>
  expectThinkingSwitch(gateway, 'agent'));
