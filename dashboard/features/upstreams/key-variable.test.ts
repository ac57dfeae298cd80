import { expect, it } from 'vitest';
import { UPSTREAM_FIELDS, UpstreamName } from '../../../daemon/contract/upstreams.ts';
import { keyVariableOf } from './key-variable.ts';

it.each([
  ['desk', 'UPSTREAM_DESK'],
  ['my-desk_2', 'UPSTREAM_MY_DESK_2'],
  [`a${'-'.repeat(31)}`, `UPSTREAM_A${'_'.repeat(31)}`],
])('%s has the variable %s, which its file accepts', (name, variable) => {
  expect(UpstreamName.safeParse(name).success).toBe(true);
  expect(keyVariableOf(name)).toBe(variable);
  expect(UPSTREAM_FIELDS.key_env.safeParse(variable).success).toBe(true);
});
