import { meansSlot } from './names.ts';
import { pass, type Resolver } from './resolver.ts';
import { fromLists } from './upstream-cached.ts';

/**
 * Step 4: fetches the lists of cold upstreams once, then repeats step 3
 * (docs/spec/specification.md#dispatch-step-4). The driver makes the fetch; this step only reports that it is
 * needed and reads the result.
 */
export const upstreamLive: Resolver = (request, view) => {
  const { lane, model } = request.modelRef;
  if (lane !== null || model === null || meansSlot(model, view)) return pass('the request names a slot');
  const cold = view.upstreams.filter((upstream) => upstream.isCold);
  if (cold.length > 0 && !view.coldListsFetched) {
    return { is: 'fetch', reason: `the lists of ${cold.length} cold upstreams are needed` };
  }
  if (!view.coldListsFetched) return pass('all lists are fresh');
  return (
    fromLists(view.upstreams, model, request.affinity) ?? pass('no upstream lists this model after asking')
  );
};
