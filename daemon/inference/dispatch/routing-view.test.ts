import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { NO_UPSTREAMS } from '../ports.ts';
import { NO_NAMES } from './configured-names.ts';
import { withListsRead } from './dispatch.ts';
import { createRoutingView } from './routing-view.ts';

test('disabled slots serve nothing, and are listed for errors', () => {
  const slots = [slotRecord({ name: 'a' }), slotRecord({ name: 'b', enabled: false })];
  const view = createRoutingView({
    slots: { views: () => slots },
    registry: { list: () => [] },
    upstreams: NO_UPSTREAMS,
    npuSuffix: () => 'flm',
    names: () => NO_NAMES,
  });
  for (const each of [view, withListsRead(view)])
    expect([each.slots, each.disabledSlots].map((list) => list.map(({ name }) => name))).toEqual([
      ['a'],
      ['b'],
    ]);
});
