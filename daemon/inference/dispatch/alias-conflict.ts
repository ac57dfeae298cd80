import { GatewayError } from '../../contract/errors.ts';
import type { DispatchRequest, Target } from './resolver.ts';

/**
 * Returns 409 for a recording whose name leads to an upstream by one of the gateway's alias rules
 * (docs/spec/contract.md#transcription-alias): its bytes stay as sent, and the upstream does not know the
 * name in them. Returns null for everything else.
 */
export function aliasElsewhere(request: DispatchRequest, target: Target): GatewayError | null {
  if (target.kind === 'slot' || request.type !== 'stt') return null;
  if (request.modelRef.by === null && !request.modelRef.alias) return null;
  return new GatewayError('dispatch.capability_mismatch', {
    message: 'An alias cannot lead to an upstream on this route; name the model itself.',
    param: 'model',
  });
}
