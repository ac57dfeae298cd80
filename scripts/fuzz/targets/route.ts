import { decide, effectiveClass } from '../../../daemon/auth/gate.ts';
import { ROUTES } from '../../../daemon/contract/routes.ts';
import { createMatcher } from '../../../daemon/http/matcher.ts';
import { splitTarget } from '../../../daemon/lib/net/request-target.ts';
import { isOpenTarget, LOCKED, RANK } from '../../../daemon/test/harness/open-targets.ts';
import { assertProperty, assertSame } from '../assert.ts';

const match = createMatcher();
const TIERS = ['anon', 'client', 'admin'] as const;

/** A request line without its version: the class that is decided is the class of the row that runs. */
export function fuzz(data: Buffer): void {
  const [verb = '', ...rest] = data.toString('latin1').split(' ');
  const raw = rest.join(' ');
  const target = splitTarget(raw);
  if (target === null) return;
  assertProperty(
    !/[?#]/.test(target.path) && !target.query.includes('#'),
    'a path or query with what ends it',
  );
  const { route, params, allow } = match(verb, target.path);
  const needed = RANK[effectiveClass(route?.auth ?? 'admin', LOCKED)];
  for (const tier of TIERS) {
    const passes = decide(route?.auth ?? 'admin', tier, LOCKED) === 'pass';
    assertSame(passes, RANK[tier] >= needed, `${tier} on ${verb} ${raw}`);
    assertProperty(!passes || tier !== 'anon' || isOpenTarget(verb, raw), `anonymous on ${verb} ${raw}`);
  }
  if (route === null) return;
  assertSame({ ...route, ...ROUTES[route.id] }, { ...route }, `the row of ${verb} ${raw}`);
  assertProperty(
    verb === route.method || (verb === 'HEAD' && route.method === 'GET'),
    `${verb} ran ${route.id}`,
  );
  assertProperty(allow.includes(verb), `${verb} ran and is not allowed`);
  assertProperty(!/(^|\/)\.\.?(\/|$)/.test(target.path), `a dot segment ran ${route.id}`);
  for (const value of Object.values(params))
    assertProperty(value !== '', `${route.id} with an empty parameter`);
}
