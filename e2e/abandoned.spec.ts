/** A caller leaves while its image is drawn by an engine that cannot stop: the card of the slot says so until it is drawn. */
import { startGateway } from '../daemon/test/harness/gateway.ts';
import { type SdStandIn, sdSlot, sdStandIn } from '../daemon/test/harness/sd-stand-in.ts';
import { inspect, TWO_LAYOUTS } from './harness/inspect-layouts.ts';
import { daemonOf, expect, test } from './harness/test.ts';

/** A STAND-IN draws: a real image takes minutes on a CPU. */
let sd: SdStandIn;
const daemon = daemonOf(async () => {
  sd = await sdStandIn();
  sd.refusesCancel = true;
  return startGateway({
    files: { 'config/slots/agent.toml': 'enabled = false\n', 'config/slots/img.toml': sdSlot(sd.url) },
  });
});
test.afterAll(() => sd?.stop());

test('the card of a slot says that its engine finishes a request without a caller', async ({ page }) => {
  await page.goto(`${daemon().url}/slots`);
  const card = page.getByRole('article', { name: 'img' });
  const sentence = card.getByText('The engine is finishing a request whose caller has left');
  const leaving = new AbortController();
  const drawing = fetch(`${daemon().url}/v1/images/generations`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'img', prompt: 'HANG', size: '64x64' }),
    signal: leaving.signal,
  }).catch(() => null);
  await expect.poll(() => sd.requests.some(({ url }) => url.includes('/jobs/'))).toBe(true);
  await expect(sentence).toBeHidden();
  leaving.abort();
  await drawing;
  await expect(sentence).toBeVisible();
  await inspect(page, 'slots-abandoned', TWO_LAYOUTS);
  sd.finish();
  await expect(sentence).toBeHidden();
});
