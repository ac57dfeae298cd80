import type { UpstreamRecord } from '../../../daemon/contract/upstreams.ts';

/** Props of every dialog of the view. */
export interface UpstreamDialogProps {
  upstream: UpstreamRecord;
  onClose: () => void;
}
