/** The official `openai` client: when it retries, when it must not, and client disconnects. */
import type OpenAI from 'openai';
import { ConflictError, RateLimitError } from 'openai';
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
  it('a permanent failure (x-should-retry: false) is not retried', async () => {
    const { api, statuses } = countingClient(gateway, { maxRetries: 2 });
    const error = await failure(
      api.chat.completions.create({ model: 'hollow', messages: [user('.')] }),
      ConflictError,
    );
    expect(error).toMatchObject({ status: 409, code: 'slot.failed', type: 'invalid_request_error' });
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(statuses).toEqual([409]);
  });

  it('a capability mismatch (409) is not retried', async () => {
    const { api, statuses } = countingClient(gateway, { maxRetries: 2 });
    const error = await failure(api.embeddings.create({ model: 'agent', input: 'x' }), ConflictError);
    expect(error).toMatchObject({ status: 409, code: 'dispatch.capability_mismatch' });
    expect(statuses).toEqual([409]);
  });

  it('a full queue is RateLimitError with Retry-After; the client retries after it', async () => {
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
    const body = { model: 'utility', messages: [user('.')], max_tokens: 1 };
    const error = await failure(openai.chat.completions.create(body), RateLimitError);
    expect(error).toMatchObject({ status: 429, code: 'slot.queue_full', type: 'rate_limit_error' });
    expect(Number(error.headers?.get('retry-after'))).toBeGreaterThanOrEqual(1);
    const { api, statuses } = countingClient(gateway, { maxRetries: 2 });
    const retried = api.chat.completions.create(body);
    await until(() => statuses.length === 1, 'the first attempt to fail');
    for (const control of controls) control.abort();
    await Promise.all(busy);
    expect((await retried).choices.length).toBe(1);
    expect(statuses).toEqual([429, 200]);
  });

  it('P03 a crash of the engine: the client retries; with a healthy sibling it sees no error', async () => {
    const crash = async (name: string) => {
      const { pid } = await waitForSlotState(gateway, name, 'ready', CLIENT_KEY);
      process.kill(pid as number, 'SIGKILL');
      await waitForSlotState(gateway, name, 'error', CLIENT_KEY);
    };
    const { api, statuses } = countingClient(gateway, { maxRetries: 3 });
    const complete = () =>
      api.chat.completions
        .create({ model: 'svc/agent', messages: [user('x')], max_tokens: 1, temperature: 0 })
        .withResponse();
    await Promise.all([crash('agent'), crash('utility')]);
    expect((await complete()).data.choices[0]?.message.content).toBe('y');
    expect(statuses).toEqual([503, 200]);
    await waitForSlotState(gateway, 'utility', 'ready', CLIENT_KEY);
    await crash('agent');
    expect((await complete()).response.headers.get('x-svc-slot')).toBe('utility');
    expect(statuses).toEqual([503, 200, 200]);
    await admin().post('/slots/agent/load');
  });
});

describe('S01 client disconnect', () => {
  const endless = { model: 'agent', messages: [user(ENDLESS)], temperature: 0 };

  it('ending a stream early frees the slot', async () => {
    const stream = await openai.chat.completions.create({ ...endless, stream: true });
    let read = 0;
    for await (const _ of stream) if (++read === 5) break;
    await idle('agent', 2_000);
    expect(read).toBe(5);
  });

  it('aborting a stream or a whole response by signal frees the slot', async () => {
    for (const stream of [true, false]) {
      const control = new AbortController();
      const pending = openai.chat.completions
        .create({ ...endless, stream }, { signal: control.signal })
        .then(async (response) => {
          if (Symbol.asyncIterator in response) for await (const _ of response);
        });
      await until(async () => (await count('agent')) === 1, 'the request to run');
      control.abort();
      // The client ends an aborted stream without an error, unless the abort came before its first byte.
      if (stream) await pending.catch(() => {});
      else await expect(pending).rejects.toThrow();
      await idle('agent', 2_000);
    }
  });

  it('the slot continues to serve, and the request log has the disconnects', async () => {
    const response = await openai.chat.completions.create({ ...endless, max_tokens: 3 });
    expect(response.choices[0]?.message.content).toBe('bcd');
    const log = await admin().get<{
      recent: { status: number; error: string | null }[];
    }>('/requests');
    expect(log.recent.filter(({ status }) => status === 499).length).toBeGreaterThanOrEqual(3);
  });
});
