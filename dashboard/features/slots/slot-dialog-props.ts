import type { SlotRecord } from '../../../daemon/contract/slots.ts';

/** Props of every dialog of the view. */
export interface SlotDialogProps {
  slot: SlotRecord;
  onClose: () => void;
}
