import { meansSlot } from './names.ts';
import { pass, type Resolver } from './resolver.ts';
import { fromLists } from './upstream-cached.ts';

/**
 * Step 4: fetches the lists of cold upstreams once, then repeats step 3
 * (docs/spec/specification.md#dispatch-step-4). The driver makes the fetch; this step only reports that it is
 * needed and reads the result.
 */
export const upstreamLive: Resolver = (ask, picture) => {
  const { lane, model } = ask.address;
  if (lane !== null || model === null || meansSlot(model, picture)) return pass('the caller means a slot');
  const cold = picture.upstreams.filter((upstream) => upstream.isCold);
  if (cold.length > 0 && !picture.liveAsked) {
    return { is: 'fetch', reason: `the lists of ${cold.length} cold upstreams are needed` };
  }
  if (!picture.liveAsked) return pass('all lists are fresh');
  return fromLists(picture.upstreams, model) ?? pass('no upstream lists this model after asking');
};
