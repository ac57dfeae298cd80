import { expect, test } from 'vitest';
import { slotRecord } from '../../contract/testing/slot-record.ts';
import { post, until } from '../testing/client.ts';
import { closeAfterEach, setUp } from '../testing/forwarding.ts';

closeAfterEach();

test.each(['img', 'svc/img', 'sd15'])('%s is in the request log as the caller wrote it', async (model) => {
  const { gateway, slots } = await setUp((_req, res) => res.writeHead(500).end());
  slots.records = [slotRecord({ name: 'img', type: 'image', engine: 'sd-server', model: 'sd15' })];
  await post(gateway.origin, '/v1/images/generations', { model, prompt: 'a cat' });
  await until(() => gateway.log.length === 1);
  expect(gateway.log).toMatchObject([{ asked: model, slot: 'img' }]);
});
