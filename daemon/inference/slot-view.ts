import type { SlotView } from '../slots/slot-view.ts';
import type { Slots } from '../slots/slots-api.ts';

/**
 * Returns the live view of a slot. Its record (`Slots.get`) is made for each read and costs a third of a small chat, so
 * requests do not read it.
 */
export const slotView = (slots: Pick<Slots, 'views'>, name: string): SlotView | undefined =>
  slots.views().find((view) => view.name === name);
