import { expect, it } from 'vitest';
import {
  UPSTREAM_FIELDS,
  UpstreamCreate,
  UpstreamPut,
  type UpstreamRecord,
} from '../../../daemon/contract/upstreams.ts';
import { bodyOf, issuesOf } from '../../ui/form/draft.ts';
import { upstreamBaseline, upstreamRows } from './upstream-rows.ts';

const { rows, more } = upstreamRows(false);
const all = [...rows, ...more];

it('has a field for every key of the daemon', () => {
  expect(all.map(({ key }) => key).sort()).toEqual(Object.keys(UPSTREAM_FIELDS).sort());
});

it('marks the keys that the schema requires, with an example', () => {
  const form = [...upstreamRows(true).rows, ...more];
  const required = form.filter((row) => row.required);
  expect(required.map(({ key }) => key)).toEqual(Object.keys(issuesOf(UpstreamCreate, {}, form)));
  for (const { placeholder } of required) expect(placeholder).toMatch(/^such as /);
});

it('sends a body that the schema accepts', () => {
  const typed = {
    name: 'desk',
    base_url: 'http://desk:8000/v1',
    exclude: 'a*\nb',
    remote: 'no',
    priority: '-1',
  };
  expect(UpstreamCreate.parse(bodyOf([...upstreamRows(true).rows, ...more], typed, {}))).toEqual({
    name: 'desk',
    base_url: 'http://desk:8000/v1',
    exclude: ['a*', 'b'],
    remote: false,
    priority: -1,
  });
  const wrong = bodyOf(all, { key_env: 'MY_KEY', priority: 'low' }, {});
  expect(issuesOf(UpstreamPut, wrong, all)).toMatchObject({
    key_env: expect.stringContaining('UPSTREAM_'),
    priority: 'Priority must be a number.',
  });
});

it('an untouched form sends nothing', () => {
  const upstream = {
    name: 'desk',
    enabled: true,
    kind: 'openai',
    remote: false,
    priority: 3,
    base_url: 'http://desk:8000/v1',
    key_env: null,
    include: ['a', 'b'],
    daily_requests: null,
  } as unknown as UpstreamRecord;
  const baseline = upstreamBaseline(upstream);
  expect(bodyOf(all, baseline, baseline)).toEqual({});
  expect(bodyOf(all, { ...baseline, priority: '' }, baseline)).toEqual({ priority: null });
});
