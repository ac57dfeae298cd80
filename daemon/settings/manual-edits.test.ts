/** Sets a key while another process edits api.env between the read and the rename. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FaultHook } from '../lib/fs/temp-file.ts';
import { silentLog } from '../lib/log.ts';
import { scratch } from '../lib/testing/scratch.ts';
import { openSettings } from './open-settings.ts';

const OLD_KEY = 'the-old-admin-key';

describe('R16 a manual edit between read and rename', () => {
  const text = `SVC_ADMIN_KEY=${OLD_KEY}\n`;
  let faults: FaultHook = () => {};
  let open: () => ReturnType<typeof openSettings>;
  let folder = '';
  const envFile = () => join(folder, 'api.env');
  const read = () => readFileSync(envFile(), 'utf8');
  beforeEach(() => {
    const home = scratch();
    folder = join(home, 'config');
    mkdirSync(folder, { mode: 0o700 });
    writeFileSync(envFile(), text, { mode: 0o600 });
    open = () =>
      openSettings({
        env: { SVC_HOME: home },
        log: silentLog(),
        watch: false,
        faults: (step) => faults(step),
      });
  });

  it('once: both the edit and the new key are in the file', async () => {
    let edits = 0;
    faults = (step) => {
      if (step === 'rename' && edits++ === 0) writeFileSync(envFile(), `${text}BY_HAND=1\n`);
    };
    const settings = await open();
    await settings.setEnvFile('adminKey', 'the-new-admin-key');
    expect(read()).toBe('SVC_ADMIN_KEY=the-new-admin-key\nBY_HAND=1\n');
    expect(settings.value('adminKey')).toBe('the-new-admin-key');
    settings.close();
  });

  it('repeatedly: the rotation gives up, the last edit and the old key stay', async () => {
    let edits = 0;
    faults = (step) => {
      if (step === 'rename') writeFileSync(envFile(), `${text}BY_HAND=${++edits}\n`);
    };
    const settings = await open();
    await expect(settings.setEnvFile('adminKey', 'the-new-admin-key')).rejects.toMatchObject({
      reason: 'changed',
    });
    expect(read()).toBe(`${text}BY_HAND=2\n`);
    expect(settings.value('adminKey')).toBe(OLD_KEY);
    expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
    settings.close();
  });
});
