import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import type { HardwareView } from '../../../daemon/contract/hardware.ts';
import { queries } from '../../api/queries.ts';
import { HardwareHistory } from './history.ts';

const histories = new WeakMap<QueryClient, HardwareHistory>();

/** Records every hardware response in the query cache, whichever view requested it, while the page is open. */
function recordFrom(client: QueryClient): HardwareHistory {
  const history = new HardwareHistory();
  const [key] = queries.hardware.queryKey;
  const record = (): void => {
    const state = client.getQueryState<HardwareView>(queries.hardware.queryKey);
    if (state?.data !== undefined) history.add(state.dataUpdatedAt, state.data);
  };
  record();
  client.getQueryCache().subscribe((event) => {
    if (event.type === 'updated' && event.action.type === 'success' && event.query.queryKey[0] === key)
      record();
  });
  return history;
}

/** The recorded hardware history. */
export function useHistory(): HardwareHistory {
  const client = useQueryClient();
  const known = histories.get(client);
  if (known !== undefined) return known;
  const history = recordFrom(client);
  histories.set(client, history);
  return history;
}
