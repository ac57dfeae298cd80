import type { HardwareView } from '../daemon/contract/hardware.ts';
import { QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { ALL_LAYOUTS, inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const daemon = daemonOf(() => startGateway({ files: QUIET_FILE }));
const GIB = 1024 ** 3;

/** STAND-IN for a GPU, which a test machine lacks: the response of this machine with a GPU and errors added. */
function withCard(view: HardwareView, turn: number): HardwareView {
  const id = '0000:03:00.0';
  const used = (6 + (turn % 5)) * GIB;
  return {
    ...view,
    devices: [
      ...view.devices,
      {
        id,
        kind: 'gpu',
        vendor: 'AMD',
        name: 'Radeon RX 7900 XT',
        driver: 'amdgpu',
        access: 'ok',
        memory_total_bytes: 20 * GIB,
        memory_used_bytes: used,
        pool: id,
        busy_percent: 20 + ((turn * 17) % 70),
        power_w: turn === 3 ? null : 80 + turn * 9,
        temperature_c: null,
        unused_reason: null,
      },
      {
        id: '0000:c5:00.1',
        kind: 'npu',
        vendor: 'AMD',
        name: 'XDNA 2',
        driver: 'amdxdna',
        access: 'no_permission',
        memory_total_bytes: null,
        memory_used_bytes: null,
        pool: null,
        busy_percent: null,
        power_w: null,
        temperature_c: null,
        unused_reason: 'no right to open /dev/accel/accel0: add the user to group render',
      },
    ],
    pools: [
      ...view.pools,
      {
        id,
        kind: 'device',
        total_bytes: 20 * GIB,
        available_bytes: 20 * GIB - used,
        carveout_bytes: 0,
        limited_by: 'device',
        devices: [id],
      },
    ],
    problems: [{ probe: 'rocm-smi', reason: 'did not answer within 8000 ms' }],
  };
}

test('shows the hardware and rescans it', async ({ page }) => {
  await page.goto(`${daemon().url}/hardware`);
  await expect(
    page.getByRole('img', { name: /^Memory of .* since this page was opened: now .*GiB/ }),
  ).toBeVisible();
  await expect(page.getByRole('img', { name: /^Load of .* now \d+(\.\d)? %/ })).toBeVisible();
  await expect(page.getByText(/Not reported: .*power/)).toBeVisible();
  await expect(page.getByText(/^[\d.]+ [KMGT]iB, .* available, \w+/).first()).toBeVisible();
  await expect(page.getByRole('meter', { name: 'Memory of pool host' })).toBeVisible();
  const probed = page.waitForResponse((answer) => answer.url().endsWith('/api/hardware/probe'));
  await page.getByRole('button', { name: 'Rescan' }).focus();
  await page.keyboard.press('Enter');
  expect((await probed).status()).toBe(200);
  await expect(page.getByText(/Last scan now/)).toBeVisible();
  await inspect(page, 'hardware', TWO_LAYOUTS);
});

test('a GPU has charts with gaps; missing permission shows the fix', async ({ page }) => {
  let turn = 0;
  const view = (await send(daemon(), 'GET', '/api/hardware')).json<HardwareView>();
  await page.route('**/api/hardware', (route) => route.fulfill({ json: withCard(view, turn++) }));
  await page.clock.install();
  await page.goto(`${daemon().url}/hardware`);
  const power = page.getByRole('img', { name: /^Power of Radeon/ });
  await expect(power).toBeVisible();
  for (let step = 1; step <= 12; step += 1) {
    // Runs the timer of the next request once, and not every frame until then.
    await page.clock.fastForward(5000);
    await expect.poll(() => turn).toBeGreaterThan(step);
  }
  await expect(power).toHaveAttribute('aria-label', /1 gap$/);
  await expect(page.getByText('No permission', { exact: true })).toBeVisible();
  await expect(page.getByText(/add the user to group render/)).toBeVisible();
  await expect(page.getByText('did not answer within 8000 ms')).toBeVisible();
  await inspect(page, 'hardware-card', ALL_LAYOUTS);
});
