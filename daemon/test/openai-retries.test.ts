/** The official `openai` client: when it asks again, when it must not, and what is left of a caller who leaves. */
import type OpenAI from 'openai';
import { ConflictError, InternalServerError, RateLimitError } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { failure } from './harness/failure.ts';
import { ADMIN_KEY, CLIENT_KEY, REQUIRE_AUTH, until } from './harness/gateway.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { countingClient, openaiClient, user } from './harness/openai.ts';
import { slot, waitForIdleSlot, waitForSlotState } from './harness/slots.ts';
import { ENDLESS, startGuarded } from './harness/tiny-gateway.ts';

let openai: OpenAI;

const gateway = new OneGateway(() =>
  startGuarded({
    files: {
      'config/config.toml': `${REQUIRE_AUTH}[slots]\nqueue_max = 1\n`,
      'config/slots/utility.toml': 'model = "tiny"\nparallel = 1\ncontext = 32768\n',
      'config/slots/hollow.toml': 'model = "not-here"\n',
    },
  }),
);
beforeAll(async () => {
  openai = openaiClient(gateway);
});

const admin = () => openaiClient(gateway, { apiKey: ADMIN_KEY, baseURL: `${gateway.url}/api` });
const count = async (name: string) => (await slot(gateway, name, CLIENT_KEY)).active;
const idle = (name: string, limitMs?: number) => waitForIdleSlot(gateway, name, CLIENT_KEY, limitMs);

describe('retries', () => {
  it('a failure that waiting does not mend (x-should-retry: false) is asked once', async () => {
    const { api, statuses } = countingClient(gateway, { maxRetries: 2 });
    const error = await failure(
      api.chat.completions.create({ model: 'hollow', messages: [user('.')] }),
      InternalServerError,
    );
    expect(error).toMatchObject({ status: 503, code: 'slot.failed', type: 'server_error' });
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(statuses).toEqual([503]);
  });

  it('a model that cannot do it (409) is asked once', async () => {
    const { api, statuses } = countingClient(gateway, { maxRetries: 2 });
    const error = await failure(api.embeddings.create({ model: 'agent', input: 'x' }), ConflictError);
    expect(error).toMatchObject({ status: 409, code: 'dispatch.capability_mismatch' });
    expect(statuses).toEqual([409]);
  });

  it('a full queue is RateLimitError with Retry-After; the client tries again as told', async () => {
    await admin().post('/slots/utility/load');
    const controls = [new AbortController(), new AbortController()];
    const busy = controls.map(({ signal }) =>
      openai.chat.completions
        .create({ model: 'utility', messages: [user(ENDLESS)], temperature: 0, stream: true }, { signal })
        .then(async (stream) => {
          for await (const _ of stream);
        })
        .catch(() => {}),
    );
    await until(async () => {
      const { active, queued } = await slot(gateway, 'utility', CLIENT_KEY);
      return active === 1 && queued === 1;
    }, 'one request to run and one to wait');
    const ask = { model: 'utility', messages: [user('.')], max_tokens: 1 };
    const error = await failure(openai.chat.completions.create(ask), RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'slot.queue_full', type: 'rate_limit_error' });
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const { api, statuses } = countingClient(gateway, { maxRetries: 2 });
    const retried = api.chat.completions.create(ask);
    await until(() => statuses.length === 1, 'the first try to be refused');
    for (const control of controls) control.abort();
    await Promise.all(busy);
    expect((await retried).choices.length).toBe(1);
    expect(statuses).toEqual([429, 200]);
  });

  it('P03 a crash of the engine: the client rides it out; with a healthy sibling it does not even notice', async () => {
    const crash = async (name: string) => {
      const { pid } = await waitForSlotState(gateway, name, 'ready', CLIENT_KEY);
      process.kill(pid as number, 'SIGKILL');
      await waitForSlotState(gateway, name, 'error', CLIENT_KEY);
    };
    const { api, statuses } = countingClient(gateway, { maxRetries: 3 });
    const say = () =>
      api.chat.completions
        .create({ model: 'svc/agent', messages: [user('x')], max_tokens: 1, temperature: 0 })
        .withResponse();
    await Promise.all([crash('agent'), crash('utility')]);
    expect((await say()).data.choices[0]?.message.content).toBe('y');
    expect(statuses).toEqual([503, 200]);
    await waitForSlotState(gateway, 'utility', 'ready', CLIENT_KEY);
    await crash('agent');
    expect((await say()).response.headers.get('x-svc-slot')).toBe('utility');
    expect(statuses).toEqual([503, 200, 200]);
    await admin().post('/slots/agent/load');
  });
});

describe('S01 leaving', () => {
  const endless = { model: 'agent', messages: [user(ENDLESS)], temperature: 0 };

  it('breaking off a stream frees the slot', async () => {
    const stream = await openai.chat.completions.create({ ...endless, stream: true });
    let read = 0;
    for await (const _ of stream) if (++read === 5) break;
    await idle('agent', 2_000);
    expect(read).toBe(5);
  });

  it('aborting a stream and a whole answer by signal frees the slot', async () => {
    for (const stream of [true, false]) {
      const control = new AbortController();
      const asked = openai.chat.completions
        .create({ ...endless, stream }, { signal: control.signal })
        .then(async (response) => {
          if (Symbol.asyncIterator in response) for await (const _ of response);
        });
      await until(async () => (await count('agent')) === 1, 'the request to run');
      control.abort();
      // The client ends an aborted stream without an error, unless the abort came before its first byte.
      if (stream) await asked.catch(() => {});
      else await expect(asked).rejects.toThrow();
      await idle('agent', 2_000);
    }
  });

  it('the slot serves on, and the request log tells of callers that left', async () => {
    const response = await openai.chat.completions.create({ ...endless, max_tokens: 3 });
    expect(response.choices[0]?.message.content).toBe('bcd');
    const log = await admin().get<{
      recent: { status: number; error: string | null }[];
    }>('/requests');
    expect(log.recent.filter(({ status }) => status === 499).length).toBeGreaterThanOrEqual(3);
  });
});
