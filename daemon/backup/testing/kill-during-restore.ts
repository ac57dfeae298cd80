/**
 * Test support: `node kill-during-restore.ts HOME ARCHIVE N` restores and kills itself before its N-th change; 0:
 * never.
 */
import { join } from 'node:path';
import { restore } from '../restore.ts';

const [home = '', file = '', last = '0'] = process.argv.slice(2);
let left = Number(last);
await restore({
  folders: { config: join(home, 'config'), state: join(home, 'state') },
  file,
  lock: async () => () => {},
  step: () => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  },
});
