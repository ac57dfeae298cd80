import { useQueryClient } from '@tanstack/react-query';
import type { SetupApplyBody, SetupView } from '../../../daemon/contract/setup.ts';
import { useAct } from '../../api/act.ts';
import { call } from '../../api/client.ts';
import { keyOf } from '../../api/queries.ts';

/** A probe of slow vendor tools, or a scan of large folders, takes a while. */
const LIMIT_MS = 60_000;

/** Applies one part of the setup; what the gateway answers is shown at once. */
export function useApply(onDone: (view: SetupView) => void = () => {}) {
  const client = useQueryClient();
  return useAct({
    send: (body: SetupApplyBody) => call('setup.apply', { body }, LIMIT_MS),
    onSuccess: (view) => {
      client.setQueryData(keyOf('setup'), view);
      for (const id of ['settings', 'models', 'slots'] as const)
        void client.invalidateQueries({ queryKey: keyOf(id) });
    },
    onDone,
  });
}

/** Looks at the machine again. */
export function useProbe() {
  const client = useQueryClient();
  return useAct({
    send: () => call('setup.probe', {}, LIMIT_MS),
    onSuccess: (view) => client.setQueryData(keyOf('setup'), view),
  });
}
