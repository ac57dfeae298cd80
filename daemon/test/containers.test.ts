/**
 * A slot with the container runner on a machine without a container engine. e2e/system/engines/containers.test.ts tests the
 * same runner with a real Podman.
 */
import { expect, it } from 'vitest';
import type { HardwareView } from '../contract/hardware.ts';
import { QUIET_FILE, startGateway } from './harness/gateway.ts';
import { send } from './harness/http.ts';
import { OneGateway } from './harness/one-gateway.ts';
import { runSlotAction, slot } from './harness/slots.ts';

const BOXED =
  'engine = "custom"\nrunner = "container"\nimage = "localhost/absent"\nmodel = "stand-in"\nidle_unload = 0\n';

const gateway = new OneGateway(() =>
  startGateway({
    files: {
      ...QUIET_FILE,
      'config/slots/boxed.toml': BOXED,
      'config/config.toml': '[slots]\ncontainer_socket = "/nowhere/podman.sock"\n',
    },
  }),
);

it('P08 without a container engine the slot fails with the advice, and the gateway continues', async () => {
  const refused = await runSlotAction(gateway, 'boxed', 'load');
  expect(refused).toMatchObject({ status: 503, code: 'slot.failed' });
  expect(refused.json()).toMatchObject({
    error: { details: { reason: expect.stringContaining('Neither Podman nor Docker responds') } },
  });
  expect((await slot(gateway, 'boxed')).state).toBe('error');
  expect((await send(gateway, 'GET', '/api/health')).status).toBe(200);
  expect((await send(gateway, 'GET', '/api/hardware')).json<HardwareView>().containers).not.toContainEqual(
    expect.objectContaining({ socket: '/nowhere/podman.sock' }),
  );
});
