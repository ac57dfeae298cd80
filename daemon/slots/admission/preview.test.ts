import { expect, test } from 'vitest';
import { GatewayError } from '../../contract/errors.ts';
import type { LoadForecastView } from '../../contract/slots.ts';
import type { Forecast } from './controller.ts';
import { previewRequest } from './preview.ts';

const SUM: LoadForecastView['sum'] = {
  pool: 'host',
  needed: 5,
  free: 1,
  reserved: 0,
  kept_free: 0,
  limit: null,
  held: 4,
  short: 4,
  victims: [],
};
const forecast = (outcome: LoadForecastView['outcome']) => () =>
  ({ view: { outcome, evicts: [], sum: SUM } }) as unknown as Forecast;
const failed = new GatewayError('slot.failed');

test.each(['ready', 'serving', 'starting', 'warming', 'pulling'] as const)(
  'a slot that is %s loads nothing',
  (state) => {
    const unexpectedRead = () => {
      throw new Error('this sum is not needed');
    };
    expect(previewRequest('agent', state, null, unexpectedRead)).toEqual({ load: null, refusal: null });
  },
);

test.each(['offline', 'error', 'draining', 'stopping'] as const)(
  'from %s the result contains the memory sum',
  (state) => {
    const { load, refusal } = previewRequest('agent', state, null, forecast('evicts'));
    expect([load?.outcome, refusal]).toEqual(['evicts', null]);
  },
);

test('missing memory is the refusal, after a refusal by the slot itself', () => {
  expect(previewRequest('agent', 'offline', null, forecast('refused')).refusal?.code).toBe('slot.no_memory');
  expect(previewRequest('agent', 'error', failed, forecast('refused'))).toEqual({
    load: forecast('refused')().view,
    refusal: failed,
  });
});

test('a GatewayError of the load is the refusal; any other error is thrown', () => {
  const none = () => {
    throw failed;
  };
  expect(previewRequest('agent', 'offline', null, none)).toEqual({ load: null, refusal: failed });
  const fault = () => {
    throw new TypeError('x');
  };
  expect(() => previewRequest('agent', 'offline', null, fault)).toThrow(TypeError);
});
