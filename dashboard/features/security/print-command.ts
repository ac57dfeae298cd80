import type { RotateView } from '../../../daemon/contract/auth.ts';
import { shellQuote } from '../../api/literals.ts';

const VARIABLES = { admin: 'SVC_ADMIN_KEY', client: 'SVC_CLIENT_KEY' } as const;
/** The path of an installed package; admins get the actual path from the gateway. */
const USUAL_FILE = '/etc/svc/api.env';

/** The shell command that prints a key on the gateway machine. */
export function printCommand(tier: RotateView['tier'], file: string = USUAL_FILE): string {
  const word = /^[\w./-]+$/.test(file) ? file : shellQuote(file);
  return `${file.startsWith('/etc/') ? 'sudo ' : ''}grep ^${VARIABLES[tier]}= ${word}`;
}
