/** Saved conversations of a real llama-server (docs/spec/contract.md#kv-cache). */
import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { KvCacheView } from '../../../daemon/contract/kv-cache.ts';
import { attentiveModel } from '../../../daemon/slots/workers/testing/attentive-model.ts';
import { startGateway } from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { runSlotAction, slot, waitForIdleSlot } from '../../../daemon/test/harness/slots.ts';
import { part } from '../../../daemon/test/harness/test-tools.ts';

const program = part('llama-server');
const home = newHome();
/** A build without the option. */
const OLD = join(home, 'old-llama-server');

const slotFile = (command: string) =>
  `engine = "llama-server"\ncommand = ${JSON.stringify([command])}\ndevice = "cpu"\nparallel = 1\nmodel = "attentive"\ncontext = 4096\nautoload = false\n`;

const start = (more: Record<string, string> = {}) =>
  startGateway({
    home,
    models: { attentive: attentiveModel() },
    files: {
      'config/slots/agent.toml': 'autoload = false\nmodel = "attentive"\n',
      'config/slots/llama.toml': slotFile(program ?? ''),
      'config/slots/old.toml': slotFile(OLD),
      'config/config.toml': '[kv_cache]\npersist = "disk"\n',
      ...more,
    },
  });

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string } }[];
  readonly usage: { readonly prompt_tokens_details?: { readonly cached_tokens: number } };
}

const LONG = 'A question that is long enough that reading it again would take a while. '.repeat(12);

describe.skipIf(program === null)('conversations of llama-server', () => {
  const gateway = new OneGateway(() => {
    writeFileSync(
      OLD,
      `#!/bin/sh\nfor word; do\n  shift\n  case "$word" in --slot-save-path) skip=1; continue;; esac\n  [ "$skip" = 1 ] && { skip=; continue; }\n  set -- "$@" "$word"\ndone\nexec "${program}" "$@"\n`,
    );
    chmodSync(OLD, 0o755);
    return start();
  });
  const view = async () => (await send(gateway, 'GET', '/api/kv-cache')).json<KvCacheView>();
  const folder = () => join(home, 'state', 'kv', 'model-attentive');
  const states = () =>
    existsSync(folder()) ? readdirSync(folder()).filter((name) => name.endsWith('.state')) : [];

  async function sendChat(model: string, texts: readonly string[]) {
    const messages = texts.map((content, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      content,
    }));
    const body = { model, messages, temperature: 0, max_tokens: 12 };
    const response = await send(gateway, 'POST', '/v1/chat/completions', { body, idleTimeoutMs: 120_000 });
    const { choices, usage } = response.json<Answer>();
    await waitForIdleSlot(gateway, model);
    return {
      text: choices[0]?.message.content ?? '',
      cached: usage.prompt_tokens_details?.cached_tokens ?? 0,
    };
  }

  it('survive an unload: the history is not read again, and the answer is the same', async () => {
    const first = await sendChat('llama', [LONG]);
    expect(first.cached).toBeLessThan(100);
    const expected = await sendChat('llama', [LONG, first.text, 'And then?']);
    await runSlotAction(gateway, 'llama', 'unload');
    expect((await view()).models).toMatchObject([{ model: 'attentive', states: 1 }]);
    const again = await sendChat('llama', [LONG, first.text, 'And then?']);
    expect(again.text).toBe(expected.text);
    expect(again.cached).toBeGreaterThan(600);
    expect(await view()).toMatchObject({ hits: 1, unsupported: [] });
  });

  it('survive a restart of the gateway', async () => {
    await runSlotAction(gateway, 'llama', 'unload');
    await gateway.stop();
    // The same files: a model that is written again is another one.
    await gateway.replace(() => startGateway({ home }));
    const first = await sendChat('llama', [LONG]);
    expect(first.cached).toBeGreaterThan(600);
  });

  it('are recomputed when the state is damaged', async () => {
    await runSlotAction(gateway, 'llama', 'unload');
    expect(states().length).toBeGreaterThan(0);
    for (const name of states()) {
      const bytes = readFileSync(join(folder(), name));
      bytes[bytes.length - 9] = (bytes.at(-9) ?? 0) ^ 1;
      writeFileSync(join(folder(), name), bytes);
    }
    expect((await sendChat('llama', [LONG])).cached).toBeLessThan(100);
  });

  it('are not used by the embedded engine, and it does not delete them', async () => {
    await runSlotAction(gateway, 'llama', 'unload');
    const before = states();
    expect((await sendChat('agent', [LONG])).cached).toBeLessThan(100);
    expect(states()).toEqual(expect.arrayContaining(before));
    await runSlotAction(gateway, 'agent', 'unload');
  });

  it('a killed engine leaves no state', async () => {
    await send(gateway, 'DELETE', '/api/kv-cache');
    await sendChat('llama', [LONG]);
    process.kill((await slot(gateway, 'llama')).pid as number, 'SIGKILL');
    await expect.poll(async () => (await slot(gateway, 'llama')).pid).toBeNull();
    expect(existsSync(folder()) ? readdirSync(folder()) : []).toEqual([]);
  });

  it('a build that cannot save serves, and is named', async () => {
    await sendChat('old', [LONG]);
    await runSlotAction(gateway, 'old', 'unload');
    expect((await view()).unsupported).toEqual([
      {
        slot: 'old',
        model: 'attentive',
        reason: expect.stringMatching(/cannot restore conversations: save answered with status 501/),
      },
    ]);
    expect(states()).toEqual([]);
  });
});
