import { expect, it } from 'vitest';
import { printCommand } from './print-command.ts';

it('prints one key from the real file, quoted when necessary', () => {
  expect(printCommand('admin')).toBe('sudo grep ^SVC_ADMIN_KEY= /etc/svc/api.env');
  expect(printCommand('client', '/home/a/.config/svc/api.env')).toBe(
    'grep ^SVC_CLIENT_KEY= /home/a/.config/svc/api.env',
  );
  expect(printCommand('admin', "/home/a b/it's/api.env")).toBe(
    "grep ^SVC_ADMIN_KEY= '/home/a b/it'\\''s/api.env'",
  );
});
