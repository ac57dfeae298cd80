/**
 * The embedded engine on a Vulkan device, Mesa's software device lavapipe. The slot and the log must name the backend, and a load
 * on an absent device must fail instead of falling back to the CPU.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { tinyChat } from '../../../daemon/models/testing/gguf/tiny-chat.ts';
import { startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { OneGateway } from '../../../daemon/test/harness/one-gateway.ts';
import { slot } from '../../../daemon/test/harness/slots.ts';
import { softwareVulkan } from '../../../daemon/test/harness/test-tools.ts';

const driver = softwareVulkan();
const NOWHERE =
  '[env]\nVK_ICD_FILENAMES = "/nonexistent/driver.json"\nVK_DRIVER_FILES = "/nonexistent/driver.json"\n';

function files(device: string): Record<string, string> {
  const here = `[env]\nVK_ICD_FILENAMES = ${JSON.stringify(device)}\nVK_DRIVER_FILES = ${JSON.stringify(device)}\n`;
  const of = (model: string, word: string, env: string) =>
    `model = "${model}"\ndevice = "${word}"\ncontext = 512\nautoload = false\n${env}`;
  return {
    'config/slots/agent.toml': of('chat', 'cpu', ''),
    'config/slots/fast.toml': of('chat', 'vulkan:0', here),
    'config/slots/absent.toml': of('chat', 'vulkan:7', here),
    'config/slots/driverless.toml': of('chat', 'vulkan', NOWHERE),
  };
}

const gateway = new OneGateway(() =>
  startGateway({ models: { chat: tinyChat({ reply: 'From the device.' }) }, files: files(driver ?? '') }),
);

/** The first evaluation compiles shaders, on the CPU for a software device. */
const SLOW_MS = 150_000;

/** Loads a slot and returns its record once the load has ended. */
async function loaded(name: string): Promise<SlotRecord> {
  await send(gateway, 'POST', `/api/slots/${name}/load?wait=false`);
  let record = await slot(gateway, name);
  await until(
    async () => {
      record = await slot(gateway, name);
      return record.state === 'ready' || record.state === 'error';
    },
    `slot ${name} to be loaded`,
    SLOW_MS,
  );
  return record;
}
const chat = async (model: string) => {
  const body = { model, messages: [{ role: 'user', content: 'Hi' }], temperature: 0 };
  const answer = await send(gateway, 'POST', '/v1/chat/completions', { body, idleTimeoutMs: SLOW_MS });
  return answer.json<{ choices: { message: { content: string } }[] }>().choices[0]?.message.content;
};
const engineLog = (name: string) => readFileSync(join(gateway.home, 'state', 'logs', `${name}.log`), 'utf8');

describe.skipIf(driver === null)('a Vulkan device', () => {
  it(
    'named by a slot holds every layer and gives the same response as the CPU',
    async () => {
      expect(await loaded('fast')).toMatchObject({ state: 'ready', device: 'vulkan', degraded: null });
      expect(await chat('fast')).toBe('From the device.');
      expect(await chat('agent')).toBe('From the device.');
      expect(await slot(gateway, 'agent')).toMatchObject({ device: 'cpu' });
    },
    SLOW_MS,
  );

  it('is named in the log with its layers', () => {
    const line = gateway
      .output()
      .split('\n')
      .find((each) => each.includes('"slot is ready"') && each.includes('"fast"'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ device: 'vulkan', layers: { placed: 2, total: 2 } });
    expect(engineLog('fast')).toContain('vulkan');
  });

  it.each([
    ['absent', 'of a number that is not there'],
    ['driverless', 'without any driver'],
  ])(
    'slot %s, %s: the load fails with the reason, without a fallback to the CPU',
    async (name) => {
      const { state, failure } = await loaded(name);
      expect(state).toBe('error');
      expect(failure?.reason).toMatch(/vulkan/i);
      expect(failure?.reason).not.toContain('/');
    },
    SLOW_MS,
  );
});
