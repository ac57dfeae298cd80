import { ROUTES, type RouteRow } from '../../contract/routes.ts';

const FIXED_OPEN = new Set<string>();
const PREFIX_OPEN: string[] = [];
for (const row of (Object.values(ROUTES) as RouteRow[]).filter(({ auth }) => auth === 'open')) {
  const methods = row.method === 'GET' ? ['GET', 'HEAD'] : [row.method];
  for (const each of methods) {
    const cut = row.path.search(/[:*]/);
    if (cut === -1) FIXED_OPEN.add(`${each} ${row.path}`);
    else PREFIX_OPEN.push(`${each} ${row.path.slice(0, cut)}`);
  }
}

/** Whether a target may answer without a credential, said without the matcher: by exact text, or by an open prefix. */
export function mayBeOpen(verb: string, raw: string): boolean {
  const path = raw.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
  if (FIXED_OPEN.has(`${verb} ${path}`)) return true;
  return PREFIX_OPEN.some((open) => `${verb} ${path}`.startsWith(open));
}

/** A gateway that demands keys from everybody, asked from another machine. */
export const LOCKED = {
  enforced: true,
  hasAdminKey: true,
  unusableAdminKey: false,
  memoryClass: 'admin',
  guarded: false,
  remote: true,
} as const;

/** What a tier may do, and what a class asks for. */
export const RANK = { anon: 0, open: 0, client: 1, admin: 2 } as const;
