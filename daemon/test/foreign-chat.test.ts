/**
 * What each kind of engine and upstream receives of a chat (docs/spec/specification.md#chat-deviations). Stand-ins record
 * what they receive; the reply of the embedded engine shows what it read, as for llama-server in
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

/** The model of each engine; two slots share it, one of them with its own default. */
const ENGINES = { 'llama-server': 'l-1', vllm: 'org/v-1', flm: 'llama3.2:1b', custom: 'c-1' } as const;
/** Upstreams of the own network, by kind. */
const OWN_NETWORK_KINDS = ['openai', 'llama-server', 'vllm', 'svc'] as const;

type Json = Record<string, unknown>;
const kwargs = (value: Json) => ({ chat_template_kwargs: value });
const ON = kwargs({ enable_thinking: true });
const OFF = kwargs({ enable_thinking: false });

interface Row {
  readonly sent: Json;
  /** Fields that arrive in addition to `model` and `messages`: without a default, and with the default off. */
  readonly plain: Json;
  readonly quiet: Json;
  /** At a third-party provider. */
  readonly provider: Json;
}

const ROWS: Readonly<Record<string, Row>> = {
  'no field': { sent: {}, plain: {}, quiet: OFF, provider: {} },
  'thinking on': { sent: { enable_thinking: true }, plain: ON, quiet: ON, provider: {} },
  'thinking off': { sent: { enable_thinking: false }, plain: OFF, quiet: OFF, provider: {} },
  'thinking null': { sent: { enable_thinking: null }, plain: {}, quiet: OFF, provider: {} },
  'both fields: the inner one wins': {
    sent: { enable_thinking: true, ...kwargs({ x: 1, enable_thinking: false }) },
    plain: kwargs({ x: 1, enable_thinking: false }),
    quiet: kwargs({ x: 1, enable_thinking: false }),
    provider: {},
  },
  'other template arguments': {
    sent: kwargs({ x: 1 }),
    plain: kwargs({ x: 1 }),
    quiet: kwargs({ enable_thinking: false, x: 1 }),
    provider: {},
  },
  'omni false': { sent: { omni: false }, plain: {}, quiet: OFF, provider: {} },
  'omni that is not a boolean': { sent: { omni: 'yes' }, plain: {}, quiet: OFF, provider: {} },
  'fields of OpenAI and of others': {
    sent: {
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
    provider: {
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
  for (const kind of [...OWN_NETWORK_KINDS, 'far'] as const) {
    const server = await standIn(chatter(`m-${kind}`));
    servers[`up-${kind}`] = server;
    const settings = kind === 'far' ? 'remote = true\n' : `kind = "${kind}"\n`;
    files[`config/upstreams/up-${kind}.toml`] =
      `base_url = "${server.url}"\n${settings}models = ["m-${kind}"]\n`;
  }
});
afterAll(() => Promise.all(Object.values(servers).map((server) => server.stop())));
const gateway = new OneGateway(() => startGateway({ models: { tiny: tinyModel() }, files }));

/** Sends a chat and returns the one request that the stand-in received. */
async function forwarded(
  server: string,
  body: Json,
  path = CHAT,
): Promise<{ url: string; body: Json; headers: Json }> {
  const target = servers[server] as StandIn;
  // The first request loads the slot, which sends its own requests. The mark identifies ours.
  const marked = { ...body, ...(path === CHAT ? { seed: 4711 } : { temperature: 0.4711 }) };
  const before = target.requests.length;
  const headers = { 'x-svc-priority': 'batch', 'x-svc-anything': 'secret', cookie: 'svc_session=secret' };
  const response = await send(gateway, 'POST', path, { body: marked, headers });
  expect([response.status, response.text]).toEqual([200, expect.any(String)]);
  const matching = target.requests.slice(before).filter(({ body: text }) => text.includes('4711'));
  expect(matching).toHaveLength(1);
  const [only] = matching as [ReceivedRequest];
  const { seed: _, temperature: __, ...fields } = JSON.parse(only.body) as Json;
  return { url: only.url, body: fields, headers: only.headers as Json };
}

const rows = Object.entries(ROWS);
const engines = Object.entries(ENGINES);

describe.each(engines)('engine %s (stand-in)', (engine, model) => {
  it.each(rows)('%s', async (_, { sent, plain, quiet }) => {
    for (const [kind, expected] of [
      ['plain', plain],
      ['quiet', quiet],
    ] as const) {
      const { body, headers } = await forwarded(engine, {
        model: `svc/${engine}-${kind}`,
        messages: hi,
        ...sent,
      });
      expect(body).toEqual({ model, messages: hi, ...expected });
      expect(JSON.stringify(headers)).not.toMatch(/secret|batch/);
    }
  });

  it('system messages are merged and first, developer becomes system, the model name is that of the engine', async () => {
    const slot = `${engine}-plain`;
    expect((await forwarded(engine, { model: slot, messages: SYSTEMS })).body).toEqual({
      model,
      messages: MERGED,
    });
    expect((await forwarded(engine, { model, messages: DEVELOPER })).body.messages).toEqual([
      { role: 'system', content: 'be kind' },
      ...hi,
    ]);
  });

  it('the tool loop and other APIs forward none of their own fields', async () => {
    const omniBody = { model: `svc/${engine}-plain`, messages: hi, omni: true, tool_choice: 'none' };
    // The stand-in answers a stream with a whole response, which is accepted too.
    const { body } = await forwarded(engine, omniBody);
    expect(body).toMatchObject({ model, messages: hi, stream: true });
    expect(body).not.toHaveProperty('omni');
    const response = { model: `svc/${engine}-plain`, input: 'hi', reasoning: { effort: 'none' } };
    expect((await forwarded(engine, response, '/v1/responses')).body).toMatchObject(OFF);
    const message = {
      model: `svc/${engine}-plain`,
      messages: hi,
      max_tokens: 5,
      thinking: { type: 'enabled', budget_tokens: 9 },
    };
    expect((await forwarded(engine, message, '/v1/messages')).body).toMatchObject(ON);
  });
});

describe.each(OWN_NETWORK_KINDS)('upstream of the own network, kind %s (stand-in)', (kind) => {
  const model = `m-${kind}`;

  it('gets the same as a slot without a default', async () => {
    for (const { sent, plain } of Object.values(ROWS)) {
      const { body, headers } = await forwarded(`up-${kind}`, { model, messages: hi, ...sent });
      expect(body).toEqual({ model, messages: hi, ...plain });
      expect(JSON.stringify(headers)).not.toMatch(/secret|batch/);
    }
    expect((await forwarded(`up-${kind}`, { model, messages: DEVELOPER })).body.messages).toMatchObject([
      { role: 'system' },
      { role: 'user' },
    ]);
  });
});

describe('a third-party provider (stand-in)', () => {
  const model = 'm-far';

  it.each(rows)('%s', async (_, { sent, provider }) => {
    const { body, headers } = await forwarded('up-far', { model, messages: hi, ...sent });
    expect(body).toEqual({ model, messages: hi, ...provider });
    expect(JSON.stringify(headers)).not.toMatch(/secret|batch/);
  });

  it('system messages are merged, a developer message is unchanged', async () => {
    expect((await forwarded('up-far', { model, messages: SYSTEMS })).body).toEqual({
      model,
      messages: MERGED,
    });
    expect((await forwarded('up-far', { model, messages: DEVELOPER })).body).toEqual({
      model,
      messages: DEVELOPER,
    });
  });

  it('the tool loop, Responses and Messages forward none of our fields', async () => {
    const own = ['omni', 'enable_thinking', 'chat_template_kwargs', '_svc'];
    const requests: [string, Json][] = [
      [CHAT, { model, messages: hi, omni: true, enable_thinking: true, tool_choice: 'none' }],
      ['/v1/responses', { model, input: 'hi', reasoning: { effort: 'none' }, enable_thinking: true, ...OFF }],
      ['/v1/messages', { model, messages: hi, max_tokens: 5, thinking: { type: 'disabled' }, ...ON }],
    ];
    for (const [path, body] of requests) {
      const forwardedBody = (await forwarded('up-far', body, path)).body;
      for (const name of own) expect(forwardedBody, `${path} ${name}`).not.toHaveProperty(name);
    }
  });
});

it('the embedded engine applies the thinking switch', () => expectThinkingSwitch(gateway, 'agent'));
