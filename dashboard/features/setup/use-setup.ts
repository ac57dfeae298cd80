import { useQueryClient } from '@tanstack/react-query';
import type { SetupApplyBody, SetupView } from '../../../daemon/contract/setup.ts';
import { useAction } from '../../api/action.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';

/** Probing slow vendor tools or scanning large folders takes long. */
const LIMIT_MS = 60_000;

/** Applies one part of the setup and shows the returned state immediately. */
export function useApply(onDone: (view: SetupView) => void = () => {}) {
  const client = useQueryClient();
  return useAction({
    send: (body: SetupApplyBody) => call('setup.apply', { body }, LIMIT_MS),
    onSuccess: (view) => {
      client.setQueryData(keyOf('setup'), view);
      for (const id of ['settings', 'models', 'slots'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onDone,
  });
}

/** Rescans the hardware. */
export function useProbe() {
  const client = useQueryClient();
  return useAction({
    send: () => call('setup.probe', {}, LIMIT_MS),
    onSuccess: (view) => client.setQueryData(keyOf('setup'), view),
  });
}
