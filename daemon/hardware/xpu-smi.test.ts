import { expect, test } from 'vitest';
import { captured } from './testing/fake-machine.ts';
import { parseDetails, parseDiscovery } from './xpu-smi.ts';

test('parses ids and addresses', () => {
  expect(parseDiscovery(captured('intel-arc-npu', 'xpu-smi', 'discovery', '-j'))).toEqual([
    { index: 0, id: '0000:03:00.0' },
  ]);
});

test('parses numbers from strings and drops a bare number in brackets as a name', () => {
  expect(parseDetails(captured('intel-arc-npu', 'xpu-smi', 'discovery', '-d'))).toEqual({
    name: null,
    memoryTotal: 25669140480,
    memoryFree: 25447600128,
    memoryUsed: 25669140480 - 25447600128,
    toolAnswered: true,
  });
});

test('returns nothing for invalid or other JSON', () => {
  expect(parseDiscovery('Error: no device')).toEqual([]);
  expect(parseDiscovery('{"device_list": [null, {"device_id": "x"}]}')).toEqual([]);
  expect(parseDetails('')).toMatchObject({ memoryTotal: null, memoryUsed: null });
});
