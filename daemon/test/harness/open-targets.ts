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

/** Whether a target may be served without a credential. Decided without the matcher: by exact text or by an open prefix. */
export function isOpenTarget(verb: string, raw: string): boolean {
  const path = raw.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*$/s, '') || '/';
  if (FIXED_OPEN.has(`${verb} ${path}`)) return true;
  return PREFIX_OPEN.some((open) => `${verb} ${path}`.startsWith(open));
}

/** A gateway that requires keys, called from another machine. */
export const LOCKED = {
  enforced: true,
  hasAdminKey: true,
  unusableAdminKey: false,
  memoryClass: 'admin',
  guarded: false,
  remote: true,
} as const;

/** Ranks of tiers and of the classes that require them. */
export const RANK = { anon: 0, open: 0, client: 1, admin: 2 } as const;
