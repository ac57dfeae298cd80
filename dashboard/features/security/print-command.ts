import type { RotateView } from '../../../daemon/contract/auth.ts';
import { shellWord } from '../../api/literals.ts';

const VARIABLES = { admin: 'SVC_ADMIN_KEY', client: 'SVC_CLIENT_KEY' } as const;
/** Where an installed package keeps it; the gateway tells the real place to admins. */
const USUAL_FILE = '/etc/svc/api.env';

/** The command that prints a key on the machine of the gateway. */
export function printCommand(tier: RotateView['tier'], file: string = USUAL_FILE): string {
  const word = /^[\w./-]+$/.test(file) ? file : shellWord(file);
  return `${file.startsWith('/etc/') ? 'sudo ' : ''}grep ^${VARIABLES[tier]}= ${word}`;
}
