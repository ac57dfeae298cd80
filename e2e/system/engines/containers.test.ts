/** A slot whose engine is a container of a real Podman, from load to removal (docs/spec/contract.md#runners). */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HardwareView } from '../../../daemon/contract/hardware.ts';
import type { SlotRecord } from '../../../daemon/contract/slots.ts';
import { tryPodman } from '../../../daemon/lib/container-engine/testing/podman.ts';
import { startRegistry } from '../../../daemon/lib/container-engine/testing/registry.ts';
import { isAlive } from '../../../daemon/test/harness/descendants.ts';
import { type Gateway, QUIET_FILE, startGateway, until } from '../../../daemon/test/harness/gateway.ts';
import { newHome } from '../../../daemon/test/harness/home.ts';
import { send } from '../../../daemon/test/harness/http.ts';
import { runSlotAction, slot, waitForSlotState } from '../../../daemon/test/harness/slots.ts';

const registry = await startRegistry();
const { podman, obstacle } = await tryPodman(registry.host);
if (podman === null) console.warn(`SKIPPED with a real Podman: ${obstacle}`);

const CHAT = '/v1/chat/completions';
const SOCKET = podman?.socketPath ?? '';
const BOXED = [
  'engine = "custom"',
  'runner = "container"',
  `image = "${podman?.image ?? 'localhost/absent'}"`,
  'model = "stand-in"',
  'key_env = "KEY"',
  'env = { PORT = "{port}" }',
  'idle_unload = 0',
].join('\n');

let gateway: Gateway;
let home = '';
beforeEach(() => {
  home = newHome();
});
afterEach(async () => {
  await gateway?.stop('SIGKILL');
  if (podman !== null) podman.run('rm', '-fa', '-t', '0');
  rmSync(home, { recursive: true, force: true });
});
afterAll(async () => {
  await podman?.remove();
  registry.close();
});

const slotFile = (name = 'boxed') => join(home, 'config', 'slots', `${name}.toml`);
/** Starts a gateway on `home`; a second call is the same gateway after a restart. */
async function start(boxed = BOXED, more = ''): Promise<Gateway> {
  gateway = await startGateway({
    home,
    files: {
      ...QUIET_FILE,
      'config/slots/boxed.toml': `${boxed}\n`,
      'config/config.toml': `[slots]\ncontainer_socket = "${SOCKET}"\n${more}`,
    },
  });
  return gateway;
}

const verb = (action: 'load' | 'unload' | 'restart', name = 'boxed') => runSlotAction(gateway, name, action);
const sendChat = () =>
  send(gateway, 'POST', CHAT, { body: { model: 'boxed', messages: [{ role: 'user', content: 'x' }] } });
const containers = () =>
  JSON.parse(podman?.run('ps', '-a', '--format', 'json') ?? '[]') as { Id: string; State: string }[];
const ids = () => containers().map(({ Id }) => Id);

describe.skipIf(podman === null)('in a real Podman', () => {
  it('load, chat, unload: one container on the loopback address, none afterwards', async () => {
    await start();
    expect(containers()).toEqual([]);
    const loaded = (await verb('load')).json<SlotRecord>();
    expect(loaded).toMatchObject({ state: 'ready', failure: null });
    expect(isAlive(loaded.pid)).toBe(true);
    const answer = await sendChat();
    expect(answer.status).toBe(200);
    expect(answer.headers['x-svc-slot']).toBe('boxed');
    expect(answer.json()).toMatchObject({
      choices: [{ message: { content: expect.stringContaining('holds') } }],
    });
    expect(containers()).toHaveLength(1);
    expect((await verb('unload')).json()).toMatchObject({ state: 'offline', pid: null });
    expect(containers()).toEqual([]);
  });

  it('GET /api/hardware names the container engine', async () => {
    await start();
    const { containers: engines } = (await send(gateway, 'POST', '/api/hardware/probe')).json<HardwareView>();
    expect(engines).toContainEqual({
      kind: 'podman',
      socket: SOCKET,
      access: 'ok',
      version: expect.stringMatching(/^\d+\.\d+/),
      rootless: false,
      hint: null,
    });
  });

  it('a killed container is an error with a reason, and is restarted', async () => {
    await start();
    expect((await verb('load')).json<SlotRecord>()).toMatchObject({ state: 'ready' });
    podman?.run('kill', ...ids());
    const failed = await waitForSlotState(gateway, 'boxed', 'error');
    expect(failed).toMatchObject({
      pid: null,
      failure: { reason: expect.stringContaining('SIGKILL'), failures: 1 },
    });
    await waitForSlotState(gateway, 'boxed', 'ready');
    expect((await sendChat()).status).toBe(200);
    expect(containers()).toHaveLength(1);
  });

  it('a failing engine reports its decisive log line', async () => {
    await start(BOXED.replace('PORT = "{port}"', 'FAIL = "weights are torn"'));
    const refused = await verb('load');
    expect(refused).toMatchObject({ status: 503, code: 'slot.failed' });
    expect(refused.json()).toMatchObject({
      error: { details: { reason: expect.stringContaining('error: weights are torn') } },
    });
    await verb('unload');
    expect(containers()).toEqual([]);
  });

  it('P08 an image that must be pulled: state pulling with progress, and an unload that cancels it', async () => {
    await start(BOXED.replace(/image = .*/, `image = "${registry.image}"`));
    const loading = verb('load');
    await waitForSlotState(gateway, 'boxed', 'pulling');
    let loadedSlot: SlotRecord | undefined;
    await until(async () => {
      loadedSlot = await slot(gateway, 'boxed');
      return (loadedSlot.progress ?? 0) > 0.4;
    }, 'the share of the image');
    expect(loadedSlot).toMatchObject({ state: 'pulling' });
    await verb('unload');
    expect((await loading).code).toBe('slot.draining');
    expect((await slot(gateway, 'boxed')).state).toBe('offline');
    expect(containers()).toEqual([]);
  });

  it('P05 P06 kill -9 of the gateway: the container continues and the next start adopts it', async () => {
    await start();
    const { pid } = (await verb('load')).json<SlotRecord>();
    const before = ids();
    await gateway.stop('SIGKILL');
    expect(isAlive(pid)).toBe(true);
    await start();
    const adopted = await waitForSlotState(gateway, 'boxed', 'ready');
    expect(adopted.pid).toBe(pid);
    expect(ids()).toEqual(before);
    expect((await sendChat()).status).toBe(200);
    await verb('unload');
    expect(containers()).toEqual([]);
  });

  it('a clean restart adopts; a removed or changed slot loses its container', async () => {
    await start();
    const { pid } = (await verb('load')).json<SlotRecord>();
    expect(await gateway.stop()).toBe(0);
    expect(isAlive(pid)).toBe(true);
    await start();
    expect((await waitForSlotState(gateway, 'boxed', 'ready')).pid).toBe(pid);
    expect(await gateway.stop()).toBe(0);
    await start(BOXED.replace('PORT = "{port}"', 'PORT = "{port}", MORE = "x"'));
    const changed = await waitForSlotState(gateway, 'boxed', 'ready');
    expect(changed.pid).not.toBe(pid);
    expect(isAlive(pid)).toBe(false);
    expect(containers()).toHaveLength(1);
    expect(await gateway.stop()).toBe(0);
    rmSync(slotFile());
    gateway = await startGateway({ home });
    await until(() => containers().length === 0, 'the container of the removed slot to be ended');
  });

  it('keep_containers = false: a stop ends containers like other engines', async () => {
    await start(BOXED, 'keep_containers = false\n');
    const { pid } = (await verb('load')).json<SlotRecord>();
    expect(await gateway.stop()).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(containers()).toEqual([]);
  });

  it('removing a slot file at run time removes its container', async () => {
    await start();
    await verb('load');
    writeFileSync(slotFile('other'), 'model = "x"\nautoload = false\n');
    rmSync(slotFile());
    await until(() => containers().length === 0, 'the container to be ended');
    expect((await send(gateway, 'GET', '/api/slots/boxed')).status).toBe(404);
  });
});
