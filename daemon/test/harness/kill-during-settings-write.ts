/** Rotates the admin key with the real settings code and kills itself at the step in the second argument. Run by rotation-faults.test.ts. */
import { createRotate } from '../../auth/rotate.ts';
import { silentLog } from '../../lib/log.ts';
import { openSettings } from '../../settings/open-settings.ts';

const [home = '', step] = process.argv.slice(2);
const log = silentLog();
const settings = await openSettings({
  env: { SVC_HOME: home },
  log,
  watch: false,
  faults: (at) => {
    if (at === step) process.kill(process.pid, 'SIGKILL');
  },
});
await createRotate({ settings, log, envFile: 'api.env', onRotated: () => {} })('admin');
settings.close();
