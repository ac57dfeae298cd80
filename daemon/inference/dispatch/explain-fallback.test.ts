import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import type { Preview } from '../../slots/admission/preview.ts';
import { quotaExceeded, unavailable } from '../../upstreams/refusals.ts';
import { rewriteModelRef } from '../rewrite/deviations.ts';
import { routingView, upstreamConfigOf } from '../testing/builders.ts';
import { ConfiguredNames } from './configured-names.ts';
import { type ExplainedRequest, errorView, explainFallback } from './explain-fallback.ts';
import { plainModelRef } from './model-ref.ts';
import { pathRow } from './paths.ts';

const CHAT = '/v1/chat/completions';
const view = routingView({
  slots: [
    slotRecord({ name: 'agent', model: 'local' }),
    slotRecord({ name: 'embed', type: 'embedding', model: 'vectors' }),
  ],
  upstreams: [
    upstreamConfigOf({ name: 'cloud', models: ['gpt'] }),
    upstreamConfigOf({ name: 'desk', models: ['small', 'big'], isSpendGuarded: false }),
  ],
  names: new ConfiguredNames({ aliases: { best: 'big' }, presets: {} }),
});
const ACCEPTS: Preview = { load: null, refusal: null };

interface Case extends Partial<ExplainedRequest> {
  readonly path?: string;
  readonly model?: string;
  readonly previews?: Readonly<Record<string, Preview>>;
}
function explained({ path = CHAT, model = 'big', previews = {}, ...more }: Case) {
  const { type } = pathRow(path);
  const modelRef = rewriteModelRef(plainModelRef(model), view, type);
  const previewed: string[] = [];
  const found = explainFallback(
    {
      ...{ request: { path, type, modelRef }, id: model, refused: null, view, allow: undefined },
      ...{ map: { big: ['gpt', 'agent', 'small'] }, isEnabled: true, ...more },
    },
    ({ target }) => {
      const name = target.kind === 'slot' ? target.slot : target.upstream;
      previewed.push(name);
      return previews[name] ?? ACCEPTS;
    },
  );
  return { found, previewed };
}
const down = unavailable('It is down.');

test('a model without fallbacks has no explanation', () => {
  expect(explained({ model: 'other' })).toEqual({ found: null, previewed: [] });
  expect(explained({ map: {} }).found).toBeNull();
});

test('each fallback has its target, in the order in which it would be tried', () => {
  expect(explained({})).toEqual({
    found: {
      off: null,
      used: null,
      models: [
        { model: 'agent', slot: 'agent', upstream: null, load: null, error: null },
        { model: 'small', slot: null, upstream: 'desk', load: null, error: null },
        { model: 'gpt', slot: null, upstream: 'cloud', load: null, error: null },
      ],
    },
    previewed: ['agent', 'desk', 'cloud'],
  });
});

test.each([
  ['the requested name', 'big', {}],
  ['an alias of the model', 'best', { map: { best: ['agent'] } }],
  ['the id that the name leads to', 'best', { id: 'big' }],
])('the list of %s counts', (_, model, more) => {
  expect(explained({ model, ...more }).found?.models.map((each) => each.model)).toContain('agent');
});

test('the first fallback that would serve the request is used', () => {
  const busy = new GatewayError('slot.queue_full', { details: { slot: 'agent' } });
  const previews = { agent: { load: null, refusal: busy } };
  expect(explained({ refused: down, previews }).found).toMatchObject({
    off: null,
    used: 'small',
    models: [
      { model: 'agent', error: { code: 'slot.queue_full', details: { slot: 'agent' } } },
      { model: 'small', error: null },
      { model: 'gpt', error: null },
    ],
  });
});

test('none is used when all would refuse', () => {
  const refusal = quotaExceeded(60);
  const full: Preview = { load: null, refusal };
  const { found } = explained({ refused: down, previews: { agent: full, desk: full, cloud: full } });
  expect(found?.used).toBeNull();
  expect(found?.models.map(({ error }) => error?.code)).toEqual(Array(3).fill(refusal.code));
});

test.each([
  ['the request would be served', null],
  ['its error does not permit a fallback', new GatewayError('upstream.auth_failed')],
])('none is used when %s', (_, refused) => {
  expect(explained({ refused }).found).toMatchObject({ off: null, used: null });
});

test.each([
  [undefined, true, null],
  [undefined, false, 'not_allowed'],
  [true, false, null],
  [false, true, 'not_allowed'],
] as const)('header %j with the setting %j: off is %j', (allow, isEnabled, off) => {
  expect(explained({ allow, isEnabled, refused: down }).found).toMatchObject({
    off,
    used: off === null ? 'agent' : null,
  });
});

test('a route without fallbacks is off whatever the caller allows', () => {
  const map = { vectors: ['gpt'] };
  const on = { path: '/v1/embeddings', model: 'vectors', map, refused: down, allow: true };
  expect(explained(on).found).toMatchObject({ off: 'route', used: null });
});

test('a fallback that cannot serve the route has that error, and its target is not previewed', () => {
  const { found, previewed } = explained({ map: { big: ['vectors', 'missing'] }, refused: down });
  expect(found).toMatchObject({
    used: null,
    models: [
      { model: 'vectors', slot: 'embed', load: null, error: { code: 'dispatch.capability_mismatch' } },
      { model: 'missing', slot: null, upstream: null, error: { code: 'dispatch.no_route' } },
    ],
  });
  expect(previewed).toEqual([]);
});

test('the view of an error has details only where the error has them', () => {
  expect(errorView(new GatewayError('slot.draining', { message: 'x' }))).toEqual({
    ...{ code: 'slot.draining', message: 'x' },
  });
  expect(errorView(quotaExceeded(60))).toHaveProperty('details', { resets_in_s: 60 });
});
