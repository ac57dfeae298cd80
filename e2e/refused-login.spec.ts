import { ADMIN_KEY, KEYS_FILE, QUIET_FILE, startGateway } from '../daemon/test/harness/gateway.ts';
import { send } from '../daemon/test/harness/http.ts';
import { enter, keyField, sessionChip } from './harness/login.ts';
import { daemonOf, expect, test } from './harness/test.ts';

const BUDGET = 3;
const WINDOW_S = 6;
const daemon = daemonOf(() =>
  startGateway({
    files: { ...KEYS_FILE, ...QUIET_FILE },
    env: {
      SVC_REQUIRE_AUTH: 'on',
      SVC_LOGIN_RATELIMIT_MAX: String(BUDGET),
      SVC_LOGIN_RATELIMIT_WINDOW_S: String(WINDOW_S),
    },
  }),
);

test('a wrong key is refused with a reason, the limiter counts down on the page, then accepts a login', async ({
  page,
  watch,
}) => {
  watch.allow(/status of (401|429).* \/api\/auth\/login$/);
  await page.goto(daemon().url);
  const submit = page.getByRole('button', { name: /^(Log in|Wait \d+ s)$/ });
  await expect(submit).toBeDisabled();
  await enter(page, 'not the key');
  await expect(page.getByRole('alert')).toContainText(
    'The key is not the admin key. Check the key in api.env',
  );
  await expect(keyField(page)).toHaveAttribute('aria-invalid', 'true');
  await expect(keyField(page)).toHaveValue('not the key');
  for (let tries = 1; tries < BUDGET; tries += 1) {
    const wrong = await send(daemon(), 'POST', '/api/auth/login', { body: { key: 'not the key' } });
    expect(wrong.code).toBe('auth.invalid_key');
  }
  await enter(page, ADMIN_KEY);
  await expect(page.getByRole('alert')).toContainText(
    /Too many attempts from this address\. Try again in \d s/,
  );
  await expect(submit).toBeDisabled();
  const shown = new Set<string>();
  await expect
    .poll(async () => shown.add((await submit.textContent()) ?? '').size, { intervals: [200] })
    .toBeGreaterThan(2);
  await expect(keyField(page)).toHaveValue(ADMIN_KEY);
  await expect(page.getByRole('alert')).toHaveText('You can try again now.', { timeout: WINDOW_S * 2000 });
  await submit.click();
  await expect(sessionChip(page)).toBeVisible();
  await test.step('the switch shows that the environment sets it', async () => {
    await page.goto(`${daemon().url}/security/posture`);
    const held = page.getByRole('switch', { name: /Require keys/ });
    await expect(held).toBeChecked();
    await expect(held).toBeDisabled();
    await expect(page.getByRole('main')).toContainText('SVC_REQUIRE_AUTH is set and overrides this switch');
  });
});
